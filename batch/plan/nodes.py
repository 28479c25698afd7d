"""The nodes: what each may give, has promised and really gives, and whether ordinary pods can use it."""

from __future__ import annotations

import pandas as pd

from batch.plan.measured import USAGE, newest_node_usage
from batch.plan.model import NODE_CAPACITY
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot

NOT_READY, CORDONED, TAINTED = "not ready", "cordoned", "tainted"

REPELLING = ("NoSchedule", "NoExecute")
"""Taint effects that keep ordinary pods away; PreferNoSchedule only advises (kubernetes.io, "Taints and Tolerations")."""

_COUNT = "pod_count"
_REQUESTS = ["requests_cpu_nanocores", "requests_memory_bytes"]
_MACHINE = ["machine_usage_cpu_nanocores", "machine_usage_memory_bytes"]


def node_capacity(snapshot: Snapshot, bound: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Give NODE_CAPACITY, one row for each listed node in order of name.

    `bound` are the bound pods with their usage (measured.with_usage). Usage is the sum over the pods that were measured, requests that over the
    pods whose requests are known: of the others it says how many there are, for what they leave of the node is unknown. What pods hold of a
    node is NA when only some namespaces were read: pods of the others are on the same nodes.
    """
    nodes = snapshot.table("nodes").sort_values("node").set_index("node")
    nodes["pool"] = views.pools(snapshot, settings.pools.label).reindex(nodes.index)
    nodes["unusable"] = _unusable(snapshot, nodes)
    nodes[_COUNT] = _counted(bound["node"], nodes)
    requests = views.exact_sums(bound, "node", _REQUESTS).reindex(nodes.index)
    unreadable = _counted(bound.loc[bound[_REQUESTS].isna().any(axis="columns"), "node"], nodes)
    nodes["unreadable_pod_count"] = unreadable.mask(requests.isna().any(axis="columns"), nodes[_COUNT])
    nodes[_REQUESTS] = requests.fillna(0)
    nodes[USAGE] = views.exact_sums(bound, "node", USAGE).reindex(nodes.index)
    if snapshot.namespaces is not None:
        nodes.loc[:, [_COUNT, *_REQUESTS, *USAGE]] = pd.NA
    nodes[_MACHINE] = newest_node_usage(snapshot, settings.usage.max_age_seconds)[_MACHINE].reindex(nodes.index)
    nodes = _as_bought(nodes, bound)
    frame = nodes.reset_index()[[column.name for column in NODE_CAPACITY.columns]]
    NODE_CAPACITY.check(frame)
    return frame


def _counted(names: pd.Series, nodes: pd.DataFrame) -> pd.Series:
    return names.value_counts().reindex(nodes.index).fillna(0).astype(views.INTEGER)


def _as_bought(nodes: pd.DataFrame, bound: pd.DataFrame) -> pd.DataFrame:
    """Give virtual nodes what was bought for their pods, where the pods tell: their own size is that of a machine nobody may fill."""
    provisioned = views.exact_sums(bound, "node", ["provisioned_cpu_nanocores", "provisioned_memory_bytes"]).reindex(nodes.index)
    for resource in ("cpu_nanocores", "memory_bytes"):
        bought = provisioned[f"provisioned_{resource}"]
        nodes[f"allocatable_{resource}"] = nodes[f"allocatable_{resource}"].mask(nodes["virtual"] & bought.notna(), bought)
    return nodes


def _unusable(snapshot: Snapshot, nodes: pd.DataFrame) -> pd.Series:
    """Name the first reason that applies; a node that does not say whether it is ready gets no pods, so it is not ready."""
    taints = snapshot.table("node_taints")
    repelling = taints.loc[taints["effect"].isin(REPELLING), "node"]
    reason = pd.Series(pd.NA, index=nodes.index, dtype=views.TEXT)
    reason = reason.mask(nodes.index.isin(repelling), TAINTED)
    reason = reason.mask(~nodes["schedulable"], CORDONED)
    return reason.mask(~nodes["ready"].fillna(value=False), NOT_READY)
