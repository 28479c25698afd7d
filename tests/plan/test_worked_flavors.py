"""The examples of docs/worked-examples.md on flavors: reservations and the chance of an overrun. That of outliers is in test_outliers.py."""

from __future__ import annotations

from typing import Any

import pytest

from batch.plan.assess import assess
from batch.plan.model import FlavorFit
from batch.plan.reservations import Machine, allocatable
from batch.settings import Settings
from tests.builders import CORE, GIB, MIB, node, pod, snapshot


def test_what_gke_leaves_of_an_n2_standard_8() -> None:
    # 649.344 MiB: 592 and 57.344, the latter 60,129,542.1 bytes, rounded up
    capacity = 32 * GIB - 592 * MIB - 60_129_543
    assert allocatable("google", Machine("n2-standard-8", 8 * CORE, 32 * GIB, pod_limit=110)) == (7910 * 10**6, capacity - 3707 * MIB)
    assert (capacity - 3707 * MIB) / MIB == pytest.approx(28_411.656, abs=1e-3)


def test_what_eks_leaves_of_an_m5_xlarge() -> None:
    assert allocatable("aws", Machine("m5.xlarge", 4 * CORE, 16 * GIB, pod_limit=58)) == (3920 * 10**6, 14_162 * MIB)


def test_what_aks_leaves_of_a_standard_d8s_v5() -> None:
    machine = Machine("Standard_D8s_v5", 8 * CORE, 32 * GIB, pod_limit=110, minor_version=29)
    assert allocatable("azure", machine) == (7820 * 10**6, 27_960 * MIB)


def fit(allocatable_gib: int, pods_per_node: int) -> FlavorFit:
    """Fit the four pods of the example to the cluster's only flavor."""
    pods = [pod(f"p{i}", labels={"app": "web"}, usage=(0, gib * GIB)) for i, gib in enumerate((1, 1, 2, 4))]
    agent = pod("agent", workload_kind="DaemonSet", usage=(0, GIB))
    plan: dict[str, Any] = {
        "profiles": [{"name": "web", "selector": "app=web", "pods_per_node": pods_per_node}],
        "flavor_names": ["machine"],
    }
    nodes = [node("n1", instance_type="machine", memory=allocatable_gib * GIB)]
    found = assess(snapshot(nodes=nodes, pods=[*pods, agent]), Settings.model_validate({"plan": plan}))
    return found.profiles[1].flavors[0]


def test_the_chance_that_three_pods_need_more_than_seven_gib() -> None:
    assert fit(8, 3).memory_overrun_probability == pytest.approx(13 / 64, abs=1e-12)
    assert fit(8, 2).memory_overrun_probability == pytest.approx(1 / 16, abs=1e-12)
    assert fit(8, 3).safe_pods_per_node == 1


def test_four_pods_are_safe_where_sixteen_gib_are_left() -> None:
    assert fit(17, 5).memory_overrun_probability == pytest.approx(16 / 1024, abs=1e-12)
    assert fit(17, 5).safe_pods_per_node == 4
