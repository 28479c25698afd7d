"""The typical GPU pod, and how many accelerators and pods of it fit where they are free."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median_high

import pandas as pd

from batch.accelerators import THOUSANDTHS
from batch.gpu.holdings import POD
from batch.gpu.model import FIT_SIZES
from batch.gpu.nodes import Row
from batch.gpu.room import FREE_REASONS, Room, Rooms
from batch.snapshot.model import Snapshot

Typical = tuple[int, int]
"""Nanocores and bytes that the median GPU pod requests for each unit of its resource."""

_OPEN = FREE_REASONS[:2]
"""Reasons of nodes that are ready and take pods: the others are out of reach whatever is left on them."""


def typical_pods(snapshot: Snapshot, held: pd.DataFrame, waiting: pd.DataFrame) -> dict[str, Typical]:
    """Give the medians of CPU and memory for each unit of a resource, over the pods that hold it or wait for it.

    Rounded up for each pod; of an even number of pods the higher middle one, so that no half nanocore appears.
    """
    pods = snapshot.table("pods")[[*POD, "requests_cpu_nanocores", "requests_memory_bytes"]].dropna()
    columns = [*POD, "resource", "requests_count"]
    asks = pd.concat([held[columns], waiting[columns]]).merge(pods, on=POD)
    found = {}
    for resource, own in asks.groupby("resource"):
        counts = own["requests_count"]
        per_unit = [-(-own[name] // counts) for name in ("requests_cpu_nanocores", "requests_memory_bytes")]
        found[str(resource)] = (int(median_high(per_unit[0])), int(median_high(per_unit[1])))
    return found


def unusable_for_typical(row: Row, rooms: Rooms, typical: Typical | None) -> int | None:
    """Count the free ones of a row beside which the CPU or memory of a typical pod, or a slot, is not there.

    None when requests are not known or there is no typical pod; what is out of reach anyway does not count.
    """
    if typical is None or row["free_count"] is None:
        return None
    if row["free_reason"] not in _OPEN or not row["free_count"]:
        return 0
    free = int(row["free_count"])
    return free - min(free, _beside(rooms[row["node"]], typical, row["resource"]))


def _beside(room: Room, typical: Typical, resource: str) -> int:
    """Say for how many units a node has CPU and memory; with no slot left for none, for each slot one pod of the smallest size."""
    limits: list[int] = [free // size for free, size in zip(room.free[:2], typical, strict=True) if free is not None and size]
    slots = room.free[2]
    if slots is not None and slots < 1:
        return 0
    if slots is not None and resource != THOUSANDTHS:
        limits.append(slots)
    return max(0, min(limits, default=2**62))


def fit_counts(rows: Iterable[Row], rooms: Rooms, typical: Typical | None) -> dict[int, int] | None:
    """Say how many pods of 1, 2, 4 and 8 units, each with as many times a typical pod's CPU and memory, fit on the nodes as they are.

    Of thousandths the size is in whole cards of which nothing is requested. None when free ones are not known.
    """
    open_rows = [row for row in rows if row["free_reason"] in (_OPEN if typical else _OPEN[:1])]
    blocks = [block_of(row) for row in open_rows]
    if any(block is None for block in blocks):
        return None
    placed = zip(open_rows, blocks, strict=True)
    per_node = [(block or 0, rooms[row["node"]], 1000 if row["resource"] == THOUSANDTHS else 1) for row, block in placed]
    return {size: sum(_pods_of(size, block, room, typical, unit) for block, room, unit in per_node) for size in FIT_SIZES}


def block_of(row: Row) -> int | None:
    """Give the free ones that one pod could have together: whole cards of thousandths, else what is free."""
    count: int | None = row["wholly_free_device_count"] if row["resource"] == THOUSANDTHS else row["free_count"]
    return count


def _pods_of(size: int, block: int, room: Room, typical: Typical | None, unit: int) -> int:
    limits = [block // size]
    for free, one in zip(room.free[:2], typical or (0, 0), strict=True):
        if free is not None and one:
            limits.append(free // (one * unit * size))
    if room.free[2] is not None:
        limits.append(room.free[2])
    return max(0, min(limits))
