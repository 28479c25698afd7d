"""The chances that the pods of a profile need more than a node of a flavor leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from batch.plan.instants import Integers, Together
from batch.plan.model import Distribution
from batch.plan.overrun import CPU_BIN_NANOCORES, MEMORY_BIN_BYTES, Draws
from batch.plan.overrun_instants import Moments
from batch.plan.sizes import NodeSize

MOST_PODS = 1_000
"""Pods a node that are thought of where no limit is known: the kubelet is not tested with as many (Kubernetes, Considerations for large clusters)."""


class _Chances(Protocol):
    """Chances for one resource: of a number of pods at the worst moment and on average, of many numbers, and how many pods are safe."""

    def worst(self, pod_count: int, size: int) -> float: ...

    def mean(self, pod_count: int, size: int) -> float | None: ...

    def curve(self, pod_counts: Sequence[int], size: int) -> Iterator[float]: ...

    def most_pods(self, size: int, chance: float, limit: int) -> int: ...


class Risks:
    """Chances for one profile on flavors of known size; None where the size, what DaemonSets take, or the pods' use is not known.

    With several instants (`together`) they are worked out at each: the worst is what counts, and the mean is told beside it.
    """

    def __init__(self, sizes: Mapping[str, NodeSize], cpu: Distribution, memory: Distribution, together: Together | None = None) -> None:
        self._limits = {name: MOST_PODS if size.slots is None else size.slots for name, size in sizes.items()}
        self._memory_rooms = {name: room for name, size in sizes.items() if (room := size.memory_room) is not None}
        self._cpu_rooms = {name: room for name, size in sizes.items() if (room := size.cpu_room) is not None}
        self._memory = _chances(memory, together.memory if together else None, MEMORY_BIN_BYTES, self._memory_rooms)
        self._cpu = _chances(cpu, together.cpu if together else None, CPU_BIN_NANOCORES, self._cpu_rooms)

    def memory(self, flavor: str, pod_count: int) -> float | None:
        """Give the chance that that many pods need more memory than the flavor leaves them, at the worst instant."""
        return self._memory.worst(pod_count, self._memory_rooms[flavor]) if self._memory and flavor in self._memory_rooms else None

    def cpu(self, flavor: str, pod_count: int) -> float | None:
        """Give the chance that that many pods need more CPU than the flavor leaves them, at the worst instant."""
        return self._cpu.worst(pod_count, self._cpu_rooms[flavor]) if self._cpu and flavor in self._cpu_rooms else None

    def memory_mean(self, flavor: str, pod_count: int) -> float | None:
        """Give the mean of that chance over the instants; None when there is one moment only."""
        return self._memory.mean(pod_count, self._memory_rooms[flavor]) if self._memory and flavor in self._memory_rooms else None

    def cpu_mean(self, flavor: str, pod_count: int) -> float | None:
        """Give the mean of that chance over the instants; None when there is one moment only."""
        return self._cpu.mean(pod_count, self._cpu_rooms[flavor]) if self._cpu and flavor in self._cpu_rooms else None

    def curves(self, flavor: str, pod_counts: Iterable[int]) -> Iterator[tuple[int, float, float]]:
        """Give (pods, chance for memory, chance for CPU) for one number of pods after the other; nothing where one is not known.

        Of several instants it is that of the one which limits how many pods are safe there.
        """
        if self._memory and self._cpu and flavor in self._memory_rooms and flavor in self._cpu_rooms:
            counts = list(pod_counts)
            by_memory = self._memory.curve(counts, self._memory_rooms[flavor])
            yield from zip(counts, by_memory, self._cpu.curve(counts, self._cpu_rooms[flavor]), strict=True)

    def most_pods(self, flavor: str, chance: float) -> int | None:
        """Give the most pods, within the flavor's slots, whose chance is at most that in memory and in CPU."""
        if not (self._memory and self._cpu and flavor in self._memory_rooms and flavor in self._cpu_rooms):
            return None
        by_cpu = self._cpu.most_pods(self._cpu_rooms[flavor], chance, self._limits[flavor])
        return self._memory.most_pods(self._memory_rooms[flavor], chance, by_cpu)


def _chances(distribution: Distribution, instants: Sequence[Integers] | None, bin_width: int, rooms: Mapping[str, int]) -> _Chances | None:
    if not distribution.values:
        return None
    if instants is None or not any(len(part) for part in instants):
        return _OfOneMoment(Draws(distribution.values, bin_width, set(rooms.values())))
    return _OfInstants(Moments(instants, bin_width, set(rooms.values())))


class _OfOneMoment:
    """Chances by one distribution."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def worst(self, pod_count: int, size: int) -> float:
        return self._draws.overrun(pod_count, size)

    def mean(self, pod_count: int, size: int) -> float | None:
        del pod_count, size
        return None  # one moment has no mean

    def curve(self, pod_counts: Sequence[int], size: int) -> Iterator[float]:
        return self._draws.overruns(pod_counts, size)

    def most_pods(self, size: int, chance: float, limit: int) -> int:
        return self._draws.most_pods(size, chance, limit)


class _OfInstants:
    """Chances by the distributions of many instants."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._decisive: dict[int, int] = {}

    def worst(self, pod_count: int, size: int) -> float:
        return float(self._moments.overruns(pod_count, size).max())

    def mean(self, pod_count: int, size: int) -> float | None:
        return float(self._moments.overruns(pod_count, size).mean())

    def curve(self, pod_counts: Sequence[int], size: int) -> Iterator[float]:
        return self._moments.draws(self._decisive.get(size, 0)).overruns(pod_counts, size)

    def most_pods(self, size: int, chance: float, limit: int) -> int:
        most, self._decisive[size] = self._moments.most_pods(size, chance, limit)
        return most
