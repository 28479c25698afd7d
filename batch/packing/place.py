"""Place things into bins that are there: the largest first, each where its dot product with the room left is largest.

The dot product prefers bins whose room has the proportions of what is placed, and spreads equal things over equal bins, so that small ones
find gaps later. Panigrahy, Talwar, Uyeda, Wieder: "Heuristics for Vector Bin Packing" (Microsoft Research, 2011), item by item and with counts.
"""

from __future__ import annotations

import numpy as np

from batch.packing.model import Bins, Flags, Floats, Integers, Items, Placement

_HALVINGS = 24
"""Halvings of the interval in which the score of the last thing placed is sought; finer only changes which of two nearly equal bins gets it."""

_NONE: Integers = np.zeros(0, dtype=np.int64)


def place(items: Items, bins: Bins) -> Placement:
    """Place as much as fits. Deterministic; sizes and rooms are compared as exact integers, only preferences are floats.

    A room below zero holds nothing of that resource, yet things that need none of it.
    """
    rooms = np.ascontiguousarray(bins.rooms.T).copy()
    scales = _scales(rooms)
    scaled_sizes, weights = items.sizes * scales, _weights(items, rooms)
    scaled_rooms = rooms * scales[:, np.newaxis]
    placed = [(_NONE, _NONE, _NONE)]
    unplaced = items.counts.copy()
    order = np.argsort(-(scaled_sizes @ weights), kind="stable")
    for shape in order[items.counts[order] > 0]:
        size, count = items.sizes[shape], int(unplaced[shape])
        needed = np.flatnonzero(size)
        able = _able(rooms, size, needed, items.accepts[shape, bins.classes])
        preference = scaled_sizes[shape] * weights
        if able.size > count:
            scores = preference @ scaled_rooms
            best = scores if able.size == len(bins) else scores[able]
            able = able[np.argpartition(best, able.size - count)[able.size - count :]]
        fits = _fits(rooms, size, needed, able, count)
        if fits.sum() > count:
            fits = _share_out(preference @ scaled_rooms[:, able], float(preference @ scaled_sizes[shape]), fits, count)
            able, fits = able[fits > 0], fits[fits > 0]
        for resource in needed:
            rooms[resource, able] -= size[resource] * fits
            scaled_rooms[resource, able] -= scaled_sizes[shape, resource] * fits
        unplaced[shape] -= fits.sum()
        placed.append((np.full(able.size, shape), able, fits))
    shapes, where, counts = (np.concatenate(column) for column in zip(*placed, strict=True))
    return Placement(shapes, where, counts, rooms.T, unplaced)


def _scales(rooms: Integers) -> Floats:
    """Make resources comparable: one over the mean room of a bin; nothing where there is none."""
    total = np.clip(rooms, 0, None).sum(axis=1, dtype=np.float64)
    scales: Floats = np.divide(rooms.shape[1], total, out=np.zeros_like(total), where=total > 0)
    return scales


def _weights(items: Items, rooms: Integers) -> Floats:
    """Weigh each resource by the share of it that the things need: what is scarce decides."""
    demand = items.counts.astype(np.float64) @ items.sizes.astype(np.float64)
    supply = np.clip(rooms, 0, None).sum(axis=1, dtype=np.float64)
    shares: Floats = np.divide(demand, supply, out=np.zeros_like(demand), where=supply > 0)
    return shares


def _able(rooms: Integers, size: Integers, needed: Integers, accepted: Flags) -> Integers:
    """Find the bins that can take at least one of a shape."""
    able = accepted.copy()
    for resource in needed:
        able &= rooms[resource] >= size[resource]
    return np.flatnonzero(able)


def _fits(rooms: Integers, size: Integers, needed: Integers, able: Integers, count: int) -> Integers:
    """Say how many of one shape each of those bins can take, at most `count`."""
    fits = np.full(able.size, count, dtype=np.int64)
    for resource in needed:
        np.minimum(fits, rooms[resource, able] // size[resource], out=fits)
    return fits


def _share_out(scores: Floats, step: float, fits: Integers, count: int) -> Integers:
    """Choose how many each bin takes: the `count` highest scores, where each one placed lowers its bin's score by `step`."""
    return _level(scores, step, fits, count) if step > 0 else _in_turn(fits, count)


def _in_turn(fits: Integers, count: int) -> Integers:
    """Fill bin after bin: what things that weigh nothing deserve."""
    before: Integers = np.cumsum(fits) - fits
    return np.clip(count - before, 0, fits)


def _level(scores: Floats, step: float, fits: Integers, count: int) -> Integers:
    """Lower a level over the scores until `count` steps stick out above it, as water is poured; what the halvings leave goes one by one."""
    low, high = float((scores - fits * step).min()), float(scores.max())
    taken = np.zeros_like(fits)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = np.minimum(np.ceil((scores - middle) / step).clip(0).astype(np.int64), fits)
        number = int(above.sum())
        if number > count:
            low = middle
            continue
        high, taken = middle, above
        if number == count:
            break
    while (rest := count - int(taken.sum())) > 0:
        able = np.flatnonzero(taken < fits)
        taken[able[np.argsort(taken[able] * step - scores[able], kind="stable")[:rest]]] += 1
    return taken
