"""GPUs: what is advertised, requested and free, and what becomes of the free ones."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import Message, message
from batch.gpu.model import GPU_NODES, GpuAssessment, GpuResource
from batch.report.model import MOST_ROWS, Chart, Column, Row, Section, Stacks, Table
from batch.report.sections.material import Material, plural, ratio

SLUG = "gpus"

_OUT_OF_REACH = ("tainted", "cordoned", "not ready")
_MOST_BARS = 12
"""Bars that a chart shows at one glance; the table below it has all."""


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about accelerators; one sentence when there are none."""
    gpu = material.gpu
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="GPUs",
            title=_title(gpu, nodes_read=material.snapshot.has("nodes")),
            lede=tuple(_lede(gpu)),
            how_to_read=_HOW_TO_READ if gpu.resources else (),
            findings=material.findings_of(SLUG),
            tables=_tables(gpu),
            charts={"allocation": _chart(gpu.resources)} if _drawable(gpu.resources) else {},
        ),
    )


_HOW_TO_READ = (
    message(
        "A resource counts in its own unit, as its device plugin advertises it: a slot, a slice or a thousandth of a card is not a card. Different resources are not added up."
    ),
    message(
        "Free is allocatable less requested, node by node. Stranded ones are free on ready, schedulable nodes that have less than one core, less than one GiB or no pod slot left."
    ),
    message(
        "A node counts under its first reason in the order not ready, cordoned, tainted, stranded. A taint that only keeps pods without a GPU away does not count."
    ),
    message(
        "Idle nodes are those without a single request. Requested says nothing about work: whether a requested GPU computes is not measured here."
    ),
)


def _title(gpu: GpuAssessment, *, nodes_read: bool) -> Message:
    if not nodes_read:
        return message("Whether there are GPUs is unknown, because nodes could not be read")
    if not gpu.resources:
        return message("This cluster advertises no GPUs")
    main = max(gpu.resources, key=lambda resource: (resource.node_count, resource.resource)).resource
    own = [resource for resource in gpu.resources if resource.resource == main]
    allocatable = sum(resource.allocatable_count for resource in own)
    if any(resource.requests_count is None or resource.unrequested_count is None for resource in own):
        return message("{count:count} {name:text} can be requested", count=allocatable, name=main)
    requested = sum(resource.requests_count or 0 for resource in own)
    lost = sum((resource.unrequested_count or 0) - resource.free_by_reason.get("usable", 0) for resource in own)
    title = "{requested:count} of {all:count} {name:text} are requested"
    if not lost:
        return message(title, requested=requested, all=allocatable, name=main)
    return message(title + ", and {lost:count} of the free ones cannot be used", requested=requested, all=allocatable, name=main, lost=lost)


def _lede(gpu: GpuAssessment) -> Iterator[Message]:
    if gpu.pending_pod_count:
        pods = plural(gpu.pending_pod_count, "pod")
        yield message(
            f"{{count:count}} {pods} with such a request {'waits' if pods == 'pod' else 'wait'} for a node.", count=gpu.pending_pod_count
        )
    elif gpu.resources:
        yield message("No pod with such a request waits for a node.")
    if gpu.unknown_resources:
        yield message("Not counted, because their vendor is not known here: {names:text}.", names=", ".join(gpu.unknown_resources))


def _drawable(resources: tuple[GpuResource, ...]) -> list[GpuResource]:
    known = [resource for resource in resources if resource.requests_count is not None and resource.allocatable_count]
    return sorted(known, key=lambda resource: (-resource.node_count, resource.resource, resource.product or ""))[:_MOST_BARS]


def _chart(resources: tuple[GpuResource, ...]) -> Chart:
    shown = _drawable(resources)
    several = len({resource.resource for resource in resources}) > 1
    return Chart(
        title=message("What becomes of each {what:text}", what="resource and product" if several else "product"),
        subtitle=message("Each bar is all that is allocatable, split by what becomes of it. The numbers count in the resource's own unit."),
        alt=message(
            "Stacked bars: {text:text}",
            text="; ".join(f"{_name(r, several=several)}: {r.requests_count} of {r.allocatable_count} requested" for r in shown),
        ),
        drawing=Stacks(
            parts=("requested", "free", "stranded", "out of reach"),
            bars=tuple((_name(resource, several=several), _parts(resource)) for resource in shown),
        ),
    )


def _parts(resource: GpuResource) -> tuple[int, ...]:
    free = resource.free_by_reason
    return (
        resource.requests_count or 0,
        free.get("usable", 0),
        free.get("stranded", 0),
        sum(free.get(reason, 0) for reason in _OUT_OF_REACH),
    )


def _name(resource: GpuResource, *, several: bool) -> str:
    product = resource.product or "unknown product"
    return f"{product} ({resource.resource})" if several else product


def _tables(gpu: GpuAssessment) -> dict[str, Table]:
    tables = {"resources": _resources_table(gpu.resources)} if gpu.resources else {}
    problems = gpu.nodes.loc[gpu.nodes["problem"].notna()]
    if len(problems):
        tables["problems"] = _problems_table(problems)
    if gpu.resources:
        tables["nodes"] = _nodes_table(gpu.nodes.loc[gpu.nodes["resource"] != ""])
    return tables


def _resources_table(resources: tuple[GpuResource, ...]) -> Table:
    return Table(
        what="resources and products",
        title=message("What is advertised, requested and free"),
        columns=(
            Column("Product", "name"),
            Column("Resource", "name"),
            Column("All", "count", "Nodes"),
            Column("Idle", "count", "Nodes"),
            Column("Capacity", "count"),
            Column("Allocatable", "count"),
            Column("Requested", "count"),
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
    out_of_reach = sum(free.get(reason, 0) for reason in _OUT_OF_REACH) if free else None
    cells = (
        resource.product or "unknown",
        resource.resource,
        resource.node_count,
        resource.idle_node_count,
        resource.capacity_count,
        resource.allocatable_count,
        resource.requests_count,
        ratio(resource.requests_count, resource.allocatable_count),
        free.get("usable") if free else None,
        resource.stranded_count,
        out_of_reach,
    )
    warm = {place for place in (3, 9, 10) if cells[place]}
    missing = resource.capacity_count is not None and resource.capacity_count > resource.allocatable_count
    return Row(cells, strained=frozenset(warm | ({5} if missing else set())))


def _problems_table(problems: pd.DataFrame) -> Table:
    rows = GPU_NODES.to_arrow(problems.head(MOST_ROWS)).to_pylist()
    return Table(
        what="GPU nodes with a problem",
        title=message("Nodes with a problem"),
        columns=(Column("Node", "name"), Column("Pool", "name"), Column("Resource", "name"), Column("Problem")),
        rows=tuple(Row((row["node"], row["pool"], row["resource"] or "none", row["problem"])) for row in rows),
        row_count=len(problems),
        file="tables/gpu-nodes.csv",
    )


def _nodes_table(nodes: pd.DataFrame) -> Table:
    ordered = nodes.sort_values(["free_count", "node", "resource"], ascending=[False, True, True], na_position="last")
    several = len(nodes["resource"].unique()) > 1
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
            Column("Allocatable", "count"),
            Column("Requested", "count"),
            Column("Free", "count"),
            Column("Free ones are"),
        ),
        rows=tuple(_node_row(row, several=several) for row in rows),
        row_count=len(nodes),
        file="tables/gpu-nodes.csv",
    )


def _node_row(node: dict[str, object], *, several: bool) -> Row:
    lost = bool(node["free_count"]) and node["free_reason"] != "usable"
    cells = (
        node["node"],
        node["pool"],
        node["product"],
        *((node["resource"],) if several else ()),
        node["allocatable_count"],
        node["requests_count"],
        node["free_count"],
        node["free_reason"] if node["free_count"] else "",
    )
    return Row(cells, strained=frozenset({len(cells) - 1} if lost else ()))
