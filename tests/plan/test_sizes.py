from __future__ import annotations

from typing import Any

from batch.plan.flavors import catalogue
from batch.plan.measured import with_usage
from batch.plan.model import FORMULA, NODES, Flavor
from batch.plan.nodes import node_capacity
from batch.plan.sizes import NodeSize, node_sizes
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, PodRows, Rules, node, pod, snapshot


def size(taken: Snapshot, name: str, **flavor: Any) -> NodeSize:
    pods = with_usage(taken, 600)
    bound = pods.loc[views.bound_pods(taken).index]
    nodes = node_capacity(taken, bound, Settings())
    own = {"provider": None, "architecture": "amd64", "pod_limit": None, **flavor}
    known = {flavor.name: flavor for flavor in catalogue()}
    asked = known.get(name, Flavor(name, own["provider"], 4 * CORE, 16 * GIB, 0, None, own["architecture"], own["pod_limit"]))
    return node_sizes(taken, nodes, bound, [*known.values(), asked])[name]


def daemon(name: str, on: str, use: int | None, *, request: int | None = 0, rules: Rules | None = None) -> PodRows:
    measured = None if use is None else (use, use)
    return pod(name, on=on, workload_kind="DaemonSet", usage=measured, cpu=request, memory=request, rules=rules or Rules())


def test_a_type_has_the_smallest_allocatable_and_the_largest_share_of_daemonsets() -> None:
    found = size(
        snapshot(
            nodes=[node("n1", instance_type="a", cpu=4 * CORE), node("n2", instance_type="a", cpu=3 * CORE, pods=29), node("n3")],
            pods=[
                pod("agent-1", workload_kind="DaemonSet", usage=(100, 50 * MIB), memory=GIB),
                pod("proxy-1", workload_kind="DaemonSet", memory=64 * MIB),
                pod("agent-2", on="n2", workload_kind="DaemonSet", usage=(300, 60 * MIB)),
                pod("other", usage=(CORE, GIB)),
            ],
        ),
        "a",
    )
    assert (found.source, found.node_count, found.allocatable_cpu_nanocores, found.pod_limit) == (NODES, 2, 3 * CORE, 29)
    assert (found.daemons.pod_count, found.daemons.cpu_nanocores) == (2, 300)
    assert found.daemons.memory_bytes == 114 * MIB  # 50 measured + 64 requested on n1, 60 on n2
    assert found.daemons.requests_memory_bytes == GIB + 64 * MIB
    assert found.slots == 27


def test_a_daemonset_pod_of_unknown_need_leaves_the_room_unknown() -> None:
    taken = snapshot(nodes=[node("n1", instance_type="a")], pods=[pod("agent", workload_kind="DaemonSet", memory=None)])
    assert (size(taken, "a").memory_room, size(taken, "a").cpu_room) == (None, 4 * CORE)


def test_what_nodes_report_wins_over_the_formula() -> None:
    here = snapshot(nodes=[node("n1", instance_type="n1-highmem-8", cpu=7 * CORE, memory=40 * GIB, provider="gce")])
    assert (size(here, "n1-highmem-8").source, size(here, "n1-highmem-8").allocatable_memory_bytes) == (NODES, 40 * GIB)
    blank = snapshot(nodes=[node("n1", instance_type="n1-highmem-8", cpu=None, memory=None, provider="gce")])
    assert (size(blank, "n1-highmem-8").source, size(blank, "n1-highmem-8").node_count) == (FORMULA, 1)


def test_a_type_that_nobody_knows_is_of_unknown_size() -> None:
    found = size(snapshot(nodes=[node("n1", instance_type="a")]), "elsewhere")
    assert (found.source, found.allocatable_memory_bytes, found.pod_limit, found.memory_room) == (None, None, None, None)


def test_without_any_node_it_is_not_known_what_daemonsets_take() -> None:
    found = size(snapshot(unread=["nodes"]), "n1-highmem-8")
    assert (found.source, found.daemons.pod_count, found.memory_room, found.slots) == (FORMULA, None, None, None)


def test_daemonsets_that_run_on_any_node_run_on_a_new_one() -> None:
    on_linux = Rules(selector=(("kubernetes.io/os", "linux"),))
    on_arm = Rules(selector=(("kubernetes.io/arch", "arm64"),))
    of_a_pool = Rules(selector=(("pool", "gpu"),))
    not_fargate = Rules(terms=((("compute-type", "NotIn", ("fargate",)),),))
    taken = snapshot(
        nodes=[node("n1", instance_type="a"), node("n2", instance_type="a")],
        pods=[
            daemon("plain", "n1", 1),
            daemon("linux", "n1", 10, rules=on_linux),
            daemon("away", "n1", 100, rules=not_fargate),
            daemon("arm", "n1", 1000, rules=on_arm),
            daemon("pool", "n1", 10_000, rules=of_a_pool),
            daemon("plain-2", "n2", 2),
        ],
    )
    assert size(taken, "n2-standard-8").daemons.memory_bytes == 111
    assert size(taken, "n2-standard-8").daemons.pod_count == 3
    assert size(taken, "t2a-standard-8").daemons.memory_bytes == 1111
    assert size(taken, "a").daemons.memory_bytes == 11_111


def limit(name: str, *nodes: tuple[str, int], provider: str = "aws", **flavor: Any) -> int | None:
    listed = [node(f"n{i}", instance_type=kind, pods=pods, provider=provider) for i, (kind, pods) in enumerate(nodes)]
    return size(snapshot(nodes=listed), name, **flavor).pod_limit


def test_the_pod_limit_is_the_flavors_own_unless_nodes_contradict_it() -> None:
    assert limit("m5.xlarge", ("m6i.2xlarge", 58)) == 58
    assert limit("m5.4xlarge", ("m6i.2xlarge", 58), ("other", 35)) == 234
    assert limit("m5.4xlarge", ("m6i.2xlarge", 110), ("m5.xlarge", 110)) == 110  # prefix delegation


def test_where_the_machine_does_not_fix_the_pod_limit_the_providers_nodes_tell() -> None:
    assert limit("Standard_D8s_v5") is None
    assert limit("Standard_D8s_v5", ("Standard_B2s", 110), ("Standard_E4s_v5", 30), provider="azure") == 30
    assert limit("n2-standard-8") == 110
    assert limit("n2-standard-8", ("custom", 64), provider="gce") == 64
    assert limit("own", ("custom", 64), provider="gce") is None
    assert limit("own", pod_limit=250) == 250
