"""The tables of capacity: sums, node pools, what is out of reach, and nodes."""

from __future__ import annotations

import pandas as pd

from batch.findings import Message, message
from batch.plan.model import NODE_CAPACITY, CapacityPlan, MinorResource, Pool, Totals, Waiting
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.material import plural, ratio

FULL_RATIO = 0.9
"""Share of requests from which a number is printed warm; the finding about full pools uses the same."""

_AMOUNTS = {"cpu": "cpu_nanocores", "memory": "memory_bytes"}
_BARS = ("used", "requested", "not requested")


def tables(plan: CapacityPlan) -> dict[str, Table]:
    """Give the tables by name; those of nodes are empty where there are none."""
    return {
        "totals": _totals_table(plan.totals),
        "pools": _pools_table(plan.pools),
        "unusable": _unusable_table(plan.pools),
        "waiting": _waiting_table(plan.waiting),
        "minor": _minor_table(plan.minor_resources),
        "nodes": _nodes_table(plan.nodes),
    }


def _totals_table(totals: Totals) -> Table:
    return Table(
        what="resources",
        columns=(
            Column(""),
            Column("Allocatable", "amount", "What pods may use"),
            Column("Requested", "amount", "What pods may use"),
            Column("", "ratio", "What pods may use"),
            Column("Used", "amount", "What pods may use"),
            Column("", "ratio", "What pods may use"),
            Column("", "bar", "What pods may use"),
            Column("Capacity", "amount", "The machines"),
            Column("Used", "amount", "The machines"),
            Column("", "ratio", "The machines"),
        ),
        rows=(
            _resource_row("CPU", "nanocores", totals, "cpu_nanocores"),
            _resource_row("Memory", "bytes", totals, "memory_bytes"),
            _slots_row(totals),
        ),
        row_count=3,
        bars=_BARS,
    )


def _resource_row(name: str, kind: str, totals: Totals, amount: str) -> Row:
    values = {state: getattr(totals, f"{state}_{amount}") for state in ("allocatable", "requests", "usage", "capacity", "machine_usage")}
    words = {state: None if value is None else message(f"{{value:{kind}}}", value=value) for state, value in values.items()}
    requested, used = ratio(values["requests"], values["allocatable"]), ratio(values["usage"], values["allocatable"])
    return Row(
        (
            name,
            words["allocatable"],
            words["requests"],
            requested,
            words["usage"],
            used,
            Bar(used, requested),
            words["capacity"],
            words["machine_usage"],
            ratio(values["machine_usage"], getattr(totals, f"measured_capacity_{amount}")),
        ),
        strained=frozenset({3} if requested is not None and requested >= FULL_RATIO else ()),
    )


def _slots_row(totals: Totals) -> Row:
    taken = ratio(totals.bound_pod_count, totals.allocatable_pod_count)
    slots, pods = (
        None if count is None else message("{count:count}", count=count) for count in (totals.allocatable_pod_count, totals.bound_pod_count)
    )
    strained = frozenset({3} if taken is not None and taken >= FULL_RATIO else ())
    return Row(("Pods", slots, pods, taken, _NONE, _NONE, Bar(None, taken), _NONE, _NONE, _NONE), strained)


_NONE = ""
"""Stands in a cell that has no meaning, unlike None, which is unknown."""


def _pools_table(pools: tuple[Pool, ...]) -> Table:
    rows = sorted((_pool_row(pool) for pool in pools), key=lambda pair: (-pair[0], pair[1].cells[0]))
    return Table(
        what="node pools",
        title=_pools_title(pools),
        order="fullest",
        columns=(
            Column("Node pool", "name"),
            Column("Nodes", "count"),
            Column("Requested", "ratio", "CPU"),
            Column("", "bar", "CPU"),
            Column("Room", "nanocores", "CPU"),
            Column("Requested", "ratio", "Memory"),
            Column("", "bar", "Memory"),
            Column("Room", "bytes", "Memory"),
            Column("Room", "count", "Pods"),
            Column("Out of reach", group="Nodes"),
        ),
        rows=tuple(row for _, row in rows[:MOST_ROWS]),
        row_count=len(rows),
        file="tables/pools.csv",
        bars=_BARS,
    )


def _pools_title(pools: tuple[Pool, ...]) -> Message:
    room = [pool for pool in pools if pool.headroom_cpu_nanocores is not None and pool.headroom_memory_bytes is not None]
    if not room:
        return message("How much room each node pool has is unknown")
    return message(
        "Room for ordinary pods: {cpu:nanocores} and {memory:bytes}",
        cpu=sum(pool.headroom_cpu_nanocores or 0 for pool in room),
        memory=sum(pool.headroom_memory_bytes or 0 for pool in room),
    )


def _pool_row(pool: Pool) -> tuple[float, Row]:
    """Give a pool with its fullest share, by which pools are ordered."""
    shares = {
        resource: ratio(getattr(pool, f"requests_{amount}"), getattr(pool, f"allocatable_{amount}"))
        for resource, amount in _AMOUNTS.items()
    }
    used = {
        resource: ratio(getattr(pool, f"usage_{amount}"), getattr(pool, f"allocatable_{amount}")) for resource, amount in _AMOUNTS.items()
    }
    places = {"cpu": 2, "memory": 5, "pods": 8}
    cells = (
        pool.name,
        pool.node_count,
        shares["cpu"],
        Bar(used["cpu"], shares["cpu"]),
        pool.headroom_cpu_nanocores,
        shares["memory"],
        Bar(used["memory"], shares["memory"]),
        pool.headroom_memory_bytes,
        pool.headroom_pod_count,
        ", ".join(f"{unusable.node_count} {unusable.reason}" for unusable in pool.unusable),
    )
    slots = ratio(pool.bound_pod_count, pool.allocatable_pod_count)
    full = {places[name] for name, share in {**shares, "pods": slots}.items() if share is not None and share >= FULL_RATIO}
    first = {places[pool.binding_resource]} if pool.binding_resource else set()
    fullest = max((share for share in (*shares.values(), slots) if share is not None), default=0.0)
    return fullest, Row(cells, strained=frozenset(full), strong=frozenset(first))


def _unusable_table(pools: tuple[Pool, ...]) -> Table:
    rows = tuple(
        Row(
            (
                pool.name,
                unusable.reason,
                unusable.node_count,
                unusable.headroom_cpu_nanocores,
                unusable.headroom_memory_bytes,
                unusable.headroom_pod_count,
            )
        )
        for pool in pools
        for unusable in pool.unusable
    )
    return Table(
        what="node pools and reasons",
        title=message("Out of reach for ordinary pods"),
        columns=(
            Column("Node pool", "name"),
            Column("Why"),
            Column("Nodes", "count"),
            Column("CPU", "nanocores", "Not requested there"),
            Column("Memory", "bytes", "Not requested there"),
            Column("Pods", "count", "Not requested there"),
        ),
        rows=rows[:MOST_ROWS],
        row_count=len(rows),
    )


def _waiting_table(waiting: tuple[Waiting, ...]) -> Table:
    pods = sum(row.pod_count for row in waiting)
    return Table(
        what="kinds of waiting",
        title=message(f"{{pods:count}} {plural(pods, 'pod')} {'waits' if pods == 1 else 'wait'} to run", pods=pods),
        columns=(
            Column("What waits"),
            Column("Objects", "count"),
            Column("Pods", "count"),
            Column("CPU", "nanocores", "Will ask for"),
            Column("Memory", "bytes", "Will ask for"),
            Column("Other", group="Will ask for"),
        ),
        rows=tuple(
            Row(
                (
                    _WAITING[row.what],
                    row.object_count,
                    row.pod_count,
                    row.requests_cpu_nanocores,
                    row.requests_memory_bytes,
                    ", ".join(f"{count} {resource}" for resource, count in row.resources.items()),
                )
            )
            for row in waiting
        ),
        row_count=len(waiting),
    )


_WAITING = {
    "pending": "Pods that no node takes yet",
    "nominated": "Pods that wait for others to leave a node",
    "gated": "Pods that scheduling gates hold back",
    "suspended Jobs": "Suspended Jobs, once they are resumed",
}


def _minor_table(resources: tuple[MinorResource, ...]) -> Table:
    return Table(
        what="resources",
        title=message("Huge pages and ephemeral storage"),
        columns=(
            Column("Resource", "name"),
            Column("Nodes", "count"),
            Column("Allocatable", "bytes"),
            Column("Requested", "bytes"),
            Column("", "ratio"),
            Column("", "bar"),
        ),
        rows=tuple(_minor_row(resource) for resource in resources),
        row_count=len(resources),
    )


def _minor_row(resource: MinorResource) -> Row:
    share = ratio(resource.requests_bytes, resource.allocatable_bytes)
    return Row((resource.resource, resource.node_count, resource.allocatable_bytes, resource.requests_bytes, share, Bar(None, share)))


def _nodes_table(nodes: pd.DataFrame) -> Table:
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
        bars=_BARS,
    )


def _fullest(nodes: pd.DataFrame) -> pd.DataFrame:
    """Order nodes by the largest share that is requested of one of their resources; nodes of unknown size come last."""
    pairs = [(f"requests_{amount}", f"allocatable_{amount}") for amount in _AMOUNTS.values()] + [("pod_count", "allocatable_pod_count")]
    shares = pd.DataFrame({part: nodes[part].astype("Float64") / nodes[whole].astype("Float64") for part, whole in pairs})
    order = shares.max(axis="columns").rename("share").to_frame().assign(node=nodes["node"])
    return nodes.loc[order.sort_values(["share", "node"], ascending=[False, True], na_position="last").index]


def _node_row(node: dict[str, object]) -> Row:
    shares, bars = {}, {}
    for resource, amount in _AMOUNTS.items():
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
