"""Profiles on pods as they ran together: distributions, pods at the same time, and the chance of an overrun at each instant."""

from __future__ import annotations

from typing import Any

import pytest

from batch.plan.assess import assess
from batch.plan.model import CapacityPlan, ProfilePlan
from batch.settings import Settings
from tests.builders import CORE, GIB, MIB, node, pod, snapshot
from tests.plan.measured_days import Told, at, tables

WEB, BATCH = ("Deployment", "web"), ("Deployment", "batch")


def planned(*told: Told, pods: Any = (), **plan: Any) -> CapacityPlan:
    nodes = [node("n1", cpu=8 * CORE, memory=4 * GIB, instance_type="m5.large")]
    listed = pods or [pod("web-1", labels={"app": "web"}, workload_kind="Deployment", workload="web", usage=(CORE // 10, 90 * MIB))]
    shot = snapshot(nodes=nodes, pods=listed, tables=tables(*told, instant_count=3))
    return assess(shot, Settings.model_validate({"plan": plan}))


def web(name: str, *instants: tuple[int, int | None, int | None], **more: Any) -> Told:
    return Told(name, instants, workload=WEB, **more)


NOW = web("web-1", (2, CORE // 10, 100 * MIB), (1, CORE // 5, 300 * MIB), (0, CORE // 10, 200 * MIB))
GONE = web("web-0", (2, CORE // 2, 500 * MIB), (1, CORE // 4, 400 * MIB), listed=False)
NAMED = {"profiles": [{"name": "web", "selector": "app=web", "pods_per_node": 4}]}


def profile(plan: CapacityPlan, name: str = "all-pods") -> ProfilePlan:
    return next(one for one in plan.profiles if one.name == name)


def test_distributions_are_of_pods_times_instants_with_those_that_are_gone() -> None:
    found = profile(planned(NOW, GONE))
    assert found.memory.values == tuple(size * MIB for size in (100, 200, 300, 400, 500))
    assert found.cpu.mean == pytest.approx((0.1 + 0.2 + 0.1 + 0.5 + 0.25) / 5 * CORE)
    assert dict(found.memory.quantiles)[0.5] == 300 * MIB


def test_pods_at_the_same_time_are_counted_at_each_instant() -> None:
    found = profile(planned(NOW, GONE)).at_once
    assert found is not None
    assert (found.minimum, found.median, found.peak, found.peak_at) == (1, 2, 2, at(2))


def test_containers_of_a_pod_add_up_and_a_part_is_not_the_whole() -> None:
    side = Told("web-1", ((2, CORE // 10, 50 * MIB), (1, None, None), (0, CORE // 10, None)), container="side", workload=WEB)
    found = profile(planned(NOW, side))
    assert found.memory.values == (150 * MIB,)
    assert found.cpu.values == (CORE // 5, CORE // 5)


def test_a_pod_that_lacks_a_container_in_between_has_no_value_there() -> None:
    """The main container was not measured at the middle instant; the sidecar's own 50 MiB are not what the pod used."""
    main = web("web-1", (2, CORE // 10, 100 * MIB), (0, CORE // 10, 200 * MIB))
    side = Told("web-1", tuple((hours, CORE // 10, 50 * MIB) for hours in (2, 1, 0)), container="side", workload=WEB)
    found = profile(planned(main, side))
    assert found.memory.values == (150 * MIB, 250 * MIB)
    assert found.at_once is not None
    assert found.at_once.minimum == 1


def test_a_container_that_ended_or_has_not_begun_uses_nothing() -> None:
    early = web("web-1", (2, CORE // 10, 100 * MIB))
    side = Told("web-1", tuple((hours, CORE // 10, 50 * MIB) for hours in (2, 1, 0)), container="side", workload=WEB)
    assert profile(planned(early, side)).memory.values == (50 * MIB, 50 * MIB, 150 * MIB)


def test_without_instants_it_is_the_snapshot() -> None:
    found = profile(planned())
    assert found.at_once is None
    assert found.memory.values == (90 * MIB,)


def test_a_selector_takes_former_pods_of_its_workloads_alone() -> None:
    other = Told("batch-0", ((2, CORE, GIB),), workload=BATCH, listed=False)
    nobody = Told("mystery", ((2, CORE, GIB),), listed=False)
    pods = [
        pod("web-1", labels={"app": "web"}, workload_kind="Deployment", workload="web"),
        pod("batch-1", workload_kind="Deployment", workload="batch"),
    ]
    found = profile(planned(NOW, GONE, other, nobody, pods=pods, **NAMED), "web")
    assert max(found.memory.values) == 500 * MIB
    assert found.unplaced_pod_count == 1
    assert profile(planned(NOW, GONE, other, nobody, pods=pods, **NAMED)).memory.values[-1] == GIB


def test_a_namespace_takes_its_former_pods_alone() -> None:
    elsewhere = Told("x", ((2, CORE, GIB),), namespace="other", listed=False)
    found = profile(planned(NOW, GONE, elsewhere, profiles=[{"name": "own", "namespace": "default"}]), "own")
    assert len(found.memory.values) == 5


def test_former_user_pods_of_a_hub_are_told_by_their_name() -> None:
    users = [pod("jupyter-ada", labels={"component": "singleuser-server"})]
    ada = Told("jupyter-ada", ((0, CORE, 100 * MIB),), workload=("Pod", "jupyter-ada"))
    bob = Told("jupyter-bob", ((1, CORE, 700 * MIB),), listed=False)
    job = Told("nightly-build", ((1, CORE, 2 * GIB),), listed=False)
    found = profile(planned(ada, bob, job, pods=users), "jupyterhub-users")
    assert found.memory.values == (100 * MIB, 700 * MIB)
    assert found.unplaced_pod_count == 1


def test_a_pod_that_only_prometheus_measured_is_measured() -> None:
    found = profile(planned(NOW, pods=[pod("web-1", workload_kind="Deployment", workload="web"), pod("new")]))
    assert (found.pod_count, found.measured_pod_count) == (2, 1)


def test_the_worst_instant_decides_and_the_mean_is_told() -> None:
    """Two pods on 4 GiB: at one instant each of them needs 1 or 3 GiB, at the other always 1."""
    calm = [Told(f"p{i}", ((1, CORE, GIB), (0, CORE, (1 if i % 2 else 3) * GIB)), listed=False) for i in range(4)]
    plan = planned(*calm, flavor_names=["m5.large"], profiles=[{"name": "own", "pods_per_node": 2}])
    (fit,) = profile(plan, "own").flavors
    assert fit.memory_overrun_probability == pytest.approx(1 / 4)
    assert fit.memory_overrun_probability_mean == pytest.approx(1 / 8)
    assert fit.safe_pods_per_node == 1
    assert fit.cpu_overrun_probability == 0


def test_counts_over_a_threshold_are_means_over_the_instants() -> None:
    found = profile(planned(NOW, GONE, memory_thresholds_bytes=[250 * MIB]))
    (over,) = found.memory.over
    assert over == (250 * MIB, 3)
    assert found.at_a_time(over[1]) == 1
