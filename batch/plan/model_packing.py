"""Fleet, PoolRoom, Loss and Emptying: what packing says, in base units and exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Unplaced:
    """Pods that cannot go anywhere, for one reason: `resource` is what the reason "too large" or "resource" is about."""

    reason: str
    pod_count: int
    resource: str | None = None


@dataclass(frozen=True)
class Fleet:
    """Nodes of one flavor that hold the ordinary pods: as they ask now, or as right-sized. `cpu_nanocores` and `memory_bytes` are nominal.

    `node_count` is what the packing needs, `lower_bound_node_count` what no packing can do without; both are for the pods that are not
    in `unplaced`. Every node carries the DaemonSets whose rules accept it: `daemonset_*` is the largest such overhead of a node.
    `requests_ratio` is the share of the fleet's allocatable that is requested, DaemonSets included, by resource; `binding_resource` the
    largest of them. `allocatable_source` is as in FlavorFit. `pod_limit` None: unknown, and counted as the kubelet's default.
    """

    flavor: str
    cpu_nanocores: int
    memory_bytes: int
    gpu_count: int
    right_sized: bool
    node_count: int
    lower_bound_node_count: int
    placed_pod_count: int
    unplaced: tuple[Unplaced, ...]
    allocatable_cpu_nanocores: int
    allocatable_memory_bytes: int
    allocatable_source: str
    pod_limit: int | None
    daemonset_pod_count: int
    daemonset_cpu_nanocores: int
    daemonset_memory_bytes: int
    requests_ratio: Mapping[str, float]
    binding_resource: str | None
    monthly_cost: float | None

    @property
    def unplaced_pod_count(self) -> int:
        """Pods that no node of this flavor can take."""
        return sum(part.pod_count for part in self.unplaced)


@dataclass(frozen=True)
class SkippedFlavor:
    """A flavor for which there is no fleet, and why: "unknown size", or why it takes no pod, as in Unplaced."""

    flavor: str
    reason: str


@dataclass(frozen=True)
class Fleets:
    """Fleets of every flavor that could be worked out, in the order of the flavors.

    `pod_count` are the ordinary pods that were to be placed; `spread_pod_count` of them also ask to be near or far from other pods, which
    the packing does not look at; `unreadable_pod_count` further ones ask for an amount that could not be read and are left out.
    """

    fleets: tuple[Fleet, ...]
    skipped: tuple[SkippedFlavor, ...]
    pod_count: int
    spread_pod_count: int
    unreadable_pod_count: int


@dataclass(frozen=True)
class FreeNode:
    """What one pod could still ask for on one node: both amounts at once."""

    node: str
    cpu_nanocores: int
    memory_bytes: int


@dataclass(frozen=True)
class TypicalPod:
    """The medians of what the ordinary pods of a pool ask for, each rounded up; `resources` has every other one above 0."""

    cpu_nanocores: int
    memory_bytes: int
    resources: Mapping[str, int]


@dataclass(frozen=True)
class PoolRoom:
    """What still fits into the open nodes of a pool: those that are ready, not cordoned, and may take at least half of the pool's own pods.

    `largest_cpu_fit` is the node with the most CPU left, `largest_memory_fit` the one with the most memory, of those with a free pod slot.
    `typical_fit_count` typical pods fit now, node by node; `typical_fit_whole_count` would if the same room were in one piece;
    `typical_fit_by_resource` says how many would if that resource alone counted, and `typical_binding_resource` names the least.
    """

    pool: str
    open_node_count: int
    largest_cpu_fit: FreeNode | None
    largest_memory_fit: FreeNode | None
    typical: TypicalPod | None
    typical_fit_count: int | None
    typical_fit_whole_count: int | None
    typical_fit_by_resource: Mapping[str, int]
    typical_binding_resource: str | None


@dataclass(frozen=True)
class UnplacedWorkload:
    """Pods of one workload that find no room: `reason` is "rules" (no other node may take them) or "room"."""

    namespace: str
    workload_kind: str
    workload: str
    pod_count: int
    reason: str


@dataclass(frozen=True)
class Loss:
    """Nodes that go away at once, `what` being "node" (the largest of pool `pool`) or "zone", and whether their pods fit on the others.

    `pod_count` are the ordinary pods there that need a new place; `preemptible_pod_count` more have a negative priority and need none.
    """

    what: str
    name: str
    pool: str | None
    node_count: int
    remaining_node_count: int
    pod_count: int
    preemptible_pod_count: int
    requests_cpu_nanocores: int
    requests_memory_bytes: int
    unplaced_pod_count: int
    unplaced_requests_cpu_nanocores: int
    unplaced_requests_memory_bytes: int
    unplaced_workloads: tuple[UnplacedWorkload, ...]


@dataclass(frozen=True)
class EmptyableNode:
    """A node that is not needed: `moved_pod_count` ordinary pods fit elsewhere; 0 when it holds none now."""

    node: str
    pool: str
    moved_pod_count: int
    allocatable_cpu_nanocores: int
    allocatable_memory_bytes: int


@dataclass(frozen=True)
class Headroom:
    """What fits, what a loss would do, and which nodes could be emptied together, in the order in which they were.

    `considered_node_count` are the nodes that were tried: ready, not cordoned, of known size, not of the control plane, and such that no
    waiting pod could have them.
    """

    pools: tuple[PoolRoom, ...]
    losses: tuple[Loss, ...]
    emptyable: tuple[EmptyableNode, ...]
    considered_node_count: int


NO_FLEETS = Fleets((), (), 0, 0, 0)
NO_HEADROOM = Headroom((), (), (), 0)
"""What is known before anything was worked out."""
