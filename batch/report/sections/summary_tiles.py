"""The four figures of the first page."""

from __future__ import annotations

from collections.abc import Sequence

from batch.accelerators import counts_parts
from batch.findings import Message, message
from batch.gpu.model import GpuResource
from batch.plan.model import Totals
from batch.report.model import Bar, Tile
from batch.report.sections.material import Material, is_partly_measured, plural, ratio

_NO_NODES = message("there are no nodes")


def tiles(material: Material) -> tuple[Tile, ...]:
    """Give the four figures of the cover: CPU, memory, pod slots, and GPUs or nodes."""
    totals = material.plan.totals
    return (
        _resource_tile("CPU requested", "nanocores", "cpu", totals, "cpu_nanocores"),
        _resource_tile("Memory requested", "bytes", "memory", totals, "memory_bytes"),
        _slots_tile(totals),
        _accelerator_tile(material),
    )


def _resource_tile(label: str, kind: str, resource: str, totals: Totals, amount: str) -> Tile:
    """Show the share that is requested; the amount where the whole is unknown, nothing where there is none."""
    share: float | None = getattr(totals, f"requests_{resource}_ratio")
    used: float | None = getattr(totals, f"usage_{resource}_ratio")
    allocatable: int | None = getattr(totals, f"allocatable_{amount}")
    if share is None:
        if not allocatable and totals.node_count == 0:
            return Tile(label, None, kind, _nodeless(totals))
        return Tile(label, getattr(totals, f"requests_{amount}"), kind, _used_amount(getattr(totals, f"usage_{amount}"), kind))
    if used is None:
        return Tile(label, share, "ratio", message(f"of {{all:{kind}}}; use unknown", all=allocatable), Bar(None, share))
    coverage = " by {measured:count} of {pods:count} pods" if is_partly_measured(totals) else ""
    counts = {"measured": totals.measured_pod_count, "pods": totals.bound_pod_count} if coverage else {}
    base = message(f"of {{all:{kind}}}; {{used:ratio}} used{coverage}", all=allocatable, used=used, **counts)
    return Tile(label, share, "ratio", base, Bar(used, share))


def _nodeless(totals: Totals) -> Message:
    return message("there are only virtual nodes") if totals.virtual_node_count else _NO_NODES


def _used_amount(used: int | None, kind: str) -> Message:
    """Stand below a request of which no share can be told."""
    return (
        message("share of the nodes unknown") if used is None else message(f"{{used:{kind}}} used; share of the nodes unknown", used=used)
    )


def _slots_tile(totals: Totals) -> Tile:
    taken, slots, share = totals.bound_pod_count, totals.allocatable_pod_count, totals.bound_pod_ratio
    if totals.node_count == 0:
        return Tile("Pod slots taken", None, "count", _nodeless(totals))
    if share is None:
        return Tile("Pods", taken, "count", message("on nodes; share of their slots unknown"))
    return Tile(
        "Pod slots taken",
        share,
        "ratio",
        message(f"{{pods:count}} {plural(taken, 'pod')}, {{slots:count}} slots", pods=taken, slots=slots),
        Bar(None, share),
    )


def _ready_tile(totals: Totals) -> Tile:
    share = ratio(totals.ready_node_count, totals.node_count)
    if share is None:
        return Tile("Nodes ready", None, "count", _nodeless(totals) if totals.node_count == 0 else message("nodes could not be read"))
    base = message(f"of {{all:count}} {plural(totals.node_count, 'node')}", all=totals.node_count)
    return Tile("Nodes ready", totals.ready_node_count, "count", base, Bar(None, share, strained=share < 1))


def _accelerator_tile(material: Material) -> Tile:
    """Show accelerators in cards where they are known, else the resource that most nodes have; without any, how many nodes are ready."""
    gpu = material.gpu
    if gpu.card_count and gpu.requests_cards is not None:
        share = gpu.requests_cards / gpu.card_count
        base = message("{held:count} of {all:count} cards", held=round(gpu.requests_cards, 1), all=gpu.card_count)
        return Tile("GPUs requested", share, "ratio", base, Bar(None, share))
    return _gpu_tile(gpu.resources) if gpu.resources else _ready_tile(material.plan.totals)


def _gpu_tile(resources: Sequence[GpuResource]) -> Tile:
    """Show the accelerator resource that most nodes have; different resources have different units and do not add up.

    A resource that counts whole devices goes before one that counts parts of them.
    """
    nodes: dict[str, int] = {}
    for resource in resources:
        nodes[resource.resource] = nodes.get(resource.resource, 0) + resource.node_count
    name = max(nodes, key=lambda key: (not counts_parts(key), nodes[key], key))
    own = [resource for resource in resources if resource.resource == name]
    whole = sum(resource.allocatable_count or 0 for resource in own)
    known = [resource.requests_count for resource in own if resource.requests_count is not None]
    if len(known) < len(own):
        return Tile("GPUs requested", None, "count", message("of {whole:count} {name:text}; not known", whole=whole, name=name))
    share = ratio(sum(known), whole)
    base = message("{held:count} of {whole:count} {name:text}", held=sum(known), whole=whole, name=name)
    return Tile("GPUs requested", share, "ratio", base, None if share is None else Bar(None, share))
