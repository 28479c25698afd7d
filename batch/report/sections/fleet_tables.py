"""The table and the chart of fleets: nodes of each flavor, what they have together, and how full they would be."""

from __future__ import annotations

from collections.abc import Sequence

from batch.findings import message
from batch.plan.model import CapacityPlan
from batch.plan.model_packing import Fleet
from batch.report.model import MOST_ROWS, Chart, Column, Fill, Fills, Row, Table
from batch.report.sections.fleet_facts import Today, right_sized, shown, today
from batch.report.sections.headroom_tables import WORDS
from batch.report.sections.material import plural

_DRAWN = 12
"""Flavors in the chart: as many as can be compared at a glance."""

_SHARES = ("cpu", "memory")


def table(plan: CapacityPlan, fleets: Sequence[Fleet]) -> Table:
    """Give one line a flavor, after one for the nodes of today."""
    sized, prices = bool(plan.right_sized_fleets.fleets), plan.prices
    priced = any(fleet.monthly_cost is not None for fleet in fleets)
    now = today(plan)
    rows = [_fleet_row(plan, fleet, sized=sized, priced=priced, chosen=fleet is fleets[0]) for fleet in fleets]
    if now:
        rows = [_today_row(now, sized=sized, priced=priced), *rows]
    return Table(
        what="flavors",
        title=message("How many nodes of each flavor would do"),
        order="those without GPUs that hold nearly all pods, the least of these"
        if not fleets[0].gpu_count
        else "those that hold nearly all pods",
        columns=(
            Column("Flavor", "name"),
            Column("CPU", "nanocores", "A node"),
            Column("Memory", "bytes", "A node"),
            Column("Needed", "count", "Nodes"),
            Column("At least", "count", "Nodes"),
            *((Column("Right-sized", "count", "Nodes"),) if sized else ()),
            Column("CPU", "nanocores", "In all"),
            Column("Memory", "bytes", "In all"),
            Column("CPU", "ratio", "Requested"),
            Column("Memory", "ratio", "Requested"),
            Column("Fills first"),
            Column("Pods left over", "count"),
            *((Column(f"{prices.currency} a month", "amount"),) if priced else ()),
        ),
        rows=tuple(rows[:MOST_ROWS]),
        row_count=len(rows),
        file="tables/fleets.csv",
    )


def _today_row(now: Today, *, sized: bool, priced: bool) -> Row:
    return Row(
        (
            "Nodes of today",
            "",
            "",
            now.node_count,
            "",
            *(("",) if sized else ()),
            now.cpu_nanocores,
            now.memory_bytes,
            now.cpu_ratio,
            now.memory_ratio,
            "",
            "",
            *(("",) if priced else ()),
        )
    )


def _fleet_row(plan: CapacityPlan, fleet: Fleet, *, sized: bool, priced: bool, chosen: bool) -> Row:
    binding = fleet.binding_resource
    other = right_sized(plan, fleet)
    cost = None if fleet.monthly_cost is None else message("{cost:money}", cost=plan.prices.amount(fleet.monthly_cost, (fleet.flavor,)))
    cells = (
        fleet.flavor,
        fleet.cpu_nanocores,
        fleet.memory_bytes,
        fleet.node_count,
        fleet.lower_bound_node_count,
        *((_right_sized_nodes(fleet, other),) if sized else ()),
        fleet.cpu_nanocores * fleet.node_count,
        fleet.memory_bytes * fleet.node_count,
        fleet.requests_ratio.get("cpu"),
        fleet.requests_ratio.get("memory"),
        WORDS.get(binding, binding) if binding else "",
        fleet.unplaced_pod_count,
        *((cost,) if priced else ()),
    )
    first_share = 8 if sized else 7
    fills_first = {first_share + _SHARES.index(binding)} if binding in _SHARES else set()
    return Row(cells, strong=frozenset(fills_first), chosen=chosen)


def _right_sized_nodes(fleet: Fleet, sized: Fleet | None) -> object:
    """Give the nodes for the recommended requests, with the pods left over where these are not as many as the line says."""
    if sized is None or sized.unplaced_pod_count == fleet.unplaced_pod_count:
        return sized and sized.node_count
    return message("{nodes:count}, {left:count} left over", nodes=sized.node_count, left=sized.unplaced_pod_count)


def chart(plan: CapacityPlan, fleets: Sequence[Fleet]) -> Chart:
    """Draw how full the nodes of the first fleets would be, by CPU and by memory, beside those of today."""
    best, now = fleets[0], today(plan)
    rows = [_fill(fleet, chosen=fleet is best) for fleet in shown(fleets, _DRAWN)]
    if now:
        rows = [Fill("Nodes of today", now.cpu_ratio, now.memory_ratio, now.node_count), *rows]
    return Chart(
        title=message(
            "Nodes of {flavor:text} would be filled to {cpu:ratio} of their CPU and {memory:ratio} of their memory",
            flavor=best.flavor,
            cpu=best.requests_ratio.get("cpu"),
            memory=best.requests_ratio.get("memory"),
        ),
        subtitle=message(
            "Share of what pods may use that is requested, DaemonSets included, when pods are packed onto one flavor; at the right the nodes that takes. The further both marks are to the right, the less is bought in vain. Flavors with equal nodes are drawn once."
        ),
        alt=message(
            f"For each flavor two marks between 0 and 100 %: the share of CPU and of memory that is requested. {{flavor:text}}: {{cpu:ratio}} and {{memory:ratio}} on {{nodes:count}} {plural(best.node_count, 'node')}.",
            flavor=best.flavor,
            cpu=best.requests_ratio.get("cpu"),
            memory=best.requests_ratio.get("memory"),
            nodes=best.node_count,
        ),
        drawing=Fills(tuple(rows)),
    )


def _fill(fleet: Fleet, *, chosen: bool) -> Fill:
    return Fill(fleet.flavor, fleet.requests_ratio.get("cpu"), fleet.requests_ratio.get("memory"), fleet.node_count, chosen=chosen)
