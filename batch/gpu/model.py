"""GpuAssessment and its parts. A count is of the resource as advertised: a slot is not a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from batch.findings import Finding
from batch.snapshot.schema import INTEGER, TEXT, Column, Schema

GPU_NODES = Schema(
    "gpu_nodes",
    "one row for each node and accelerator resource that it advertises, and one without resource for a node that looks like a GPU node and advertises none",
    ("node", "resource"),
    (
        Column("node", TEXT, "name of the node"),
        Column("pool", TEXT, "node pool"),
        Column("resource", TEXT, "name of the resource; empty when the node advertises none"),
        Column("product", TEXT, "product by the node's labels", nullable=True),
        Column("capacity_count", INTEGER, "installed, in the resource's own unit", "count", nullable=True),
        Column("allocatable_count", INTEGER, "usable by pods", "count", nullable=True),
        Column("requests_count", INTEGER, "effective requests of bound pods", "count", nullable=True),
        Column("free_count", INTEGER, "max(0, allocatable - requests)", "count", nullable=True),
        Column("free_reason", TEXT, "usable, stranded, tainted, cordoned or not ready: what becomes of the free ones", nullable=True),
        Column("problem", TEXT, "what is wrong with the node as a GPU node", nullable=True),
    ),
)


@dataclass(frozen=True)
class GpuResource:
    """One accelerator resource of one product over all nodes.

    `free_by_reason` splits `unrequested_count` by what becomes of it: usable, stranded, tainted, cordoned, not ready.
    `largest_free_block` counts nodes by how many are free on them. `idle_node_count`: nodes without a single request.
    Everything that rests on requests is None, or empty, when only some namespaces were read: the rest may hold the others.
    `card_count` is None where the resource does not say how many cards are behind it.
    """

    resource: str
    product: str | None
    node_count: int
    capacity_count: int | None
    allocatable_count: int
    requests_count: int | None
    unrequested_count: int | None
    stranded_count: int | None
    free_by_reason: Mapping[str, int]
    idle_node_count: int | None
    largest_free_block: Mapping[int, int]
    card_count: int | None = None


@dataclass(frozen=True)
class GpuAssessment:
    """Everything about accelerators. `nodes` has the schema GPU_NODES; `unknown_resources` look like accelerators of no known vendor."""

    resources: tuple[GpuResource, ...]
    nodes: pd.DataFrame
    unknown_resources: tuple[str, ...]
    pending_pod_count: int
    findings: tuple[Finding, ...]
