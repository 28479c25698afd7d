"""Times and durations as the API writes them."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime

_DURATION_PART = re.compile(r"([0-9]*\.?[0-9]+)(ns|us|µs|ms|s|m|h)")
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
    return instant.astimezone(UTC) if instant.tzinfo else None


@functools.lru_cache(maxsize=1024)
def read_seconds(text: str | None) -> int | None:
    """Read a Go duration ("15.1s", "1m0s") in whole seconds; None for None and for what is no duration."""
    parts = _DURATION_PART.findall(text or "")
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return round(sum(float(number) * _SECONDS[unit] for number, unit in parts))
