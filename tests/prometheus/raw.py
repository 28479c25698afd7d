"""What Prometheus should answer, worked out from the raw samples by its documented definitions, and by none of the project's code."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

Samples = Sequence[tuple[float, float]]


def rate(samples: Samples, at: float, window: float) -> float | None:
    """Give rate() of a counter: the increase between the first and the last sample, extrapolated to the window's ends.

    As promql/functions.go (extrapolatedRate) has it: by half a distance of samples where the window begins or ends more than 1.1 of them
    away, and never to before the counter was zero.
    """
    inside = samples[bisect_left(samples, (at - window, -math.inf)) : bisect_right(samples, (at, math.inf))]
    if len(inside) < 2:
        return None
    (first, low), (last, high) = inside[0], inside[-1]
    increase = high - low + sum(before for (_, before), (_, after) in pairwise(inside) if after < before)
    sampled = last - first
    apart = sampled / (len(inside) - 1)
    to_start, to_end = first - (at - window), at - last
    if increase > 0:
        to_start = min(to_start, sampled * low / increase)
    reach = sampled + (to_start if to_start < apart * 1.1 else apart / 2) + (to_end if to_end < apart * 1.1 else apart / 2)
    return increase * reach / sampled / window


def grid(at: float, window: int, step: int) -> list[int]:
    """Give the moments of a subquery: multiples of the step within the window."""
    first = math.ceil((at - window) / step) * step
    return list(range(first, math.floor(at) + 1, step))


def quantile(values: Sequence[float], share: float) -> float:
    """Give the quantile by linear interpolation between order statistics."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def usual_rates(series: Sequence[Samples], moments: Sequence[float], window: float) -> list[float]:
    """Give the larger rate of a container's incarnations at each moment that has one."""
    found = []
    for at in moments:
        rates = [value for samples in series if (value := rate(samples, at, window)) is not None]
        if rates:
            found.append(max(rates))
    return found
