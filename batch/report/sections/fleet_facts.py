"""What several parts of the section about fleets need: their order, which of them to name, and the nodes of today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batch.plan.model import CapacityPlan
from batch.plan.model_packing import Fleet, Fleets

_NEARLY = 0.01
"""Share of the pods by which a fleet may leave more over than the best and still count as one that holds nearly all."""

_GIB_A_CORE = 4 * 1024**3
"""Memory that weighs as much as a core where there are no prices: about what general-purpose machines of the large clouds have."""

_CORE = 10**9


def in_order(fleets: Fleets) -> list[Fleet]:
    """Order fleets for reading: flavors without GPUs first unless most pods need one, then those that hold nearly all pods, then the least.

    The least is by cost where there are prices, else by cores and memory together.
    """
    plain = [fleet for fleet in fleets.fleets if not fleet.gpu_count]
    with_gpus = [fleet for fleet in fleets.fleets if fleet.gpu_count]
    most = max((fleet.placed_pod_count for fleet in plain), default=0)
    preferred, others = (plain, with_gpus) if 2 * most >= fleets.pod_count or not with_gpus else (with_gpus, plain)
    least = min((fleet.unplaced_pod_count for fleet in preferred), default=0)
    priced = any(fleet.monthly_cost is not None for fleet in fleets.fleets)

    def key(fleet: Fleet) -> tuple[bool, bool, float, str]:
        leaves_more = fleet.unplaced_pod_count > least + _NEARLY * fleets.pod_count
        return leaves_more, priced and fleet.monthly_cost is None, _amount(fleet), fleet.flavor

    return [*sorted(preferred, key=key), *sorted(others, key=key)]


def _amount(fleet: Fleet) -> float:
    if fleet.monthly_cost is not None:
        return fleet.monthly_cost
    return fleet.node_count * (fleet.cpu_nanocores / _CORE + fleet.memory_bytes / _GIB_A_CORE)


@dataclass(frozen=True)
class Today:
    """The physical nodes that there are. Ratios are of requests to allocatable; None is unknown."""

    node_count: int
    cpu_nanocores: int | None
    memory_bytes: int | None
    cpu_ratio: float | None
    memory_ratio: float | None


def today(plan: CapacityPlan) -> Today | None:
    """Describe the nodes that there are; None when they were not read, or there are none."""
    totals = plan.totals
    if not totals.node_count:
        return None
    return Today(
        totals.node_count,
        totals.capacity_cpu_nanocores,
        totals.capacity_memory_bytes,
        totals.requests_cpu_ratio,
        totals.requests_memory_ratio,
    )


def right_sized(plan: CapacityPlan, fleet: Fleet) -> Fleet | None:
    """Give the fleet of the same flavor for the recommended requests; None without any."""
    return next((one for one in plan.right_sized_fleets.fleets if one.flavor == fleet.flavor), None)


def shown(fleets: Sequence[Fleet], count: int) -> list[Fleet]:
    """Give the first fleets, of flavors with equal nodes and equal results only the first."""
    seen: set[tuple[object, ...]] = set()
    chosen = []
    for fleet in fleets:
        alike = (fleet.cpu_nanocores, fleet.memory_bytes, fleet.gpu_count, fleet.node_count, tuple(fleet.requests_ratio.items()))
        if alike not in seen:
            seen.add(alike)
            chosen.append(fleet)
    return chosen[:count]
