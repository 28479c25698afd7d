"""Huge pages and ephemeral storage: resources of their own, which no sum of memory contains."""

from __future__ import annotations

import pandas as pd

from batch.plan.measured import total
from batch.plan.model import MinorResource
from batch.snapshot.model import Snapshot


def minor_resources(snapshot: Snapshot, nodes: pd.DataFrame, bound: pd.DataFrame) -> tuple[MinorResource, ...]:
    """Give one row for each that some physical node has. The kubelet has already taken huge pages out of allocatable memory.

    Requests are None when only some namespaces were read.
    """
    partial = snapshot.namespaces is not None
    physical = nodes.loc[~nodes["virtual"], "node"]
    on_nodes = snapshot.table("node_resources")
    on_nodes = on_nodes.loc[on_nodes["node"].isin(physical) & _is_minor(on_nodes["resource"])]
    held = bound.loc[bound["node"].isin(physical), ["namespace", "pod"]].merge(snapshot.table("pod_resources"), on=["namespace", "pod"])
    return tuple(
        MinorResource(
            str(resource),
            int((rows["allocatable_count"].fillna(1) > 0).sum()),
            total(rows["allocatable_count"]),
            None if partial else total(held.loc[held["resource"] == resource, "requests_count"]),
        )
        for resource, rows in on_nodes.groupby("resource", sort=True)
        if (rows["allocatable_count"].fillna(1) > 0).any()
    )


def _is_minor(resources: pd.Series) -> pd.Series:
    return resources.str.startswith("hugepages-") | resources.eq("ephemeral-storage")
