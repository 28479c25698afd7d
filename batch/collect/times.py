"""Times and durations as the API writes them."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime

_DURATION_PART = re.compile(r"([0-9]*\.?[0-9]+)(ns|us|µs|ms|s|m|h)")
_LONGEST_DURATION = 64
"""Characters beyond which a text is refused unread: Go writes none as long."""

_MOST_SECONDS = 2**63 / 1e9
"""A Go duration holds 64 bits of nanoseconds: 292 years (package time, Duration)."""

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def read_instant(text: str | None) -> datetime | None:
    """Read an RFC 3339 time as aware UTC; None for None and for what is no time."""
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    if instant.tzinfo is UTC:  # as the API writes it
        return instant
    try:
        return instant.astimezone(UTC) if instant.tzinfo else None
    except OverflowError:  # in UTC it would be before the year 1, or after 9999
        return None


@functools.lru_cache(maxsize=1024)
def read_seconds(text: str | None) -> int | None:
    """Read a Go duration ("15.1s", "1m0s") in whole seconds; None for None and for what is no duration."""
    if not text or len(text) > _LONGEST_DURATION:
        return None
    parts = _DURATION_PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return round(seconds) if seconds <= _MOST_SECONDS else None
