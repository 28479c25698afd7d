"""The tables of node pools: how full each is, what is left, and what is out of reach."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import Pool
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.capacity_bars import AMOUNTS, BARS, FULL_RATIO


def pools_table(pools: tuple[Pool, ...], notes: tuple[Message, ...]) -> Table:
    """List the pools, fullest first. `notes` stand below the table."""
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
        bars=BARS,
        notes=notes,
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
    shares, used = ({resource: getattr(pool, f"{state}_{resource}_ratio") for resource in AMOUNTS} for state in ("requests", "usage"))
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
        ", ".join(f"{unusable.node_count:,} {unusable.reason}" for unusable in pool.unusable),
    )
    slots = pool.bound_pod_ratio
    full = {places[name] for name, share in {**shares, "pods": slots}.items() if share is not None and share >= FULL_RATIO}
    first = {places[pool.binding_resource]} if pool.binding_resource else set()
    fullest = max((share for share in (*shares.values(), slots) if share is not None), default=0.0)
    return fullest, Row(cells, strained=frozenset(full), strong=frozenset(first))


def unusable_table(pools: tuple[Pool, ...]) -> Table:
    """List what nobody requests on nodes that ordinary pods cannot use."""
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
