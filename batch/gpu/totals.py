"""Totals of each accelerator resource and product over all nodes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from batch.gpu.activity import Reading, hours
from batch.gpu.model import GpuResource, Holder
from batch.gpu.nodes import NO_RESOURCE, Row
from batch.gpu.room import FREE_REASONS, Rooms
from batch.gpu.typical import Typical, fit_counts
from batch.snapshot import views

Key = tuple[str, str | None]
"""Resource and product."""


@dataclass(frozen=True)
class Parts:
    """What totals are made from beside rows: rooms, typical pods by resource, holders and readings by resource and product."""

    rooms: Rooms
    typical: Mapping[str, Typical]
    holders: Mapping[Key, Sequence[Holder]]
    readings: Mapping[Key, Sequence[Reading]]
    repacked: Callable[[str, Sequence[Row], dict[int, int]], dict[int, int]]


def gpu_resources(rows: Iterable[Row], parts: Parts) -> tuple[GpuResource, ...]:
    """Add up rows of GPU_NODES for each resource and product, ordered by both; an unknown product comes last.

    A node counts when it advertises the resource: capacity or allocatable is above 0. Counts are Python integers in the resource's own unit.
    """
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        if row["resource"] != NO_RESOURCE:
            groups[row["resource"], row["product"]].append(row)
    ordered = sorted(groups, key=lambda key: (key[0], key[1] is None, key[1] or ""))
    return tuple(_total(key, groups[key], parts) for key in ordered)


def advertises(row: Row) -> bool:
    """Whether a row advertises its resource; False where the counts are not known."""
    return bool(row.get("capacity_count")) or bool(row.get("allocatable_count"))


def idle(row: Row) -> bool:
    """Whether a row has allocatable ones and not a single request; False where requests are not known."""
    return bool(row.get("allocatable_count")) and row.get("requests_count") == 0


def _total(key: Key, rows: Sequence[Row], parts: Parts) -> GpuResource:
    """Add up rows of one resource and product."""
    known = [row for row in rows if row["free_count"] is not None]
    by_reason = (
        {reason: sum(row["free_count"] for row in known if row["free_reason"] == reason) for reason in FREE_REASONS} if known else {}
    )
    here = [row for row in rows if advertises(row)]
    typical = parts.typical.get(key[0])
    fits = fit_counts(here, parts.rooms, typical) if by_reason else None
    requests = views.total(row["requests_count"] for row in rows)
    own = parts.holders.get(key, ())
    judged = [holder for holder in own if holder.idle is not None]
    return GpuResource(
        resource=key[0],
        product=key[1],
        node_count=len(here),
        capacity_count=views.total(row["capacity_count"] for row in rows),
        allocatable_count=views.total(row["allocatable_count"] for row in rows),
        requests_count=requests,
        unrequested_count=sum(by_reason.values()) if by_reason else None,
        stranded_count=by_reason.get("stranded"),
        free_by_reason=by_reason,
        idle_node_count=sum(map(idle, here)) if by_reason else None,
        largest_free_block=dict(sorted(Counter(row["free_count"] for row in here if row["free_count"] is not None).items())),
        card_count=_sum(row["card_count"] for row in here),
        healthy_card_count=_sum(row["healthy_card_count"] for row in here),
        sharing=", ".join(sorted({row["sharing"] for row in here if row["sharing"]})) or None,
        requests_cards=None if requests is None or _unknown(here) else add_cards([holder.card_count for holder in own]),
        unusable_for_typical_count=_sum(row["unusable_for_typical_count"] for row in here) if by_reason else None,
        typical=typical,
        fit_count=fits or {},
        repacked_fit_count=parts.repacked(key[0], here, fits) if fits else {},
        wholly_free_device_count=_sum(row["wholly_free_device_count"] for row in here),
        wholly_free_block=_blocks(here),
        unknown_count=_unknown(here) if by_reason else None,
        active_count=sum(holder.count for holder in judged if not holder.idle) if judged else None,
        idle_count=sum(holder.count for holder in judged if holder.idle) if judged else None,
        hours=hours(parts.readings.get(key, ())),
    )


def _unknown(rows: Iterable[Row]) -> int:
    """Count the allocatable ones of nodes where what is requested is not known."""
    return sum(row["allocatable_count"] or 0 for row in rows if row["requests_count"] is None)


def _blocks(rows: Sequence[Row]) -> dict[int, int]:
    counts = [row["wholly_free_device_count"] for row in rows]
    return {} if None in counts else dict(sorted(Counter(counts).items()))


def add_cards(counts: Sequence[float | None]) -> float | None:
    """Add up parts of cards to a millionth, so that thirds make a whole; None when one is not known."""
    return None if None in counts else round(math.fsum(count for count in counts if count is not None), 6)


def _sum(values: Iterable[int | None]) -> int | None:
    """Add up; None when one is not known, or when there are none."""
    every = list(values)
    return None if None in every else views.total(every)
