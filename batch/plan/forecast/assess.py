"""Trends: tonight among the nights before it, when room runs out, and what changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from batch.plan import measured
from batch.plan.forecast.changes import compare
from batch.plan.forecast.exhaustion import Exhaustion, estimate
from batch.plan.forecast.judgements import judge
from batch.plan.forecast.model import Comparison, Forecast, Refusal, Trends
from batch.plan.forecast.tonight import summarize, workloads
from batch.plan.model import CapacityPlan
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.history import History, a_week_before
from batch.snapshot.model import Snapshot
from batch.snapshot.summaries import Level, Summary, Workloads

_DAY_SECONDS = 86_400


def assess(snapshot: Snapshot, plan: CapacityPlan, accelerators: Iterable[Level], history: History, settings: Settings) -> Trends:
    """Say how the cluster changes. `accelerators` are tonight's levels of GPUs, which another check knows; no I/O, no clock.

    Figures are in nanocores, bytes and counts. Forecasts: docs/trends.md.
    """
    tonight = summarize(snapshot, plan, accelerators)
    bound = measured.with_usage(snapshot, settings.usage.max_age_seconds).loc[views.bound_pods(snapshot).index]
    census = workloads(snapshot, bound)
    nights = (*history.summaries, tonight)
    week_before = a_week_before(tonight.date, (night.date for night in history.summaries))
    forecasts = tuple(_forecast(nights, level, settings) for level in tonight.levels if level.allocatable)
    return Trends(
        summaries=nights,
        workloads=census,
        forecasts=forecasts,
        last_night=_compared(history, tonight, census, history.last_night, history.summaries[-1:]),
        last_week=_compared(
            history, tonight, census, history.last_week, tuple(one for one in history.summaries if one.date == week_before)
        ),
        findings=tuple(judge(forecasts, tonight, settings.trends)),
    )


def _compared(
    history: History, tonight: Summary, census: Workloads, earlier: Workloads | None, otherwise: tuple[Summary, ...]
) -> Comparison | None:
    """Compare with the night of those workloads; where these are not known with the figures of that night alone."""
    found = [one for one in history.summaries if earlier is not None and one.date == earlier.date] or list(otherwise)
    return compare(tonight, census, found[0], earlier) if found else None


def _forecast(nights: tuple[Summary, ...], level: Level, settings: Settings) -> Forecast:
    """Say when requests reach what is allocatable tonight. Nights of runs that stopped early do not count, but tonight does."""
    known = [
        (date.fromisoformat(night.date), then.requests)
        for night in nights
        if (night.complete or night is nights[-1]) and (then := night.level(level.pool, level.resource)) and then.requests is not None
    ]
    if level.requests is None or not level.allocatable:
        return Forecast(level.pool, level.resource, level.requests, level.allocatable, len(known), refusal=Refusal.UNKNOWN)
    found = estimate(known, level.allocatable, int(settings.trends.horizon_seconds // _DAY_SECONDS))
    return _dated(found, nights[-1], level, len(known))


def _dated(found: Exhaustion, tonight: Summary, level: Level, night_count: int) -> Forecast:
    exhausted_at, low, high = (
        None if day is None else tonight.taken_at + timedelta(days=day) for day in (found.day, found.low, found.high)
    )
    return Forecast(
        pool=level.pool,
        resource=level.resource,
        requests=level.requests,
        allocatable=level.allocatable,
        night_count=night_count,
        exhausted_at=exhausted_at,
        low=low,
        high=high,
        refusal=found.refusal,
        weekly_growth=found.weekly_growth,
        compound=found.compound,
        seasonal=found.seasonal,
        step_dates=found.step_dates,
        cone=found.cone,
    )
