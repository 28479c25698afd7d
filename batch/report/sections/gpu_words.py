"""What the section about accelerators says first: title, lede, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.accelerators import THOUSANDTHS
from batch.findings import Message, message
from batch.gpu.model import DevicePool, GpuAssessment, GpuResource
from batch.report.sections.material import Material, plural

OUT_OF_REACH = ("tainted", "cordoned", "not ready")


def accelerator_pools(gpu: GpuAssessment) -> tuple[DevicePool, ...]:
    """Give the pools of drivers that give out accelerators."""
    return tuple(pool for pool in gpu.pools if pool.accelerator)


def main_resource(resources: Sequence[GpuResource]) -> str | None:
    """Name the resource that most nodes have: different resources have different units and do not add up."""
    nodes: dict[str, int] = {}
    for resource in resources:
        nodes[resource.resource] = nodes.get(resource.resource, 0) + resource.node_count
    return max(nodes, key=lambda name: (nodes[name], name), default=None)


def title(material: Material) -> Message:
    """Say what was found, in cards where they are known."""
    gpu = material.gpu
    if not material.snapshot.has("nodes"):
        return message("Whether there are GPUs is unknown, because nodes could not be read")
    if not gpu.resources and not accelerator_pools(gpu):
        if not gpu.pools_known:
            what = "How many GPUs there are" if gpu.holders else "Whether there are GPUs"
            return message(what + " is unknown, because ResourceSlices could not be read")
        return message("This cluster advertises no GPUs")
    if gpu.card_count and gpu.requests_cards is not None:
        return _cards_title(gpu, material)
    return _slots_title(gpu)


def _cards_title(gpu: GpuAssessment, material: Material) -> Message:
    values: dict[str, object] = {"held": round(gpu.requests_cards or 0, 1), "all": gpu.card_count}
    text = "{held:count} of {all:count} GPUs are requested"
    idle = [one.card_count for one in gpu.holders if one.idle]
    lost = _lost(gpu.resources)
    if idle and None not in idle:
        count = round(sum(cards or 0 for cards in idle), 1)
        text += ", and {idle:count} of them did nothing for the last {time:seconds}"
        values |= {"idle": count, "time": material.settings.gpu.idle_seconds}
    elif lost:
        text += ", and {lost:count} of the free ones cannot be used" if lost != 1 else ", and one of the free ones cannot be used"
        values |= {"lost": round(lost, 1)} if lost != 1 else {}
    return message(text, **values)


def _lost(resources: Sequence[GpuResource]) -> float:
    """Add up the cards that are free and out of reach or stranded; 0 where units are not cards."""
    lost = 0.0
    for one in resources:
        if one.card_count and one.allocatable_count:
            unusable = (one.unrequested_count or 0) - one.free_by_reason.get("usable", 0)
            lost += unusable * one.card_count / max(one.capacity_count or 0, one.allocatable_count)
    return lost


def _slots_title(gpu: GpuAssessment) -> Message:
    name = main_resource(gpu.resources)
    if name is None:
        return message("Devices of {count:count} pools can be claimed", count=len(accelerator_pools(gpu)))
    own = [resource for resource in gpu.resources if resource.resource == name]
    allocatable = sum(resource.allocatable_count or 0 for resource in own)
    if any(resource.requests_count is None or resource.unrequested_count is None for resource in own):
        return message("{count:count} {name:text} can be requested", count=allocatable, name=name)
    requested = sum(resource.requests_count or 0 for resource in own)
    lost = sum((resource.unrequested_count or 0) - resource.free_by_reason.get("usable", 0) for resource in own)
    text = "{requested:count} of {all:count} {name:text} are requested"
    if not lost:
        return message(text, requested=requested, all=allocatable, name=name)
    return message(text + ", and {lost:count} of the free ones cannot be used", requested=requested, all=allocatable, name=name, lost=lost)


def lede(material: Material) -> Iterator[Message]:
    """Say what is behind the title: cards, activity, what waits, what is not counted."""
    gpu = material.gpu
    present = bool(gpu.resources or accelerator_pools(gpu))
    if not gpu.pools_known:
        yield message(
            "ResourceSlices could not be read, so devices that drivers offer for claims are unknown, and with them totals in cards."
        )
    if present:
        yield from _cards(gpu)
        yield from _unread(gpu)
        yield from _activity(gpu)
        yield from _pending(gpu)
    if gpu.unknown_resources:
        yield message("Not counted, because their vendor is not known here: {names:text}.", names=", ".join(gpu.unknown_resources))
    others = sorted({pool.driver for pool in gpu.pools if not pool.accelerator})
    if others:
        yield message("Devices of {drivers:text} are no accelerators, and in no total.", drivers=", ".join(others))


def behind(gpu: GpuAssessment) -> tuple[Message, ...]:
    """Say which cards are behind units that are no cards; thousandths say it by themselves."""
    shared = (one for one in gpu.resources if one.sharing and one.resource != THOUSANDTHS)
    return tuple(_behind(one) for one in shared if one.card_count is not None and one.card_count != one.allocatable_count)


def _cards(gpu: GpuAssessment) -> Iterator[Message]:
    unknown = sum(cards is None for cards in gpu.node_cards.values())
    if unknown:
        yield message(
            f"How many cards are behind the slots of {{count:count}} {plural(unknown, 'node')} is not known, so totals in cards are not either.",
            count=unknown,
        )
    cut_up = sum(pool.part_count for pool in accelerator_pools(gpu))
    if cut_up:
        yield message(
            "Of the devices that can be claimed {parts:count} are parts of cards; a card that is cut up counts once.", parts=cut_up
        )
    if any(pool.up_to for pool in accelerator_pools(gpu)):
        yield message("Some drivers list parts that exclude each other: their numbers are the most that can be had at once (up to).")


def _unread(gpu: GpuAssessment) -> Iterator[Message]:
    if gpu.unread_nodes:
        many = len(gpu.unread_nodes)
        yield message(
            f"How many are requested on {{node:text}}{' and {more:count} more ' + plural(many - 1, 'node') if many > 1 else ''} could not be read, so "
            f"those there are not among the free ones.",
            node=gpu.unread_nodes[0],
            **({"more": many - 1} if many > 1 else {}),
        )


def _behind(one: GpuResource) -> Message:
    healthy = one.healthy_card_count
    whole = healthy is None or healthy == one.card_count
    return message(
        "{units:count} {name:text} "
        + ("of {product:text} " if one.product else "")
        + ("are on {cards:count} " if whole else "are on {healthy:count} healthy of {cards:count} ")
        + plural(one.card_count, "card")
        + " ({how:text}).",
        units=one.allocatable_count or 0,
        name=one.resource,
        cards=one.card_count,
        how=one.sharing,
        **({"product": one.product} if one.product else {}),
        **({} if whole else {"healthy": healthy}),
    )


def _activity(gpu: GpuAssessment) -> Iterator[Message]:
    if not gpu.activity_known:
        yield message("Whether requested ones work is not known: no Prometheus was asked.")
    elif gpu.hours.gpu_hours is None:
        yield message("Whether requested ones work is not known: Prometheus has no samples of them.")
    elif gpu.hours.gpu_hours:
        yield message(
            "Over {window:seconds} pods held them for {hours:count} GPU-hours, {idle:count} of these without activity; on average devices were {mean:ratio} busy.",
            window=gpu.window_seconds,
            hours=round(gpu.hours.gpu_hours),
            idle=round(gpu.hours.idle_gpu_hours or 0),
            mean=gpu.hours.usage_ratio_mean,
        )
    if len(gpu.metrics) > 1:
        yield message("Activity is by {metrics:text}, for each device by one of them.", metrics=" or ".join(gpu.metrics))
    elif gpu.metrics:
        yield message("Activity is by {metric:text}.", metric=gpu.metrics[0])


def _pending(gpu: GpuAssessment) -> Iterator[Message]:
    if gpu.pending_pod_count is None:
        yield message("Whether pods wait for such devices is not known, because their claims could not be read.")
    elif gpu.pending_pod_count:
        pods = plural(gpu.pending_pod_count, "pod")
        yield message(
            f"{{count:count}} {pods} with such a request {'waits' if pods == 'pod' else 'wait'} for a node.", count=gpu.pending_pod_count
        )
    else:
        yield message("No pod with such a request waits for a node.")


def how_to_read(material: Material) -> tuple[Message, ...]:
    """Define every term, with the settings that decide it."""
    gpu = material.settings.gpu
    return (
        message(
            "A resource counts in its own unit, as its device plugin advertises it: a slot, a slice or a thousandth of a card is not a card. Different resources are not added up; cards are, where what is known of sharing tells them. Parts of MIG are compared by their compute slices."
        ),
        message(
            "Free is allocatable less requested, node by node. Stranded ones are free on ready, schedulable nodes that have less than one core, less than one GiB or no pod slot left. A node counts under its first reason in the order not ready, cordoned, tainted, stranded. A taint that only keeps pods without a GPU away does not count."
        ),
        message(
            "A typical GPU pod requests the median CPU and memory for each unit. How many pods of several fit is counted node by node with as many times that; repacked is the same after all pods that hold the resource were placed anew, largest first, on nodes that their rules allow. Pods without it stay where they are."
        ),
        message(
            "A sample is idle when the activity is at most {ratio:ratio}; a pod is, when all samples of the last {time:seconds} are, on all its devices. GPU-hours are samples times their step times cards; a pod that shares a card counts for its share. Idle nodes are those without a single request.",
            ratio=gpu.idle_ratio,
            time=gpu.idle_seconds,
        ),
        message(
            "What dynamic resource allocation serves counts there and nowhere else: the newest generation of each pool, none of it free while slices of it are missing, each device once however many pods share its claim; access for administration takes nothing."
        ),
    )
