"""The smallest number of equal bins that takes everything, as far as placing by dot product finds it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from batch.packing.bounds import lower_bound
from batch.packing.model import Bins, Flags, Integers, Items, Packing, Pattern
from batch.packing.place import place

_WORTHWHILE = 400
"""The first step of the search for fewer bins is a 400th of them: less is not worth a try."""


@dataclass(frozen=True)
class _Filled:
    """Bins, with what is left of their room, and what is in them: one entry for each shape in a bin."""

    bins: Bins
    where: Integers
    shapes: Integers
    counts: Integers

    def __len__(self) -> int:
        return len(self.bins)

    def joined(self, other: _Filled) -> _Filled:
        """Put other bins behind these."""
        return _Filled(
            Bins(np.concatenate([self.bins.rooms, other.bins.rooms]), np.concatenate([self.bins.classes, other.bins.classes])),
            np.concatenate([self.where, other.where + len(self)]),
            np.concatenate([self.shapes, other.shapes]),
            np.concatenate([self.counts, other.counts]),
        )


def pack(items: Items, rooms: Integers) -> Packing:
    """Pack everything into new bins; `rooms[class, resource]` is what an empty bin of each class takes, its overhead already off.

    Classes are opened one after the other, the one with least to hold first. What several classes accept belongs to the one of them that has
    most to hold anyway; it is packed together with that, and may fill gaps in all bins that are there.
    """
    fitting = items.accepts & (items.sizes[:, np.newaxis, :] <= rooms[np.newaxis, :, :]).all(axis=2)
    possible = fitting.any(axis=1)
    unplaced = np.where(possible, 0, items.counts)
    items = Items(items.sizes, items.counts - unplaced, fitting)
    filled = _empty(rooms.shape[1])
    homes = _homes(items, rooms)
    demands = [_bound_of(items, homes == class_, room) for class_, room in enumerate(rooms)]
    for class_ in np.argsort(demands, kind="stable"):
        belonging = items.with_counts(np.where(homes == class_, items.counts, 0))
        filled = _open(belonging, filled, rooms[class_], int(class_), demands[class_])
    return Packing(_patterns(filled), bound(items, rooms), unplaced)


def _empty(resource_count: int) -> _Filled:
    none = np.zeros(0, dtype=np.int64)
    return _Filled(Bins(np.zeros((0, resource_count), dtype=np.int64), none), none, none, none)


def _homes(items: Items, rooms: Integers) -> Integers:
    """Choose for each shape, of the classes that accept it, the one that must hold most of what no other class accepts."""
    alone = _accepted_by_one(items)
    demands = np.array([_bound_of(items, alone & items.accepts[:, class_], room) for class_, room in enumerate(rooms)])
    return np.asarray(np.where(items.accepts, demands, -1).argmax(axis=1), dtype=np.int64)


def _open(items: Items, filled: _Filled, room: Integers, class_: int, alone: int) -> _Filled:
    """Place things into the bins that are there and into as few new ones of one class as trying finds.

    `alone` is what they need when no bin is there. The first try has that many and adds bins for what is left; further ones have ever fewer
    than the best so far, as long as that helps: a thing that is placed when more bins are open may fit better.
    """
    least = alone if not len(filled) else _missing(items, filled.bins, room)
    best = _with_new(items, filled, room, class_, least)
    step = max(1, (len(best) - len(filled)) // _WORTHWHILE)
    while (number := len(best) - len(filled) - step) > least:
        tried = _with_new(items, filled, room, class_, number)
        if len(tried) >= len(best):
            break
        best, step = tried, step * 2
    return best


def _missing(items: Items, bins: Bins, room: Integers) -> int:
    """Bound the new bins from below by the volume that those that are there do not have."""
    lacking = items.counts @ items.sizes - bins.rooms.clip(min=0).sum(axis=0)
    lacking = lacking.clip(min=0)[room > 0]
    return int((-(-lacking // room[room > 0])).max(initial=0))


def _with_new(items: Items, filled: _Filled, room: Integers, class_: int, number: int) -> _Filled:
    """Add equal bins and place; what is left then fits into none of them, and gets bins of its own."""
    result, rest = _placed(items, filled, room, class_, number)
    while rest.counts.any():
        further, rest = _placed(rest, _empty(room.size), room, class_, lower_bound(*_present(rest), room))
        result = result.joined(further)
    return result


def _placed(items: Items, filled: _Filled, room: Integers, class_: int, number: int) -> tuple[_Filled, Items]:
    wider = filled.bins.with_new(number, room, class_)
    placement = place(items, wider)
    result = _Filled(
        Bins(placement.rooms, wider.classes),
        np.concatenate([filled.where, placement.bins]),
        np.concatenate([filled.shapes, placement.shapes]),
        np.concatenate([filled.counts, placement.counts]),
    )
    return result, items.with_counts(placement.unplaced)


def _present(items: Items) -> tuple[Integers, Integers]:
    there = items.counts > 0
    return items.sizes[there], items.counts[there]


def _accepted_by_one(items: Items) -> Flags:
    return np.asarray(items.accepts.sum(axis=1) == 1)


def _bound_of(items: Items, chosen: Flags, room: Integers) -> int:
    return lower_bound(*_present(items.only(chosen)), room)


def bound(items: Items, rooms: Integers) -> int:
    """Give the number of bins that no packing can do without, for shapes that each fit into an empty bin of a class that accepts them.

    The better of two: everything in the roomiest bins, and what only one class accepts in bins of that class, summed up.
    """
    alone = _accepted_by_one(items)
    separate = sum(_bound_of(items, alone & items.accepts[:, class_], room) for class_, room in enumerate(rooms))
    return max(_bound_of(items, np.ones_like(alone), rooms.max(axis=0)), separate)


def _patterns(filled: _Filled) -> tuple[Pattern, ...]:
    """Gather bins of one class that hold the same, the most frequent first; bins that hold nothing are left out."""
    order = np.lexsort((filled.shapes, filled.where))
    pairs = np.stack([filled.shapes[order], filled.counts[order]], axis=1)
    used, starts = np.unique(filled.where[order], return_index=True)
    found: Counter[tuple[int, bytes]] = Counter()
    for bin_, held in zip(used, np.split(pairs, starts[1:]), strict=used.size > 0):
        found[int(filled.bins.classes[bin_]), held.tobytes()] += 1
    return tuple(Pattern(class_, number, _pairs(held)) for (class_, held), number in found.most_common())


def _pairs(held: bytes) -> tuple[tuple[int, int], ...]:
    return tuple((shape, count) for shape, count in np.frombuffer(held, dtype=np.int64).reshape(-1, 2).tolist())
