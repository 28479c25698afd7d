"""The three candidates side by side: what others would recommend from the same samples, with the arithmetic of each.

*peak*: robusta-dev/krr, strategies/simple.py (August 2026). *decayed*: the Vertical Pod Autoscaler's recommender (kubernetes/autoscaler at
55c37cd, August 2026: logic/recommender.go, logic/estimator.go). *target ratio*: a request of which the 95th percentile of use is a set share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
import numpy.typing as npt

from batch.plan.rightsizing.groups import Integers
from batch.plan.rightsizing.histograms import Histograms
from batch.plan.rightsizing.measures import Measured
from batch.plan.rightsizing.nights import SECOND, Peaks

MEMORY_MARGIN_PERCENT = 15
"""KRR's simple strategy: the memory peak and 15 percent."""

TARGET, LOWER, UPPER = 0.9, 0.5, 0.95
SAFETY_MARGIN = 0.15
"""The recommender's percentiles and margin (config/config.go)."""

SAMPLES_A_DAY = 1440
"""The recommender counts a sample a minute as full evidence (getConfidence in logic/estimator.go)."""

INTERVAL_QUANTILE, INTERVAL_TAIL = 0.9, 0.05
"""The interval is for the 90th percentile, and each end of it is wrong in one of twenty cases."""

FEWEST_NIGHTS = 29
"""Fewest values of which the largest is above the 90th percentile in 95 of 100 cases: 1 - 0.9^29 = 0.953, and 1 - 0.9^28 = 0.948."""

_DAY = 86_400 * SECOND

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Candidates for one resource of every group, in its unit. Bounds are known from a confidence of 1 on, the interval from FEWEST_NIGHTS nights."""

    peak: Peaks
    decayed: Peaks
    target_ratio: Peaks
    lower_bound: Peaks
    upper_bound: Peaks
    interval_low: Peaks
    interval_high: Peaks


def confidence(measured: Measured) -> Floats:
    """Give min(days from the first sample to the last, samples / 1,440): one sample a minute for N days is N."""
    days = (measured.last_at - measured.first_at) / _DAY
    return np.minimum(days, measured.samples / SAMPLES_A_DAY)


def cpu_candidates(measured: Measured, target_usage_ratio: float) -> Candidates:
    """Give the candidates for CPU, in nanocores. *peak* is the busiest pod's 95th percentile as it is."""
    return _candidates(measured.cpu_peak, measured.p95_cpu, measured.cpu, measured.nightly_cpu, confidence(measured), target_usage_ratio)


def memory_candidates(measured: Measured, target_usage_ratio: float) -> Candidates:
    """Give the candidates for memory, in bytes. *peak* is the largest sample and MEMORY_MARGIN_PERCENT, rounded up."""
    highest = measured.memory_peak
    peak = Peaks(-(-highest.value * (100 + MEMORY_MARGIN_PERCENT) // 100), highest.known)
    return _candidates(peak, measured.p95_memory, measured.memory, measured.nightly_memory, confidence(measured), target_usage_ratio)


@cache
def interval_ranks(count: int) -> tuple[int, int] | None:
    """Give which of `count` sorted values (from 1) bound the 90th percentile, each with at most INTERVAL_TAIL of error; None for too few.

    The number of values below the percentile is binomial, whatever their distribution: the r-th value is above it when fewer than r are below.
    """
    if count < FEWEST_NIGHTS:
        return None
    chances = [comb(count, below) * INTERVAL_QUANTILE**below * (1 - INTERVAL_QUANTILE) ** (count - below) for below in range(count + 1)]
    at_most = np.cumsum(chances)
    low = int(np.searchsorted(at_most, INTERVAL_TAIL, side="right"))
    high = int(np.searchsorted(at_most, 1 - INTERVAL_TAIL)) + 1
    return max(low, 1), high


def _candidates(peak: Peaks, p95: Peaks, decaying: Histograms, nightly: Sequence[Peaks], sure: Floats, ratio: float) -> Candidates:
    there = decaying.place >= 0
    trusted = there & (sure >= 1)
    divisor = np.maximum(sure, 1)
    low, high = _interval(nightly)
    return Candidates(
        peak=peak,
        decayed=Peaks(_with_margin(decaying.percentile(TARGET)), there),
        target_ratio=Peaks(np.ceil(p95.value / ratio).astype(np.int64), p95.known),
        lower_bound=Peaks(_scaled(_with_margin(decaying.percentile(LOWER)), (1 + 0.001 / divisor) ** -2.0), trusted),
        upper_bound=Peaks(_scaled(_with_margin(decaying.percentile(UPPER)), 1 + 1 / divisor), trusted),
        interval_low=low,
        interval_high=high,
    )


def _with_margin(values: Integers) -> Integers:
    return values + _scaled(values, np.full(len(values), SAFETY_MARGIN))


def _scaled(values: Integers, factor: Floats) -> Integers:
    """Multiply and cut off what is less than a whole unit, as ScaleResource does."""
    return np.asarray(values * factor, dtype=np.int64)


def _interval(nightly: Sequence[Peaks]) -> tuple[Peaks, Peaks]:
    """Give the order-statistic interval of the nights' peaks, where there are enough nights."""
    known = np.stack([night.known for night in nightly])
    ordered = np.sort(np.where(known, np.stack([night.value for night in nightly]), np.iinfo(np.int64).max), axis=0)
    counts = known.sum(axis=0)
    low, high = np.zeros_like(ordered[0]), np.zeros_like(ordered[0])
    for count in np.unique(counts):
        ranks = interval_ranks(int(count))
        if ranks:
            of_count = counts == count
            low[of_count], high[of_count] = ordered[ranks[0] - 1, of_count], ordered[ranks[1] - 1, of_count]
    enough = counts >= FEWEST_NIGHTS
    return Peaks(low, enough), Peaks(high, enough)
