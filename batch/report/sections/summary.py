"""Summary: what is wrong or right tonight, in two sentences, four figures and the findings by urgency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Finding, Message, Severity, message
from batch.gpu.model import GpuResource
from batch.plan.model import Totals
from batch.report.model import Bar, Section, Tile
from batch.report.sections.basis import joined
from batch.report.sections.material import Material, plural, ratio

SLUG = "summary"

_NO_NODES = message("there are no nodes")
_ORDER = message("Ordered by urgency. Each line says what is so, what to do about it, and why.")


def build(material: Material) -> tuple[Section, ...]:
    """Give the first page."""
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Summary",
            title=message("{cluster:text}", cluster=material.snapshot.cluster),
            lede=(*_state(material), *_urgency(material)),
            findings=material.findings,
            tiles=_tiles(material),
            sentences={"unknown": tuple(_unknown(material)), "order": (_ORDER,), "coverage": (_coverage(material),)},
        ),
    )


def state(totals: Totals, namespaces: Sequence[str] | None) -> Message:
    """Say in one sentence how full the cluster is."""
    if totals.node_count is None:
        return message(
            "Pods of {where:text} ({pods:count}) request {cpu:nanocores} of CPU and {memory:bytes} of memory.",
            pods=totals.bound_pod_count if totals.bound_pod_count is not None else sum(totals.pod_count_by_phase.values()),
            where="namespace " + ", ".join(namespaces) if namespaces else "the cluster",
            cpu=totals.requests_cpu_nanocores,
            memory=totals.requests_memory_bytes,
        )
    if not totals.bound_pod_count:
        return message(
            "Nodes: {nodes:count}, and no pod on them." if totals.node_count else "No nodes and no pods were found.", **_nodes(totals)
        )
    return _filled(totals)


def _nodes(totals: Totals) -> dict[str, object]:
    return {"nodes": totals.node_count} if totals.node_count else {}


def _filled(totals: Totals) -> Message:
    requests = {
        "cpu": ratio(totals.requests_cpu_nanocores, totals.allocatable_cpu_nanocores),
        "memory": ratio(totals.requests_memory_bytes, totals.allocatable_memory_bytes),
    }
    used = {
        "used_cpu": ratio(totals.usage_cpu_nanocores, totals.allocatable_cpu_nanocores),
        "used_memory": ratio(totals.usage_memory_bytes, totals.allocatable_memory_bytes),
    }
    size = "the only node" if totals.node_count == 1 else "{nodes:count} nodes"
    values = {} if totals.node_count == 1 else _nodes(totals)
    measured = all(value is not None for value in used.values())
    if not any(requests.values()) and measured:
        text = f"Pods request neither CPU nor memory; they use {{used_cpu:ratio}} of the CPU and {{used_memory:ratio}} of the memory of {size}."
        return message(text, **used, **values)
    asked = f"Pods request {{cpu:ratio}} of the CPU and {{memory:ratio}} of the memory of {size}"
    if not measured:
        return message(f"{asked}; how much of it they use was not measured.", **requests, **values)
    return message(f"{asked}, and use {{used_cpu:ratio}} and {{used_memory:ratio}} of it.", **requests, **used, **values)


def urgent(findings: Sequence[Finding]) -> Message:
    """Say in one sentence what most needs attention."""
    pressing = [finding for finding in findings if finding.severity is not Severity.ADVICE]
    if not pressing:
        return message("Nothing that was checked needs attention.")
    title = pressing[0].title
    if len(pressing) == 1:
        return Message(f"One finding needs attention: {title.template}.", title.values)
    return Message(f"{{findings:count}} findings need attention. The first: {title.template}.", {"findings": len(pressing), **title.values})


def _state(material: Material) -> Iterator[Message]:
    yield state(material.plan.totals, material.snapshot.namespaces)


def _urgency(material: Material) -> Iterator[Message]:
    yield urgent(material.findings)


def _coverage(material: Material) -> Message:
    """Say how far the measurements reach, for the foot of every page."""
    totals = material.plan.totals
    measured = message("{measured:count} of {pods:count} pods measured", measured=totals.measured_pod_count, pods=totals.bound_pod_count)
    if material.plan.window is None:
        return measured
    return joined(measured, message("{window:seconds}, Prometheus", window=material.plan.window.window_seconds), between="; ")


def _unknown(material: Material) -> Iterator[Message]:
    """Say what this report lacks tonight, before anybody relies on it."""
    if not material.run.complete:
        yield message("The run had to stop early: what was not read by then is missing.")
    if material.snapshot.namespaces:
        yield message("Only these namespaces were read: {names:text}.", names=", ".join(material.snapshot.namespaces))
    for gap in material.gaps:
        yield message("{source:text}: {reason:text}. {effect:text}", source=gap.source, reason=gap.reason.rstrip("."), effect=gap.effect)


def _tiles(material: Material) -> tuple[Tile, ...]:
    totals = material.plan.totals
    return (
        _resource_tile(
            "CPU requested", "nanocores", totals.requests_cpu_nanocores, totals.usage_cpu_nanocores, totals.allocatable_cpu_nanocores
        ),
        _resource_tile(
            "Memory requested", "bytes", totals.requests_memory_bytes, totals.usage_memory_bytes, totals.allocatable_memory_bytes
        ),
        _slots_tile(totals),
        _gpu_tile(material.gpu.resources) if material.gpu.resources else _ready_tile(totals),
    )


def _resource_tile(label: str, kind: str, requests: int | None, usage: int | None, allocatable: int | None) -> Tile:
    """Show the share that is requested; the amount where the whole is unknown, nothing where there is none."""
    share, used = ratio(requests, allocatable), ratio(usage, allocatable)
    if share is None:
        return Tile(label, None if allocatable == 0 else requests, kind, _NO_NODES if allocatable == 0 else message("of an unknown size"))
    if used is None:
        return Tile(label, share, "ratio", message(f"of {{all:{kind}}}; use unknown", all=allocatable), Bar(None, share))
    return Tile(label, share, "ratio", message(f"of {{all:{kind}}}; {{used:ratio}} used", all=allocatable, used=used), Bar(used, share))


def _slots_tile(totals: Totals) -> Tile:
    taken, slots = totals.bound_pod_count, totals.allocatable_pod_count
    share = ratio(taken, slots)
    if share is None:
        return Tile("Pod slots taken", None if slots == 0 else taken, "count", _NO_NODES if slots == 0 else message("of an unknown number"))
    return Tile(
        "Pod slots taken", share, "ratio", message("{taken:count} of {slots:count} taken", taken=taken, slots=slots), Bar(None, share)
    )


def _ready_tile(totals: Totals) -> Tile:
    share = ratio(totals.ready_node_count, totals.node_count)
    if share is None:
        return Tile("Nodes ready", None, "count", _NO_NODES if totals.node_count == 0 else message("nodes could not be read"))
    base = message(f"of {{all:count}} {plural(totals.node_count, 'node')}", all=totals.node_count)
    return Tile("Nodes ready", totals.ready_node_count, "count", base, Bar(None, share, strained=share < 1))


def _gpu_tile(resources: Sequence[GpuResource]) -> Tile:
    """Show the accelerator resource that most nodes have; different resources have different units and do not add up."""
    nodes: dict[str, int] = {}
    for resource in resources:
        nodes[resource.resource] = nodes.get(resource.resource, 0) + resource.node_count
    name = max(nodes, key=lambda key: (nodes[key], key))
    own = [resource for resource in resources if resource.resource == name]
    whole = sum(resource.allocatable_count for resource in own)
    known = [resource.requests_count for resource in own if resource.requests_count is not None]
    held = sum(known) if len(known) == len(own) else None
    share = ratio(held, whole)
    base = message("{held:count} of {whole:count} {name:text}", held=held, whole=whole, name=name)
    return Tile("GPUs requested", share, "ratio", base, None if share is None else Bar(None, share))
