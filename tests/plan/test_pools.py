from __future__ import annotations

from batch.plan.assess import assess
from batch.plan.model import Pool
from batch.settings import PoolSettings, Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, node, pod, snapshot


def pools(taken: Snapshot) -> tuple[Pool, ...]:
    return assess(taken, Settings()).pools


def test_headroom_is_only_what_ordinary_pods_can_use() -> None:
    (pool,) = pools(
        snapshot(
            nodes=[
                node("n1", cpu=8 * CORE),
                node("n2", cpu=8 * CORE, schedulable=False),
                node("n3", cpu=4 * CORE, taints=[("node-role.kubernetes.io/control-plane", "NoSchedule")]),
                node("n4", cpu=8 * CORE, ready=False),
            ],
            pods=[pod("a", on="n1", cpu=6 * CORE), pod("b", on="n2", cpu=CORE), pod("c", on="n3", cpu=CORE)],
        )
    )
    assert pool.headroom_cpu_nanocores == 2 * CORE  # 8 - 6
    assert pool.requests_cpu_nanocores == 8 * CORE
    free = {unusable.reason: unusable.headroom_cpu_nanocores for unusable in pool.unusable}
    assert free == {"not ready": 8 * CORE, "cordoned": 7 * CORE, "tainted": 3 * CORE}


def test_an_overcommitted_node_takes_nothing_from_the_others() -> None:
    (pool,) = pools(snapshot(nodes=[node("n1", cpu=CORE), node("n2", cpu=4 * CORE)], pods=[pod("a", cpu=3 * CORE)]))
    assert pool.headroom_cpu_nanocores == 4 * CORE  # max(0, 1 - 3) + 4


def test_pod_slots_bind_where_most_of_them_are_taken() -> None:
    (pool,) = pools(snapshot(nodes=[node("n1", cpu=27 * CORE, pods=29)], pods=[pod(f"p{i}", cpu=CORE // 5) for i in range(27)]))
    assert pool.binding_resource == "pods"  # 27 of 29 slots against 5.4 of 27 cores
    assert pool.headroom_pod_count == 2


def test_nothing_binds_where_nothing_is_requested() -> None:
    (pool,) = pools(snapshot(nodes=[node("n1")]))
    assert pool.binding_resource is None


def test_a_pool_without_usable_nodes_has_no_headroom_and_one_of_unknown_size_an_unknown_one() -> None:
    (down,) = pools(snapshot(nodes=[node("n1", ready=False)]))
    assert down.headroom_memory_bytes == 0
    (blank,) = pools(snapshot(nodes=[node("n1", memory=None)]))
    assert blank.headroom_memory_bytes is None
    assert blank.headroom_cpu_nanocores == 4 * CORE


def test_nodes_are_grouped_by_label_then_instance_type_and_virtual_ones_left_out() -> None:
    nodes = [
        node("n1", labels={"eks.amazonaws.com/nodegroup": "general"}, instance_type="m5.xlarge"),
        node("n2", instance_type="m5.xlarge", memory=GIB),
        node("n3"),
        node("n4", virtual=True),
    ]
    assert [(pool.name, pool.node_count) for pool in pools(snapshot(nodes=nodes))] == [("general", 1), ("m5.xlarge", 1), ("none", 1)]
    labelled = assess(snapshot(nodes=[node("n1", labels={"team": "blue"})]), Settings(pools=PoolSettings(label="team")))
    assert labelled.pools[0].name == "blue"
