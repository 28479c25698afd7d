"""A line through nightly figures that neither a step nor a bad night bends: the Theil-Sen estimator, weekday by weekday, between steps.

Slopes are the median of the slopes between pairs of nights (Sen 1968, "Estimates of the regression coefficient based on Kendall's
tau", JASA 63). With enough nights only pairs of the same weekday count (Hirsch, Slack and Smith 1982, "Techniques of trend analysis for
monthly water quality data", Water Resources Research 18), so that the week is no trend. Pairs with a step between them never count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
Days = npt.NDArray[np.int64]

NIGHTS_MIN = 7
"""Fewer nights are not one week, and no trend is told from them."""

SEASON_NIGHTS = 28
"""From four weeks on each weekday has pairs enough of its own."""

_WEEK = 7
_STEP_SCALES = 5.0
"""A step stands out from the other week-to-week changes by as many of their standard deviations (by their median, which a step does not move)."""

_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation, of a normal distribution."""

_TREND_Z = 1.959964
"""A trend is told when the Mann-Kendall test finds it at 5 percent, two-sided."""

_INTERVAL_Z = 1.281552
"""Of an 80 percent interval, two-sided."""

INTERVAL = 0.8

_MOST_CORRELATED = 0.8

_SLOPE_MIN = 0.05
"""No slope is taken to be known better than to a twentieth: growth itself changes, however smooth the nights behind were."""


@dataclass(frozen=True)
class Line:
    """A line with what is around it, for days counted from the last night (0).

    `slopes` are the lower bound, the estimate and the upper bound of the change a day. `level` is the height at day 0, `season` what
    each weekday (Monday first) adds, `spread` the half-width that holds 80 percent of the nights, `center` the day around which the line
    turns when its slope changes. `steps` are the days on which a new level began. `has_trend` is what the test for one says.
    """

    slopes: tuple[float, float, float]
    level: float
    season: Reals
    spread: float
    center: float
    steps: tuple[int, ...]
    has_trend: bool
    residuals: Reals

    def path(self, days: Days, weekdays: Days) -> tuple[Reals, Reals, Reals]:
        """Give for days the lower bound, the estimate and the upper bound."""
        around = self.level + self.slopes[1] * self.center
        away = days - self.center
        middle = self.level + self.slopes[1] * days + self.season[weekdays]
        low = around + np.minimum(self.slopes[0] * away, self.slopes[2] * away) + self.season[weekdays] - self.spread
        high = around + np.maximum(self.slopes[0] * away, self.slopes[2] * away) + self.season[weekdays] + self.spread
        return low, middle, high


def fit(days: Days, weekdays: Days, values: Reals, least_step: float) -> Line:
    """Fit a line to at least NIGHTS_MIN nights. `days` rise and end at 0; `weekdays` are 0 for Monday; smaller steps are left to the slope."""
    steps = tuple(_steps(days, values, least_step))
    segment = np.searchsorted(np.asarray(steps, dtype=np.int64), days, side="right")
    seasonal = len(days) >= SEASON_NIGHTS
    group = segment * _WEEK + weekdays if seasonal else segment
    first, second = _pairs(group)
    pair_slopes = np.sort((values[second] - values[first]) / (days[second] - days[first]))
    slope = float(np.median(pair_slopes))
    season = _season(days, values - slope * days, weekdays, segment) if seasonal else np.zeros(_WEEK)
    flat = values - slope * days - season[weekdays]
    levels = np.asarray([np.median(flat[segment == one]) for one in range(len(steps) + 1)])
    residuals = flat - levels[segment]
    score = float(np.sign(values[second] - values[first]).sum())
    deviation = math.sqrt(_variance(group) * _inflation(residuals))
    last = segment == len(steps)
    return Line(
        slopes=(*_bounds(pair_slopes, deviation, slope),),
        level=float(levels[-1]),
        season=season,
        spread=_spread(residuals, int(last.sum())),
        center=float(np.median(days[last])),
        steps=steps,
        has_trend=abs(score) - 1 > _TREND_Z * deviation,
        residuals=residuals,
    )


def _pairs(group: Days) -> tuple[Days, Days]:
    """Give every pair of nights of one group, earlier one first."""
    first, second = np.triu_indices(len(group), 1)
    alike = group[first] == group[second]
    return first[alike], second[alike]


def _season(days: Days, flat: Reals, weekdays: Days, segment: Days) -> Reals:
    """Give what each weekday adds: the median of its nights against their segment's, with a mean of nothing over the week."""
    level = np.asarray([np.median(flat[segment == one]) for one in range(int(segment.max()) + 1)])[segment]
    effects = np.asarray([np.median((flat - level)[weekdays == day]) if (weekdays == day).any() else 0.0 for day in range(_WEEK)])
    return effects - effects.mean() if len(days) else effects


def _variance(group: Days) -> float:
    """Variance of Kendall's score without a trend: n(n - 1)(2n + 5) / 18, summed over the groups."""
    counts = np.unique(group, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1) * (2 * counts + 5)).sum() / 18)


def _inflation(residuals: Reals) -> float:
    """Say by how much that variance grows because a night is like the one before it: (1 + r) / (1 - r) (Yue and Wang 2004)."""
    square = float((residuals**2).sum())
    correlation = float((residuals[1:] * residuals[:-1]).sum()) / square if square else 0.0
    correlation = min(max(correlation, 0.0), _MOST_CORRELATED)
    return (1 + correlation) / (1 - correlation)


def _bounds(slopes: Reals, deviation: float, slope: float) -> tuple[float, float, float]:
    """Take the 80 percent interval of the slope from the order of the pairs' slopes (Sen 1968)."""
    reach = _INTERVAL_Z * deviation
    last = len(slopes) - 1
    low = int(np.clip(math.floor((len(slopes) - reach) / 2) - 1, 0, last))
    high = int(np.clip(math.ceil((len(slopes) + reach) / 2), 0, last))
    least = _SLOPE_MIN * abs(slope)
    return min(float(slopes[low]), slope - least), slope, max(float(slopes[high]), slope + least)


def _spread(residuals: Reals, last_count: int) -> float:
    """Take the half-width that holds 80 percent of nights to come: the k-th smallest distance of n, with k = 0.8 (n + 1) rounded up.

    It is widened by what the level, a median of the last segment's nights, is itself uncertain by.
    """
    distances = np.sort(np.abs(residuals))
    rank = min(math.ceil(INTERVAL * (len(distances) + 1)), len(distances))
    return float(distances[rank - 1]) * math.sqrt(1 + math.pi / 2 / last_count)


def _steps(days: Days, values: Reals, least: float) -> Iterator[int]:
    """Find the days on which a lasting new level began, oldest first: the weeks before and after differ far more than others do."""
    if len(days) < 3 * _WEEK:
        return
    starts = np.arange(_WEEK, len(days) - _WEEK + 1)
    first, second = np.triu_indices(len(days), 1)
    slope = float(np.median((values[second] - values[first]) / (days[second] - days[first])))
    flat = values - slope * days
    jumps = np.asarray([np.median(flat[k : k + _WEEK]) - np.median(flat[k - _WEEK : k]) for k in starts])
    odd = np.abs(jumps - np.median(jumps))
    usual = _TO_SIGMA * float(np.median(odd))
    largest = int(odd.argmax())
    if odd[largest] <= max(_STEP_SCALES * usual, least):
        return
    at = int(starts[0]) + _sharpest(flat, int(starts[largest]) - int(starts[0]), odd)
    yield from _steps(days[:at], values[:at], least)
    yield int(days[at])
    yield from _steps(days[at:], values[at:], least)


def _sharpest(flat: Reals, largest: int, odd: Reals) -> int:
    """Among neighbours whose weeks differ nearly as much, take the night with the largest change from the one before."""
    near = [k for k in range(len(odd)) if abs(k - largest) < _WEEK and odd[k] >= odd[largest] * 0.8]
    return max(near, key=lambda k: abs(float(flat[k + _WEEK] - flat[k + _WEEK - 1])))
