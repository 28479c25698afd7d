"""What the largest node leaves to a pod beside its DaemonSets."""

from __future__ import annotations

from batch.plan.nodes import node_capacity
from batch.plan.rightsizing.rooms import Rooms, rooms
from batch.settings import Settings
from batch.snapshot import views
from tests.builders import CORE, GIB, node, pod, snapshot


def test_a_node_with_a_daemon_set_of_unknown_size_is_not_taken_for_the_largest() -> None:
    agents = [
        pod("agent-1", on="large", cpu=None, memory=GIB, workload_kind="DaemonSet"),
        pod("agent-2", on="small", cpu=CORE, memory=GIB, workload_kind="DaemonSet"),
    ]
    nodes = [
        node("large", cpu=64 * CORE, memory=64 * GIB),
        node("small", cpu=8 * CORE, memory=16 * GIB),
        node("bare", cpu=4 * CORE, memory=8 * GIB),
    ]
    shot = snapshot(nodes=nodes, pods=agents)
    bound = views.bound_pods(shot).assign(usage_cpu_nanocores=None, usage_memory_bytes=None)
    assert rooms(shot, node_capacity(shot, bound, Settings()), bound) == Rooms(7 * CORE, 63 * GIB)
