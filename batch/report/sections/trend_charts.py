"""The charts of trends: the cluster's CPU and memory over the nights, and the pool that is full first."""

from __future__ import annotations

from datetime import date

from batch.findings import Message, message
from batch.plan.forecast.judgements import resource_name
from batch.plan.forecast.model import Forecast, Trends
from batch.report.format import format_day, format_value
from batch.report.model import Chart, Course, Reach
from batch.report.sections.changes import capital
from batch.report.sections.trend_tables import kind_of

_STATES = ("allocatable", "requests", "usage")
_MOST_POOLS = 2
_LEAST_NIGHTS = 2


def charts(trends: Trends) -> dict[str, Chart]:
    """Give the charts by name: CPU and memory of the cluster, and the resources of pools that are full first."""
    if len(trends.summaries) < _LEAST_NIGHTS:
        return {}
    tonight = trends.tonight.taken_at
    pools = sorted(
        (one for one in trends.forecasts if one.pool is not None and one.exhausted_at and one.exhausted_at > tonight),
        key=lambda one: (one.exhausted_at or tonight, one.pool or "", one.resource),
    )[:_MOST_POOLS]
    whole = [one for one in trends.forecasts if one.pool is None and one.resource in ("cpu", "memory")]
    if len({one.pool for one in trends.forecasts if one.pool is not None}) == 1:
        pools = []  # the only pool is the cluster
    shown = {f"pool-{number}": one for number, one in enumerate(pools, 1)} | {f"cluster-{one.resource}": one for one in whole}
    return {name: _chart(one, trends) for name, one in shown.items()}


def _chart(one: Forecast, trends: Trends) -> Chart:
    return Chart(
        title=_title(one),
        subtitle=_subtitle(one),
        alt=_alt(one, trends),
        drawing=_course(one, trends),
    )


def _course(one: Forecast, trends: Trends) -> Course:
    tonight = date.fromisoformat(trends.tonight.date)
    levels = [night.level(one.pool, one.resource) for night in trends.summaries]
    lines = tuple((state, tuple(None if level is None else getattr(level, state) for level in levels)) for state in _STATES)
    days = tuple((date.fromisoformat(night.date) - tonight).days for night in trends.summaries)
    return Course(kind_of(one.resource), tonight, days, lines, _reach(one, trends))


def _reach(one: Forecast, trends: Trends) -> Reach | None:
    if not one.cone or one.allocatable is None:
        return None
    low, expected, high = (None if day is None else (day - trends.tonight.taken_at).days for day in (one.low, one.exhausted_at, one.high))
    points = tuple((point.day, point.low, point.middle, point.high) for point in one.cone)
    return Reach(points, float(one.allocatable), (low, expected, high))


def _where(one: Forecast) -> str:
    return f"node pool {one.pool}" if one.pool is not None else "the cluster"


def _title(one: Forecast) -> Message:
    if one.exhausted_at is not None and one.weekly_growth is not None:
        return message(
            "{what:text} of {where:text} is expected to be used up on {day:day}",
            what=capital(resource_name(one.resource)),
            where=_where(one),
            day=one.exhausted_at,
        )
    if one.weekly_growth is not None:
        return message(
            "{what:text} of {where:text} grows, and lasts longer than is looked ahead",
            what=capital(resource_name(one.resource)),
            where=_where(one),
        )
    return message("{what:text} of {where:text} over the nights", what=capital(resource_name(one.resource)), where=_where(one))


def _subtitle(one: Forecast) -> Message:
    if not one.cone:
        return message("What may be requested, is requested and is used, night by night.")
    way = "at a constant rate" if one.compound else "by a constant amount"
    return message(
        f"Requests grow {way}, now by {{growth:{kind_of(one.resource)}}} a week. The shaded cone holds 80 % of what is to be expected; the mark on the limit is when it is reached.",
        growth=one.weekly_growth,
    )


def _alt(one: Forecast, trends: Trends) -> Message:
    kind = kind_of(one.resource)
    text = f"{resource_name(one.resource)} of {_where(one)}, {len(trends.summaries)} nights: tonight {format_value(one.requests, kind)} of {format_value(one.allocatable, kind)} requested"
    if one.exhausted_at is not None and one.cone:
        text += f", expected to reach it on {format_day(one.exhausted_at)}"
    return message("Lines: {text:text}.", text=text)
