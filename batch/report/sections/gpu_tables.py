"""Tables about what accelerators there are, what pods hold and do with them, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd

from batch.findings import Message, Money, message
from batch.gpu.model import GPU_NODES, Cost, DevicePool, GpuAssessment, GpuResource, Holder, Share
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.gpu_room_tables import room_tables
from batch.report.sections.gpu_words import OUT_OF_REACH
from batch.report.sections.material import plural, ratio

_MOST_SHARES = 12
"""Node pools or namespaces that are listed in the report."""


def tables(gpu: GpuAssessment, taken_at: datetime) -> dict[str, Table]:
    """Give the tables that have rows, by the name that the template uses."""
    problems = gpu.nodes.loc[gpu.nodes["problem"].notna()]
    found = {
        "resources": _resources_table(gpu.resources),
        "devices": _devices_table(gpu.pools),
        "shares": _shares_table(gpu),
        "holders": _holders_table(gpu, taken_at),
        "costs": _costs_table(gpu),
        **room_tables(gpu),
        "problems": _problems_table(problems),
        "nodes": _nodes_table(gpu.nodes.loc[gpu.nodes["resource"] != ""]),
    }
    return {name: table for name, table in found.items() if table.rows}


def _resources_table(resources: Sequence[GpuResource]) -> Table:
    return Table(
        what="resources and products",
        title=message("What is advertised, requested and free"),
        columns=(
            Column("Product", "name"),
            Column("Resource", "name"),
            Column("All", "count", "Nodes"),
            Column("Idle", "count", "Nodes"),
            Column("Cards", "count"),
            Column("Installed", "count", "Units"),
            Column("Allocatable", "count", "Units"),
            Column("Requested", "count", "Units"),
            Column("", "ratio"),
            Column("Usable", "count", "Free"),
            Column("Stranded", "count", "Free"),
            Column("Out of reach", "count", "Free"),
        ),
        rows=tuple(map(_resource_row, resources[:MOST_ROWS])),
        row_count=len(resources),
        file="tables/gpu-resources.csv",
    )


def _resource_row(resource: GpuResource) -> Row:
    free = resource.free_by_reason
    cells = (
        resource.product or "unknown",
        resource.resource,
        resource.node_count,
        resource.idle_node_count,
        resource.card_count,
        resource.capacity_count,
        resource.allocatable_count,
        resource.requests_count,
        ratio(resource.requests_count, resource.allocatable_count),
        free.get("usable") if free else None,
        resource.stranded_count,
        sum(free.get(reason, 0) for reason in OUT_OF_REACH) if free else None,
    )
    warm = {place for place in (3, 10, 11) if cells[place]}
    missing = None not in (resource.capacity_count, resource.allocatable_count) and resource.capacity_count != resource.allocatable_count
    return Row(cells, strained=frozenset(warm | ({6} if missing else set())))


def _devices_table(pools: Sequence[DevicePool]) -> Table:
    up_to = any(pool.up_to for pool in pools)
    incomplete = [pool for pool in pools if not pool.complete]
    ordered = [*incomplete, *(pool for pool in pools if pool.complete)]
    notes = [message("up to: devices of the pool exclude each other")] if up_to else []
    return Table(
        what="pools of devices",
        title=message("Devices of dynamic resource allocation"),
        order="incomplete" if incomplete and len(pools) > 1 else "",
        columns=(
            Column("Driver", "name"),
            Column("Pool", "name"),
            Column("Product", "name"),
            Column("Cards", "count"),
            Column("All", "amount", "Devices"),
            Column("Allocated", "count", "Devices"),
            Column("Free", "count", "Devices"),
            Column("Unusable", "count", "Devices"),
            Column("Slices"),
        ),
        rows=tuple(map(_device_row, ordered[:MOST_ROWS])),
        row_count=len(pools),
        file="tables/gpu-devices.csv",
        notes=tuple(notes),
    )


def _device_row(pool: DevicePool) -> Row:
    all_of_them = message(f"{'up to ' if pool.up_to else ''}{{count:count}}", count=pool.device_count)
    cells = (
        pool.driver,
        pool.pool,
        pool.product or "",
        pool.card_count if pool.accelerator else "",
        all_of_them,
        pool.allocated_count,
        pool.free_count,
        pool.unusable_count,
        "complete" if pool.complete else f"{pool.found_slice_count} of {pool.slice_count}, incomplete",
    )
    return Row(cells, strained=frozenset({place for place in (7,) if pool.unusable_count} | (set() if pool.complete else {8})))


def _shares_table(gpu: GpuAssessment) -> Table:
    """List node pools and namespaces; the workloads are in the file."""
    groups = [[share for share in gpu.shares if share.by == by] for by in ("pool", "namespace")]
    shown = [share for own in groups for share in own[:_MOST_SHARES]]
    worked = any(share.hours.gpu_hours is not None for share in shown)
    columns = (
        Column("By"),
        Column("Name", "name"),
        Column("Pods", "count"),
        Column("All", "count", "Cards"),
        Column("Requested", "amount", "Cards"),
        Column("", "bar", "Cards"),
    )
    activity = (
        Column("Busy", "ratio"),
        Column("Held", "count", "GPU-hours"),
        Column("Idle", "count", "GPU-hours"),
        Column("", "ratio", "GPU-hours"),
        Column("Memory", "bytes"),
    )
    return Table(
        what="pools, namespaces and workloads",
        title=message("Who holds them, and what works") if worked else message("Who holds them"),
        columns=(*columns, *activity) if worked else columns,
        rows=tuple(_share_row(share, worked=worked) for share in shown),
        row_count=len(gpu.shares),
        file="tables/gpu-shares.csv",
        notes=(message("Memory: the most that one device had in use"),) if worked else (),
    )


def _share_row(share: Share, *, worked: bool) -> Row:
    hours = share.hours
    held = ratio(share.requests_cards, share.allocatable_cards)
    idle = ratio(hours.idle_gpu_hours, hours.gpu_hours)
    cells = (
        "node pool" if share.by == "pool" else share.by,
        share.name,
        share.pod_count,
        share.allocatable_cards if share.by == "pool" else "",
        _cards(share.requests_cards),
        Bar(None, held) if share.by == "pool" else "",
    )
    more = (hours.usage_ratio_mean, _hours(hours.gpu_hours), _hours(hours.idle_gpu_hours), idle, share.memory_used_max_bytes)
    return Row((*cells, *more) if worked else cells, strained=frozenset({9} if worked and idle is not None and idle > 0.5 else ()))  # noqa: PLR2004  most of it


def _holders_table(gpu: GpuAssessment, taken_at: datetime) -> Table:
    worked = any(one.gpu_hours is not None for one in gpu.holders)
    owned = any(one.owner for one in gpu.holders)
    named = len(gpu.metrics) > 1
    columns = (
        Column("Pod", "name"),
        Column("Workload", "name"),
        *((Column("Owner", "name"),) if owned else ()),
        Column("Resource", "name"),
        Column("Units", "count"),
        Column("Age"),
        *(
            (
                Column("Last active"),
                Column("Mean", "ratio", "Busy"),
                Column("p95", "ratio", "Busy"),
                *((Column("By", "text", "Busy"),) if named else ()),
                Column("Idle hours", "count"),
            )
            if worked
            else ()
        ),
        Column("Deadline"),
    )
    return Table(
        what="holders",
        title=message("Pods that hold them, the most idle first") if worked else message("Pods that hold them"),
        order="most idle" if worked else "largest",
        columns=columns,
        rows=tuple(_holder_row(one, gpu, taken_at, (worked, owned, named)) for one in gpu.holders[:MOST_ROWS]),
        row_count=len(gpu.holders),
        file="tables/gpu-holders.csv",
    )


def _holder_row(one: Holder, gpu: GpuAssessment, taken_at: datetime, shown: tuple[bool, bool, bool]) -> Row:
    """Give one row; `shown` says whether it has activity, owners, and the metric of the activity."""
    worked, owned, named = shown
    activity = (
        "now" if one.idle is False else _last_active(one, gpu, taken_at),
        one.usage_ratio_mean,
        one.usage_ratio_p95,
        *((one.activity_metric and one.activity_metric.replace("DCGM_FI_", ""),) if named else ()),
        _hours(one.idle_gpu_hours),
    )
    cells = (
        f"{one.namespace}/{one.pod}",
        f"{one.workload_kind} {one.workload}" if one.workload_kind != "Pod" else "alone",
        *((one.owner or "",) if owned else ()),
        one.resource,
        one.count,
        _seconds(one.age_seconds),
        *(activity if worked else ()),
        {True: "yes", False: "none", None: None}[one.has_deadline],
    )
    place = 5 + owned
    return Row(cells, strained=frozenset({place} if worked and one.idle else ()))


def _last_active(one: Holder, gpu: GpuAssessment, taken_at: datetime) -> Message | None:
    if one.last_active_at is not None:
        return message("{seconds:seconds} ago", seconds=max(0, (taken_at - one.last_active_at).total_seconds()))
    return message("not in {window:seconds}", window=gpu.window_seconds) if one.idle else None


def _seconds(seconds: float | None) -> Message | None:
    return None if seconds is None else message("{seconds:seconds}", seconds=max(0, seconds))


def _costs_table(gpu: GpuAssessment) -> Table:
    rows = tuple(_cost_row(cost, gpu.costs.currency) for cost in gpu.costs.by_product)
    missing = gpu.costs.unpriced
    return Table(
        what="products with a price",
        title=message("What idle and stranded ones cost in a month"),
        columns=(Column("Product", "name"), Column("A card for an hour", "amount"), Column("Idle", "amount"), Column("Stranded", "amount")),
        rows=rows,
        notes=(message("Idle hours at the rate of the window; stranded cards as now; 730 hours a month"),)
        + ((message("without a price: {names:text}", names=", ".join(missing)),) if missing else ()),
    )


def _cost_row(cost: Cost, currency: str) -> Row:
    amounts = (cost.per_hour, cost.idle_monthly_cost, cost.stranded_monthly_cost)
    return Row((cost.product, *(None if a is None else message("{money:money}", money=Money(a, currency)) for a in amounts)))


def _problems_table(problems: pd.DataFrame) -> Table:
    rows = GPU_NODES.to_arrow(problems.head(MOST_ROWS)).to_pylist()
    return Table(
        what=f"GPU {plural(len(problems), 'node')} with a problem",
        title=message("Nodes with a problem"),
        columns=(Column("Node", "name"), Column("Pool", "name"), Column("Resource", "name"), Column("Problem")),
        rows=tuple(Row((row["node"], row["pool"], row["resource"] or "none", row["problem"])) for row in rows),
        row_count=len(problems),
        file="tables/gpu-nodes.csv",
    )


def _nodes_table(nodes: pd.DataFrame) -> Table:
    ordered = nodes.sort_values(["free_count", "node", "resource"], ascending=[False, True, True], na_position="last")
    several = len(nodes["resource"].unique()) > 1
    busy = bool(nodes["usage_ratio_mean"].notna().any())
    rows = GPU_NODES.to_arrow(ordered.head(MOST_ROWS)).to_pylist()
    return Table(
        what="GPU nodes",
        title=message("Where the free ones are"),
        order="emptiest",
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("Product", "name"),
            *((Column("Resource", "name"),) if several else ()),
            Column("Cards", "count"),
            Column("Allocatable", "count"),
            Column("Requested", "count"),
            Column("Free", "count"),
            *((Column("Busy", "ratio"),) if busy else ()),
            Column("Free ones are"),
        ),
        rows=tuple(_node_row(row, several=several, busy=busy) for row in rows),
        row_count=len(nodes),
        file="tables/gpu-nodes.csv",
    )


def _node_row(node: dict[str, object], *, several: bool, busy: bool) -> Row:
    lost = bool(node["free_count"]) and node["free_reason"] != "usable"
    cells = (
        node["node"],
        node["pool"],
        node["product"],
        *((node["resource"],) if several else ()),
        node["card_count"],
        node["allocatable_count"],
        node["requests_count"],
        node["free_count"],
        *((node["usage_ratio_mean"],) if busy else ()),
        node["free_reason"] if node["free_count"] else "",
    )
    return Row(cells, strained=frozenset({len(cells) - 1} if lost else ()))


def _cards(count: float | None) -> Message | None:
    return None if count is None else message("{count:count}", count=round(count, 2))


def _hours(hours: float | None) -> float | None:
    return None if hours is None else round(hours, 1)
