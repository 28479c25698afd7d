from batch.plan import measured
from batch.plan.headroom import headroom
from batch.plan.model_packing import FreeNode, Headroom, TypicalPod, UnplacedWorkload
from batch.plan.nodes import node_capacity
from batch.settings import Settings
from batch.snapshot import views
from tests.builders import CORE, GIB, NodeRows, PodRows, Rules, node, pod, snapshot


def found(nodes: list[NodeRows], pods: list[PodRows]) -> Headroom:
    taken = snapshot(nodes=nodes, pods=pods)
    every = measured.with_usage(taken, 600)
    bound = every.loc[views.bound_pods(taken).index]
    return headroom(taken, bound, node_capacity(taken, bound, Settings()))


def several(count: int, name: str, on: str, cpu: int, **more: object) -> list[PodRows]:
    return [pod(f"{name}-{number}", on=on, cpu=cpu, workload=name, workload_kind="Deployment", **more) for number in range(count)]  # type: ignore[arg-type]


def test_the_largest_pod_that_fits_is_two_amounts_at_once() -> None:
    nodes = [node("a"), node("b"), node("full", pods=1)]
    pods = [pod("x", on="a", cpu=3 * CORE, memory=GIB), pod("y", on="b", cpu=CORE, memory=14 * GIB), pod("z", on="full")]
    (room,) = found(nodes, pods).pools
    assert room.largest_cpu_fit == FreeNode("b", 3 * CORE, 2 * GIB)
    assert room.largest_memory_fit == FreeNode("a", CORE, 15 * GIB)
    assert room.open_node_count == 3


def test_typical_pods_fit_node_by_node_and_not_into_the_sum() -> None:
    # Typical: 1.5 cores. 4 - 3 = 1 core is free on each of three nodes: none fits, though 3 cores are two typical pods.
    nodes = [node(name) for name in "abc"]
    pods = [one for name in "abc" for one in several(2, f"w{name}", name, 3 * CORE // 2)]
    (room,) = found(nodes, pods).pools
    assert room.typical == TypicalPod(3 * CORE // 2, 0, {})
    assert (room.typical_fit_count, room.typical_fit_whole_count) == (0, 2)
    assert room.typical_fit_by_resource == {"cpu": 0, "pods": 3 * 108}
    assert room.typical_binding_resource == "cpu"


def test_gpus_may_bind() -> None:
    nodes = [node("a", cpu=64 * CORE, resources={"nvidia.com/gpu": (4, 4)}, taints=[("gpu", "NoSchedule")])]
    tolerates = Rules((("gpu", "Exists", "", ""),))
    (room,) = found(nodes, several(3, "t", "a", CORE, resources={"nvidia.com/gpu": 1}, rules=tolerates)).pools
    assert room.typical == TypicalPod(CORE, 0, {"nvidia.com/gpu": 1})
    assert (room.typical_fit_count, room.typical_binding_resource) == (1, "nvidia.com/gpu")


def test_medians_between_two_pods_are_rounded_up_and_placeholders_are_no_pods() -> None:
    pods = [*several(1, "x", "a", 1), *several(1, "y", "a", 2), *several(5, "placeholder", "a", 7, priority=-10)]
    (room,) = found([node("a")], pods).pools
    assert room.typical == TypicalPod(2, 0, {})


def test_a_pool_without_pods_has_no_typical_one() -> None:
    (room,) = found([node("a"), node("cordoned", schedulable=False)], []).pools
    assert (room.typical, room.typical_fit_count, room.open_node_count) == (None, None, 1)
    assert room.largest_cpu_fit == FreeNode("a", 4 * CORE, 16 * GIB)


def test_pods_of_a_lost_node_need_room_in_pieces_that_hold_them() -> None:
    # 2 + 2 cores are free elsewhere; of the lost 1 + 3, the 3 fit on neither node.
    nodes = [node("a", cpu=8 * CORE), node("b"), node("c")]
    pods = [
        *several(1, "small", "a", CORE),
        *several(1, "large", "a", 3 * CORE),
        pod("x", on="b", cpu=2 * CORE),
        pod("y", on="c", cpu=2 * CORE),
    ]
    loss, *_ = found(nodes, pods).losses
    assert (loss.what, loss.name, loss.pool, loss.pod_count, loss.requests_cpu_nanocores) == ("node", "a", "none", 2, 4 * CORE)
    assert (loss.unplaced_pod_count, loss.unplaced_requests_cpu_nanocores) == (1, 3 * CORE)
    assert loss.unplaced_workloads == (UnplacedWorkload("default", "Deployment", "large", 1, "room"),)


def test_daemonsets_are_lost_with_their_node() -> None:
    nodes = [node("a"), node("b")]
    (loss,) = found(nodes, [pod("d", on="a", cpu=CORE, workload_kind="DaemonSet"), pod("x", on="b")]).losses
    assert (loss.name, loss.pod_count) == ("a", 0)


def test_placeholders_make_way_and_need_no_place() -> None:
    nodes = [node("a"), node("b")]
    pods = [*several(1, "x", "a", 4 * CORE), *several(2, "placeholder", "b", 2 * CORE, priority=-10)]
    losses = found(nodes, pods).losses
    assert [(loss.name, loss.pod_count, loss.unplaced_pod_count) for loss in losses] == [("a", 1, 0)]
    (loss,) = found(nodes, [*several(1, "placeholder", "a", CORE, priority=-1)]).losses
    assert (loss.pod_count, loss.preemptible_pod_count) == (0, 1)


def test_the_loss_of_a_zone_strands_what_must_stay_there() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = [node(name, zone=name, labels={zone: name}) for name in ("z1", "z2")]
    pods = [*several(2, "free", "z1", CORE), *several(1, "bound", "z1", CORE, rules=Rules(selector=((zone, "z1"),)))]
    first, second = (loss for loss in found(nodes, pods).losses if loss.what == "zone")
    assert (first.name, first.node_count, first.pod_count, first.unplaced_pod_count) == ("z1", 1, 3, 1)
    assert first.unplaced_workloads == (UnplacedWorkload("default", "Deployment", "bound", 1, "rules"),)
    assert (second.name, second.pod_count) == ("z2", 0)


def test_one_zone_is_no_loss_to_look_at() -> None:
    assert {loss.what for loss in found([node("a", zone="z"), node("b", zone="z")], []).losses} == {"node"}


def test_nodes_are_emptied_onto_the_fullest_one() -> None:
    # c: 1 of 4 cores, b: 2, a: 3. c's pod goes on a (full then); b's do not fit on c, which is gone.
    nodes = [node("a"), node("b"), node("c")]
    pods = [*several(3, "x", "a", CORE), *several(2, "y", "b", CORE), *several(1, "z", "c", CORE)]
    result = found(nodes, pods)
    assert [(one.node, one.moved_pod_count) for one in result.emptyable] == [("c", 1)]
    assert result.considered_node_count == 3


def test_all_pods_of_a_node_move_or_none() -> None:
    # b's 2-core pod fits on a, its other pods do not: what was tried is taken back, and c can still move its pod there.
    nodes = [node("a"), node("b"), node("c", cpu=32 * CORE)]
    pods = [
        *several(2, "x", "a", CORE),
        *several(1, "big", "b", 2 * CORE),
        *several(1, "stays", "b", CORE, rules=Rules(selector=(("only", "b"),))),
    ]
    assert [(one.node, one.moved_pod_count) for one in found(nodes, [*pods, *several(1, "z", "c", CORE)]).emptyable] == [("c", 1)]


def test_what_is_not_tried() -> None:
    nodes = [
        node("control", labels={"node-role.kubernetes.io/control-plane": ""}),
        node("cordoned", schedulable=False),
        node("down", ready=False),
        node("unclear"),
        node("unsized", cpu=None),
        node("virtual", virtual=True),
        node("empty"),
    ]
    result = found(nodes, [pod("x", on="unclear", cpu=None)])
    assert [one.node for one in result.emptyable] == ["empty"]
    assert result.considered_node_count == 1


def test_without_nodes_there_is_nothing_to_say() -> None:
    assert found([], []) == Headroom((), (), (), 0)


def test_nodes_that_a_waiting_pod_could_have_are_not_given_away() -> None:
    gpu = {"nvidia.com/gpu": (4, 4)}
    nodes = [node("busy"), node("idle"), node("gpus", resources=gpu), node("more", resources=gpu)]
    pods = [pod("a", on="busy", cpu=CORE, memory=GIB)]
    assert {one.node for one in found(nodes, pods).emptyable} == {"idle", "gpus", "more"}
    waits = pod("w", on=None, phase="Pending", cpu=CORE, resources={"nvidia.com/gpu": 4})
    with_waiting = found(nodes, [*pods, waits])
    assert {one.node for one in with_waiting.emptyable}.isdisjoint({"gpus", "more"})
    assert with_waiting.considered_node_count == 2
    # one that no node here could ever take, or that a gate holds back, keeps no node
    too_large = pod("l", on=None, phase="Pending", cpu=64 * CORE)
    gated = pod("g", on=None, phase="Pending", gated=True)
    assert found(nodes, [*pods, too_large, gated]).considered_node_count == 4
