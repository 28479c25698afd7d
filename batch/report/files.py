"""Names of a run's files that are made of names from outside."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

_LONGEST = 120
"""Characters of a name that a file name takes: with what stands around it, less than delivery cuts at."""


def profile_file(profile: str, what: str) -> str:
    """Name the table about a profile, percent-encoded; delivery keeps such a name as it is."""
    head, ending = profile[:_LONGEST], ""
    while len(quote(head, safe="")) > _LONGEST:  # by whole characters: half of one could not be decoded
        head = head[:-1]
    if head != profile:
        ending = f"~{hashlib.sha256(profile.encode()).hexdigest()[:16]}"
    return f"tables/profile-{quote(head, safe='')}{ending}-{what}.csv"
