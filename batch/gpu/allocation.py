"""What each node advertises of each accelerator, what pods hold of it, and what becomes of the rest."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from batch.accelerators import NEURON, Kind, dedicates, of_kind
from batch.snapshot import views
from batch.snapshot.model import Snapshot

FREE_REASONS = ("usable", "stranded", "tainted", "cordoned", "not ready")
"""What becomes of free accelerators: the first can be requested, each later one outweighs those before it."""

ROOM_CPU_NANOCORES = 10**9
ROOM_MEMORY_BYTES = 1024**3
"""With less of either free, or no pod slot, hardly a pod with an accelerator starts: one core, one GiB."""

COUNTS = ["capacity_count", "allocatable_count", "requests_count"]
INTEGER = pd.ArrowDtype(pa.int64())


def allocated(snapshot: Snapshot) -> pd.DataFrame:
    """Give node, resource and COUNTS for each accelerator that a machine advertises, or that a pod on it holds.

    Virtual nodes are left out: what they advertise is no machine's. `requests_count` is the sum of effective requests of bound pods;
    NA when only some namespaces were read, because pods of the others may hold more.
    """
    nodes, offers = snapshot.table("nodes"), snapshot.table("node_resources")
    machines = nodes.loc[~nodes["virtual"], ["node"]]
    offers = offers.loc[offers["resource"].isin(of_kind(offers["resource"].unique(), Kind.ACCELERATOR))]
    bound = views.bound_pods(snapshot)[["namespace", "pod", "node"]]
    held = _requests(snapshot).merge(bound, on=["namespace", "pod"])
    requests = held.groupby(["node", "resource"])["requests_count"].sum().reset_index()
    rows = offers.merge(requests, on=["node", "resource"], how="outer").merge(machines, on="node")
    rows["requests_count"] = rows["requests_count"].fillna(0)
    rows = rows.loc[(rows[COUNTS] > 0).fillna(value=False).any(axis="columns")].reset_index(drop=True)
    rows = _one_name_for_each_silicon(rows)
    return rows if snapshot.namespaces is None else rows.assign(requests_count=pd.Series(pd.NA, index=rows.index, dtype=INTEGER))


def pending_pods(snapshot: Snapshot) -> int:
    """Count the pods that wait for a node and request an accelerator, without those that a scheduling gate holds back."""
    pods = snapshot.table("pods")
    waiting = pods.loc[pods["node"].isna() & (pods["phase"] == "Pending") & ~pods["gated"], ["namespace", "pod"]]
    return len(_requests(snapshot)[["namespace", "pod"]].drop_duplicates().merge(waiting, on=["namespace", "pod"]))


def free_reasons(snapshot: Snapshot) -> pd.Series:
    """Say for each node, by name, what becomes of its free accelerators.

    A node without a Ready condition is not known to be ready. A taint that keeps other pods off GPU nodes does not count.
    """
    nodes, taints = snapshot.table("nodes").set_index("node"), snapshot.table("node_taints")
    repelling = taints.loc[taints["effect"].isin(["NoSchedule", "NoExecute"])]
    keys = zip(repelling["node"], repelling["taint"], repelling["value"], strict=True)
    tainted = pd.Series(nodes.index.isin({node for node, key, value in keys if not dedicates(key, value)}), index=nodes.index)
    reasons = pd.Series(FREE_REASONS[0], index=nodes.index, dtype=views.TEXT)
    found: tuple[pd.Series, ...] = (_short_of_room(snapshot), tainted, ~nodes["schedulable"], ~nodes["ready"].fillna(value=False))
    for reason, holds in zip(FREE_REASONS[1:], found, strict=True):
        reasons = reasons.mask(holds, reason)
    return reasons


def _requests(snapshot: Snapshot) -> pd.DataFrame:
    """Rows of pod_resources that ask for an accelerator."""
    requests = snapshot.table("pod_resources")
    wanted = requests["resource"].isin(of_kind(requests["resource"].unique(), Kind.ACCELERATOR))
    return requests.loc[wanted & (requests["requests_count"] > 0)]


def _one_name_for_each_silicon(rows: pd.DataFrame) -> pd.DataFrame:
    """Fold the names of AWS Neuron into the finest one that a node advertises: adding them up would count the silicon twice."""
    neuron = rows["resource"].isin(NEURON)
    if not neuron.any():
        return rows
    return pd.concat([rows.loc[~neuron], *(_fold(group) for _, group in rows.loc[neuron].groupby("node"))], ignore_index=True)


def _fold(names: pd.DataFrame) -> pd.DataFrame:
    """Keep the row of the finest name, with what is requested under the others at the node's own ratio (4 cores a device, or 2)."""
    finest = names.loc[names["resource"] == next(name for name in NEURON if (names["resource"] == name).any())]
    units = finest["capacity_count"].iloc[0]
    known = names["capacity_count"].gt(0).fillna(value=False) & pd.notna(units)
    in_finest = names["requests_count"].where(~known, -(-names["requests_count"] * units // names["capacity_count"]))
    return finest.assign(requests_count=in_finest.sum()).astype(names.dtypes)


def _short_of_room(snapshot: Snapshot) -> pd.Series:
    """Whether a node lacks a core, a GiB or a pod slot; an amount that is not known is not held against it."""
    nodes = snapshot.table("nodes").set_index("node")
    pods = views.bound_pods(snapshot).groupby("node")
    requests = pods[["requests_cpu_nanocores", "requests_memory_bytes"]].sum().reindex(nodes.index).fillna(0)
    cpu = nodes["allocatable_cpu_nanocores"] - requests["requests_cpu_nanocores"] < ROOM_CPU_NANOCORES
    memory = nodes["allocatable_memory_bytes"] - requests["requests_memory_bytes"] < ROOM_MEMORY_BYTES
    slots = nodes["allocatable_pod_count"] - pods.size().astype(INTEGER).reindex(nodes.index).fillna(0) < 1
    return cpu.fillna(value=False) | memory.fillna(value=False) | slots.fillna(value=False)
