from __future__ import annotations

from batch.plan.fits import InstanceType, flavor_fits, instance_types
from batch.plan.measured import with_usage
from batch.plan.model import Flavor, FlavorFit
from batch.plan.nodes import node_capacity
from batch.plan.usage import distribution
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, node, pod, snapshot


def types(taken: Snapshot) -> dict[str, InstanceType]:
    pods = with_usage(taken, 600)
    bound = pods.loc[views.bound_pods(taken).index]
    return instance_types(node_capacity(taken, bound, Settings()), bound)


def fit(taken: Snapshot, flavor: str, pods_per_node: int = 2) -> FlavorFit:
    pods = with_usage(taken, 600)
    pods = pods.loc[pods["workload_kind"] == "Pod"]
    (found,) = flavor_fits(
        [Flavor(flavor, None, 4 * CORE, 8 * MIB, 0, None, "amd64", None)],
        types(taken),
        cpu=distribution(pods["usage_cpu_nanocores"], ()),
        memory=distribution(pods["usage_memory_bytes"], ()),
        outliers=None,
        pods_per_node=pods_per_node,
        pod_count=len(pods),
    )
    return found


def test_a_type_has_the_smallest_allocatable_and_the_largest_share_of_daemonsets() -> None:
    found = types(
        snapshot(
            nodes=[node("n1", instance_type="a", cpu=4 * CORE), node("n2", instance_type="a", cpu=3 * CORE, pods=29), node("n3")],
            pods=[
                pod("agent-1", workload_kind="DaemonSet", usage=(100, 50 * MIB), memory=GIB),
                pod("proxy-1", workload_kind="DaemonSet", memory=64 * MIB),
                pod("agent-2", on="n2", workload_kind="DaemonSet", usage=(300, 60 * MIB)),
                pod("other", usage=(CORE, GIB)),
            ],
        )
    )
    assert list(found) == ["a"]
    kind = found["a"]
    assert (kind.node_count, kind.allocatable_cpu_nanocores, kind.pod_limit) == (2, 3 * CORE, 29)
    assert (kind.daemonset_pod_count, kind.daemonset_cpu_nanocores) == (2, 300)
    assert kind.daemonset_memory_bytes == 114 * MIB  # 50 measured + 64 requested on n1, 60 on n2


def test_a_daemonset_pod_of_unknown_need_leaves_the_room_unknown() -> None:
    taken = snapshot(
        nodes=[node("n1", instance_type="a")], pods=[pod("agent", workload_kind="DaemonSet", memory=None), pod("p", usage=(1, 1))]
    )
    assert types(taken)["a"].memory_room is None
    assert fit(taken, "a").memory_overrun_probability is None
    assert fit(taken, "a").cpu_overrun_probability == 0.0


def test_the_overrun_is_of_what_daemonsets_leave() -> None:
    # two pods of 1 or 2 MiB: the sum is over 3 MiB in 1 of 4 draws; of 4 MiB allocatable the agent takes 1
    taken = snapshot(
        nodes=[node("n1", instance_type="a", memory=4 * MIB)],
        pods=[pod("agent", workload_kind="DaemonSet", usage=(0, MIB)), pod("p", usage=(0, MIB)), pod("q", usage=(0, 2 * MIB))],
    )
    assert fit(taken, "a").memory_overrun_probability == 0.25


def test_of_a_flavor_that_the_cluster_lacks_only_the_nominal_size_is_known() -> None:
    taken = snapshot(nodes=[node("n1", instance_type="a")], pods=[pod("p", usage=(0, 4 * MIB)), pod("q", usage=(0, 5 * MIB)), pod("r")])
    found = fit(taken, "elsewhere")
    assert (found.in_cluster_node_count, found.allocatable_memory_bytes, found.pod_limit, found.memory_overrun_probability) == (
        0,
        None,
        None,
        None,
    )
    assert found.memory_fit_ratio == 0.5  # 4 MiB is at most 8 / 2, 5 MiB is not
    assert found.node_count == 2  # 3 pods, 2 on a node
