"""The number of bins that no packing can do without."""

from __future__ import annotations

import numpy as np

from batch.packing.model import Integers


def lower_bound(sizes: Integers, counts: Integers, room: Integers) -> int:
    """Give the largest bound over the resources, for things that each fit into an empty bin.

    For each resource alone: the volume, rounded up, and the bound L2 of Martello and Toth ("Knapsack Problems", 1990, chapter 8): two things
    larger than half a bin never share one.
    """
    bounds = [_of_resource(sizes[:, resource], counts, int(room[resource])) for resource in range(room.size)]
    return max([1 if counts.sum() else 0, *bounds])


def _of_resource(sizes: Integers, counts: Integers, room: int) -> int:
    """Take the best L2 over every threshold k: things under k are ignored, those over room - k are alone in their bins."""
    used = (sizes > 0) & (counts > 0)
    if not used.any():
        return 0
    order = np.argsort(sizes[used], kind="stable")
    size, count = sizes[used][order], counts[used][order]
    number = np.concatenate([[0], np.cumsum(count)])
    volume = np.concatenate([[0], np.cumsum(size * count)])
    halves = np.searchsorted(size, room // 2, side="right")  # the first that is larger than half a bin
    thresholds = np.concatenate([[0], np.unique(size[:halves])])
    alone = np.searchsorted(size, room - thresholds, side="right").clip(min=halves)
    smallest = np.searchsorted(size, thresholds, side="left")
    large = number[-1] - number[halves]
    room_beside_large = (number[alone] - number[halves]) * room - (volume[alone] - volume[halves])
    rest = volume[halves] - volume[smallest] - room_beside_large
    return int((large + np.maximum(0, -(-rest // room))).max())
