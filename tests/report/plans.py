"""A small capacity plan, put together by hand: two pods of one profile, one of them measured, on two nodes of one pool."""

from __future__ import annotations

import dataclasses
from typing import Any

from batch.findings import message
from batch.plan.model import (
    NODE_CAPACITY,
    PROFILE_PODS,
    CapacityPlan,
    Distribution,
    Flavor,
    FlavorFit,
    NodePlan,
    Outliers,
    Pool,
    ProfilePlan,
    Recommendation,
    Totals,
    Unusable,
)
from tests.builders import CORE, GIB, MIB

NOTHING_KNOWN = Distribution((), None, (), ())
MEMORY = Distribution(
    (100 * MIB,), 100.0 * MIB, tuple((q, 100.0 * MIB) for q in (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1.0)), ((64 * MIB, 1), (512 * MIB, 0))
)
CPU = Distribution((CORE // 4,), CORE / 4, tuple((q, CORE / 4) for q in (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1.0)), ((CORE // 10, 1),))


def empty_plan() -> CapacityPlan:
    """Give the plan of a cluster whose nodes were not listed and that holds no pods."""
    unknown: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Totals))
    counts = ("measured_pod_count", "measured_node_count", "pending_pod_count", "gated_pod_count", "virtual_node_count")
    totals = Totals(**{**unknown, **dict.fromkeys(counts, 0), "pod_count_by_phase": {}})
    return CapacityPlan(totals, NODE_CAPACITY.frame(()), (), (profile("all", PROFILE_PODS.frame(())),), ())


def small_plan() -> CapacityPlan:
    """Give the plan of two nodes and two pods."""
    totals = dataclasses.replace(
        empty_plan().totals, node_count=2, pod_count_by_phase={"Running": 2}, requests_cpu_nanocores=CORE // 2, requests_memory_bytes=GIB
    )
    nodes = NODE_CAPACITY.frame(
        (
            ("n1", "a", "m5", "z1", True, True, False, None, 2, 110, 4 * CORE, 2 * CORE, 250_000_000, 1, 16 * GIB, GIB, MIB, 7, 0),
            ("n2", "a", "m5", None, None, False, False, "cordoned", 0, None, None, 0, None, None, None, 0, None, None, 0),
        )
    )
    pods = PROFILE_PODS.frame(
        (
            ("ns", "measured", "Pod", "measured", "image:1", "n1", 100 * MIB, CORE // 4, None),
            ("ns", "unmeasured", "Pod", "unmeasured", None, "n1", None, None, GIB),
        )
    )
    return CapacityPlan(totals, nodes, (pool(),), (planned(profile("all", pods)),), ())


def pool() -> Pool:
    """Give the pool of both nodes, one of them cordoned."""
    cordoned = Unusable("cordoned", 1, None, None, None)
    amounts = 4 * CORE, 2 * CORE, CORE // 4, -CORE // 4, 16 * GIB, GIB, MIB, 15 * GIB
    return Pool("a", 2, 2, 110, 108, *amounts, (cordoned,), "cpu", 0.5, 1 / 16, 1 / 16, 1 / 16384, 2 / 110)


def profile(name: str, pods: Any) -> ProfilePlan:
    """Give a profile of which no pod was measured."""
    return ProfilePlan(
        name,
        "All running pods",
        None,
        "",
        100,
        "setting",
        len(pods),
        0,
        pods,
        NOTHING_KNOWN,
        NOTHING_KNOWN,
        None,
        (),
        None,
        (),
        None,
        message("no pod was measured"),
    )


def planned(unplanned: ProfilePlan) -> ProfilePlan:
    """Give the profile with everything that one measured pod makes known."""
    flavor = Flavor("m5.large", "aws", 2 * CORE, 8 * GIB, 0, None, "amd64", None)
    unknown: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(FlavorFit))
    known = {"flavor": flavor, "in_cluster_node_count": 2, "pod_limit": 29, "memory_overrun_probability": 1e-9, "node_count": 1}
    fit = FlavorFit(**{**unknown, **known})
    plan = NodePlan(0.9, 100.0 * MIB, CORE / 4, 10_000.0 * MIB, 25.0 * CORE)
    return dataclasses.replace(
        unplanned,
        measured_pod_count=1,
        memory=MEMORY,
        cpu=CPU,
        average_plan=dataclasses.replace(plan, quantile=None),
        quantile_plans=tuple(dataclasses.replace(plan, quantile=q) for q in (0.9, 0.95, 0.98, 0.99)),
        outliers=Outliers(0.9, 100.0 * MIB, GIB, "the commonest limit", GIB, "the commonest limit", (1.0, 2.0), 0.5, "1 of 2"),
        flavors=(fit,),
        recommended=Recommendation("m5.large", (message("it holds {pods:count} pods", pods=100),)),
        refusal=None,
    )
