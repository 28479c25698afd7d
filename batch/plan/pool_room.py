"""What still fits into each node pool: the largest pod, and how many typical ones."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from batch.packing.model import Flags, Integers
from batch.plan.demand import CPU, MEMORY, OWN_COLUMN, PODS
from batch.plan.model_packing import FreeNode, PoolRoom, TypicalPod
from batch.plan.standing import Standing

_BOUGHT_WITH_NODES = ("ephemeral-storage", "hugepages-")
"""Beginnings of resources by which no typical pod is described."""


def pool_rooms(cluster: Standing) -> tuple[PoolRoom, ...]:
    """Give one entry for each pool of physical nodes, in order of name."""
    pools = cluster.nodes["pool"].to_numpy(dtype=object)
    return tuple(_pool_room(cluster, str(pool), np.asarray(pools == pool)) for pool in sorted(set(pools)))


def _pool_room(cluster: Standing, pool: str, members: Flags) -> PoolRoom:
    open_ = _open(cluster, members)
    rooms = cluster.rooms[open_].clip(min=0)
    typical = _typical(cluster, members)
    fits = {name: rooms[:, cluster.demand.resources.index(name)] // amount for name, amount in typical.items()}
    by_resource = {name: int(each.sum()) for name, each in fits.items()}
    return PoolRoom(
        pool=pool,
        open_node_count=int(open_.size),
        largest_cpu_fit=_freest(cluster, open_, CPU),
        largest_memory_fit=_freest(cluster, open_, MEMORY),
        typical=_described(typical) if typical else None,
        typical_fit_count=int(np.min(list(fits.values()), axis=0).sum()) if fits else None,
        typical_fit_whole_count=_in_one_piece(cluster, rooms, typical) if fits else None,
        typical_fit_by_resource=by_resource,
        typical_binding_resource=min(by_resource, key=lambda name: by_resource[name], default=None),
    )


def _open(cluster: Standing, members: Flags) -> Integers:
    """Give the pool's nodes that are ready and not cordoned and may take at least half of the pool's pods; without pods those without taints."""
    ready = np.flatnonzero(members & cluster.open)
    counts = cluster.demand.counts(members[cluster.node_of])
    if not counts.any():
        return ready[cluster.nodes["unusable"].isna().to_numpy(dtype=np.bool_)[ready]]
    present = np.flatnonzero(counts)
    takes = counts[present] @ cluster.accepts[np.ix_(present, ready)]
    return np.asarray(ready[takes * 2 >= counts.sum()])


def _typical(cluster: Standing, members: Flags) -> dict[str, int]:
    """Give the median of what ordinary pods on the pool's nodes ask for, resource by resource, rounded up; nothing without such pods.

    Pods of a negative priority are left out: they stand for room, not for work.
    """
    chosen = members[cluster.node_of] & ~cluster.preemptible
    asked = np.sort(cluster.demand.sizes[cluster.demand.shape_of[chosen]], axis=0)
    if not len(asked):
        return {}
    medians = -(-(asked[(len(asked) - 1) // 2] + asked[len(asked) // 2]) // 2)
    named = zip(cluster.demand.resources, medians.tolist(), strict=True)
    return {name: amount for name, amount in named if amount and not name.startswith(_BOUGHT_WITH_NODES)}


def _in_one_piece(cluster: Standing, rooms: Integers, typical: Mapping[str, int]) -> int:
    together: dict[str, int] = dict(zip(cluster.demand.resources, rooms.sum(axis=0).tolist(), strict=True))
    return min(together[name] // amount for name, amount in typical.items())


def _described(typical: Mapping[str, int]) -> TypicalPod:
    further = {name: amount for name, amount in typical.items() if name not in OWN_COLUMN}
    return TypicalPod(typical.get(CPU, 0), typical.get(MEMORY, 0), further)


def _freest(cluster: Standing, open_: Integers, resource: str) -> FreeNode | None:
    """Find the node with the most left of a resource among those with a free pod slot; the first of equals."""
    able = open_[cluster.rooms[open_, OWN_COLUMN.index(PODS)] > 0]
    if not able.size:
        return None
    most = int(able[cluster.rooms[able, OWN_COLUMN.index(resource)].argmax()])
    cpu, memory = cluster.rooms[most, :2].clip(min=0).tolist()
    return FreeNode(str(cluster.nodes["node"].iloc[most]), cpu, memory)
