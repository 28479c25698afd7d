"""What the loss of a node or of a zone would do: whether the pods there find room on the nodes that remain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from batch.packing.model import Flags, Integers
from batch.packing.place import place
from batch.plan.model_packing import Loss, UnplacedWorkload
from batch.plan.standing import Standing

NO_ROOM, NO_NODE = "room", "rules"
"""Why a pod finds no place: nodes that may take it are full; or its rules and CPU architecture leave no node."""


def losses(cluster: Standing) -> tuple[Loss, ...]:
    """Give the loss of the largest open node of each pool, then that of each zone where there are several.

    The largest has the most allocatable CPU, then memory, then the most requested. Pods of a negative priority on other nodes make way.
    """
    rooms = cluster.rooms.copy()
    yielding = cluster.preemptible
    np.add.at(rooms, cluster.node_of[yielding], cluster.demand.sizes[cluster.demand.shape_of[yielding]])
    return tuple(_loss(cluster, rooms, what, name, pool, lost) for what, name, pool, lost in _what_may_be_lost(cluster))


def _what_may_be_lost(cluster: Standing) -> Iterator[tuple[str, str, str | None, Flags]]:
    nodes = cluster.nodes.loc[cluster.open]
    size = ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "requests_cpu_nanocores", "requests_memory_bytes"]
    by_size = nodes.sort_values([*size, "node"], ascending=[False, False, False, False, True], na_position="last")
    for pool, row in sorted(by_size.drop_duplicates("pool").set_index("pool").iterrows()):
        yield "node", str(row["node"]), str(pool), np.asarray(cluster.nodes["node"].eq(row["node"]).to_numpy(dtype=np.bool_))
    zones = sorted(nodes["zone"].dropna().unique())
    for zone in zones if len(zones) > 1 else []:
        yield "zone", str(zone), None, np.asarray(cluster.nodes["zone"].eq(zone).fillna(value=False).to_numpy(dtype=np.bool_))


def _loss(cluster: Standing, rooms: Integers, what: str, name: str, pool: str | None, lost: Flags) -> Loss:
    there = lost[cluster.node_of]
    homeless = there & ~cluster.preemptible
    counts, remaining = cluster.demand.counts(homeless), cluster.open & ~lost
    unplaced = place(cluster.items(counts), cluster.bins(remaining, rooms)).unplaced
    asked, left = counts @ cluster.demand.sizes, unplaced @ cluster.demand.sizes
    return Loss(
        what=what,
        name=name,
        pool=pool,
        node_count=int(lost.sum()),
        remaining_node_count=int(remaining.sum()),
        pod_count=int(homeless.sum()),
        preemptible_pod_count=int(there.sum() - homeless.sum()),
        requests_cpu_nanocores=int(asked[0]),
        requests_memory_bytes=int(asked[1]),
        unplaced_pod_count=int(unplaced.sum()),
        unplaced_requests_cpu_nanocores=int(left[0]),
        unplaced_requests_memory_bytes=int(left[1]),
        unplaced_workloads=_workloads(cluster, homeless, unplaced, remaining),
    )


def _workloads(cluster: Standing, homeless: Flags, unplaced: Integers, remaining: Flags) -> tuple[UnplacedWorkload, ...]:
    """Name the workloads of pods without a place, most pods first; of equal pods the last in order of name are those without."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    shapes = cluster.demand.shape_of
    for shape in np.flatnonzero(unplaced):
        reason = NO_ROOM if cluster.accepts[shape, remaining].any() else NO_NODE
        pods = cluster.pods.loc[homeless & (shapes == shape)].sort_values(["namespace", "pod"]).tail(int(unplaced[shape]))
        for namespace, kind, workload in zip(pods["namespace"], pods["workload_kind"], pods["workload"], strict=True):
            found[namespace, kind, workload, reason] += 1
    ordered = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(UnplacedWorkload(namespace, kind, workload, count, reason) for (namespace, kind, workload, reason), count in ordered)
