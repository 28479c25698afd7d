"""Pods with what they use: the reading that every other part of the plan starts from."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from batch.snapshot import views
from batch.snapshot.model import Gap, Snapshot

USAGE = ["usage_cpu_nanocores", "usage_memory_bytes"]


def with_usage(snapshot: Snapshot, max_age_seconds: float) -> pd.DataFrame:
    """Give `pods` with usage_cpu_nanocores and usage_memory_bytes; NA for a pod that does not run or was not measured.

    Only Running pods are measured pods: what is said of a finished one belongs to its past.
    """
    pods = snapshot.table("pods").merge(views.pod_usage(snapshot, max_age_seconds), how="left", on=["namespace", "pod"], validate="1:1")
    pods[USAGE] = pods[USAGE].where(pods["phase"] == "Running")
    return pods


def is_measured(pods: pd.DataFrame) -> pd.Series:
    """Tell which rows have a measurement of anything."""
    return pods[USAGE].notna().any(axis="columns")


def newest_node_usage(snapshot: Snapshot, max_age_seconds: float) -> pd.DataFrame:
    """Give the newest row of `node_usage` of each node that is not older than `max_age_seconds` at taken_at, indexed by node."""
    usage = snapshot.table("node_usage")
    fresh = usage.loc[usage["measured_at"] >= pd.Timestamp(snapshot.taken_at) - pd.Timedelta(seconds=max_age_seconds)]
    return fresh.sort_values("measured_at", kind="stable").drop_duplicates("node", keep="last").set_index("node")


def age_gaps(snapshot: Snapshot, max_age_seconds: float) -> tuple[Gap, ...]:
    """Say how many pods and machines count as not measured because the newest they have is older than `max_age_seconds` at taken_at."""
    found = (
        _age_gap(snapshot, "podmetrics", "container_usage", ["namespace", "pod"], max_age_seconds),
        _age_gap(snapshot, "nodemetrics", "node_usage", ["node"], max_age_seconds),
    )
    return tuple(filter(None, found))


def _age_gap(snapshot: Snapshot, source: str, table: str, names: list[str], max_age_seconds: float) -> Gap | None:
    newest = snapshot.table(table).groupby(names)["measured_at"].max()
    old = newest.loc[newest < pd.Timestamp(snapshot.taken_at) - pd.Timedelta(seconds=max_age_seconds)]
    if old.empty:
        return None
    reason = f"{len(old)} of {len(newest)} were measured more than {max_age_seconds:.0f} s before the report's time, the latest of them at {old.max():%Y-%m-%d %H:%M} UTC"
    return Gap(
        source, reason, "What they use counts as unknown. usage.max_age_seconds sets the age; --now sets the time of a dump's report."
    )


def total(values: Iterable[object]) -> int | None:
    """Sum what is known, exactly: 0 when there is nothing to sum, None when there is something and none of it is known."""
    listed = list(values)
    return views.total(listed) if listed else 0
