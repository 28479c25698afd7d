"""What changed since an earlier night: the cluster's figures, and the workloads that moved them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batch.plan.forecast.model import Change, Comparison, Mover
from batch.snapshot.summaries import WORKLOADS, Summary, Workloads

_Rows = dict[tuple[str, str, str], dict[str, Any]]

_LEAST_SHARE = 0.002
"""Smaller changes than two thousandths of what the cluster may promise move nothing worth telling."""


def compare(tonight: Summary, workloads: Workloads, before: Summary, before_workloads: Workloads | None) -> Comparison:
    """Set tonight against an earlier night."""
    movers = None if before_workloads is None else tuple(sorted(_movers(tonight, workloads, before_workloads), key=_order))
    return Comparison(before.date, tuple(_changes(before, tonight)), movers)


def _order(mover: Mover) -> tuple[float, str, str, str]:
    return -mover.weight, mover.namespace, mover.workload, mover.kind


def _changes(before: Summary, now: Summary) -> Iterator[Change]:
    for what, name in (("nodes", "node_count"), ("pods", "bound_pod_count"), ("waiting pods", "pending_pod_count")):
        yield Change(what, "count", getattr(before, name), getattr(now, name))
    for resource, kind in (("cpu", "nanocores"), ("memory", "bytes")):
        for state in ("allocatable", "requests", "usage"):
            then, tonight = (None if level is None else getattr(level, state) for level in (s.level(None, resource) for s in (before, now)))
            yield Change(f"{resource} {state}", kind, then, tonight)
    for level in now.levels:
        if level.pool is None and level.resource not in ("cpu", "memory", "pods"):
            then = before.level(None, level.resource)
            yield Change(f"{level.resource} requests", "count", None if then is None else then.requests, level.requests)
    if now.currency is not None and now.currency == before.currency:
        yield Change("monthly cost", "money", before.monthly_cost, now.monthly_cost)


def _movers(tonight: Summary, now: Workloads, before: Workloads) -> Iterator[Mover]:
    """Yield the workloads whose requests changed by more than next to nothing."""
    then, there = _rows(before), _rows(now)
    for key in then.keys() | there.keys():
        old, new = then.get(key), there.get(key)
        weight = max(
            _share(old, new, "requests_cpu_nanocores", tonight, "cpu"), _share(old, new, "requests_memory_bytes", tonight, "memory")
        )
        if weight >= _LEAST_SHARE:
            yield Mover(
                *key,
                pods=_pair(old, new, "pod_count"),
                requests_cpu=_pair(old, new, "requests_cpu_nanocores"),
                requests_memory=_pair(old, new, "requests_memory_bytes"),
                usage_cpu=_pair(old, new, "usage_cpu_nanocores"),
                usage_memory=_pair(old, new, "usage_memory_bytes"),
                weight=weight,
            )


def _rows(workloads: Workloads) -> _Rows:
    return {(row["kind"], row["namespace"], row["workload"]): row for row in workloads.table.select(WORKLOADS.arrow.names).to_pylist()}


def _pair(old: dict[str, Any] | None, new: dict[str, Any] | None, name: str) -> tuple[int | None, int | None]:
    return None if old is None else old[name], None if new is None else new[name]


def _share(old: dict[str, Any] | None, new: dict[str, Any] | None, name: str, tonight: Summary, resource: str) -> float:
    """Give the change as a share of what the cluster may promise, or of what is promised where that is unknown.

    A workload that is not there asks for nothing; a request that is not known changes nothing.
    """
    then, now = (0 if row is None else row[name] for row in (old, new))
    level = tonight.level(None, resource)
    whole = None if level is None else level.allocatable or level.requests
    return 0.0 if then is None or now is None or not whole else abs(now - then) / whole
