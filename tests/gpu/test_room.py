from typing import Any

import pytest

from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment
from batch.settings import Settings
from tests.builders import CORE, GIB, NodeRows, PodRows, Rules, node, pod, snapshot
from tests.gpu.reported import reported

GPU = "nvidia.com/gpu"


def gpu_node(name: str, count: int = 4, **columns: Any) -> NodeRows:
    return node(name, **{"cpu": 32 * CORE, "memory": 128 * GIB, "resources": {GPU: (count, count)}, **columns})


def holding(name: str, on: str | None, count: int = 1, **columns: Any) -> PodRows:
    return pod(name, on=on, **{"resources": {GPU: count}, "cpu": 4 * count * CORE, "memory": 16 * count * GIB, **columns})


def waiting(name: str, count: int, **columns: Any) -> PodRows:
    return holding(name, None, count, phase="Pending", **columns)


def assessed(nodes: list[NodeRows], pods: list[PodRows], **more: Any) -> GpuAssessment:
    return assess(snapshot(nodes=nodes, pods=pods, **more), Settings())


def finding_ids(found: GpuAssessment) -> set[str]:
    return {one.id for one in found.findings}


def test_a_typical_pod_is_the_median_for_each_gpu_and_must_fit_beside_free_ones() -> None:
    # for each GPU 4, 4 and 10 cores: the median is 4. n1 has 32 - 30 = 2 cores left beside 3 free GPUs, n2 24 beside 2
    pods = [holding("a", "n1", cpu=10 * CORE), pod("fat", on="n1", cpu=20 * CORE), holding("b", "n2", 2)]
    found = assessed([gpu_node("n1"), gpu_node("n2")], [*pods, waiting("c", 8)])
    (resource,) = found.resources
    assert resource.typical == (4 * CORE, 16 * GIB)
    assert (resource.stranded_count, resource.unusable_for_typical_count) == (0, 3)
    assert resource.fit_count == {1: 2, 2: 1, 4: 0, 8: 0}
    assert "gpus.unusable-for-typical/nvidia.com/gpu" in finding_ids(found)


def test_a_typical_pods_share_of_each_gpu_is_rounded_up() -> None:
    (resource,) = assessed([gpu_node("n1")], [holding("a", "n1", 3, cpu=10, memory=7)]).resources
    assert resource.typical == (4, 3)


def test_fits_are_counted_on_nodes_that_pods_can_go_to() -> None:
    nodes = [gpu_node("open", 8), gpu_node("cordoned", 8, schedulable=False), gpu_node("tainted", 8, taints=[("team", "NoSchedule")])]
    (resource,) = assessed(nodes, []).resources
    assert resource.fit_count == {1: 8, 2: 4, 4: 2, 8: 1}


def test_repacking_makes_room_for_larger_pods_of_the_same_nodes() -> None:
    # three nodes of four, each with one small pod: 3 free on each. Together on one node they leave two nodes whole
    nodes = [gpu_node(f"n{number}") for number in range(3)]
    pods = [holding(f"p{number}", f"n{number}") for number in range(3)]
    found = assessed(nodes, pods)
    (resource,) = found.resources
    assert (resource.fit_count[4], resource.repacked_fit_count[4]) == (0, 2)
    assert "gpus.fragmented/nvidia.com/gpu" in finding_ids(found)


def test_repacking_keeps_pods_where_their_rules_allow() -> None:
    nodes = [gpu_node(f"n{number}", labels={"place": str(number)}) for number in range(3)]
    pods = [holding(f"p{number}", f"n{number}", rules=Rules(selector=(("place", str(number)),))) for number in range(3)]
    (resource,) = assessed(nodes, pods).resources
    assert resource.repacked_fit_count[4] == 0


def blockers(found: GpuAssessment) -> dict[str, list[tuple[str, str, int | None, int | None]]]:
    (one,) = found.waiting
    return {name: [(why.kind, why.resource, why.asked, why.free) for why in whys] for name, whys in one.nodes}


def test_every_node_says_why_it_does_not_take_a_pod() -> None:
    nodes = [
        gpu_node("broken", ready=False),
        gpu_node("cordoned", schedulable=False, taints=[("node.kubernetes.io/unschedulable", "NoSchedule")]),
        gpu_node("tainted", taints=[("team", "NoSchedule")]),
        gpu_node("elsewhere", labels={"zone": "b"}),
        gpu_node("taken"),
        gpu_node("small", 1),
        gpu_node("busy"),
        node("without"),
    ]
    here = Rules(selector=(("zone", "a"),))
    nodes = [n if n.labels else NodeRows(n.columns, {"zone": "a"}, n.taints, n.resources, n.machine_usage) for n in nodes]
    pods = [holding("p", "taken", 3, cpu=0, memory=0), pod("fat", on="busy", cpu=30 * CORE, memory=120 * GIB), waiting("w", 2, rules=here)]
    found = assessed(nodes, pods)
    assert blockers(found) == {
        "broken": [("not ready", "", None, None)],
        "cordoned": [("cordoned", "", None, None)],
        "tainted": [("taint", "team", None, None)],
        "elsewhere": [("rules", "", None, None)],
        "taken": [("short", GPU, 2, 1)],
        "small": [("short", GPU, 2, 1)],
        "busy": [("short", "CPU", 8 * CORE, 2 * CORE), ("short", "memory", 32 * GIB, 8 * GIB)],
    }
    assert found.waiting[0].verdict == "full"


@pytest.mark.parametrize(
    ("count", "pods", "verdict", "finding"),
    [
        pytest.param(4, [], "fits", None, id="an empty node takes it"),
        pytest.param(5, [], "never", "gpus.never-starts", id="larger than any node"),
        pytest.param(4, [holding("a", "n1"), holding("b", "n2")], "repack", "gpus.waits-for-a-block", id="scattered"),
        pytest.param(4, [holding("a", "n1", 3), holding("b", "n2", 3)], "full", None, id="too little in all"),
    ],
)
def test_what_would_help_a_pod_that_waits(count: int, pods: list[PodRows], verdict: str, finding: str | None) -> None:
    found = assessed([gpu_node("n1"), gpu_node("n2")], [*pods, waiting("w", count)])
    assert found.waiting[0].verdict == verdict
    assert finding_ids(found) & {"gpus.never-starts", "gpus.waits-for-a-block"} == ({finding} if finding else set())


def test_a_resource_that_no_node_offers_and_a_gate_are_named() -> None:
    pods = [waiting("a", 1, resources={"amd.com/gpu": 1}), waiting("b", 1, gated=True)]
    found = assessed([gpu_node("n1")], pods)
    assert {one.pod: one.verdict for one in found.waiting} == {"a": "nowhere", "b": "gated"}
    assert found.pending_pod_count == 1


def test_where_nodes_were_not_read_nobody_knows_why_a_pod_waits() -> None:
    pods = [waiting("a", 1), waiting("b", 2, gated=True)]
    found = assessed([], pods, unread=["nodes"])
    assert {one.pod: (one.verdict, one.fitting_node_count) for one in found.waiting} == {"a": ("unknown", None), "b": ("gated", 0)}
    assert "gpus.never-starts" not in finding_ids(found)


def test_of_some_namespaces_only_what_holds_for_empty_nodes_is_known() -> None:
    pods = [waiting("fits", 1), waiting("never", 8), waiting("nowhere", 1, resources={"amd.com/gpu": 1})]
    found = assessed([gpu_node("n1")], pods, namespaces=("default",))
    assert {one.pod: one.verdict for one in found.waiting} == {"fits": "unknown", "never": "never", "nowhere": "nowhere"}
    (unknown,) = (one for one in found.waiting if one.pod == "fits")
    assert (unknown.nodes, unknown.summary, unknown.fitting_node_count) == ((), {}, None)


def test_pods_that_ask_for_the_same_are_explained_once() -> None:
    found = assessed([gpu_node("n1")], [waiting(f"w{number}", 8) for number in range(5)])
    assert [(one.pod, one.pod_count) for one in found.waiting] == [("w0", 5)]


def test_reasons_stand_in_the_report_node_by_node() -> None:
    pods = [pod("fat", on="n1", cpu=30 * CORE), waiting("w", 8)]
    gpu, words = reported(snapshot(nodes=[gpu_node("n1"), gpu_node("n2", taints=[("team", "NoSchedule")])], pods=pods))
    (one,) = gpu["waiting"]
    assert {entry["node"]: [reason.replace("\u00a0", " ") for reason in entry["reasons"]] for entry in one["nodes"]} == {
        "n1": ["asks for 8 nvidia.com/gpu, the node has 4", "asks for 32 cores of CPU, 2 cores free"],
        "n2": ["taint team is not tolerated", "asks for 8 nvidia.com/gpu, the node has 4"],
    }
    assert "asks for 8 nvidia.com/gpu, the node has 4; asks for 32 cores of CPU, 2 cores free" in words


def test_a_report_without_nodes_says_nothing_of_what_they_offer() -> None:
    gpu, words = reported(snapshot(nodes=[], pods=[waiting("w", 8)], unread=["nodes"], namespaces=("default",)))
    assert [(one["verdict"], one["fitting_node_count"]) for one in gpu["waiting"]] == [("unknown", None)]
    assert "no node offers" not in words


def test_stranded_ones_name_what_is_missing_and_the_pods_that_take_it() -> None:
    pods = [holding("a", "n1"), pod("fat", on="n1", cpu=27 * CORE), pod("thin", on="n1", cpu=CORE // 2)]
    gpu, words = reported(snapshot(nodes=[gpu_node("n1")], pods=pods))
    (one,) = gpu["stranded"]
    assert (one["node"], one["free_count"], one["short_of"]) == ("n1", 3, "CPU")
    assert [(p["pod"], p["requests_cpu_cores"]) for p in one["pods"]] == [("default/fat", 27.0), ("default/a", 4.0), ("default/thin", 0.5)]
    assert "default/fat (27 cores), default/a (4 cores), default/thin (500 millicores)" in words


def test_pods_without_a_gpu_on_gpu_nodes_are_weighed_but_not_those_that_belong_there() -> None:
    pods = [
        holding("a", "n1"),
        pod("web", on="n1", cpu=8 * CORE, memory=64 * GIB, owner_kind="ReplicaSet", owner_name="web"),
        pod("agent", on="n1", cpu=CORE, owner_kind="DaemonSet", owner_name="agent"),
        pod("proxy", on="n1", cpu=CORE, owner_kind="Node", owner_name="n1"),
    ]
    found = assessed([gpu_node("n1"), node("n2")], pods)
    (one,) = found.guests
    assert (one.node, one.pod_count, one.cpu_ratio, one.memory_ratio, one.pods) == ("n1", 1, 0.25, 0.5, ("default/web",))
    assert "gpus.guests" in finding_ids(found)


def test_what_guests_request_is_unknown_where_one_of_them_is() -> None:
    pods = [
        holding("a", "n1"),
        pod("web", on="n1", cpu=8 * CORE, memory=64 * GIB, owner_kind="ReplicaSet", owner_name="web"),
        pod("odd", on="n1", cpu=None, memory=64 * GIB, owner_kind="ReplicaSet", owner_name="web"),
    ]
    (one,) = assessed([gpu_node("n1")], pods).guests
    assert (one.pod_count, one.requests_cpu_nanocores, one.cpu_ratio, one.memory_ratio) == (2, None, None, 1.0)
    gpu, _ = reported(snapshot(nodes=[gpu_node("n1")], pods=pods))
    assert (gpu["guests"][0]["requests_cpu_cores"], gpu["guests"][0]["requests_memory_bytes"]) == (None, 128 * GIB)
