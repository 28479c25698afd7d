"""Times and durations as the API writes them."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from batch.snapshot.schema import INSTANT

_DURATION_PART = re.compile(r"([0-9]*\.?[0-9]+)(ns|us|µs|ms|s|m|h)")
_LONGEST_DURATION = 64
"""Characters beyond which a text is refused unread: Go writes none as long."""

_MOST_SECONDS = 2**63 / 1e9
"""A Go duration holds 64 bits of nanoseconds: 292 years (package time, Duration)."""

_YEAR_1, _YEAR_10000 = -62_135_596_800_000_000, 253_402_300_800_000_000
"""Microseconds since 1970 of the first moments of these years."""

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


def read_instants(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Read a column of times as read_instant reads each."""
    try:
        instants = texts.cast(INSTANT)  # as the API writes them; Arrow knows fewer forms, and refuses a column for one text
    except pa.ArrowInvalid:
        instants = None
    if instants is None or not _has_years(instants):
        return pa.array([read_instant(text) for text in texts.to_pylist()], type=INSTANT)
    return instants


def _has_years(instants: pa.Array | pa.ChunkedArray) -> bool:
    """Tell whether Python could read them all: Arrow has years before 1 and after 9999."""
    found = pc.min_max(instants.cast(pa.int64()))
    least, most = found["min"].as_py(), found["max"].as_py()
    return least is None or (least >= _YEAR_1 and most < _YEAR_10000)


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
