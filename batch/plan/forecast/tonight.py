"""Tonight as later runs will remember it: its figures in one row, and its workloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd
import pyarrow as pa

from batch.plan.model import CapacityPlan, Pool, Totals
from batch.plan.rightsizing.model import NAMELESS
from batch.snapshot.model import Snapshot
from batch.snapshot.summaries import WORKLOADS, Level, Summary, Workloads

_STATES = ["requests_cpu_nanocores", "requests_memory_bytes", "usage_cpu_nanocores", "usage_memory_bytes"]


def summarize(snapshot: Snapshot, plan: CapacityPlan, accelerators: Iterable[Level]) -> Summary:
    """Give the figures of tonight. `accelerators` are the levels of GPUs, which another check knows."""
    totals = plan.totals
    cost = _monthly_cost(snapshot, plan)
    return Summary(
        date=snapshot.date,
        run_id=snapshot.run_id,
        taken_at=snapshot.taken_at,
        complete=snapshot.complete,
        namespaces=snapshot.namespaces,
        node_count=totals.node_count,
        ready_node_count=totals.ready_node_count,
        bound_pod_count=totals.bound_pod_count,
        pending_pod_count=totals.pending_pod_count,
        monthly_cost=cost,
        currency=plan.prices.currency if cost is not None else None,
        levels=(*_levels(None, totals), *(level for pool in plan.pools for level in _levels(pool.name, pool)), *accelerators),
    )


def workloads(snapshot: Snapshot, bound: pd.DataFrame) -> Workloads:
    """Add up the bound pods (with their usage) of each workload; what has no lasting name is one row a namespace."""
    pods = bound.assign(workload=bound["workload"].mask(bound["workload_kind"].isin(NAMELESS), ""))
    grouped = pods.groupby(["workload_kind", "namespace", "workload"], sort=True)
    table = grouped[_STATES].sum(min_count=1)
    table.insert(0, "pod_count", grouped.size())
    rows = table.reset_index().rename(columns={"workload_kind": "kind"})
    return Workloads(snapshot.date, snapshot.run_id, pa.Table.from_pandas(rows, schema=WORKLOADS.arrow, preserve_index=False))


def _levels(pool: str | None, of: Totals | Pool) -> Iterator[Level]:
    """Read CPU, memory and pod slots of the totals or of a pool, which name them alike."""
    yield Level(pool, "cpu", of.allocatable_cpu_nanocores, of.requests_cpu_nanocores, of.usage_cpu_nanocores)
    yield Level(pool, "memory", of.allocatable_memory_bytes, of.requests_memory_bytes, of.usage_memory_bytes)
    yield Level(pool, "pods", of.allocatable_pod_count, of.bound_pod_count)


def _monthly_cost(snapshot: Snapshot, plan: CapacityPlan) -> float | None:
    """Add up what the physical nodes cost in a month; None unless there are some and all of them have a price."""
    nodes = plan.nodes.loc[~plan.nodes["virtual"]]
    if not snapshot.has("nodes") or not len(nodes) or nodes["instance_type"].isna().any():
        return None
    costs = [plan.prices.monthly(str(flavor), int(count)) for flavor, count in nodes["instance_type"].value_counts().items()]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 2) if len(known) == len(costs) else None
