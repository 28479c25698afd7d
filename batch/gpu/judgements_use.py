"""What pods do not do with the accelerators that they hold, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from batch.findings import Finding, Severity, message, plural
from batch.gpu.judgements import SECTION
from batch.gpu.mig import slices_of_card
from batch.gpu.model import Holder
from batch.gpu.money import idle_monthly_cost
from batch.settings import Settings

_UNATTRIBUTED_HOURS = 1.0
"""Hours of work of devices that nobody holds, from which on they are worth a word."""

_PROFILES = {7: ((1, 1), (2, 2), (3, 4)), 4: ((1, 2), (2, 4)), 2: ((1, 4),)}
"""Parts that a card of so many slices can be cut into: slices, and eighths of its memory (NVIDIA MIG User Guide, "Supported MIG Profiles")."""

_HALVES = (4, 2)
"""Where MIG is not to be had, so many pods may share a card by time-slicing."""


class Room(NamedTuple):
    """A part of a card that would do: how it is called, and which share of the card it is."""

    name: str
    share: float


def judge_use(
    holders: Sequence[Holder], card_memory: dict[tuple[str, str], int | None], unattributed_hours: float | None, settings: Settings
) -> Iterator[Finding]:
    """Give the findings about idle holders, pods that a part of a card would do, and work that no pod of the cluster does.

    `card_memory` is that of a card by (node, resource). Unknown activity is not judged.
    """
    yield from _idle(holders, settings)
    yield from _small(holders, card_memory)
    yield from _unattributed(unattributed_hours)


def _idle(holders: Sequence[Holder], settings: Settings) -> Iterator[Finding]:
    own = [one for one in holders if one.idle]
    if not own:
        return
    pods = len({(one.namespace, one.pod) for one in own})
    known = [one.card_count for one in own]
    cards = None if None in known else sum(count for count in known if count is not None)
    first, saving = own[0], idle_monthly_cost(own, settings.prices)
    endless = [one for one in own if one.of_job and one.has_deadline is False]
    held = {} if cards is None else {"cards": round(cards, 1)}
    yield Finding(
        id="gpus.idle-holders",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{pods:count}} {plural(pods, 'pod holds', 'pods hold')} {'accelerators' if cards is None else '{cards:count} GPUs' if cards != 1 else '{cards:count} GPU'} that did nothing for {{time:seconds}}",
            pods=pods,
            time=settings.gpu.idle_seconds,
            **held,
        ),
        detail=message(
            "Most idle: {pod:text}"
            + (" of {owner:text}" if first.owner else "")
            + (", {hours:count} GPU-hours without activity in the window" if first.idle_gpu_hours is not None else "")
            + (f". {{endless:count}} of them {plural(len(endless), 'is of a Job', 'are of Jobs')} without a deadline." if endless else "."),
            pod=f"{first.namespace}/{first.pod}",
            **({"owner": first.owner} if first.owner else {}),
            **({"hours": round(first.idle_gpu_hours, 1)} if first.idle_gpu_hours is not None else {}),
            **({"endless": len(endless)} if endless else {}),
        ),
        action=message(
            "Ask who owns it, then `kubectl delete pod -n {namespace:text} {pod:text}`; give Jobs an activeDeadlineSeconds, let notebooks be culled, and bound namespace {namespace:text} by a ResourceQuota on requests.{resource:text}",
            namespace=first.namespace,
            pod=first.pod,
            resource=first.resource,
        ),
        objects=tuple(dict.fromkeys(f"{one.namespace}/{one.pod}" for one in own)),
        worth=message("{cards:count} GPUs" if cards != 1 else "{cards:count} GPU", **held) if cards is not None else None,
        worth_of="held and idle" if cards is not None else "",
        weight=cards or pods,
        monthly_saving=saving,
    )


def _small(holders: Sequence[Holder], card_memory: dict[tuple[str, str], int | None]) -> Iterator[Finding]:
    """Name pods that hold whole cards though a part would do by activity and memory; idle ones are a matter of their own."""
    fitting = [
        (one, room)
        for one in holders
        if not one.idle and one.card_count is not None and one.card_count == one.count
        for room in [part_that_does(one, card_memory.get((one.node, one.resource)))]
        if room
    ]
    if not fitting:
        return
    freed = sum((one.card_count or 0) * (1 - room.share) for one, room in fitting)
    first, room = max(fitting, key=lambda pair: ((pair[0].card_count or 0) * (1 - pair[1].share), pair[0].pod))
    yield Finding(
        id="gpus.share-small",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message(
            f"{{pods:count}} {plural(len(fitting), 'pod', 'pods')} with whole GPUs would do with parts of them, which would free {{cards:count}}",
            pods=len(fitting),
            cards=round(freed, 1),
        ),
        detail=message(
            "For example {pod:text}: 95 % of the time its GPU was at most {p95:ratio} busy, and it used at most {memory:bytes} of its memory. {part:text} would do.",
            pod=f"{first.namespace}/{first.pod}",
            p95=first.usage_ratio_p95,
            memory=first.memory_used_max_bytes,
            part=room.name,
        ),
        action=message(
            "Cut cards of one node up by MIG, or share them by time-slicing, and try it with {pod:text} first: `kubectl get pod -n {namespace:text} {pod:text} -o yaml`",
            namespace=first.namespace,
            pod=first.pod,
        ),
        objects=tuple(f"{one.namespace}/{one.pod}" for one, _ in fitting),
        worth=message("{cards:count} GPUs", cards=round(freed, 1)),
        worth_of="could be freed",
        weight=freed,
    )


def part_that_does(one: Holder, card_memory: int | None) -> Room | None:
    """Give the smallest part of a card that holds a pod's 95th percentile of activity and its most memory; None when unknown or none does.

    MIG's slices where the product can be cut, else a half or a quarter by time-slicing, which shares time and does not divide memory.
    """
    if one.usage_ratio_p95 is None or one.memory_used_max_bytes is None or not card_memory:
        return None
    memory = one.memory_used_max_bytes / card_memory
    slices = slices_of_card(one.product)
    if slices is None:
        parts = [Room(f"Time-slicing with {count} pods a card", 1 / count) for count in _HALVES]
        return next((part for part in parts if max(one.usage_ratio_p95, memory) <= part.share), None)
    return next(
        (
            Room(f"A part of {count} of {slices} slices by MIG", count / slices)
            for count, eighths in _PROFILES[slices]
            if one.usage_ratio_p95 <= count / slices and memory <= eighths / 8
        ),
        None,
    )


def _unattributed(hours: float | None) -> Iterator[Finding]:
    if hours is None or hours < _UNATTRIBUTED_HOURS:
        return
    yield Finding(
        id="gpus.unattributed",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message("Devices that no pod holds worked for {hours:count} hours", hours=round(hours, 1)),
        detail=message(
            "Either something outside of Kubernetes uses them, or the exporter does not name pods; their hours count for nobody."
        ),
        action=message("See whether the DCGM exporter runs with DCGM_EXPORTER_KUBERNETES=true, and `nvidia-smi` on the node"),
        weight=hours,
    )
