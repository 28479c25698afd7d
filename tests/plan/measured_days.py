"""Builds the tables that Prometheus fills, for snapshots made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from batch.snapshot.prometheus_schemas import CONTAINER_DAYS, CONTAINER_INSTANTS, MEASURED_CONTAINERS, PROMETHEUS
from tests.builders import TAKEN_AT

STEP = 300


@dataclass(frozen=True)
class Told:
    """What Prometheus told of one container: (hours before TAKEN_AT, nanocores, bytes) at instants, and columns of its row."""

    pod: str
    instants: Sequence[tuple[int, int | None, int | None]]
    container: str = "main"
    namespace: str = "default"
    workload: tuple[str, str] | None = None
    listed: bool = True
    days: Sequence[tuple[int, int | None, int | None]] = ()
    columns: Mapping[str, Any] | None = None


def at(hours: int) -> datetime:
    """Give the moment so many hours before TAKEN_AT."""
    return TAKEN_AT - timedelta(hours=hours)


def tables(*told: Told, instant_count: int = 168) -> dict[str, Any]:
    """Give the tables, of a window of a week that ends at TAKEN_AT."""
    known = (TAKEN_AT - timedelta(days=7), TAKEN_AT, 30, STEP, STEP, None, 3600, instant_count, 40, 10**6, 2.5, 0)
    return {
        "prometheus": PROMETHEUS.frame([("http://prometheus.example:9090", *known)]),
        "measured_containers": MEASURED_CONTAINERS.frame(_row(number, one) for number, one in enumerate(told)),
        "container_instants": CONTAINER_INSTANTS.frame(
            (number, at(hours), cpu, memory) for number, one in enumerate(told) for hours, cpu, memory in sorted(one.instants, reverse=True)
        ),
        "container_days": CONTAINER_DAYS.frame(
            (number, at(24 * back), cpu, memory) for number, one in enumerate(told) for back, cpu, memory in sorted(one.days, reverse=True)
        ),
    }


def _row(number: int, one: Told) -> list[Any]:
    hours = [hours for hours, _, _ in one.instants]
    cpu, memory = ([value for value in values if value is not None] for values in list(zip(*one.instants, strict=True))[1:] or ((), ()))
    known = {
        "series": number,
        "namespace": one.namespace,
        "pod": one.pod,
        "container": one.container,
        "listed": one.listed,
        "workload_kind": one.workload and one.workload[0],
        "workload": one.workload and one.workload[1],
        "first_at": at(max(hours)) if hours else None,
        "last_at": at(min(hours)) if hours else None,
        "expected_count": 2016,
        "cpu_sample_count": 2016,
        "cpu_p95_nanocores": max(cpu, default=None),
        "memory_sample_count": 20160,
        "memory_max_bytes": max(memory, default=None),
        **(one.columns or {}),
    }
    return [known.get(column.name) for column in MEASURED_CONTAINERS.columns]
