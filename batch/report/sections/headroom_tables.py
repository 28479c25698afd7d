"""The tables of headroom: what still fits into each pool, losses, and nodes that could be emptied."""

from __future__ import annotations

from collections.abc import Sequence

from batch.findings import message
from batch.plan.losses import NO_NODE
from batch.plan.model_packing import EmptyableNode, FreeNode, Headroom, Loss, PoolRoom, TypicalPod
from batch.report.model import MOST_ROWS, Column, Row, Table
from batch.report.sections.material import plural

_EXAMPLES = 2
"""Nodes that could be emptied that a row names; all are in the file."""

_NAMED = 1
"""Workloads without a place that a row names; all are in report.json."""

WORDS = {"cpu": "CPU", "memory": "memory", "pods": "pod slots"}
"""What resources are called in a sentence; others by their own name."""


def tables(found: Headroom) -> dict[str, Table]:
    """Give the tables by name."""
    return {"rooms": _rooms(found.pools), "losses": _losses(found.losses), "emptyable": _emptyable(found.emptyable)}


def _rooms(pools: Sequence[PoolRoom]) -> Table:
    ordered = sorted(pools, key=lambda room: (room.typical_fit_count is None, room.typical_fit_count or 0, room.pool))
    has_further = any(room.typical and room.typical.resources for room in pools)
    return Table(
        what="node pools",
        title=message("What still fits"),
        order="fewest",
        columns=(
            Column("Node pool", "name"),
            Column("Nodes", "count"),
            Column("CPU", "nanocores", "A typical pod asks for"),
            Column("Memory", "bytes", "A typical pod asks for"),
            *((Column("Other", group="A typical pod asks for"),) if has_further else ()),
            Column("Still fit", "count", "Of these"),
            Column("In one piece", "count", "Of these"),
            Column("First to run out", group="Of these"),
            Column("CPU", "nanocores", "Most CPU"),
            Column("Memory", "bytes", "Most CPU"),
            Column("CPU", "nanocores", "Most memory"),
            Column("Memory", "bytes", "Most memory"),
        ),
        rows=tuple(_room_row(room, has_further=has_further) for room in ordered[:MOST_ROWS]),
        row_count=len(pools),
        file="tables/headroom.csv",
        notes=(message("Most CPU, most memory: the largest pods that still fit, each on one node"),),
    )


def _room_row(room: PoolRoom, *, has_further: bool) -> Row:
    binding = room.typical_binding_resource
    cells = (
        room.pool,
        room.open_node_count,
        *_typical(room.typical, has_further=has_further),
        _or_blank(room.typical, room.typical_fit_count),
        _or_blank(room.typical, room.typical_fit_whole_count),
        WORDS.get(binding, binding) if binding else "",
        *_free(room.largest_cpu_fit),
        *_free(room.largest_memory_fit),
    )
    fit = 5 if has_further else 4
    return Row(cells, strained=frozenset({fit} if room.typical_fit_count == 0 else ()), strong=frozenset({fit}))


def _typical(typical: TypicalPod | None, *, has_further: bool) -> tuple[object, ...]:
    if typical is None:
        return ("", "", "") if has_further else ("", "")
    further = ", ".join(f"{count:,} {resource}" for resource, count in typical.resources.items())
    return (typical.cpu_nanocores, typical.memory_bytes, *((further,) if has_further else ()))


def _or_blank(typical: TypicalPod | None, count: int | None) -> object:
    return "" if typical is None else count


def _free(node: FreeNode | None) -> tuple[object, object]:
    return ("", "") if node is None else (node.cpu_nanocores, node.memory_bytes)


def _losses(losses: Sequence[Loss]) -> Table:
    ordered = sorted(losses, key=lambda loss: (-loss.unplaced_pod_count, loss.what == "node", -loss.pod_count, loss.name))
    return Table(
        what="losses",
        title=message("What the loss of a zone, or of the largest node of a pool, would do"),
        order="those that leave most pods without a place",
        columns=(
            Column("Lost"),
            Column("Pool", "name"),
            Column("Nodes", "count"),
            Column("Pods to move", "count"),
            Column("Pods", "count", "Find no place"),
            Column("CPU", "nanocores", "Find no place"),
            Column("Memory", "bytes", "Find no place"),
            Column("Which", group="Find no place"),
        ),
        rows=tuple(_loss_row(loss) for loss in ordered[:MOST_ROWS]),
        row_count=len(losses),
        file="tables/losses.csv",
    )


def _loss_row(loss: Loss) -> Row:
    left = loss.unplaced_pod_count
    cells = (
        f"zone {loss.name}" if loss.what == "zone" else loss.name,
        loss.pool or "",
        loss.node_count,
        loss.pod_count,
        left,
        loss.unplaced_requests_cpu_nanocores if left else "",
        loss.unplaced_requests_memory_bytes if left else "",
        _which(loss),
    )
    return Row(cells, strained=frozenset({4} if left else ()))


def _which(loss: Loss) -> str:
    """Name the workloads with most pods without a place; those that no remaining node may take are marked."""
    named = [
        f"{one.namespace}/{one.workload}{' (no other node may take it)' if one.reason == NO_NODE else ''}"
        for one in loss.unplaced_workloads[:_NAMED]
    ]
    others = len(loss.unplaced_workloads) - len(named)
    return ", ".join(named) + (f" and {others} more" if others else "")


def _emptyable(nodes: Sequence[EmptyableNode]) -> Table:
    cpu, memory, moved = (
        sum(getattr(one, name) for one in nodes) for name in ("allocatable_cpu_nanocores", "allocatable_memory_bytes", "moved_pod_count")
    )
    by_pool: dict[str, list[EmptyableNode]] = {}
    for one in nodes:
        by_pool.setdefault(one.pool, []).append(one)
    pools = sorted(by_pool.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return Table(
        what="node pools",
        order="those with most of them",
        title=message(
            f"{{count:count}} {plural(len(nodes), 'node')} could be emptied, with {{cpu:nanocores}} and {{memory:bytes}}",
            count=len(nodes),
            cpu=cpu,
            memory=memory,
        ),
        columns=(
            Column("Node pool", "name"),
            Column("Nodes", "count"),
            Column("Pods to move", "count"),
            Column("CPU", "nanocores", "Allocatable"),
            Column("Memory", "bytes", "Allocatable"),
            Column("Such as"),
        ),
        rows=tuple(_emptyable_row(pool, members) for pool, members in pools[:MOST_ROWS]),
        row_count=len(pools),
        file="tables/emptyable-nodes.csv",
        total=Row(("All of them", len(nodes), moved, cpu, memory, "")) if len(pools) > 1 else None,
    )


def _emptyable_row(pool: str, members: Sequence[EmptyableNode]) -> Row:
    cells = (
        pool,
        len(members),
        sum(one.moved_pod_count for one in members),
        sum(one.allocatable_cpu_nanocores for one in members),
        sum(one.allocatable_memory_bytes for one in members),
        ", ".join(one.node for one in members[:_EXAMPLES]),
    )
    return Row(cells)
