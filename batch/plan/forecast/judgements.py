"""What is worth telling of trends: a resource of a node pool that will be full before long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from batch.findings import Finding, Message, Severity, message
from batch.plan.forecast.model import Forecast
from batch.settings import TrendsSettings
from batch.snapshot.summaries import Summary

SECTION = "trends"

RESOURCE_NAMES = {"cpu": "CPU", "memory": "memory", "pods": "pod slots"}


def resource_name(resource: str) -> str:
    """Call a resource what people call it."""
    return RESOURCE_NAMES.get(resource, resource)


def judge(forecasts: Sequence[Forecast], tonight: Summary, settings: TrendsSettings) -> Iterator[Finding]:
    """Warn of each resource of a pool that is expected to be full within the warning time; what is full already is another section's."""
    until = tonight.taken_at + timedelta(seconds=settings.warning_seconds)
    for one in forecasts:
        if one.pool is not None and one.exhausted_at is not None and one.refusal is None and tonight.taken_at < one.exhausted_at <= until:
            yield _filling(one, tonight)


def _filling(one: Forecast, tonight: Summary) -> Finding:
    days = (one.exhausted_at - tonight.taken_at).days if one.exhausted_at else 0
    return Finding(
        id=f"trends.filling/{one.pool}/{one.resource}",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            "Node pool {pool:text} is expected to have no {resource:text} left in {time:seconds}",
            pool=one.pool,
            resource=resource_name(one.resource),
            time=days * 86_400,
        ),
        detail=_between(one),
        action=message(
            "Let node pool {pool:text} grow, or lower requests of its workloads before {day:day}.",
            pool=one.pool,
            day=one.low or one.exhausted_at,
        ),
        objects=(one.pool or "",),
        worth=message("{time:seconds}", time=days * 86_400),
        worth_of="until it is full",
        weight=1.0 / (1 + days),
    )


def _between(one: Forecast) -> Message:
    """Say how sure that is."""
    asked = message(
        "From {nights:count} nights, at tonight's size of the pool: full between {low:day} and {high:day} in four of five cases.",
        nights=one.night_count,
        low=one.low or one.exhausted_at,
        high=one.high,
    )
    if one.high is not None:
        return asked
    return message(
        "From {nights:count} nights, at tonight's size of the pool: full not before {low:day} in nine of ten cases; how late is open.",
        nights=one.night_count,
        low=one.low or one.exhausted_at,
    )
