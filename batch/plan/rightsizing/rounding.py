"""Amounts as a person would write them, never more exact than what they rest on, and never below what they should hold."""

from __future__ import annotations

MILLICORE = 10**6
MIB = 1024**2

_COARSE_STEPS = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
"""Tenths at which an amount of CPU that rests on little is written: 100, 120, 150, 200, 250 … millicores."""

_COARSE_PARTS, _FINE_PARTS = 4, 8
"""Steps of memory between a power of two and the next: 256, 320, 384, 448 MiB, or twice as many where there is evidence for it."""


def round_cpu(nanocores: int, *, fine: bool) -> int:
    """Round up to two digits in millicores, or to one of ten steps a decade where `fine` is not warranted."""
    millicores = max(1, -(-nanocores // MILLICORE))
    power = int(10 ** max(0, len(str(millicores)) - 2))
    if fine or power * 10 > millicores:
        return -(-millicores // power) * power * MILLICORE
    return next((step * power for step in _COARSE_STEPS if step * power >= millicores), 100 * power) * MILLICORE


def round_memory(size: int, *, fine: bool) -> int:
    """Round up to an eighth of a power of two MiB, or to a quarter where `fine` is not warranted; below 8 MiB to whole ones."""
    mebibytes = max(1, -(-size // MIB))
    parts = _FINE_PARTS if fine else _COARSE_PARTS
    step = max(1, (1 << max(0, (mebibytes - 1).bit_length() - 1)) // parts)
    return -(-mebibytes // step) * step * MIB
