"""Uids, names, digests and times: the same on every run."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

TAKEN_AT = datetime(2026, 11, 30, 2, 0, 0, tzinfo=UTC)
"""When the dump was taken, by the clock of the made-up cluster."""

_SAFE = "bcdfghjklmnpqrstvwxz2456789"
"""Characters of generated names: k8s.io/apimachinery/pkg/util/rand, v0.36."""


def digest(*parts: object) -> str:
    """Give 64 hexadecimal digits that stand for these parts."""
    return hashlib.sha256("/".join(str(part) for part in ("sample", *parts)).encode()).hexdigest()


def share(*parts: object) -> float:
    """Give a number from 0 to below 1 that stands for these parts."""
    return int(digest("share", *parts)[:12], 16) / 16**12


def uid(*parts: object) -> str:
    """Give a version 4 UUID."""
    text = digest("uid", *parts)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


def suffix(length: int, *parts: object) -> str:
    """Give the random-looking end of a generated name."""
    return "".join(_SAFE[byte % len(_SAFE)] for byte in bytes.fromhex(digest("suffix", *parts))[:length])


def stamp(at: datetime) -> str:
    """Write a time as the API does."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(*, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
    """Give the time that long before the dump was taken."""
    return TAKEN_AT - timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
