"""When requests reach a limit: growth by a constant amount and at a constant rate, as far as the nights leave both open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from batch.plan.forecast import robust
from batch.plan.forecast.model import ConePoint, Refusal
from batch.plan.forecast.robust import Days, Line, Reals

_OPEN = 2.0
"""Both ways of growing stay in the interval unless the nights lie this many times further from the one than from the other."""

_LEAST_STEP = 0.02
"""Of the level; smaller steps than this are left to the slope."""

_CONE_POINTS = 24
_BEYOND = 1.15
"""How much further than to the limit a cone is drawn."""


@dataclass(frozen=True)
class Exhaustion:
    """Days from tonight until the limit is reached: estimate and bounds, None beyond the horizon. Without `refusal` there is a trend."""

    refusal: Refusal | None
    low: int | None = None
    day: int | None = None
    high: int | None = None
    weekly_growth: float | None = None
    compound: bool = False
    seasonal: bool = False
    step_dates: tuple[str, ...] = ()
    cone: tuple[ConePoint, ...] = ()


def estimate(nights: Sequence[tuple[date, int]], limit: int, horizon_days: int) -> Exhaustion:
    """Say when a growing series reaches `limit`. `nights` are dates and values, oldest first, tonight last."""
    if nights[-1][1] >= limit:
        return Exhaustion(None, 0, 0, 0)
    if len(nights) < robust.NIGHTS_MIN:
        return Exhaustion(Refusal.FEW_NIGHTS)
    tonight = nights[-1][0]
    past = np.asarray([(night - tonight).days for night, _ in nights], dtype=np.int64)
    values = np.asarray([value for _, value in nights], dtype=np.float64)
    lines = _lines(past, _weekdays(tonight, past), values)
    compound, best = lines[0]
    if not (best.has_trend and best.slopes[1] > 0):
        return Exhaustion(Refusal.NO_TREND)
    ahead = np.arange(1, horizon_days + 1, dtype=np.int64)
    low, middle, high = _paths(lines, ahead, _weekdays(tonight, ahead))
    first, day, last = (_reached(path, limit) for path in (high, middle, low))
    return Exhaustion(
        refusal=Refusal.FAR if day is None else None,
        low=first,
        day=day,
        high=last,
        weekly_growth=_weekly(best, compound=compound),
        compound=compound,
        seasonal=len(nights) >= robust.SEASON_NIGHTS,
        step_dates=tuple((tonight + timedelta(days=step)).isoformat() for step in best.steps),
        cone=_cone(lines, tonight, last or day or horizon_days),
    )


def _lines(days: Days, weekdays: Days, values: Reals) -> list[tuple[bool, Line]]:
    """Give the ways of growing that the nights leave open, the better one first; True is growth at a constant rate."""
    straight = robust.fit(days, weekdays, values, _LEAST_STEP * float(np.median(values)))
    found = [(float(np.median(np.abs(straight.residuals))), False, straight)]
    if (values > 0).all():
        logs = np.log(values)
        bent = robust.fit(days, weekdays, logs, _LEAST_STEP)
        distances = np.abs(values - np.exp(logs - bent.residuals))
        found.append((float(np.median(distances)), True, bent))
    found.sort(key=lambda one: one[0])
    return [(compound, line) for distance, compound, line in found if distance <= _OPEN * found[0][0]]


def _paths(lines: Sequence[tuple[bool, Line]], days: Days, weekdays: Days) -> tuple[Reals, Reals, Reals]:
    """Give the lowest bound, the better estimate and the highest bound of all ways."""
    paths = [tuple(np.exp(path) if compound else path for path in line.path(days, weekdays)) for compound, line in lines]
    return np.min([low for low, _, _ in paths], axis=0), paths[0][1], np.max([high for _, _, high in paths], axis=0)


def _reached(path: Reals, limit: int) -> int | None:
    over = np.flatnonzero(path >= limit)
    return int(over[0]) + 1 if len(over) else None


def _weekly(line: Line, *, compound: bool) -> float:
    """Give the growth of a week from tonight on, in the unit of the values."""
    if not compound:
        return line.slopes[1] * 7
    return float(np.exp(line.level) * np.expm1(line.slopes[1] * 7))


def _cone(lines: Sequence[tuple[bool, Line]], tonight: date, until: int) -> tuple[ConePoint, ...]:
    """Give points of the forecast without the week, which would only make the picture ragged."""
    days = np.unique(np.linspace(0, until * _BEYOND, _CONE_POINTS).astype(np.int64))
    calm = [(compound, _without_season(line)) for compound, line in lines]
    low, middle, high = _paths(calm, days, _weekdays(tonight, days))
    return tuple(ConePoint(int(d), float(a), float(b), float(c)) for d, a, b, c in zip(days, low, middle, high, strict=True))


def _without_season(line: Line) -> Line:
    return Line(**{**vars(line), "season": np.zeros_like(line.season)})


def _weekdays(tonight: date, days: Days) -> Days:
    return (tonight.weekday() + days) % 7
