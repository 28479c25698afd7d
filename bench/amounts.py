"""Amounts of resources, and the scheduler's rule for what a pod holds, written apart from the product's so that each can prove the other.

An amount is whole millicores of cpu, whole bytes of memory and storage, or a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

GPU = "nvidia.com/gpu"
STORAGE = "ephemeral-storage"
KIB, MIB, GIB = 2**10, 2**20, 2**30

Amounts = dict[str, int]

_SUFFIXES = (("Gi", GIB), ("Mi", MIB), ("Ki", KIB))


@dataclass(frozen=True)
class Container:
    """A container of a workload. `allocated` is what the kubelet still holds for it in the middle of a resize."""

    name: str
    image: str
    requests: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)
    sidecar: bool = False
    allocated: Amounts = field(default_factory=dict)


def effective_requests(containers: Iterable[Container], inits: Iterable[Container], overhead: Amounts, pod_level: Amounts) -> Amounts:
    """Give what the scheduler counts for one pod (KEP-753, KEP-2837, KEP-1287)."""
    held = _held([largest((c.requests, c.allocated)) for c in containers], [(c.sidecar, largest((c.requests, c.allocated))) for c in inits])
    return plus((held | pod_level, overhead))


def effective_limits(containers: Iterable[Container], inits: Iterable[Container], overhead: Amounts) -> Amounts:
    """Give the same of the limits; overhead counts where there is a limit."""
    held = _held([c.limits for c in containers], [(c.sidecar, c.limits) for c in inits])
    return plus((held, {name: amount for name, amount in overhead.items() if name in held}))


def _held(together: list[Amounts], inits: list[tuple[bool, Amounts]]) -> Amounts:
    before: list[Amounts] = []
    moments = [plus([*together, *(amounts for sidecar, amounts in inits if sidecar)])]
    for sidecar, amounts in inits:
        moments.append(plus([*before, amounts]))
        before += [amounts] if sidecar else []
    return largest(moments)


def plus(parts: Iterable[Mapping[str, int]]) -> Amounts:
    """Add up by resource."""
    total: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total


def largest(parts: Iterable[Mapping[str, int]]) -> Amounts:
    """Give the largest amount of each resource."""
    total: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = max(total.get(name, 0), amount)
    return total


def quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    """Give amounts as the API server prints them."""
    return {name: _quantity(name, amount) for name, amount in amounts.items()}


def _quantity(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if name in ("memory", STORAGE):
        return next((f"{amount // size}{suffix}" for suffix, size in _SUFFIXES if amount and amount % size == 0), str(amount))
    return str(amount)
