"""What providers keep for themselves of a machine: each one's published reservation as a formula with its source.

Between the machine that is bought and what pods may use stand two things. The kernel and the firmware take some memory before the kubelet
sees any: capacity. Of capacity the provider reserves a part, and the kubelet keeps the eviction threshold: allocatable. The second step is
published; the first is not, so it is estimated as the providers' autoscalers do it: within 1 % on GKE, 2 to 5 % too small on EKS and AKS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

MIB = 1024**2
GIB = 1024**3
CORE = 10**9
MILLICORE = 10**6

_Brackets = Sequence[tuple[int | None, Fraction]]
"""Pairs (up to where, share of what lies below that and above the one before); None: without end."""


@dataclass(frozen=True)
class Machine:
    """What a reservation depends on. `pod_limit` is the kubelet's maxPods, `minor_version` that of Kubernetes 1; None: unknown."""

    name: str
    cpu_nanocores: int
    memory_bytes: int
    arm: bool = False
    pod_limit: int | None = None
    minor_version: int | None = None


@dataclass(frozen=True)
class Reservation:
    """One provider's formulas: `capacity` estimates the memory that the kubelet sees, `cpu` and `memory` tell what is taken of it.

    `memory` is given the machine and its capacity, includes the eviction threshold, and is None where something that it depends on is not
    known.
    """

    service: str
    source: str
    capacity_source: str
    capacity: Callable[[Machine], int]
    cpu: Callable[[Machine], int]
    memory: Callable[[Machine, int], int | None]


def allocatable(provider: str | None, machine: Machine) -> tuple[int, int] | None:
    """Give what pods may use of a machine, (nanocores, bytes); None when the provider is not in RESERVATIONS or something is not known."""
    formula = RESERVATIONS.get(provider or "")
    if formula is None:
        return None
    capacity = formula.capacity(machine)
    taken = formula.memory(machine, capacity)
    return None if taken is None else (max(0, machine.cpu_nanocores - formula.cpu(machine)), max(0, capacity - taken))


def minor_version(kubernetes_version: str | None) -> int | None:
    """Read "v1.31.4-eks-…" as 31; None when it is not of that form."""
    match = re.match(r"v?1\.(\d+)", kubernetes_version or "")
    return int(match[1]) if match else None


def _in_brackets(amount: int, brackets: _Brackets) -> Fraction:
    taken, below = Fraction(0), 0
    for end, share in brackets:
        top = amount if end is None else min(amount, end)
        taken += max(0, top - below) * share
        below = top
    return taken


def _up(amount: Fraction, unit: int) -> int:
    """Round up to whole units, as reservations are written."""
    return -int(-amount // unit) * unit


def _percent(text: str) -> Fraction:
    return Fraction(text) / 100


_EVICTION = 100 * MIB
"""The kubelet's default threshold memory.available<100Mi, which GKE, EKS and AKS from 1.29 on keep (KubeletConfiguration v1beta1)."""

_MEMORY_BRACKETS: _Brackets = (
    (4 * GIB, _percent("25")),
    (8 * GIB, _percent("20")),
    (16 * GIB, _percent("10")),
    (128 * GIB, _percent("6")),
    (None, _percent("2")),
)
_CPU_BRACKETS: _Brackets = (
    (CORE, _percent("6")),
    (2 * CORE, _percent("1")),
    (4 * CORE, _percent("0.5")),
    (None, _percent("0.25")),
)


def _gke_capacity(machine: Machine) -> int:
    """Take off the kernel's share as the Cluster Autoscaler predicts it for Container-Optimized OS."""
    size = machine.memory_bytes
    reserved = Fraction(size, 64) + 16 * MIB + (64 * MIB if size > 3 * GIB else 0) + (8 * MIB if size <= 8 * GIB else 0)
    reserved += min(size * Fraction("0.00175"), Fraction(248 * MIB))
    return size - _up(reserved, 1)


def _gke_memory(_machine: Machine, capacity: int) -> int:
    if capacity < GIB:
        return 255 * MIB + _EVICTION
    return _up(_in_brackets(capacity, _MEMORY_BRACKETS), MIB) + _EVICTION


_GKE_SHARED_CORE = ("e2-micro", "e2-small", "e2-medium")


def _gke_cpu(machine: Machine) -> int:
    """Shared-core machines lose 1,060 millicores, nodes for more than 110 pods 400 millicores more."""
    if machine.name in _GKE_SHARED_CORE:
        return 1060 * MILLICORE
    more = 400 * MILLICORE if (machine.pod_limit or 0) > 110 else 0  # noqa: PLR2004  GKE's default of pods a node
    return _up(_in_brackets(machine.cpu_nanocores, _CPU_BRACKETS), MILLICORE) + more


_OVERHEAD = Fraction("0.075")
"""Karpenter's default for the memory of a virtual machine that the kubelet never sees: more than is lost on any machine of some size."""

_ARM_RESERVED = 64 * MIB
"""What Graviton machines keep for contiguous allocation on top (Karpenter, provider AWS)."""


def _vm_capacity(machine: Machine) -> int:
    return machine.memory_bytes - _up(machine.memory_bytes * _OVERHEAD, MIB)


def _eks_capacity(machine: Machine) -> int:
    size = machine.memory_bytes - (_ARM_RESERVED if machine.arm else 0)
    return size - _up(size * _OVERHEAD, MIB)


def _eks_memory(machine: Machine, _capacity: int) -> int | None:
    return None if machine.pod_limit is None else (255 + 11 * machine.pod_limit) * MIB + _EVICTION


def _eks_cpu(machine: Machine) -> int:
    return _up(_in_brackets(machine.cpu_nanocores, _CPU_BRACKETS), MILLICORE)


_AKS_CPU: _Brackets = ((CORE, _percent("6")), (2 * CORE, _percent("4")), (4 * CORE, _percent("2")), (None, _percent("1")))
"""The published table (60, 100, 140, 180, 260, 420, 740 millicores for 1, 2, 4, 8, 16, 32, 64 cores) lies on these lines."""

_AKS_BY_PODS_SINCE = 29
_AKS_OLD_EVICTION = 750 * MIB


def _aks_cpu(machine: Machine) -> int:
    return _up(_in_brackets(machine.cpu_nanocores, _AKS_CPU), MILLICORE)


def _aks_memory(machine: Machine, _capacity: int) -> int | None:
    """Reserve by pods from Kubernetes 1.29 on, by size before; an unknown version counts as a present one. Shares are of the nominal size."""
    if machine.minor_version is not None and machine.minor_version < _AKS_BY_PODS_SINCE:
        return _up(_in_brackets(machine.memory_bytes, _MEMORY_BRACKETS), MIB) + _AKS_OLD_EVICTION
    if machine.pod_limit is None:
        return None
    return min((20 * machine.pod_limit + 50) * MIB, machine.memory_bytes // 4) + _EVICTION


RESERVATIONS: Mapping[str, Reservation] = {
    "google": Reservation(
        service="GKE",
        source="GKE documentation, Plan node sizes, Memory and CPU reservations (August 2026)",
        capacity_source="Kubernetes Cluster Autoscaler, cloudprovider/gce/gce_reserved.go (August 2026)",
        capacity=_gke_capacity,
        cpu=_gke_cpu,
        memory=_gke_memory,
    ),
    "aws": Reservation(
        service="EKS",
        source="amazon-eks-ami, nodeadm/internal/kubelet/config.go (July 2026)",
        capacity_source="Karpenter provider AWS, VM_MEMORY_OVERHEAD_PERCENT 0.075 (August 2026)",
        capacity=_eks_capacity,
        cpu=_eks_cpu,
        memory=_eks_memory,
    ),
    "azure": Reservation(
        service="AKS",
        source="AKS documentation, Node resource reservations (August 2026)",
        capacity_source="Karpenter provider Azure, VM_MEMORY_OVERHEAD_PERCENT 0.075 (August 2026)",
        capacity=_vm_capacity,
        cpu=_aks_cpu,
        memory=_aks_memory,
    ),
}
