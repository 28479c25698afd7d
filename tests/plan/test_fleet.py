from typing import Any

import pytest

from batch.plan import measured
from batch.plan.fleet import fleets
from batch.plan.model import Flavor
from batch.plan.model_packing import Fleet, Fleets, SkippedFlavor, Unplaced
from batch.plan.nodes import node_capacity
from batch.plan.prices import NO_PRICES
from batch.plan.sizes import Daemons, NodeSize
from batch.settings import Settings
from tests.builders import CORE, GIB, NodeRows, PodRows, Rules, node, pod, snapshot

NOTHING = Daemons(0, 0, 0, 0, 0)


def flavor(name: str = "m", *, gpus: int = 0, architecture: str = "amd64") -> Flavor:
    return Flavor(name, None, 4 * CORE, 16 * GIB, gpus, None, architecture, None)


def worked_out(
    nodes: list[NodeRows], pods: list[PodRows], of: Flavor | None = None, *, cpu: int | None = 4 * CORE, slots: int | None = 110
) -> Fleets:
    taken = snapshot(nodes=nodes, pods=pods)
    every = measured.with_usage(taken, 600)
    of = of or flavor()
    size = NodeSize("formula" if cpu is not None else None, 0, cpu, 16 * GIB, slots, NOTHING)
    return fleets(taken, every, node_capacity(taken, every, Settings()), [of], {of.name: size}, NO_PRICES)


def fleet(nodes: list[NodeRows], pods: list[PodRows], of: Flavor | None = None, **more: Any) -> Fleet:
    (one,) = worked_out(nodes, pods, of, **more).fleets
    return one


def several(count: int, name: str, **more: Any) -> list[PodRows]:
    return [pod(f"{name}-{number}", **more) for number in range(count)]


def test_the_example_of_the_docs() -> None:
    # docs/worked-examples.md, "How many nodes would do": 4 by volume, 5 by packing.
    pods = [
        *several(4, "large", cpu=2 * CORE, memory=4 * GIB),
        *several(6, "small", cpu=CORE // 2, memory=4 * GIB),
        *several(3, "middle", cpu=CORE, memory=GIB),
        pod("agent", cpu=CORE // 2, memory=GIB, workload_kind="DaemonSet", workload="agent"),
    ]
    one = fleet([node("n1")], pods)
    assert (one.lower_bound_node_count, one.node_count, one.placed_pod_count, one.unplaced) == (4, 5, 13, ())
    assert (one.daemonset_pod_count, one.daemonset_cpu_nanocores, one.daemonset_memory_bytes) == (1, CORE // 2, GIB)
    # 14 cores of pods and 5 x 0.5 of DaemonSets on 5 x 4 cores; memory 43 + 5 on 80 GiB.
    assert one.requests_ratio["cpu"] == 16.5 / 20
    assert one.requests_ratio["memory"] == 48 / 80
    assert one.binding_resource == "cpu"


def test_who_is_placed() -> None:
    pods = [
        pod("running"),
        pod("waiting", on=None, phase="Pending"),
        pod("gated", on=None, phase="Pending", gated=True),
        pod("done", phase="Succeeded"),
        pod("lost", on="gone"),
        pod("elsewhere", on="fargate"),
        pod("mirror", workload_kind="StaticPod"),
        pod("broken", cpu=None),
    ]
    found = worked_out([node("n1"), node("fargate", virtual=True)], pods)
    assert (found.pod_count, found.unreadable_pod_count) == (2, 1)


def test_pods_that_fit_on_no_node_are_told_with_the_reason() -> None:
    pods = [
        pod("fits"),
        pod("wide", cpu=5 * CORE),
        pod("gpu", resources={"nvidia.com/gpu": 1}),
        pod("disk", resources={"ephemeral-storage": GIB}),
    ]
    one = fleet([node("n1")], pods)
    assert one.placed_pod_count == 2
    assert set(one.unplaced) == {Unplaced("too large", 1, "cpu"), Unplaced("resource", 1, "nvidia.com/gpu")}
    assert one.unplaced_pod_count == 2


def test_gpus_by_resource() -> None:
    pods = several(6, "trainer", resources={"nvidia.com/gpu": 2})
    # 12 GPUs on nodes of 4: three.
    assert fleet([node("n1")], pods, flavor(gpus=4)).node_count == 3


def test_what_nodes_of_a_flavor_offer_wins_over_its_number_of_gpus() -> None:
    # Shared eight times, one GPU offers 8.
    nodes = [node("n1", instance_type="m", resources={"nvidia.com/gpu": (8, 8)})]
    assert fleet(nodes, several(6, "p", resources={"nvidia.com/gpu": 2}), flavor(gpus=1)).node_count == 2


def test_the_pod_limit_binds() -> None:
    one = fleet([node("n1")], several(25, "p"), slots=10)
    assert (one.node_count, one.binding_resource) == (3, "pods")


def test_pods_of_two_pools_share_no_node() -> None:
    nodes = [node("n1", labels={"pool": "a"}), node("n2", labels={"pool": "b"})]
    pods = [
        pod("x", on="n1", cpu=CORE, rules=Rules(selector=(("pool", "a"),))),
        pod("y", on="n2", cpu=CORE, rules=Rules(selector=(("pool", "b"),))),
        pod("z", on="n2", cpu=CORE),
    ]
    one = fleet(nodes, pods)
    assert (one.node_count, one.lower_bound_node_count) == (2, 2)


def test_taints_of_a_pool_stay_with_it() -> None:
    nodes = [node("n1"), node("n2", labels={"pool": "gpu"}, taints=[("gpu", "NoSchedule")])]
    trainer = pod("x", on="n2", cpu=CORE, rules=Rules((("gpu", "Exists", "", ""),), selector=(("pool", "gpu"),)))
    assert fleet(nodes, [trainer, pod("y", cpu=CORE)]).node_count == 2


def test_taints_of_a_condition_do_not() -> None:
    nodes = [node("n1", labels={"pool": "a"}, taints=[("node.kubernetes.io/not-ready", "NoSchedule")])]
    assert fleet(nodes, [pod("x", rules=Rules(selector=(("pool", "a"),)))]).placed_pod_count == 1


def test_a_daemonset_is_overhead_only_where_it_may_run() -> None:
    nodes = [node("n1"), node("n2", labels={"pool": "gpu"}, taints=[("gpu", "NoSchedule")])]
    agent = pod("agent", on="n1", cpu=2 * CORE, workload_kind="DaemonSet", workload="agent")
    trainers = several(2, "x", on="n2", cpu=2 * CORE, rules=Rules((("gpu", "Exists", "", ""),), selector=(("pool", "gpu"),)))
    # On a node of 4 cores both fit where the agent does not run; it is not accepted there.
    one = fleet(nodes, [agent, *trainers])
    assert (one.node_count, one.daemonset_pod_count) == (1, 0)


def test_a_selector_on_the_machine_itself() -> None:
    wants_m = pod("x", rules=Rules(selector=(("node.kubernetes.io/instance-type", "m"),)))
    named = pod("y", rules=Rules(selector=(("kubernetes.io/hostname", "n1"),)))
    one = fleet([node("n1", labels={"node.kubernetes.io/instance-type": "other"})], [wants_m, named])
    assert (one.placed_pod_count, one.unplaced) == (1, (Unplaced("rules", 1),))


def test_pods_stay_on_the_architectures_that_their_workload_runs_on() -> None:
    nodes = [node("n1"), node("n2", architecture="arm64")]
    pods = [
        pod("amd", on="n1"),
        pod("both-1", on="n1", workload="both", workload_kind="Deployment"),
        pod("both-2", on="n2", workload="both", workload_kind="Deployment"),
        pod("anywhere", on=None, phase="Pending"),
    ]
    one = fleet(nodes, pods, flavor(architecture="arm64"))
    assert (one.placed_pod_count, one.unplaced) == (3, (Unplaced("architecture", 1),))


def test_flavors_that_no_fleet_can_be_made_of() -> None:
    assert worked_out([node("n1")], [pod("x")], cpu=None).skipped == (SkippedFlavor("m", "unknown size"),)
    arm = worked_out([node("n1")], [pod("x")], flavor(architecture="arm64"))
    assert (arm.fleets, arm.skipped) == ((), (SkippedFlavor("m", "architecture"),))


def test_an_empty_cluster_needs_no_node() -> None:
    one = fleet([], [])
    assert (one.node_count, one.lower_bound_node_count, one.binding_resource) == (0, 0, None)


def test_pods_that_mind_other_pods_are_counted() -> None:
    found = worked_out([node("n1")], [pod("x", rules=Rules(spread=True)), pod("y")])
    assert (found.pod_count, found.spread_pod_count) == (2, 1)


def test_very_many_different_amounts_are_rounded_up_and_the_bound_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    # 30 pods of 0.5 to 0.529 cores are 15.4 in all: 4 nodes of 4 cores by volume, 5 because a node takes 7. Rounded up to a 16th of a node each
    # asks for 0.75, and a node takes 5.
    pods = [pod(f"p{number}", cpu=CORE // 2 + number * CORE // 1000) for number in range(30)]
    assert fleet([node("n1")], pods).node_count == 5
    monkeypatch.setattr("batch.plan.fleet.MOST_SHAPES", 2)
    monkeypatch.setattr("batch.plan.fleet.FINEST_PARTS", 16)
    one = fleet([node("n1")], pods)
    assert (one.lower_bound_node_count, one.node_count, one.placed_pod_count) == (4, 6, 30)
