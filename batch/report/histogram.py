"""Bins the values of a distribution once, so that no chart ever sees them one by one."""

from __future__ import annotations

import math

import numpy as np

from batch.plan.model import Distribution
from batch.report.model import Histogram

MARKED = (0.5, 0.9, 0.99)
"""Quantiles that a chart names."""

_LEAST_BINS, _MOST_BINS = 10, 60
_CURVE_POINTS = 300
_HEAVY_TAIL = 12
"""When the largest value is this many times the 75 % quantile, a linear axis would squeeze three quarters of the pods into its first few bins."""

_FLOORS = {"bytes": 1024**2, "nanocores": 10**5}
"""Least value that a logarithmic axis tells from nothing: a MiB, a tenth of a millicore."""


def histogram(distribution: Distribution, kind: str, what: str) -> Histogram:
    """Bin the values of at least one measured pod (`kind` bytes or nanocores); on a logarithmic axis when the tail is heavy."""
    values = np.asarray(distribution.values, dtype=np.int64)
    quantiles = dict(distribution.quantiles)
    logarithmic = _is_heavy(values, kind)
    edges = _log_edges(values, kind) if logarithmic else _linear_edges(values, kind)
    counts = np.histogram(values, bins=edges)[0]
    return Histogram(
        kind=kind,
        what=what,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        curve=_curve(values, edges),
        marks=tuple((share, quantiles[share]) for share in MARKED if share in quantiles),
        logarithmic=logarithmic,
        zero_count=int(np.searchsorted(values, edges[0], side="left")) if logarithmic else 0,
    )


def _is_heavy(values: np.ndarray, kind: str) -> bool:
    usual = max(float(np.quantile(values, 0.75)), float(_FLOORS[kind]))
    return bool(values[-1] > _HEAVY_TAIL * usual)


def _linear_edges(values: np.ndarray, kind: str) -> np.ndarray:
    """Give even steps from 0 to past the largest value, more of them the more values there are."""
    top = max(float(values[-1]), 1.0)
    step = _nice(top / min(_MOST_BINS, max(_LEAST_BINS, 3 * math.isqrt(values.size))), kind)
    return np.arange(0, math.floor(top / step) + 2, dtype=np.float64) * step


def _log_edges(values: np.ndarray, kind: str) -> np.ndarray:
    """Give ten steps a decade from the floor (or the smallest value above it) to past the largest value."""
    above = values[values >= _FLOORS[kind]]
    first = math.floor(math.log10(float(above[0])) * 10)
    last = math.floor(math.log10(float(values[-1])) * 10) + 1
    every = max(1, math.ceil((last - first) / _MOST_BINS))
    return np.power(10.0, np.arange(first, last + every, every) / 10)


def _nice(step: float, kind: str) -> float:
    """Round a step up to 1, 2, 2.5 or 5 times a power of ten, of bytes in their binary unit."""
    unit = 1024 ** max(0, int(math.log2(step) // 10)) if kind == "bytes" else 1
    power = unit * 10.0 ** math.floor(math.log10(step / unit))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= step)


def _curve(values: np.ndarray, edges: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Give the share of pods at or below: at every value when they are few, else at evenly spaced places of the axis."""
    if values.size <= _CURVE_POINTS:
        places, counts = np.unique(values, return_counts=True)
        shares = counts.cumsum() / values.size
    else:
        logarithmic = edges[0] > 0
        spaced = np.geomspace if logarithmic else np.linspace
        places = spaced(edges[0], float(values[-1]), _CURVE_POINTS)
        places[-1] = values[-1]
        shares = np.searchsorted(values, places, side="right") / values.size
    return tuple(zip(places.astype(float).tolist(), shares.tolist(), strict=True))
