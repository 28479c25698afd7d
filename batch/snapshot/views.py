"""Readings of a snapshot that several checks share: pools, bound pods, usage a pod, totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import CONTAINER_USAGE, CONTAINERS

POOL_LABELS = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
)
"""Labels that name a node pool, in the order in which they are tried."""

FINISHED = ("Succeeded", "Failed")
"""Phases in which a pod holds nothing any more."""

_POD = ["namespace", "pod"]
_USAGE = ["usage_cpu_nanocores", "usage_memory_bytes"]

_EXACT = pa.decimal128(38, 0)
"""Holds every sum of 64-bit integers that there can be; Arrow adds up int64 as int64 and says nothing when it wraps around."""

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


@dataclass(frozen=True)
class Sampling:
    """How often usage of pods was measured, and from when to when (None: never)."""

    sample_count: int
    first_at: datetime | None
    last_at: datetime | None


def sampling(snapshot: Snapshot, max_age_seconds: float) -> Sampling:
    """Tell on how many distinct measurements of a pod the usage rests at most, and over what time they spread."""
    usage = fresh_usage(snapshot, max_age_seconds)
    if not len(usage):
        return Sampling(0, None, None)
    instants = (
        usage.select(["namespace", "pod", "measured_at"]).group_by(["namespace", "pod"]).aggregate([("measured_at", "count_distinct")])
    )
    moments = pc.min_max(usage["measured_at"]).as_py()
    return Sampling(pc.max(instants["measured_at_count_distinct"]).as_py(), moments["min"], moments["max"])


def pod_usage(snapshot: Snapshot, max_age_seconds: float) -> pd.DataFrame:
    """Usage of each measured pod: namespace, pod, usage_cpu_nanocores, usage_memory_bytes.

    Of the measurements not older than `max_age_seconds` at taken_at: at each instant the sum over the pod's containers; then over the
    instants the mean for CPU, which is shared in time, and the largest for memory, which is not. An instant at which a container is missing, or
    its value is NA, does not count: a part is not the whole. A sum beyond 64 bits is NA.
    """
    whole = _at_whole_instants(snapshot, fresh_usage(snapshot, max_age_seconds))
    pods = whole.group_by(_POD).aggregate([("usage_cpu_nanocores", "sum"), ("usage_cpu_nanocores", "count"), ("usage_memory_bytes", "max")])
    counts = pods["usage_cpu_nanocores_count"]
    counts = pc.if_else(pc.equal(counts, 0), pa.scalar(None, pa.int64()), counts)
    rounded_up = pc.subtract(pc.add(_in_64_bits(pods["usage_cpu_nanocores_sum"]), counts), 1)
    frame: pd.DataFrame = (
        pa.table(
            {
                "namespace": pods["namespace"],
                "pod": pods["pod"],
                "usage_cpu_nanocores": pc.divide(rounded_up, counts),
                "usage_memory_bytes": _in_64_bits(pods["usage_memory_bytes_max"]),
            }
        )
        .sort_by([("namespace", "ascending"), ("pod", "ascending")])
        .to_pandas(types_mapper=pd.ArrowDtype)
    )
    return frame


def _at_whole_instants(snapshot: Snapshot, usage: pa.Table) -> pa.Table:
    """Sum up each pod at each instant, as decimals; NA where a container is missing or has no value.

    What is measured beside the pod's app containers and sidecars, such as an ephemeral container, is added.
    """
    containers = CONTAINERS.to_arrow(snapshot.table("containers")).select([*_POD, "container", "kind"])
    running = containers.filter(pc.is_in(containers["kind"], pa.array(["app", "sidecar"]))).rename_columns([*_POD, "container", "expected"])
    expected = running.group_by(_POD).aggregate([("container", "count")])
    exact = usage.join(running, [*_POD, "container"])
    for column in _USAGE:
        exact = exact.set_column(exact.column_names.index(column), column, exact[column].cast(_EXACT))
    nulls = pc.CountOptions(mode="only_null")
    summed = exact.group_by([*_POD, "measured_at"]).aggregate(
        [(column, "sum") for column in _USAGE] + [(column, "count", nulls) for column in _USAGE] + [("expected", "count")]
    )
    summed = summed.join(expected, _POD)
    is_whole = pc.greater_equal(summed["expected_count"], pc.coalesce(summed["container_count"], 0))
    whole = summed.select(_POD)
    for column in _USAGE:
        known = pc.and_(is_whole, pc.equal(summed[f"{column}_count"], 0))
        whole = whole.append_column(column, pc.if_else(known, summed[f"{column}_sum"], pa.scalar(None, _EXACT)))
    return whole


def exact_sums(frame: pd.DataFrame, by: str, columns: Sequence[str]) -> pd.DataFrame:
    """Add up integer columns by a text column, which is the index; NA where nothing is known, and where the sum is beyond 64 bits."""
    table = pa.table({by: pa.array(frame[by], TEXT.pyarrow_dtype), **{c: pa.array(frame[c], pa.int64()).cast(_EXACT) for c in columns}})
    some = pc.ScalarAggregateOptions(min_count=1)
    summed = table.group_by(by).aggregate([(column, "sum", some) for column in columns])
    found = pa.table({by: summed[by], **{column: _in_64_bits(summed[f"{column}_sum"]) for column in columns}})
    sums: pd.DataFrame = found.to_pandas(types_mapper=pd.ArrowDtype)
    return sums.set_index(by)


def _in_64_bits(exact: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give decimals as integers; what does not fit, with room for a count to be added, is NA."""
    fits = pc.less_equal(exact, pa.scalar(Decimal(2**62), _EXACT))
    return pc.if_else(fits, exact, pa.scalar(None, _EXACT)).cast(pa.int64())


def fresh_usage(snapshot: Snapshot, max_age_seconds: float) -> pa.Table:
    """Give the rows of `container_usage` whose measurement is not older than `max_age_seconds` at taken_at."""
    usage = CONTAINER_USAGE.to_arrow(snapshot.table("container_usage"))
    oldest = snapshot.taken_at - timedelta(seconds=max_age_seconds)
    return usage.filter(pc.greater_equal(usage["measured_at"], pa.scalar(oldest, usage["measured_at"].type)))
