from __future__ import annotations

from batch.plan.assess import assess
from batch.plan.model import Totals
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, node, pod, snapshot

EIB = 1024**6


def totals(taken: Snapshot) -> Totals:
    return assess(taken, Settings()).totals


def test_sums_are_exact_beyond_64_bits() -> None:
    taken = snapshot(nodes=[node(f"n{i}", memory=EIB) for i in range(9)], pods=[pod("p", memory=9007199254740993)])
    found = totals(taken)
    assert found.allocatable_memory_bytes == 10_376_293_541_461_622_784
    assert found.requests_memory_bytes == 9007199254740993


def test_finished_pods_hold_nothing() -> None:
    done = [pod(f"done-{i}", phase="Succeeded", cpu=CORE) for i in range(40)]
    found = totals(snapshot(nodes=[node("n1", cpu=8 * CORE)], pods=[*done, *(pod(f"p{i}", cpu=CORE) for i in range(3))]))
    assert found.requests_cpu_nanocores == 3 * CORE
    assert found.bound_pod_count == 3
    assert found.pod_count_by_phase == {"Running": 3, "Succeeded": 40}


def test_pods_on_a_node_that_was_not_listed_stand_apart() -> None:
    found = totals(snapshot(nodes=[node("n1")], pods=[pod("a", cpu=2 * CORE), pod("b", on="n2", cpu=8 * CORE)]))
    assert (found.requests_cpu_nanocores, found.bound_pod_count, found.unknown_node_pod_count) == (2 * CORE, 1, 1)


def test_virtual_nodes_are_counted_apart_and_not_summed() -> None:
    found = totals(
        snapshot(nodes=[node("n1", cpu=4 * CORE), node("fargate", cpu=2 * CORE, virtual=True)], pods=[pod("a", on="fargate", cpu=CORE)])
    )
    assert (found.node_count, found.virtual_node_count) == (1, 1)
    assert (found.allocatable_cpu_nanocores, found.requests_cpu_nanocores, found.unknown_node_pod_count) == (4 * CORE, 0, 0)


def test_a_node_of_unknown_size_adds_nothing_and_alone_leaves_the_sum_unknown() -> None:
    sized, blank = node("n1", cpu=4 * CORE), node("n2", cpu=None, memory=None, pods=None)
    assert totals(snapshot(nodes=[sized, blank])).allocatable_cpu_nanocores == 4 * CORE
    assert totals(snapshot(nodes=[blank])).allocatable_cpu_nanocores is None


def test_nodes_that_were_not_read_are_unknown_and_nodes_that_are_none_are_zero() -> None:
    unread = totals(snapshot(pods=[pod("a", cpu=CORE)], unread=["nodes"]))
    assert (unread.node_count, unread.allocatable_cpu_nanocores, unread.unknown_node_pod_count) == (None, None, None)
    assert (unread.bound_pod_count, unread.requests_cpu_nanocores) == (1, CORE)
    none = totals(snapshot())
    assert (none.node_count, none.allocatable_cpu_nanocores, none.unknown_node_pod_count) == (0, 0, 0)


def test_usage_is_unknown_when_nothing_was_measured_and_coverage_says_of_how_many() -> None:
    nodes = [node("n1", machine_usage=(6 * CORE, GIB)), node("n2")]
    found = totals(snapshot(nodes=nodes, pods=[pod("a"), pod("b")]))
    assert (found.usage_cpu_nanocores, found.measured_pod_count) == (None, 0)
    assert (found.machine_usage_cpu_nanocores, found.measured_node_count, found.node_count) == (6 * CORE, 1, 2)


def test_pods_that_wait_are_pending_or_gated_and_bound_ones_are_neither() -> None:
    found = totals(
        snapshot(
            nodes=[node("n1")],
            pods=[
                pod("a", phase="Pending", on=None),
                pod("b", phase="Pending", on=None, gated=True),
                pod("c", phase="Pending"),
            ],
        )
    )
    assert (found.pending_pod_count, found.gated_pod_count, found.bound_pod_count) == (1, 1, 1)


def test_limits_are_the_sum_of_those_that_exist() -> None:
    found = totals(snapshot(nodes=[node("n1")], pods=[pod("a", memory_limit=2 * GIB), pod("b")]))
    assert (found.limits_memory_bytes, found.limits_cpu_nanocores) == (2 * GIB, 0)
