"""The tables of trends as columns: the nights, their node pools, the forecasts and the workloads that moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from batch.plan.forecast.model import Comparison, Forecast, Mover, Trends
from batch.report.document_trends import in_units, unit_of
from batch.snapshot.summaries import Level, Summary

_Columns = dict[str, list[Any]]

_NIGHT = (
    "date",
    "run_id",
    "complete",
    "node_count",
    "ready_node_count",
    "bound_pod_count",
    "pending_pod_count",
    "monthly_cost",
    "currency",
)
_STATES = ("allocatable", "requests", "usage")
_LEVEL = ("date", "pool", "resource", "unit", *_STATES)
_FORECAST = (
    "pool",
    "resource",
    "unit",
    "requests",
    "allocatable",
    "weekly_growth",
    "exhausted_at",
    "low",
    "high",
    "night_count",
    "reason",
)
_MOVER = (
    "since",
    "kind",
    "namespace",
    "workload",
    *(f"{when}_{what}" for what in ("pod_count", "requests_cpu_nanocores", "requests_memory_bytes") for when in ("before", "now")),
)


def trend_tables(trends: Trends | None) -> Iterator[tuple[str, _Columns]]:
    """Yield name and columns of each table; of no history all of them are empty."""
    nights = trends.summaries if trends else ()
    compared = (trends.last_night, trends.last_week) if trends else ()
    yield "trends", _columns(_NIGHT, map(vars, nights))
    yield "trends-levels", _columns(_LEVEL, (_level(night, level) for night in nights for level in night.levels))
    yield "forecast", _columns(_FORECAST, map(_forecast, trends.forecasts if trends else ()))
    yield "movers", _columns(_MOVER, (row for one in compared if one for row in _movers(one)))


def _columns(names: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> _Columns:
    every = list(rows)
    return {name: [row[name] for row in every] for name in names}


def _level(night: Summary, level: Level) -> dict[str, Any]:
    values = {state: in_units(level.resource, getattr(level, state)) for state in _STATES}
    return {"date": night.date, "pool": level.pool, "resource": level.resource, "unit": unit_of(level.resource), **values}


def _forecast(one: Forecast) -> dict[str, Any]:
    amounts = {name: in_units(one.resource, getattr(one, name)) for name in ("requests", "allocatable", "weekly_growth")}
    times = {name: getattr(one, name) and getattr(one, name).isoformat() for name in ("exhausted_at", "low", "high")}
    return {**vars(one), "unit": unit_of(one.resource), **amounts, **times, "reason": one.refusal and one.refusal.value}


def _movers(one: Comparison) -> Iterator[dict[str, Any]]:
    for mover in one.movers or ():
        yield {"since": one.date, "kind": mover.kind, "namespace": mover.namespace, "workload": mover.workload, **_pairs(mover)}


def _pairs(mover: Mover) -> dict[str, int | None]:
    named = {"pod_count": mover.pods, "requests_cpu_nanocores": mover.requests_cpu, "requests_memory_bytes": mover.requests_memory}
    return {f"{when}_{name}": value for name, pair in named.items() for when, value in zip(("before", "now"), pair, strict=True)}
