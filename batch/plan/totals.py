"""The cluster in numbers: physical nodes that were listed, and the pods bound to them."""

from __future__ import annotations

import pandas as pd

from batch.plan.measured import is_measured, total
from batch.plan.model import Totals
from batch.plan.pools import ratios
from batch.snapshot import views
from batch.snapshot.model import Snapshot

_SIZES = ["allocatable_cpu_nanocores", "allocatable_memory_bytes"]


def totals(snapshot: Snapshot, pods: pd.DataFrame, nodes: pd.DataFrame) -> Totals:
    """Add up exactly. `pods` are all pods with their usage (measured.with_usage), `nodes` has the schema NODE_CAPACITY.

    Nodes that were not read leave every node figure None; the pods that are on some node are then counted whichever node it is. What pods
    request and use is of those that were read.
    """
    nodes_read = snapshot.has("nodes")
    physical = nodes.loc[~nodes["virtual"]]
    held = pods.loc[pods["node"].notna() & ~pods["phase"].isin(views.FINISHED)]
    bound = held.loc[held["node"].isin(physical["node"])] if nodes_read else held
    measured = bound.loc[is_measured(bound)]
    waiting = pods["phase"].eq("Pending") & pods["node"].isna()

    def of_nodes(frame: pd.DataFrame, column: str) -> int | None:
        return total(frame[column]) if nodes_read else None

    preemptible = bound.loc[bound["priority"].fillna(0) < 0]
    hardware = snapshot.table("nodes")
    hardware = hardware.loc[~hardware["virtual"]]
    machines = physical.loc[physical[["machine_usage_cpu_nanocores", "machine_usage_memory_bytes"]].notna().any(axis="columns")]
    reporting = hardware.loc[hardware["node"].isin(machines["node"])]
    return Totals(
        node_count=len(physical) if nodes_read else None,
        ready_node_count=int(physical["ready"].fillna(value=False).sum()) if nodes_read else None,
        pod_count_by_phase={str(phase): int(count) for phase, count in pods["phase"].value_counts().sort_index().items()},
        bound_pod_count=len(bound),
        allocatable_pod_count=of_nodes(physical, "allocatable_pod_count"),
        capacity_cpu_nanocores=of_nodes(hardware, "capacity_cpu_nanocores"),
        allocatable_cpu_nanocores=of_nodes(physical, "allocatable_cpu_nanocores"),
        requests_cpu_nanocores=total(bound["requests_cpu_nanocores"]),
        limits_cpu_nanocores=views.total(bound["limits_cpu_nanocores"]) or 0,
        usage_cpu_nanocores=views.total(measured["usage_cpu_nanocores"]),
        machine_usage_cpu_nanocores=views.total(machines["machine_usage_cpu_nanocores"]),
        capacity_memory_bytes=of_nodes(hardware, "capacity_memory_bytes"),
        allocatable_memory_bytes=of_nodes(physical, "allocatable_memory_bytes"),
        requests_memory_bytes=total(bound["requests_memory_bytes"]),
        limits_memory_bytes=views.total(bound["limits_memory_bytes"]) or 0,
        usage_memory_bytes=views.total(measured["usage_memory_bytes"]),
        machine_usage_memory_bytes=views.total(machines["machine_usage_memory_bytes"]),
        measured_pod_count=len(measured),
        measured_node_count=len(machines),
        pending_pod_count=int((waiting & ~pods["gated"]).sum()),
        gated_pod_count=int(pods["gated"].sum()),
        unknown_node_pod_count=int((~held["node"].isin(nodes["node"])).sum()) if nodes_read else None,
        virtual_node_count=len(nodes) - len(physical) if nodes_read else None,
        measured_capacity_cpu_nanocores=views.total(reporting["capacity_cpu_nanocores"]),
        measured_capacity_memory_bytes=views.total(reporting["capacity_memory_bytes"]),
        preemptible_pod_count=len(preemptible),
        preemptible_requests_cpu_nanocores=total(preemptible["requests_cpu_nanocores"]),
        preemptible_requests_memory_bytes=total(preemptible["requests_memory_bytes"]),
        virtual_pod_count=int(held["node"].isin(nodes.loc[nodes["virtual"], "node"]).sum()) if nodes_read else None,
        sized_node_count=int(physical[_SIZES].notna().all(axis="columns").sum()) if nodes_read else None,
        **ratios(physical),
    )
