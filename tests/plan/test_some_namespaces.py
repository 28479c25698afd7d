"""What a plan may say when pods of some namespaces alone were read: nodes are shared, so nothing that rests on all their pods."""

from batch.plan.assess import assess
from batch.plan.model import CapacityPlan
from batch.plan.model_packing import NO_FLEETS, NO_HEADROOM
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, node, pod, snapshot

GPU = "nvidia.com/gpu"


def taken(namespaces: tuple[str, ...] | None) -> Snapshot:
    nodes = [
        node(name, cpu=8 * CORE, memory=32 * GIB, instance_type="m5.2xlarge", provider="aws", machine_usage=(5 * CORE, GIB), zone=name)
        for name in ("n1", "n2")
    ]
    pods = [pod(f"p{i}", namespace="team", on=f"n{1 + i % 2}", cpu=CORE // 4, memory=GIB, usage=(CORE // 10, 100 * MIB)) for i in range(20)]
    return snapshot(nodes=nodes, pods=pods, namespaces=namespaces)


def planned(namespaces: tuple[str, ...] | None) -> CapacityPlan:
    return assess(taken(namespaces), Settings())


def test_all_of_it_is_known_when_every_namespace_was_read() -> None:
    plan = planned(None)
    assert plan.totals.requests_cpu_ratio == 5 / 16
    assert plan.pools[0].headroom_cpu_nanocores == 11 * CORE
    assert plan.headroom.losses
    assert plan.fleets.fleets
    assert (plan.profiles[0].pods_per_node, plan.profiles[0].recommended is not None) == (10, True)


def test_what_the_pods_themselves_ask_for_and_use_stays_known() -> None:
    plan = planned(("team",))
    assert (plan.totals.bound_pod_count, plan.totals.requests_cpu_nanocores, plan.totals.usage_cpu_nanocores) == (20, 5 * CORE, 2 * CORE)
    assert (plan.totals.allocatable_cpu_nanocores, plan.totals.machine_usage_cpu_nanocores) == (16 * CORE, 10 * CORE)
    assert plan.profiles[0].memory.mean == 100 * MIB


def test_shares_of_nodes_are_unknown() -> None:
    plan = planned(("team",))
    totals, pool = plan.totals, plan.pools[0]
    for one in (totals, pool):
        assert {one.requests_cpu_ratio, one.usage_cpu_ratio, one.requests_memory_ratio, one.usage_memory_ratio, one.bound_pod_ratio} == {
            None
        }
    assert {pool.requests_cpu_nanocores, pool.requests_memory_bytes, pool.bound_pod_count, pool.usage_cpu_nanocores} == {None}
    assert plan.nodes[["pod_count", "requests_cpu_nanocores", "requests_memory_bytes", "usage_memory_bytes"]].isna().all(axis=None)


def test_room_losses_and_fleets_are_unknown() -> None:
    plan = planned(("team",))
    pool = plan.pools[0]
    assert {pool.headroom_cpu_nanocores, pool.headroom_memory_bytes, pool.headroom_pod_count, pool.binding_resource} == {None}
    assert (plan.headroom, plan.fleets, plan.right_sized_fleets) == (NO_HEADROOM, NO_FLEETS, NO_FLEETS)


def test_no_flavor_is_recommended_since_what_daemonsets_take_is_unknown() -> None:
    profile = planned(("team",)).profiles[0]
    assert (profile.pods_per_node, "only some namespaces were read" in profile.pods_per_node_reason) == (100, True)
    assert {(fit.daemonset_pod_count, fit.memory_overrun_probability, fit.safe_pods_per_node) for fit in profile.flavors} == {
        (None, None, None)
    }
    assert profile.recommended is None
    assert profile.refusal is not None
    assert "what DaemonSets take of it is" in profile.refusal.template


def test_no_pool_is_called_full_and_no_node_out_of_reach_with_numbers() -> None:
    nodes = [node("n1", cpu=CORE), node("n2", ready=False, labels={"eks.amazonaws.com/nodegroup": "down"})]
    shot = snapshot(nodes=nodes, pods=[pod("p", namespace="team", cpu=CORE)], namespaces=("team",))
    found = {finding.id: finding for finding in assess(shot, Settings()).findings}
    assert "capacity.pools-full" not in found
    assert {pool.headroom_cpu_nanocores for pool in assess(shot, Settings()).pools} == {None}
    assert found["capacity.nodes-not-ready"].detail.template == "Pods on them may not run."


def test_huge_pages_that_others_request_are_unknown() -> None:
    nodes = [node("n1", resources={"hugepages-2Mi": (GIB, GIB)})]
    (pages,) = assess(snapshot(nodes=nodes, pods=[pod("p", namespace="team")], namespaces=("team",)), Settings()).minor_resources
    assert (pages.allocatable_bytes, pages.requests_bytes) == (GIB, None)
