"""Pictures of accelerators: what becomes of each product, hours of the window, free blocks, and who holds idle ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from batch.accelerators import THOUSANDTHS
from batch.findings import message
from batch.gpu.model import DevicePool, GpuAssessment, GpuResource
from batch.report.model import Blocks, Chart, Stacks
from batch.report.sections.gpu_words import OUT_OF_REACH, accelerator_pools, main_resource

_MOST_BARS = 12
_MOST_HOLDERS = 8
"""Bars that a chart shows at one glance; the tables have all."""

_PARTS = (
    ("working", "use"),
    ("requested", "other use"),
    ("held idle", "doubt"),
    ("free", "room"),
    ("stranded", "trouble"),
    ("out of reach", "quiet"),
    ("not known", "quiet"),
)
"""What becomes of what is allocatable; "requested" where it is not known whether it works."""

_PLAIN = ("gpu", "gaudi", "tpu")
"""Last parts of resource names that say nothing beside the product."""

Bar = tuple[str, tuple[float, ...]]


def charts(gpu: GpuAssessment) -> dict[str, Chart]:
    """Draw what there is something to draw of."""
    found = {"allocation": _allocation(gpu), "hours": _hours(gpu), "blocks": _blocks(gpu), "holders": _holders(gpu)}
    return {name: chart for name, chart in found.items() if chart is not None}


def _allocation(gpu: GpuAssessment) -> Chart | None:
    known = [r for r in gpu.resources if r.requests_count is not None and r.allocatable_count]
    shown = sorted(known, key=lambda resource: (-resource.node_count, resource.resource, resource.product or ""))
    several = len({resource.resource for resource in gpu.resources}) + len(accelerator_pools(gpu)) > 1
    bars: list[Bar] = [(_name(resource), _split(resource)) for resource in shown]
    bars = [*bars, *_device_bars(gpu)][:_MOST_BARS]
    if not bars:
        return None
    parts, bars = _without_empty(_PARTS, bars)
    told = "; ".join(
        f"{name}: {', '.join(f'{size:g} {part}' for size, (part, _) in zip(sizes, parts, strict=True))}" for name, sizes in bars
    )
    return Chart(
        title=message("What becomes of each {what:text}", what="resource and product" if several else "product"),
        subtitle=message("Each bar is all that is allocatable, split by what becomes of it. The numbers count in the resource's own unit."),
        alt=message("Stacked bars. {text:text}", text=told),
        drawing=Stacks(parts=parts, bars=tuple(bars)),
    )


def _split(resource: GpuResource) -> tuple[float, ...]:
    free, requests = resource.free_by_reason, resource.requests_count or 0
    active, idle = resource.active_count or 0, resource.idle_count or 0
    return (
        active,
        max(0, requests - active - idle),
        idle,
        free.get("usable", 0),
        free.get("stranded", 0),
        sum(free.get(reason, 0) for reason in OUT_OF_REACH),
        resource.unknown_count or 0,
    )


def _device_bars(gpu: GpuAssessment) -> list[Bar]:
    """One bar for each driver and product: devices of claims are not known to work apart from their pods."""
    groups: dict[tuple[str, str], list[DevicePool]] = {}
    for pool in accelerator_pools(gpu):
        if pool.allocated_count is not None:
            groups.setdefault((pool.product or "", pool.driver), []).append(pool)
    idle: Counter[tuple[str, str]] = Counter()
    active: Counter[tuple[str, str]] = Counter()
    for holder in gpu.holders:
        key = (holder.product or "", holder.resource)
        if key in groups and not holder.shared_claim and holder.idle is not None:
            (idle if holder.idle else active)[key] += holder.count
    return [
        (
            f"{product} claimed" if product else driver,
            (
                active[product, driver],
                max(0, sum(p.allocated_count or 0 for p in own) - active[product, driver] - idle[product, driver]),
                idle[product, driver],
                sum((p.free_count or 0) - (p.unusable_count or 0) for p in own),
                0,
                sum(p.unusable_count or 0 for p in own),
                0,
            ),
        )
        for (product, driver), own in sorted(groups.items())
    ]


def _hours(gpu: GpuAssessment) -> Chart | None:
    """Hours of devices in the window: of pods, working or not. None without Prometheus."""
    rows: list[Bar] = []
    for resource in gpu.resources:
        hours = resource.hours
        if hours.gpu_hours and hours.idle_gpu_hours is not None:
            rows.append((_name(resource), (hours.gpu_hours - hours.idle_gpu_hours, hours.idle_gpu_hours)))
    if not rows or not gpu.hours.gpu_hours or gpu.hours.idle_gpu_hours is None:
        return None
    return Chart(
        title=message(
            "{share:ratio} of the GPU-hours that pods held were without any activity", share=gpu.hours.idle_gpu_hours / gpu.hours.gpu_hours
        ),
        subtitle=message("GPU-hours that pods held over {window:seconds}, by product; all bars have one scale.", window=gpu.window_seconds),
        alt=message(
            "Bars of hours. {text:text}", text="; ".join(f"{name}: {busy:.1f} busy, {idle:.1f} idle" for name, (busy, idle) in rows)
        ),
        drawing=Stacks(parts=(("some activity", "use"), ("none", "doubt")), bars=tuple(rows[:_MOST_BARS]), alike=True),
    )


def _blocks(gpu: GpuAssessment) -> Chart | None:
    """Free blocks of the resource that most nodes have; of thousandths in wholly free cards."""
    name = main_resource(gpu.resources)
    own = [resource for resource in gpu.resources if resource.resource == name]
    blocks: Counter[int] = Counter()
    for resource in own:
        blocks.update(resource.wholly_free_block if name == THOUSANDTHS else resource.largest_free_block)
    if name is None or sum(blocks.values()) < 2 or max(blocks) == 0:  # noqa: PLR2004  one bar is no picture
        return None
    what = "whole cards" if name == THOUSANDTHS else name
    return Chart(
        title=message("The largest free block is {most:count} on one node", most=max(blocks)),
        subtitle=message("How scattered free {what:text} are: a pod of several needs as many on one node.", what=what),
        alt=message("Bars: {text:text}", text="; ".join(f"{nodes} nodes with {free} free" for free, nodes in sorted(blocks.items()))),
        drawing=Blocks(what, tuple(sorted(blocks.items()))),
    )


def _holders(gpu: GpuAssessment) -> Chart | None:
    known = [one for one in gpu.holders if one.idle_gpu_hours and one.gpu_hours]
    shown = known[:_MOST_HOLDERS]
    if len(shown) < 2:  # noqa: PLR2004  one bar is no picture
        return None
    bars: tuple[Bar, ...] = tuple(
        (f"{one.namespace}/{one.pod}", ((one.gpu_hours or 0) - (one.idle_gpu_hours or 0), one.idle_gpu_hours or 0)) for one in shown
    )
    total = sum(one.idle_gpu_hours or 0 for one in known)
    return Chart(
        title=message(
            "{count:count} pods account for {share:ratio} of the idle GPU-hours of pods that are there",
            count=len(shown),
            share=sum(one.idle_gpu_hours or 0 for one in shown) / total,
        ),
        subtitle=message("GPU-hours of the window, most idle ones first."),
        alt=message(
            "Bars of hours. {text:text}", text="; ".join(f"{name}: {busy:.1f} busy, {idle:.1f} idle" for name, (busy, idle) in bars)
        ),
        drawing=Stacks(parts=(("some activity", "use"), ("none", "doubt")), bars=bars, alike=True),
    )


def _name(resource: GpuResource) -> str:
    """Name a product, with what its resource is called where that is more than a GPU; the resource alone where the product is not known."""
    kind = resource.resource.rpartition("/")[2]
    if resource.product is None:
        return resource.resource
    return resource.product if kind in _PLAIN else f"{resource.product} {kind}"


def _without_empty(parts: Sequence[tuple[str, str]], bars: Sequence[Bar]) -> tuple[tuple[tuple[str, str], ...], list[Bar]]:
    """Leave out pieces that no bar has, so that the key names what can be seen."""
    kept = [place for place in range(len(parts)) if any(sizes[place] for _, sizes in bars)] or [0]
    return tuple(parts[place] for place in kept), [(name, tuple(sizes[place] for place in kept)) for name, sizes in bars]
