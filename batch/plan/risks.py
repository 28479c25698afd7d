"""The chances that the pods of a profile need more than a node of a flavor leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from batch.plan.model import Distribution
from batch.plan.overrun import CPU_BIN_NANOCORES, MEMORY_BIN_BYTES, Draws
from batch.plan.sizes import NodeSize

MOST_PODS = 1_000
"""Pods a node that are thought of where no limit is known: the kubelet is not tested with as many (Kubernetes, Considerations for large clusters)."""


class Risks:
    """Chances for one profile on flavors of known size; None where the size, what DaemonSets take, or the pods' use is not known."""

    def __init__(self, sizes: Mapping[str, NodeSize], cpu: Distribution, memory: Distribution) -> None:
        self._limits = {name: MOST_PODS if size.slots is None else size.slots for name, size in sizes.items()}
        self._memory_rooms = {name: room for name, size in sizes.items() if (room := size.memory_room) is not None}
        self._cpu_rooms = {name: room for name, size in sizes.items() if (room := size.cpu_room) is not None}
        self._memory = Draws(memory.values, MEMORY_BIN_BYTES, set(self._memory_rooms.values())) if memory.values else None
        self._cpu = Draws(cpu.values, CPU_BIN_NANOCORES, set(self._cpu_rooms.values())) if cpu.values else None

    def memory(self, flavor: str, pod_count: int) -> float | None:
        """Give the chance that that many pods need more memory than the flavor leaves them."""
        return self._memory.overrun(pod_count, self._memory_rooms[flavor]) if self._memory and flavor in self._memory_rooms else None

    def cpu(self, flavor: str, pod_count: int) -> float | None:
        """Give the chance that that many pods need more CPU than the flavor leaves them."""
        return self._cpu.overrun(pod_count, self._cpu_rooms[flavor]) if self._cpu and flavor in self._cpu_rooms else None

    def curves(self, flavor: str, pod_counts: Iterable[int]) -> Iterator[tuple[int, float, float]]:
        """Give (pods, chance for memory, chance for CPU) for one number of pods after the other; nothing where one is not known."""
        if self._memory and self._cpu and flavor in self._memory_rooms and flavor in self._cpu_rooms:
            counts = list(pod_counts)
            by_memory = self._memory.overruns(counts, self._memory_rooms[flavor])
            yield from zip(counts, by_memory, self._cpu.overruns(counts, self._cpu_rooms[flavor]), strict=True)

    def most_pods(self, flavor: str, chance: float) -> int | None:
        """Give the most pods, within the flavor's slots, whose chance is at most that in memory and in CPU."""
        if not (self._memory and self._cpu and flavor in self._memory_rooms and flavor in self._cpu_rooms):
            return None
        by_cpu = self._cpu.most_pods(self._cpu_rooms[flavor], chance, self._limits[flavor])
        return self._memory.most_pods(self._memory_rooms[flavor], chance, by_cpu)
