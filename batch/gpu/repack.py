"""What would fit if the same GPU pods were packed anew, on the same nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.gpu.holdings import POD
from batch.gpu.model import FIT_SIZES
from batch.gpu.nodes import Row
from batch.gpu.room import FREE_REASONS, Rooms
from batch.gpu.typical import Typical
from batch.packing.model import Bins, Flags, Integers, Items
from batch.packing.place import place
from batch.snapshot.model import Snapshot
from batch.snapshot.scheduling import accepted, places, rules

_ENDLESS = 2**53
"""Stands for an amount that a node does not state."""

_FINE = 100
"""A search that comes as near as a hundredth ends: placing finds no more exact answer anyway."""

_RESOURCES = 4
"""Units of the accelerator, CPU, memory, pod slots."""


@dataclass(frozen=True)
class Floor:
    """The nodes of one resource by name, with the room that its own pods and free ones share, and those pods by shape."""

    bins: Bins
    items: Items
    names: tuple[str, ...]

    def allowed(self, snapshot: Snapshot, scheduling_set: int) -> Flags:
        """Say which of the nodes the rules of a pod allow."""
        own = rules(snapshot)[scheduling_set]
        flags: Flags = accepted([own], places(snapshot, self.names, own.labels()))[0]
        return flags

    def takes_one(self, size: Integers, allowed: Flags) -> bool:
        """Whether one new pod can be placed on the allowed nodes, beside all that are there."""
        bins = Bins(self.bins.rooms, self.bins.classes * 2 + allowed)
        wider = np.repeat(self.items.accepts, 2, axis=1)
        new = np.tile(np.array([False, True]), self.items.accepts.shape[1])
        return Floor(bins, Items(self.items.sizes, self.items.counts, wider), self.names).takes(size, 1, new)

    def takes(self, size: Integers, count: int, accepts: Flags | None = None) -> bool:
        """Whether all pods that are there and so many new ones can be placed together, as far as placing by dot product finds it."""
        flags = np.ones(self.items.accepts.shape[1], dtype=np.bool_) if accepts is None else accepts
        tried = Items(
            np.concatenate([self.items.sizes, size[np.newaxis, :]]),
            np.concatenate([self.items.counts, np.array([count])]),
            np.concatenate([self.items.accepts, flags[np.newaxis, :]]),
        )
        return not place(tried, self.bins).unplaced.any()


def floor(snapshot: Snapshot, rows: Sequence[Row], held: pd.DataFrame, rooms: Rooms) -> Floor | None:
    """Lay out the ready, untainted nodes of one resource; None where nothing could be moved: no such pods, or no two nodes.

    Pods without the resource stay where they are. `held` are the holdings of the resource.
    """
    open_rows = [row for row in rows if row["free_reason"] in FREE_REASONS[:2] and row["allocatable_count"]]
    names = [row["node"] for row in open_rows]
    pods = snapshot.table("pods")[[*POD, "requests_cpu_nanocores", "requests_memory_bytes", "scheduling_set"]]
    own = held.loc[held["node"].isin(names)].merge(pods, on=POD)
    if own.empty or len(names) <= 1:
        return None
    sizes = np.stack([own[name].fillna(0).to_numpy(np.int64) for name in ("requests_count", *pods.columns[2:4])], axis=1)
    shapes, counts = np.unique(
        np.column_stack([own["scheduling_set"].to_numpy(np.int64), sizes, np.ones(len(own), dtype=np.int64)]), axis=0, return_counts=True
    )
    flags, classes = _classes(snapshot, shapes[:, 0], names)
    return Floor(Bins(_rooms(open_rows, rooms, own, sizes), classes), Items(shapes[:, 1:], counts.astype(np.int64), flags), tuple(names))


def repacked_counts(laid: Floor, now: dict[int, int], free_count: int, typical: Typical | None) -> dict[int, int]:
    """Say for each size how many such pods would fit beside all that are there: at least as many as do now."""
    found: dict[int, int] = {}
    least = 0  # where a large pod fits, two of half its size do
    for size in sorted(FIT_SIZES, reverse=True):
        shape = np.array([size, *(size * one for one in typical or (0, 0)), 1], dtype=np.int64)
        most = _bound(laid, shape, free_count // size)
        found[size] = _most(laid, shape, max(now[size], min(2 * least, most)), most)
        least = found[size]
    return dict(sorted(found.items()))


def _bound(laid: Floor, shape: Integers, most: int) -> int:
    """Bound the number of new pods by what the nodes have in all, resource by resource, less what the pods that are there take."""
    left = laid.bins.rooms.clip(min=0).sum(axis=0, dtype=np.float64) - laid.items.counts @ laid.items.sizes.astype(np.float64)
    return max(0, min(most, *(int(left[r] // shape[r]) for r in range(_RESOURCES) if shape[r])))


def _most(laid: Floor, shape: Integers, least: int, most: int) -> int:
    """Search the largest number that can be placed, between what fits now and what the sums allow, to a hundredth of it."""
    low, high = least, max(least, most)
    while high - low > high // _FINE:
        middle = (low + high + 1) // 2
        if laid.takes(shape, middle):
            low = middle
        else:
            high = middle - 1
    return low


def _classes(snapshot: Snapshot, sets: Integers, names: Sequence[str]) -> tuple[Flags, Integers]:
    """Give which classes of nodes each shape may go to, and the class of each node: nodes that all shapes treat alike are one class."""
    every = rules(snapshot)
    numbers = sorted(set(sets.tolist()))
    own = [every[number] for number in numbers]
    where = places(snapshot, names, {label for one in own for label in one.labels()})
    columns, classes = np.unique(accepted(own, where), axis=1, return_inverse=True)
    return columns[np.searchsorted(numbers, sets)], np.asarray(classes, dtype=np.int64).reshape(-1)


def _rooms(rows: Iterable[Row], rooms: Rooms, own: pd.DataFrame, sizes: Integers) -> Integers:
    """Give what each node has for pods of the resource: what is free, and what those that are there give back."""
    back: dict[str, Integers] = {}
    for node, size in zip(own["node"], sizes, strict=True):
        back[node] = back.get(node, np.zeros(3, dtype=np.int64)) + size
    pods = own.groupby("node").size().to_dict()
    found = []
    for row in rows:
        node = row["node"]
        given = back.get(node, np.zeros(3, dtype=np.int64))
        cpu, memory, slots = rooms[node].free
        found.append(
            [
                row["allocatable_count"],
                _ENDLESS if cpu is None else cpu + int(given[1]),
                _ENDLESS if memory is None else memory + int(given[2]),
                _ENDLESS if slots is None else slots + pods.get(node, 0),
            ]
        )
    return np.array(found, dtype=np.int64)
