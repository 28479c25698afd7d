"""The table of GPU nodes: their accelerators, product, and what is wrong with them."""

from __future__ import annotations

import pandas as pd

from batch.accelerators import ABSENT, PRESENCE_LABELS, PRODUCT_LABELS, Kind, of_kind, vendor
from batch.gpu.allocation import COUNTS, allocated, free_reasons
from batch.gpu.model import GPU_NODES
from batch.snapshot import views
from batch.snapshot.model import Snapshot

NO_RESOURCE = ""
"""Stands for the resource of a node that looks like a GPU node and advertises none."""


def gpu_nodes(snapshot: Snapshot, pool_label: str | None) -> pd.DataFrame:
    """Give the table GPU_NODES, ordered by node and resource; empty in a cluster without accelerators.

    `pool_label` is the node label that names the pool (setting pools.label). Requests, and what rests on them, are NA when only some
    namespaces were read.
    """
    labels = _accelerator_labels(snapshot)
    rows = allocated(snapshot)
    rows["free_count"] = (rows["allocatable_count"] - rows["requests_count"]).clip(lower=0)
    rows["free_reason"] = rows["node"].map(free_reasons(snapshot)).astype(views.TEXT).where(rows["free_count"].notna())
    rows["problem"] = pd.Series([_problem(*row) for row in rows[COUNTS].itertuples(index=False)], index=rows.index, dtype=views.TEXT)
    rows = pd.concat([rows, _silent_nodes(snapshot, rows, labels)], ignore_index=True).sort_values(["node", "resource"])
    rows["pool"] = rows["node"].map(views.pools(snapshot, pool_label))
    rows["product"] = [_product(labels, *row) for row in zip(rows["node"], rows["resource"], strict=True)]
    return GPU_NODES.from_columns({column.name: list(rows[column.name]) for column in GPU_NODES.columns})


def _accelerator_labels(snapshot: Snapshot) -> dict[tuple[str, str], str]:
    """Value of each (node, label) that says that the node has accelerators."""
    labels = snapshot.table("node_labels")
    labels = labels.loc[labels["label"].isin(PRESENCE_LABELS)]
    rows = zip(labels["node"], labels["label"], labels["value"], strict=True)
    return {(node, label): value for node, label, value in rows if value.lower() not in ABSENT}


def _silent_nodes(snapshot: Snapshot, rows: pd.DataFrame, labels: dict[tuple[str, str], str]) -> pd.DataFrame:
    """Rows for machines that are labelled as GPU nodes and advertise nothing that looks like an accelerator."""
    nodes, offers = snapshot.table("nodes"), snapshot.table("node_resources")
    offers = offers.loc[(offers["capacity_count"] > 0) | (offers["allocatable_count"] > 0)]
    hints = of_kind(offers["resource"].unique(), Kind.ACCELERATOR, Kind.AMOUNT, Kind.UNKNOWN)
    speaking = {*offers.loc[offers["resource"].isin(hints), "node"], *rows["node"]}
    silent = nodes.loc[~nodes["virtual"] & nodes["node"].isin({node for node, _ in labels} - speaking), ["node"]]
    return silent.assign(resource=NO_RESOURCE, problem="labelled as a GPU node but advertises none")


def _product(labels: dict[tuple[str, str], str], node: str, resource: str) -> str | None:
    """Product by the labels of the resource's vendor; by any vendor's where the node advertises nothing."""
    own = PRODUCT_LABELS.get(vendor(resource) or "", [label for every in PRODUCT_LABELS.values() for label in every])
    return next((labels[node, label] for label in own if (node, label) in labels), None)


def _problem(capacity: int, allocatable: int, requests: int) -> str | None:
    """Say what is wrong with the counts (each may be NA) of one resource on one node."""
    problems = []
    if pd.isna(allocatable):
        problems.append("allocatable is not stated")
    elif pd.notna(capacity) and capacity > allocatable:
        problems.append(f"{capacity - allocatable} of {capacity} not allocatable")
    if pd.notna(requests) and pd.notna(allocatable) and requests > allocatable:
        problems.append(f"{requests} requested, {allocatable} allocatable")
    return "; ".join(problems) or None
