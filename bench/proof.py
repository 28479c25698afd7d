"""Proof that a large cluster was read right: expected.json against the tables of a Snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from batch.snapshot.model import Snapshot
from bench.amounts import GPU

_FINISHED = ("Succeeded", "Failed")
_OF_NODES = (
    "capacity_cpu_nanocores",
    "capacity_memory_bytes",
    "allocatable_cpu_nanocores",
    "allocatable_memory_bytes",
    "allocatable_pod_count",
)
_OF_PODS = ("requests_cpu_nanocores", "requests_memory_bytes", "limits_cpu_nanocores", "limits_memory_bytes")
_MACHINE = ("machine_usage_cpu_nanocores", "machine_usage_memory_bytes")
_USAGE = ("usage_cpu_nanocores", "usage_memory_bytes")


def differences(snapshot: Snapshot, folder: Path) -> dict[str, tuple[object, object]]:
    """Give each total that is not as expected: what was found, and what was expected."""
    expected = json.loads((folder / "expected.json").read_text())["totals"]
    found = _of_nodes(snapshot) | _of_pods(snapshot)
    return {name: (found.get(name), expected.get(name)) for name in found | expected if found.get(name) != expected.get(name)}


def _of_nodes(snapshot: Snapshot) -> dict[str, object]:
    nodes, usage, resources = snapshot.table("nodes"), snapshot.table("node_usage"), snapshot.table("node_resources")
    gpus = resources.loc[resources["resource"] == GPU]
    return {
        **_sums(nodes, _OF_NODES),
        **_sums(usage, _MACHINE),
        "node_count": len(nodes),
        "ready_node_count": int(nodes["ready"].sum()),
        "measured_node_count": len(usage),
        "capacity_gpu_count": int(gpus["capacity_count"].sum()),
        "allocatable_gpu_count": int(gpus["allocatable_count"].sum()),
    }


def _of_pods(snapshot: Snapshot) -> dict[str, object]:
    pods, usage, resources = snapshot.table("pods"), snapshot.table("container_usage"), snapshot.table("pod_resources")
    bound = pods.loc[pods["node"].notna() & ~pods["phase"].isin(_FINISHED)]
    gpus = resources.loc[resources["resource"] == GPU].merge(bound[["namespace", "pod"]])
    return {
        **_sums(bound, _OF_PODS),
        **_sums(usage, _USAGE),
        "requests_gpu_count": int(gpus["requests_count"].sum()),
        "bound_pod_count": len(bound),
        "measured_pod_count": len(usage[["namespace", "pod"]].drop_duplicates()),
        "pending_pod_count": int((pods["node"].isna() & (pods["phase"] == "Pending")).sum()),
        "pod_count_by_phase": {str(phase): int(count) for phase, count in pods["phase"].value_counts().items()},
    }


def _sums(frame: pd.DataFrame, columns: tuple[str, ...]) -> dict[str, object]:
    """Add up columns; at this size no sum comes near 64 bits."""
    return {column: int(frame[column].sum()) for column in columns}
