"""Checks a packing by counting alone: nothing of how it was made is used."""

from __future__ import annotations

from collections import Counter

from batch.packing.model import Items, Packing


def check(items: Items, rooms: list[list[int]], packing: Packing) -> None:
    """Assert that every bin respects every constraint, that everything is accounted for once, and that the bound is one."""
    packed: Counter[int] = Counter()
    for pattern in packing.patterns:
        assert pattern.bin_count > 0
        assert pattern.contents
        held = [0] * len(rooms[0])
        for shape, count in pattern.contents:
            assert count > 0
            assert items.accepts[shape][pattern.class_], f"shape {shape} may not go into class {pattern.class_}"
            packed[shape] += count * pattern.bin_count
            for resource, size in enumerate(items.sizes[shape].tolist()):
                held[resource] += size * count
        assert all(used <= room for used, room in zip(held, rooms[pattern.class_], strict=True)), f"{held} is more than {rooms}"
    for shape, count in enumerate(items.counts.tolist()):
        assert packed[shape] + int(packing.unplaced[shape]) == count
        if packing.unplaced[shape]:
            assert not any(_fits(items, shape, class_, room) for class_, room in enumerate(rooms)), f"shape {shape} fits and was left out"
    assert packing.lower_bound <= packing.bin_count


def volume_bound(items: Items, room: list[int]) -> int:
    """Add up what each resource needs of one class of bins, rounded up to whole bins; the largest counts."""
    bound = 0
    for resource, size in enumerate(room):
        needed = sum(int(one[resource]) * int(count) for one, count in zip(items.sizes, items.counts, strict=True))
        bound = max(bound, -(-needed // size)) if size else bound
    return bound


def _fits(items: Items, shape: int, class_: int, room: list[int]) -> bool:
    return bool(items.accepts[shape][class_]) and all(size <= free for size, free in zip(items.sizes[shape].tolist(), room, strict=True))
