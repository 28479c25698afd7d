"""Tables about free accelerators: what still fits, what strands them, what waits, and what sits beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import message
from batch.gpu.model import FIT_SIZES, Blocker, GpuAssessment, GpuResource, Guests, Stranding, Waiting
from batch.report.document_gpu import blocker_text
from batch.report.format import format_bytes, format_nanocores
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table

_VERDICTS = {
    "fits": "fits: not looked at are volumes and other pods",
    "repack": "would fit after repacking",
    "full": "waits for others to end",
    "never": "can start on no node",
    "nowhere": "no node offers it",
    "unknown": "not known: not every free one can be told by node",
    "gated": "held back by a gate",
}
_REASONS = 2
"""Reasons of one node that are said in the report."""

_LINES = 12
"""Nodes of one waiting pod that are listed in the report."""


def room_tables(gpu: GpuAssessment) -> dict[str, Table]:
    """Give the tables, empty ones too."""
    return {
        "fits": _fits_table([one for one in gpu.resources if one.fit_count]),
        "strandings": _strandings_table(gpu.strandings),
        "waiting": _waiting_table(gpu.waiting),
        "reasons": _reasons_table(gpu.waiting),
        "guests": _guests_table(gpu.guests),
    }


def _fits_table(resources: Sequence[GpuResource]) -> Table:
    packed = [one for one in resources if one.repacked_fit_count]
    return Table(
        what="resources and products",
        title=message("How many more pods fit, by the number that each asks for"),
        columns=(
            Column("Product", "name"),
            Column("Resource", "name"),
            Column("CPU", "nanocores", "A typical pod, for each"),
            Column("Memory", "bytes", "A typical pod, for each"),
            *(Column(str(size), "count", "Fit now, pods of") for size in FIT_SIZES),
            *(Column(str(size), "count", "If repacked, pods of") for size in (FIT_SIZES if packed else ())),
        ),
        rows=tuple(_fit_row(one, packed=bool(packed)) for one in resources[:MOST_ROWS]),
        row_count=len(resources),
        file="tables/gpu-resources.csv",
    )


def _fit_row(one: GpuResource, *, packed: bool) -> Row:
    unit = 1000 if one.sharing == "thousandths" else 1
    cpu, memory = (None, None) if one.typical is None else (one.typical[0] * unit, one.typical[1] * unit)
    now = [one.fit_count[size] for size in FIT_SIZES]
    then = [one.repacked_fit_count.get(size) for size in FIT_SIZES] if packed else []
    gained = {8 + place for place, (a, b) in enumerate(zip(now, then, strict=False)) if b is not None and b > a}
    return Row((one.product or "unknown", one.resource, cpu, memory, *now, *then), strong=frozenset(gained))


def _strandings_table(strandings: Sequence[Stranding]) -> Table:
    return Table(
        what="nodes with stranded ones",
        title=message("What strands them, and which pods take it"),
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("Resource", "name"),
            Column("Free", "count"),
            Column("Too little"),
            Column("Most is requested by"),
        ),
        rows=tuple(
            Row((one.node, one.pool, one.resource, one.free_count, one.short_of, ", ".join(_eaters(one)))) for one in strandings[:MOST_ROWS]
        ),
        row_count=len(strandings),
        file="tables/gpu-nodes.csv",
    )


def _eaters(one: Stranding) -> Iterator[str]:
    write = format_nanocores if one.short_of.startswith("CPU") else format_bytes if one.short_of.startswith("memory") else None
    yield from (f"{name} ({write(amount)})" if write else name for name, amount in one.pods)


def _waiting_table(waiting: Sequence[Waiting]) -> Table:
    return Table(
        what="shapes of pods that wait",
        title=message("What waits for them"),
        columns=(
            Column("First pod", "name"),
            Column("Pods", "count"),
            Column("Each asks for"),
            Column("Waits"),
            Column("Fits on", "count"),
            Column("What would help"),
        ),
        rows=tuple(_waiting_row(one) for one in waiting[:MOST_ROWS]),
        row_count=len(waiting),
        file="tables/gpu-waiting.csv",
    )


def _waiting_row(one: Waiting) -> Row:
    asks = ", ".join(f"{count} {name}" for name, count in one.resources.items())
    since = None if one.waiting_seconds is None else message("{seconds:seconds}", seconds=max(0, one.waiting_seconds))
    cells = (f"{one.namespace}/{one.pod}", one.pod_count, asks, since, one.fitting_node_count, _VERDICTS[one.verdict])
    return Row(cells, strained=frozenset({5} if one.verdict in ("never", "nowhere") else ()))


def _reasons_table(waiting: Sequence[Waiting]) -> Table:
    """List nodes one by one, as the first pods have them."""
    lines = [(one, node, whys) for one in waiting for node, whys in one.nodes[:_LINES]]
    every = sum(len(one.nodes) for one in waiting)
    return Table(
        what="pods and nodes",
        title=message("Why each node does not take them"),
        columns=(Column("Pod", "name"), Column("Node", "name"), Column("Reasons")),
        rows=tuple(Row((f"{one.namespace}/{one.pod}", node, _reasons(whys))) for one, node, whys in lines[:MOST_ROWS]),
        row_count=every,
        file="tables/gpu-waiting.csv",
    )


def _reasons(whys: Sequence[Blocker]) -> str:
    """Say the first reasons; the file has all."""
    more = f"; {len(whys) - _REASONS} more" if len(whys) > _REASONS else ""
    return "; ".join(map(blocker_text, whys[:_REASONS])) + more


def _guests_table(guests: Sequence[Guests]) -> Table:
    return Table(
        what="GPU nodes with pods that hold no GPU",
        title=message("Pods without a GPU on GPU nodes"),
        order="fullest" if len(guests) > 1 else "",
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("Pods", "count"),
            Column("CPU", "nanocores"),
            Column("of node", "ratio", "CPU"),
            Column("", "bar", "CPU"),
            Column("Memory", "bytes"),
            Column("of node", "ratio", "Memory"),
            Column("Largest by CPU"),
        ),
        rows=tuple(_guests_row(one) for one in guests[:MOST_ROWS]),
        row_count=len(guests),
        file="tables/gpu-guests.csv",
    )


def _guests_row(one: Guests) -> Row:
    cells = (
        one.node,
        one.pool,
        one.pod_count,
        one.requests_cpu_nanocores,
        one.cpu_ratio,
        Bar(None, one.cpu_ratio),
        one.requests_memory_bytes,
        one.memory_ratio,
        ", ".join(one.pods),
    )
    return Row(cells)
