"""The part of report.json about trends: figures over the nights, when room runs out, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from batch.plan.forecast.model import Comparison, Forecast, Mover, Trends
from batch.report.document_profiles import NANO
from batch.snapshot.summaries import Summary

_STATES = ("allocatable", "requests", "usage")
_UNITS = {"cpu": "cores", "memory": "bytes"}
"""Units of the resources in JSON; everything else is a count."""


def trends_document(trends: Trends | None) -> dict[str, Any]:
    """Give `trends`: each series has one value a night, null where it is not known; `nights` counts tonight."""
    if trends is None:
        return {"nights": None, "series": {}, "pools": [], "forecast": [], "since_last_night": None, "since_last_week": None}
    nights = trends.summaries
    pools = list(dict.fromkeys(level.pool for night in nights for level in night.levels if level.pool is not None))
    return {
        "nights": len(nights),
        "series": {
            "date": [night.date for night in nights],
            **{name: [getattr(night, name) for night in nights] for name in _PLAIN},
            **_levels(nights, None),
        },
        "pools": [{"name": pool, **_levels(nights, pool)} for pool in pools],
        "forecast": [_forecast(forecast) for forecast in trends.forecasts],
        "since_last_night": _comparison(trends.last_night),
        "since_last_week": _comparison(trends.last_week),
    }


_PLAIN = ("run_id", "node_count", "ready_node_count", "bound_pod_count", "pending_pod_count", "monthly_cost", "currency")


def unit_of(resource: str) -> str:
    """Name the base unit in which JSON and CSV have a resource."""
    return _UNITS.get(resource, "count")


def in_units(resource: str, value: float | None) -> float | None:
    """Give nanocores as cores; bytes and counts stay as they are."""
    return value / NANO if value is not None and resource == "cpu" else value


def _levels(nights: Sequence[Summary], pool: str | None) -> dict[str, Any]:
    """Give the series of one pool, or of the cluster: CPU and memory by name, pod slots, and accelerators below `gpu`."""
    resources = dict.fromkeys(level.resource for night in nights for level in night.levels if level.pool == pool)
    found: dict[str, Any] = {}
    for resource in (name for name in ("cpu", "memory") if name in resources):
        for state in _STATES:
            found[f"{state}_{resource}_{unit_of(resource)}"] = _series(nights, pool, resource, state)
    found["allocatable_pod_count"] = _series(nights, pool, "pods", "allocatable")
    if pool is not None:
        found["bound_pod_count"] = _series(nights, pool, "pods", "requests")
    accelerators = [name for name in resources if name not in ("cpu", "memory", "pods")]
    found["gpu"] = [
        {"resource": name, **{f"{state}_count": _series(nights, pool, name, state) for state in _STATES[:2]}} for name in accelerators
    ]
    return found


def _series(nights: Iterable[Summary], pool: str | None, resource: str, state: str) -> list[float | None]:
    levels = (night.level(pool, resource) for night in nights)
    return [None if level is None else in_units(resource, getattr(level, state)) for level in levels]


def _forecast(one: Forecast) -> dict[str, Any]:
    return {
        "pool": one.pool,
        "resource": one.resource,
        "unit": unit_of(one.resource),
        "requests": in_units(one.resource, one.requests),
        "allocatable": in_units(one.resource, one.allocatable),
        "exhausted_at": _instant(one.exhausted_at),
        "low": _instant(one.low),
        "high": _instant(one.high),
        "weekly_growth": in_units(one.resource, one.weekly_growth),
        "growth": None if one.weekly_growth is None else "compound" if one.compound else "linear",
        "seasonal": one.seasonal,
        "step_dates": list(one.step_dates),
        "night_count": one.night_count,
        "reason": None if one.refusal is None else one.refusal.value,
    }


def _comparison(one: Comparison | None) -> dict[str, Any] | None:
    if one is None:
        return None
    changes = {
        change.what.replace(" ", "_"): [_changed(change.kind, value) for value in (change.before, change.now)] for change in one.changes
    }
    movers = None if one.movers is None else [mover_row(mover) for mover in one.movers]
    return {"date": one.date, "changes": changes, "movers": movers}


def _changed(kind: str, value: float | None) -> float | None:
    return value / NANO if kind == "nanocores" and value is not None else value


def mover_row(mover: Mover) -> Mapping[str, Any]:
    """Give a workload that moved, then and now."""
    return {
        "kind": mover.kind,
        "namespace": mover.namespace,
        "workload": mover.workload,
        "pod_count": list(mover.pods),
        "requests_cpu_cores": [in_units("cpu", value) for value in mover.requests_cpu],
        "requests_memory_bytes": list(mover.requests_memory),
        "usage_cpu_cores": [in_units("cpu", value) for value in mover.usage_cpu],
        "usage_memory_bytes": list(mover.usage_memory),
    }


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
