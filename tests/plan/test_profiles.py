from __future__ import annotations

import pandas as pd
import pytest

from batch.errors import SettingsError
from batch.plan.assess import assess
from batch.plan.model import ProfilePlan
from batch.settings import PlanSettings, ProfileSettings, Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, node, pod, snapshot

HUB = {"app": "jupyterhub", "component": "singleuser-server"}


def plans(taken: Snapshot, *given: ProfileSettings) -> dict[str, ProfilePlan]:
    return {plan.name: plan for plan in assess(taken, Settings(plan=PlanSettings(profiles=given))).profiles}


def test_all_running_pods_are_planned_by_the_median_of_pods_on_a_node() -> None:
    nodes = [node("n1"), node("n2"), node("fargate", virtual=True)]
    pods = [pod(f"p{i}", on="n1") for i in range(5)] + [pod("q", on="n2"), pod("done", on="n2", phase="Succeeded")]
    found = plans(snapshot(nodes=nodes, pods=pods))["all-pods"]
    assert (found.pod_count, found.pods_per_node) == (6, 3)  # the median of 5 and 1
    assert plans(snapshot(nodes=nodes))["all-pods"].pods_per_node == 1
    unread = plans(snapshot(pods=pods, unread=["nodes"]))["all-pods"]
    assert unread.pods_per_node == 100
    assert "no node is known" in unread.pods_per_node_reason


def test_user_pods_of_jupyterhub_are_found_and_read() -> None:
    found = plans(snapshot(nodes=[node("n1")], pods=[pod("jupyter-jane-2ddoe", labels=HUB), pod("web")]))
    assert list(found) == ["all-pods", "jupyterhub-users"]
    hub = found["jupyterhub-users"]
    assert (hub.pod_count, hub.pods_per_node) == (1, 100)
    assert hub.pods["workload"].tolist() == ["jane-doe"]
    assert set(found["all-pods"].pods["workload"]) == {"jane-doe", "web"}


def test_a_hub_without_running_users_is_no_profile() -> None:
    assert list(plans(snapshot(pods=[pod("jupyter-jane", labels=HUB, phase="Failed")]))) == ["all-pods"]


def test_given_profiles_choose_by_namespace_and_selector() -> None:
    pods = [
        pod("a", namespace="web", labels={"tier": "front"}),
        pod("b", namespace="web", labels={"tier": "back"}),
        pod("c", namespace="other", labels={"tier": "front"}),
        pod("d", namespace="web", labels={"tier": "front"}, phase="Pending"),
    ]
    found = plans(
        snapshot(nodes=[node("n1")], pods=pods), ProfileSettings(name="front", namespace="web", selector="tier=front", pods_per_node=7)
    )
    assert (found["front"].pods["pod"].tolist(), found["front"].pods_per_node) == (["a"], 7)


def test_a_given_profile_takes_the_place_of_the_one_found() -> None:
    taken = snapshot(nodes=[node("n1")], pods=[pod("jupyter-jane", labels=HUB)])
    own = ProfileSettings(name="jupyterhub-users", selector="component=singleuser-server", pods_per_node=40)
    assert plans(taken, own)["jupyterhub-users"].pods_per_node == 40


def test_a_name_given_twice_and_a_wrong_selector_are_refused() -> None:
    with pytest.raises(SettingsError) as twice:
        plans(snapshot(), ProfileSettings(name="a"), ProfileSettings(name="a"))
    assert twice.value.slug == "profile-twice"
    with pytest.raises(SettingsError) as wrong:
        plans(snapshot(), ProfileSettings(name="a", selector="=b"))
    assert wrong.value.slug == "selector"


def test_pods_stand_by_memory_with_unmeasured_ones_last_and_half_a_limit_is_none() -> None:
    pods = [
        pod("unmeasured", memory_limit=GIB),
        pod("b", usage=(1, MIB)),
        pod("a", usage=(1, MIB), memory_limit=GIB, memory_limited=False),
        pod("large", usage=(1, GIB), memory_limit=2 * GIB),
    ]
    found = plans(snapshot(nodes=[node("n1")], pods=pods))["all-pods"]
    assert (found.pod_count, found.measured_pod_count) == (4, 3)
    assert found.pods["pod"].tolist() == ["large", "a", "b", "unmeasured"]
    assert [None if pd.isna(v) else v for v in found.pods["limits_memory_bytes"]] == [2 * GIB, None, None, GIB]


def test_plans_multiply_mean_and_quantiles_by_the_pods_on_a_node() -> None:
    pods = [pod("a", usage=(CORE, 100 * MIB)), pod("b", usage=(3 * CORE, 300 * MIB))]
    found = plans(snapshot(nodes=[node("n1")], pods=pods), ProfileSettings(name="ten", pods_per_node=10))["ten"]
    assert found.average_plan is not None
    assert (found.average_plan.memory_bytes_per_node, found.average_plan.cpu_nanocores_per_node) == (2000 * MIB, 20 * CORE)
    assert [plan.quantile for plan in found.quantile_plans] == [0.9, 0.95, 0.98, 0.99]
    assert found.quantile_plans[0].memory_bytes_per_node == pytest.approx(2800 * MIB)  # 10 * (100 + 0.9 * 200)


def test_nothing_measured_plans_nothing() -> None:
    found = plans(snapshot(nodes=[node("n1")], pods=[pod("a")]))["all-pods"]
    assert (found.average_plan, found.quantile_plans, found.recommended) == (None, (), None)
    assert found.refusal is not None


def test_pods_that_mostly_request_an_accelerator_are_recommended_what_offers_it() -> None:
    tpu = {"google.com/tpu": (4, 4)}
    nodes = [node("n1", instance_type="tpu-host", resources=tpu, memory=256 * GIB), node("n2", instance_type="plain")]
    pods = [pod(f"t{i}", resources={"google.com/tpu": 1}, usage=(CORE // 100, GIB)) for i in range(3)]
    pods += [pod(f"p{i}", namespace="web", on="n2", usage=(CORE // 100, GIB)) for i in range(3)]
    trainers, many, web = (
        ProfileSettings(name="trainers", namespace="default", pods_per_node=3),
        ProfileSettings(name="many", namespace="default", pods_per_node=5),
        ProfileSettings(name="web", namespace="web", pods_per_node=3),
    )
    settings = Settings(
        plan=PlanSettings(profiles=(trainers, many, web), measured_count_min=1, flavor_names=("tpu-host", "plain", "g2-standard-8"))
    )
    found = {plan.name: plan for plan in assess(snapshot(nodes=nodes, pods=pods), settings).profiles}
    taken = {name: plan.recommended.flavor for name, plan in found.items() if plan.recommended}
    assert (taken["trainers"], taken["web"]) == ("tpu-host", "plain")
    assert found["many"].refusal is not None
    assert (found["many"].refusal.values["needed"], found["many"].refusal.values["offered"]) == (5, 4)


def test_daemonset_pods_of_a_profile_count_once() -> None:
    nodes = [node(f"n{i}", instance_type="a", cpu=8 * CORE, memory=10 * GIB, pods=20) for i in range(2)]
    pods = [
        pod(f"agent{i}", namespace="system", on=f"n{i}", workload_kind="DaemonSet", usage=(CORE, GIB), cpu=CORE, memory=GIB)
        for i in range(2)
    ]
    pods += [pod(f"web{i}{j}", on=f"n{i}", usage=(CORE, GIB), cpu=CORE, memory=GIB) for i in range(2) for j in range(3)]
    found = plans(snapshot(nodes=nodes, pods=pods), ProfileSettings(name="web", namespace="default"))
    (everything,) = [fit for fit in found["all-pods"].flavors if fit.flavor.name == "a"]
    (beside,) = [fit for fit in found["web"].flavors if fit.flavor.name == "a"]
    # Eight cores hold eight pods of a core, the agent being one of them; beside the agent they hold seven.
    assert (everything.daemonset_pod_count, everything.pods_by_requests, everything.pods_by_p95, everything.pods_by_limit) == (0, 8, 8, 20)
    assert (beside.daemonset_pod_count, beside.pods_by_requests, beside.pods_by_p95, beside.pods_by_limit) == (1, 7, 7, 19)
    assert (everything.safe_pods_per_node, beside.safe_pods_per_node) == (8, 7)
