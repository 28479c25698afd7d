"""The tables of capacity: sums, node pools, what waits, minor resources, and nodes."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import CapacityPlan, MinorResource, Totals, Waiting
from batch.report.model import Bar, Column, Row, Table
from batch.report.sections.capacity_bars import AMOUNTS, BARS, FULL_RATIO
from batch.report.sections.capacity_nodes import nodes_table, virtual_table
from batch.report.sections.capacity_pools import pools_table, unusable_table
from batch.report.sections.material import is_partly_measured, plural, ratio


def tables(plan: CapacityPlan, *, shared: bool) -> dict[str, Table]:
    """Give the tables by name; those of nodes are empty where there are none, and left out when their pods are not all known (`shared`)."""
    notes = _notes(plan.totals)
    if shared:
        return {"totals": _totals_table(plan.totals, notes), "waiting": _waiting_table(plan.waiting)}
    return {
        **({} if plan.totals.node_count == 0 else {"totals": _totals_table(plan.totals, notes)}),
        "pools": pools_table(plan.pools, notes),
        "unusable": unusable_table(plan.pools),
        "waiting": _waiting_table(plan.waiting),
        "minor": _minor_table(plan.minor_resources),
        "nodes": nodes_table(plan.nodes, notes),
        "virtual": virtual_table(plan.nodes),
    }


def _notes(totals: Totals) -> tuple[Message, ...]:
    """Say below every figure of use how many pods it is of, when that is not all."""
    if not is_partly_measured(totals):
        return ()
    return (message("used: by the {some:count} of {all:count} pods measured", some=totals.measured_pod_count, all=totals.bound_pod_count),)


def _totals_table(totals: Totals, notes: tuple[Message, ...]) -> Table:
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
            _resource_row("CPU", "nanocores", totals, "cpu"),
            _resource_row("Memory", "bytes", totals, "memory"),
            _slots_row(totals),
        ),
        row_count=3,
        bars=BARS,
        notes=notes,
    )


def _resource_row(name: str, kind: str, totals: Totals, resource: str) -> Row:
    amount = AMOUNTS[resource]
    values = {state: getattr(totals, f"{state}_{amount}") for state in ("allocatable", "requests", "usage", "capacity", "machine_usage")}
    words = {state: None if value is None else message(f"{{value:{kind}}}", value=value) for state, value in values.items()}
    requested, used = (getattr(totals, f"{state}_{resource}_ratio") for state in ("requests", "usage"))
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
    taken = totals.bound_pod_ratio
    slots, pods = (
        None if count is None else message("{count:count}", count=count) for count in (totals.allocatable_pod_count, totals.bound_pod_count)
    )
    strained = frozenset({3} if taken is not None and taken >= FULL_RATIO else ())
    return Row(("Pods", slots, pods, taken, _NONE, _NONE, Bar(None, taken), _NONE, _NONE, _NONE), strained)


_NONE = ""
"""Stands in a cell that has no meaning, unlike None, which is unknown."""


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
                    ", ".join(f"{count:,} {resource}" for resource, count in row.resources.items()),
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
