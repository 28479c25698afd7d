"""Trends: how the cluster changes from night to night, when room runs out, and what changed since last night and last week."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message, plural
from batch.plan.forecast.judgements import resource_name
from batch.plan.forecast.model import Forecast, Trends
from batch.report.model import Section
from batch.report.sections.changes import changed
from batch.report.sections.material import Material
from batch.report.sections.trend_charts import charts
from batch.report.sections.trend_tables import tables

SLUG = "trends"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about trends; a first night has a sentence."""
    trends = material.plan.trends
    remembered = trends is not None and len(trends.summaries) > 1
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Trends",
            title=_title(trends),
            lede=tuple(_lede(trends)) if trends and remembered else (),
            how_to_read=tuple(_how_to_read(material)) if remembered else (),
            findings=material.findings_of(SLUG),
            tables=tables(trends) if trends and remembered else {},
            charts=charts(trends) if trends and remembered else {},
            sentences=changed(trends) if trends and remembered else {},
        ),
    )


def soonest(trends: Trends) -> Forecast | None:
    """Give the forecast of the pool's resource that is full first, of those that are not full yet."""
    coming = [one for one in trends.forecasts if one.pool is not None and one.exhausted_at and one.exhausted_at > trends.tonight.taken_at]
    return min(coming, key=lambda one: (one.exhausted_at, one.pool or "", one.resource), default=None)


def _title(trends: Trends | None) -> Message:
    if trends is None:
        return message("Earlier nights were not looked at")
    if len(trends.summaries) == 1:
        return message("This is the first night that is remembered; trends begin with the next")
    first = soonest(trends)
    if first is not None and first.exhausted_at is not None:
        return message(
            "Node pool {pool:text} is expected to run out of {resource:text} on {day:day}",
            pool=first.pool,
            resource=resource_name(first.resource),
            day=first.exhausted_at,
        )
    if any(one.refusal is None for one in trends.forecasts if one.pool is not None):
        return message("Some node pools are full, and none of the others is expected to be within the time looked at")
    return message("No node pool is expected to fill up within the time looked at")


def _lede(trends: Trends) -> Iterator[Message]:
    count = len(trends.summaries)
    yield message(
        f"{{nights:count}} {plural(count, 'night is', 'nights are')} known, from {{first:day}} to {{last:day}}.",
        nights=count,
        first=trends.summaries[0].taken_at,
        last=trends.tonight.taken_at,
    )
    first = soonest(trends)
    if first is None:
        return
    if first.low is not None and first.high is not None:
        yield message("In four of five cases that day is between {low:day} and {high:day}.", low=first.low, high=first.high)
    elif first.low is not None:
        yield message("It is not before {low:day} in nine of ten cases; how late is open.", low=first.low)


def _how_to_read(material: Material) -> Iterator[Message]:
    settings = material.settings.trends
    yield message(
        "Of each night one run counts: a complete one before one that stopped early, of equal ones the latest. A night without a run is a gap in the line, not a zero."
    )
    yield message(
        "A forecast says when requests reach what may be requested tonight: the size of the pool is taken as it is, also where an autoscaler would let it grow. It takes 7 nights or more and growth that the Mann-Kendall test tells from chance at 5 %; else none is made."
    )
    yield message(
        "The slope is the median of the slopes between all pairs of nights (Theil-Sen), from 28 nights on of the same weekday only, and never across a lasting step, so that neither a bad night nor the week nor a team that moved in bends it. Growth by a constant amount and at a constant rate are both kept in the interval unless the nights decide."
    )
    yield message(
        "The interval holds 80 % of what is to be expected if things go on as they did. Dates further ahead than {horizon:seconds} are not told.",
        horizon=settings.horizon_seconds,
    )
    yield message(
        "Workloads that moved are ordered by the change of their requests, as a share of what the cluster may promise. Usage then and now are single readings, which differ by more than trends do."
    )
