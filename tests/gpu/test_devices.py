from typing import Any

import pytest

from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment
from batch.settings import Settings
from tests.builders import GIB, NodeRows, PodRows, node, pod, snapshot
from tests.gpu.claims import DRIVER, device, part, pool, tables

GPU = "nvidia.com/gpu"
CLASS = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"


def assessed(
    given: dict[str, Any], pods: tuple[PodRows, ...] = (), nodes: tuple[NodeRows, ...] = (node("n1"),), **more: Any
) -> GpuAssessment:
    return assess(snapshot(nodes=nodes, pods=pods, tables=given, **more), Settings())


@pytest.mark.parametrize("newest_first", [False, True])
def test_only_the_newest_generation_is_the_pool(*, newest_first: bool) -> None:
    old = pool("n1", [device("gpu-0"), device("gpu-1"), device("gone")], generation=1, slice="old")
    new = pool("n1", [device("gpu-0"), device("gpu-1")], generation=2, slice="new")
    (found,) = assessed(tables(new, old) if newest_first else tables(old, new)).pools
    assert (found.generation, found.device_count, found.card_count, found.complete) == (2, 2, 2, True)


def test_a_pool_that_lacks_slices_is_flagged() -> None:
    found = assessed(tables(pool("n1", [device("gpu-0")], slice_count=2)))
    assert [(p.complete, p.found_slice_count, p.slice_count) for p in found.pools] == [(False, 1, 2)]
    finding = next(f for f in found.findings if f.id == "gpus.incomplete-pools")
    assert finding.objects == (f"{DRIVER}/n1",)


def test_a_claim_of_several_pods_has_its_device_once() -> None:
    given = tables(pool("n1", [device("gpu-0"), device("gpu-1")]), claims={"c": ["n1/gpu-0"]}, users={"c": ["a", "b"]})
    found = assessed(given, (pod("a"), pod("b")))
    assert (found.pools[0].allocated_count, found.requests_cards, found.pools[0].free_count) == (1, 1.0, 1)
    assert [(h.pod, h.resource, h.count, h.card_count, h.shared_claim) for h in found.holders] == [
        ("a", DRIVER, 1, 0.5, True),
        ("b", DRIVER, 1, 0.5, True),
    ]


def test_a_device_of_several_claims_is_split_between_them() -> None:
    given = tables(
        pool("n1", [device("gpu-0", shared=True)]), claims={"c": ["n1/gpu-0"], "d": ["n1/gpu-0"]}, users={"c": ["a"], "d": ["b"]}
    )
    found = assessed(given, (pod("a"), pod("b")))
    assert (found.requests_cards, [h.card_count for h in found.holders]) == (1.0, [0.5, 0.5])


def test_access_for_administration_takes_nothing() -> None:
    given = tables(pool("n1", [device("gpu-0")]), admin={"monitor": "n1/gpu-0"}, users={"monitor": ["dcgm"]})
    found = assessed(given, (pod("dcgm"),))
    assert (found.pools[0].allocated_count, found.pools[0].admin_access_count, found.pools[0].free_count) == (0, 1, 1)
    assert (found.holders, found.requests_cards) == ((), 0.0)


def test_a_card_that_is_claimed_as_a_whole_takes_its_parts() -> None:
    devices = [device("gpu-0"), part("m1", "gpu-0", "3g.40gb"), part("m2", "gpu-0", "3g.40gb")]
    (found,) = assessed(tables(pool("n1", devices), claims={"c": ["n1/gpu-0"]}), ()).pools
    assert (found.device_count, found.allocated_count, found.free_count, found.card_count) == (2, 2, 0, 1)


def test_parts_weigh_by_their_slices() -> None:
    devices = [part("m1", "gpu-0", "3g.40gb"), part("m2", "gpu-0", "1g.10gb")]
    found = assessed(tables(pool("n1", devices), claims={"c": ["n1/m1"]}, users={"c": ["a"]}), (pod("a"),))
    assert found.card_count == 1
    assert found.requests_cards == pytest.approx(3 / 7, abs=1e-6)


@pytest.mark.parametrize("resource", [GPU, CLASS])
def test_a_request_by_name_that_a_claim_serves_counts_there_alone(resource: str) -> None:
    given = tables(
        pool("n1", [device("gpu-0"), device("gpu-1")]),
        claims={"made": ["n1/gpu-0"]},
        users={"made": ["a"]},
        classes=[("gpu.nvidia.com", DRIVER, GPU)],
        served=[("a", resource)],
    )
    found = assessed(given, (pod("a", resources={resource: 1}),))
    assert found.resources == ()
    assert (found.pools[0].allocated_count, found.requests_cards, found.unknown_resources) == (1, 1.0, ())
    assert [(h.pod, h.resource) for h in found.holders] == [("a", DRIVER)]


def test_a_class_that_names_no_driver_is_judged_by_its_own_name() -> None:
    given = tables(
        pool("n1", [device("gpu-0")]),
        claims={"made": ["n1/gpu-0"]},
        users={"made": ["a"]},
        classes=[("gpu.nvidia.com", None, GPU), ("large", None, "example.com/large")],
        served=[("a", GPU)],
    )
    found = assessed(given, (pod("a", resources={GPU: 1}),))
    assert (found.resources, found.requests_cards, found.unknown_resources) == ((), 1.0, ())


def test_a_request_by_name_on_a_node_with_a_device_plugin_counts_at_the_plugin() -> None:
    given = tables(pool("n2", [device("gpu-0")]), classes=[("gpu.nvidia.com", DRIVER, GPU)])
    nodes = (node("n1", resources={GPU: (4, 4)}), node("n2"))
    found = assessed(given, (pod("a", resources={GPU: 1}), pod("b", on="n2", resources={GPU: 1})), nodes)
    # b is on a node without the plugin, so a claim must have served it
    assert [(r.resource, r.requests_count) for r in found.resources] == [(GPU, 1)]
    assert found.card_count == 5


def test_cards_offered_by_plugin_and_driver_are_counted_once_and_flagged() -> None:
    found = assessed(tables(pool("n1", [device(f"gpu-{n}") for n in range(8)])), nodes=(node("n1", resources={GPU: (8, 8)}),))
    assert found.card_count == 8
    assert "gpus.advertised-twice" in {f.id for f in found.findings}


def test_a_gpu_node_whose_cards_are_claimed_is_not_silent() -> None:
    found = assessed(tables(pool("n1", [device("gpu-0")])), nodes=(node("n1", labels={"nvidia.com/gpu.present": "true"}),))
    assert found.nodes.empty
    assert "gpus.none-advertised" not in {f.id for f in found.findings}


def test_devices_that_are_no_accelerators_are_listed_apart() -> None:
    nics = pool("n1", [device("eth1", type="nic", product=None)], driver="dra.net", slice="nics")
    found = assessed(tables(nics, pool("n1", [device("gpu-0")])))
    assert [(p.driver, p.accelerator, p.card_count) for p in found.pools] == [("dra.net", False, 0), (DRIVER, True, 1)]
    assert found.card_count == 1


def test_free_devices_that_are_tainted_or_on_a_cordoned_node_are_unusable() -> None:
    pools = (pool("n1", [device("a", taint="broken"), device("b")]), pool("n2", [device("c")]))
    found = assessed(tables(*pools), nodes=(node("n1"), node("n2", schedulable=False)))
    assert [(p.pool, p.free_count, p.unusable_count) for p in found.pools] == [("n1", 2, 1), ("n2", 1, 1)]


def test_devices_of_unread_claims_are_not_known_to_be_free() -> None:
    (found,) = assessed(tables(pool("n1", [device("gpu-0")])), unread=["resourceclaims"]).pools
    assert (found.device_count, found.allocated_count, found.free_count, found.unusable_count) == (1, None, None, None)


def test_a_class_that_does_not_tell_its_driver_is_taken_by_its_name() -> None:
    classes = [("gpu.nvidia.com", None, None), ("anything", None, "example.com/thing")]
    given = tables(pool("n1", [device("gpu-0")]), claims={"c": []}, users={"c": ["w"]}, classes=classes, asks=[("w", "gpu.nvidia.com", 2)])
    (one,) = assessed(given, (pod("w", on=None, phase="Pending"),)).waiting
    assert one.resources == {"gpu.nvidia.com": 2}


def test_claims_of_some_namespaces_do_not_tell_which_devices_are_free() -> None:
    given = tables(pool("n1", [device("gpu-0"), device("gpu-1")]), claims={"c": ["n1/gpu-0"]}, users={"c": ["a"]})
    (found,) = assessed(given, (pod("a"),), namespaces=("default",)).pools
    assert (found.device_count, found.allocated_count, found.free_count) == (2, None, None)


def test_where_slices_were_not_read_nobody_knows_which_node_has_what_a_claim_asks_for() -> None:
    given = tables(claims={"c": []}, users={"c": ["waits"]}, classes=[("gpu", DRIVER, None)], asks=[("waits", "gpu", 2)])
    for unread, verdict in (["resourceslices"], "unknown"), ([], "nowhere"):
        (one,) = assessed(given, (pod("waits", on=None, phase="Pending"),), unread=unread).waiting
        assert one.verdict == verdict


def test_a_pod_whose_claim_gets_no_device_is_explained_node_by_node() -> None:
    pools = (pool("n1", [device("gpu-0")]), pool("n2", [device("gpu-0"), device("gpu-1")]))
    given = tables(*pools, claims={"c": ["n1/gpu-0"]}, users={"c": ["a"]}, classes=[("gpu", DRIVER, None)], asks=[("waits", "gpu", 2)])
    waits = pod("waits", on=None, phase="Pending", memory=64 * GIB)
    found = assessed(given, (pod("a"), waits), (node("n1"), node("n2", memory=32 * GIB)))
    (one,) = found.waiting
    assert (one.resources, one.verdict, found.pending_pod_count) == ({"gpu": 2}, "never", 1)
    assert {name: [(b.kind, b.resource, b.asked, b.free) for b in why] for name, why in one.nodes} == {
        "n1": [("devices", "gpu", 2, 0), ("short", "memory", 64 * GIB, 16 * GIB)],
        "n2": [("short", "memory", 64 * GIB, 32 * GIB)],
    }
