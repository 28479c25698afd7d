"""What nodes have left beside their accelerators, and whether pods may go there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from batch.accelerators import dedicates
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from batch.snapshot.scheduling import REPELLING
from batch.snapshot.schemas import NODES

FREE_REASONS = ("usable", "stranded", "tainted", "cordoned", "not ready")
"""What becomes of free accelerators: the first can be requested, each later one outweighs those before it."""

ROOM_CPU_NANOCORES = 10**9
ROOM_MEMORY_BYTES = 1024**3
"""With less of either free, or no pod slot, hardly a pod with an accelerator starts: one core, one GiB."""


@dataclass(frozen=True)
class Room:
    """A node: what it has for pods, what they request, and whether it takes more. None is not known.

    A node without a Ready condition is not known to be ready. A taint that keeps other pods off GPU nodes is no taint here.
    """

    allocatable: tuple[int | None, int | None, int | None]
    requests: tuple[int, int, int]
    ready: bool
    schedulable: bool
    tainted: bool

    @property
    def free(self) -> tuple[int | None, int | None, int | None]:
        """CPU, memory and pod slots that are not requested; below zero on an overcommitted node."""
        cpu, memory, slots = (None if a is None else a - r for a, r in zip(self.allocatable, self.requests, strict=True))
        return cpu, memory, slots

    @property
    def short_of(self) -> tuple[str, ...]:
        """Name what the node has too little of: under a core, under a GiB, no slot; what is not known is not held against it."""
        least = (ROOM_CPU_NANOCORES, ROOM_MEMORY_BYTES, 1)
        return tuple(
            name
            for name, free, needed in zip(("CPU", "memory", "pod slots"), self.free, least, strict=True)
            if free is not None and free < needed
        )


Rooms = Mapping[str, Room]
"""By the node's name."""


def rooms(snapshot: Snapshot) -> Rooms:
    """Give the room of every listed node."""
    pods = views.bound_pods(snapshot).groupby("node")
    sums = pods[["requests_cpu_nanocores", "requests_memory_bytes"]].sum()
    held = {
        node: (int(cpu), int(memory), int(count))
        for node, cpu, memory, count in zip(sums.index, *(sums[c].fillna(0) for c in sums.columns), pods.size(), strict=True)
    }
    tainted = _tainted(snapshot)
    columns = ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "allocatable_pod_count"]
    table = NODES.to_arrow(snapshot.table("nodes"))
    rows = zip(*(table[name].to_pylist() for name in ("node", "ready", "schedulable", *columns)), strict=True)
    return {
        node: Room((cpu, memory, slots), held.get(node, (0, 0, 0)), bool(ready), schedulable, node in tainted)
        for node, ready, schedulable, cpu, memory, slots in rows
    }


def _tainted(snapshot: Snapshot) -> frozenset[str]:
    taints = snapshot.table("node_taints")
    taints = taints.loc[taints["effect"].isin(REPELLING)]
    rows = zip(taints["node"], taints["taint"], taints["value"], strict=True)
    return frozenset(node for node, key, value in rows if not dedicates(key, None if pd.isna(value) else value))
