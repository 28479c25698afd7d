"""The tables of nodes: how full each is; and virtual nodes, which have no size of their own."""

from __future__ import annotations

import pandas as pd

from batch.findings import Message, message
from batch.plan.model import NODE_CAPACITY
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.capacity_bars import AMOUNTS, BARS, FULL_RATIO
from batch.report.sections.material import ratio

_VIRTUAL = (
    "node",
    "pool",
    "pod_count",
    "requests_cpu_nanocores",
    "usage_cpu_nanocores",
    "requests_memory_bytes",
    "usage_memory_bytes",
)


def nodes_table(nodes: pd.DataFrame, notes: tuple[Message, ...]) -> Table:
    """List the physical nodes of NODE_CAPACITY, fullest first. `notes` stand below the table."""
    physical = _fullest(nodes.loc[~nodes["virtual"]])
    return Table(
        what="nodes",
        title=message("How full each node is"),
        order="fullest",
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("State"),
            Column("Pods", "count"),
            Column("", "nanocores", "CPU"),
            Column("Requested", "ratio", "CPU"),
            Column("", "bar", "CPU"),
            Column("", "bytes", "Memory"),
            Column("Requested", "ratio", "Memory"),
            Column("", "bar", "Memory"),
        ),
        rows=tuple(_node_row(row) for row in NODE_CAPACITY.to_arrow(physical.head(MOST_ROWS)).to_pylist()),
        row_count=len(physical),
        file="tables/nodes.csv",
        bars=BARS,
        notes=notes,
    )


def _fullest(nodes: pd.DataFrame) -> pd.DataFrame:
    """Order nodes by the largest share that is requested of one of their resources; nodes of unknown size come last."""
    pairs = [(f"requests_{amount}", f"allocatable_{amount}") for amount in AMOUNTS.values()] + [("pod_count", "allocatable_pod_count")]
    shares = pd.DataFrame({part: nodes[part].astype("Float64") / nodes[whole].astype("Float64") for part, whole in pairs})
    order = shares.max(axis="columns").rename("share").to_frame().assign(node=nodes["node"])
    return nodes.loc[order.sort_values(["share", "node"], ascending=[False, True], na_position="last").index]


def _node_row(node: dict[str, object]) -> Row:
    shares, bars = {}, {}
    for resource, amount in AMOUNTS.items():
        whole = node[f"allocatable_{amount}"]
        shares[resource] = ratio(node[f"requests_{amount}"], whole)  # type: ignore[arg-type]  # integers or None, by the schema
        bars[resource] = Bar(ratio(node[f"usage_{amount}"], whole), shares[resource])  # type: ignore[arg-type]  # as above
    ready = {True: "ready", False: "not ready", None: "unknown"}[node["ready"]]  # type: ignore[index]  # a flag, by the schema
    state = str(node["unusable"] or ready)
    cells = (
        node["node"],
        node["pool"],
        state,
        node["pod_count"],
        node["allocatable_cpu_nanocores"],
        shares["cpu"],
        bars["cpu"],
        node["allocatable_memory_bytes"],
        shares["memory"],
        bars["memory"],
    )
    full = {place for place, share in ((5, shares["cpu"]), (8, shares["memory"])) if share is not None and share >= FULL_RATIO}
    return Row(cells, strained=frozenset(full | ({2} if state in ("not ready", "unknown") else set())))


def virtual_table(nodes: pd.DataFrame) -> Table:
    """List the virtual nodes of NODE_CAPACITY, those with most pods first."""
    virtual = nodes.loc[nodes["virtual"]].sort_values(["pod_count", "node"], ascending=[False, True], na_position="last")
    rows = NODE_CAPACITY.to_arrow(virtual.head(MOST_ROWS)).to_pylist()
    return Table(
        what="virtual nodes",
        title=message("What pods on virtual nodes ask for"),
        order="most pods",
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("Pods", "count"),
            Column("Requested", "nanocores", "CPU", "CPU"),
            Column("Used", "nanocores", "CPU", "CPU"),
            Column("Requested", "bytes", "Memory", "Memory"),
            Column("Used", "bytes", "Memory", "Memory"),
        ),
        rows=tuple(Row(tuple(row[name] for name in _VIRTUAL)) for row in rows),
        row_count=len(virtual),
        file="tables/nodes.csv",
    )
