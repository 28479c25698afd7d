"""Readings of a snapshot that several checks share: pools, bound pods, usage a pod, totals."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import pyarrow as pa

from batch.snapshot.model import Snapshot

POOL_LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
)
"""Labels that name a node pool, in the order in which they are tried."""

FINISHED = ("Succeeded", "Failed")
"""Phases in which a pod holds nothing any more."""

INTEGER = pd.ArrowDtype(pa.int64())
TEXT = pd.ArrowDtype(pa.string())


def total(values: Iterable[object]) -> int | None:
    """Sum exactly, beyond 64 bits; None when nothing is known (all values NA, or no values)."""
    known = [int(v) for v in values if v is not None and v is not pd.NA]  # type: ignore[call-overload]
    return sum(known) if known else None


def pools(snapshot: Snapshot, label: str | None) -> pd.Series:
    """Node pool of each node, indexed by node name.

    By `label` when one is given, else the first of POOL_LABELS that the node has, else its instance type, else "none".
    """
    nodes = snapshot.table("nodes")
    labels = snapshot.table("node_labels")
    pool = pd.Series(pd.NA, index=pd.Index(nodes["node"], dtype=TEXT), dtype=TEXT, name="pool")
    for key in (label,) if label else POOL_LABELS:
        chosen = labels.loc[labels["label"] == key].set_index("node")["value"]
        pool = pool.fillna(chosen.reindex(pool.index))
    if not label:
        pool = pool.fillna(nodes.set_index("node")["instance_type"].reindex(pool.index))
    return pool.replace("", pd.NA).fillna("none")


def bound_pods(snapshot: Snapshot) -> pd.DataFrame:
    """Rows of `pods` that hold room on a node that was listed: bound, and neither Succeeded nor Failed."""
    pods = snapshot.table("pods")
    held = pods["node"].notna() & ~pods["phase"].isin(FINISHED)
    return pods.loc[held & pods["node"].isin(snapshot.table("nodes")["node"])]


def pod_usage(snapshot: Snapshot, max_age_seconds: float) -> pd.DataFrame:
    """Usage of each measured pod: namespace, pod, usage_cpu_nanocores, usage_memory_bytes.

    The newest measurement of each container that is not older than `max_age_seconds` at taken_at, summed over the pod's
    containers. A pod with a container whose value is NA has NA: a part is not the whole.
    """
    usage = snapshot.table("container_usage")
    usage = usage.loc[usage["measured_at"] >= pd.Timestamp(snapshot.taken_at) - pd.Timedelta(seconds=max_age_seconds)]
    newest = usage.sort_values("measured_at", kind="stable").drop_duplicates(["namespace", "pod", "container"], keep="last")
    columns = ["usage_cpu_nanocores", "usage_memory_bytes"]
    grouped = newest.groupby(["namespace", "pod"], sort=True)[columns]
    sums, known, sizes = grouped.sum(), grouped.count(), grouped.size()
    for column in columns:
        sums[column] = sums[column].astype(INTEGER).mask(known[column] < sizes)
    return sums.reset_index()
