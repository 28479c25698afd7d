"""What could not be read of accelerators is unknown: never 0, never free, never a reproach."""

from __future__ import annotations

from typing import Any

from batch.collect.nodes import NodeCollector
from batch.collect.rejects import Rejects
from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment, Waiting
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import UNREAD_REQUESTS
from tests.builders import NodeRows, PodRows, node, pod, snapshot
from tests.collect import objects_json as objects
from tests.gpu.claims import DRIVER, device, pool, tables
from tests.gpu.reported import reported

GPU = "nvidia.com/gpu"
LABELLED = {"nvidia.com/gpu.present": "true"}
CLASSES = [("gpu.nvidia.com", DRIVER, GPU)]


def one_unread_request() -> Snapshot:
    nodes = [node("n1", resources={GPU: (8, 8)}), node("n2", resources={GPU: (8, 8)})]
    pods = [pod("known", resources={GPU: 2}), pod("garbled"), pod("other", on="n2", resources={GPU: 1})]
    return snapshot(nodes=nodes, pods=pods, tables={"unread_requests": UNREAD_REQUESTS.frame([("default", "garbled", GPU)])})


def test_gpus_of_a_node_with_an_unreadable_request_are_not_free() -> None:
    found = assess(one_unread_request(), Settings())
    (resource,) = found.resources
    assert (resource.allocatable_count, resource.requests_count, resource.unrequested_count, resource.unknown_count) == (16, 1, 7, 8)
    assert (found.card_count, found.requests_cards) == (16, None)
    assert found.nodes[["requests_count", "free_count"]].isna().to_numpy().tolist() == [[True, True], [False, False]]
    assert found.guests == ()  # the pod may hold some


def test_the_report_says_where_requests_could_not_be_read() -> None:
    gpu, words = reported(one_unread_request())
    assert "How many are requested on n1 could not be read, so those there are not among the free ones." in words
    assert gpu["nodes"][0]["problems"] == ["nvidia.com/gpu: what is requested is not known: an amount could not be read"]
    assert gpu["requests_card_equivalents"] is None


def test_a_pod_is_not_said_to_fit_beside_an_unreadable_request() -> None:
    shot = snapshot(
        nodes=[node("n1", resources={GPU: (8, 8)})],
        pods=[pod("garbled"), pod("waits", on=None, phase="Pending", resources={GPU: 4})],
        tables={"unread_requests": UNREAD_REQUESTS.frame([("default", "garbled", GPU)])},
    )
    gpu, _ = reported(shot)
    (one,) = gpu["waiting"]
    assert (one["verdict"], one["fitting_node_count"]) == ("unknown", None)
    assert one["nodes"] == [{"node": "n1", "reasons": ["how many nvidia.com/gpu are free is not known"]}]


def test_a_number_of_gpus_that_is_none_is_no_silent_node() -> None:
    collector = NodeCollector(Rejects())
    broken = objects.node(
        "n1", labels=LABELLED, status={"capacity": {"cpu": "4", GPU: "eight"}, "conditions": [{"type": "Ready", "status": "True"}]}
    )
    collector.take(objects.page(broken))
    found = assess(snapshot(tables=collector.tables()), Settings())
    assert (found.card_count, found.node_cards) == (None, {"n1": None})
    assert list(found.nodes["problem"]) == ["neither capacity nor allocatable is known"]
    assert (found.resources[0].allocatable_count, found.resources[0].unrequested_count) == (None, None)
    assert [finding.id for finding in found.findings] == []


def waiting(shot: Snapshot) -> Waiting:
    (one,) = assess(shot, Settings()).waiting
    return one


def claimed(pods: tuple[PodRows, ...], given: dict[str, Any], nodes: tuple[NodeRows, ...] = (node("n1"),), **more: Any) -> GpuAssessment:
    return assess(snapshot(nodes=nodes, pods=pods, tables=given, **more), Settings())


def test_without_the_other_namespaces_no_pod_is_said_to_fit_or_not_to() -> None:
    pods = [pod("waits", on=None, phase="Pending", resources={GPU: 4})]
    one = waiting(snapshot(nodes=[node("n1", resources={GPU: (8, 8)})], pods=pods, namespaces=("default",)))
    assert (one.verdict, one.fitting_node_count) == ("unknown", None)


def test_without_claims_devices_are_not_said_to_be_taken() -> None:
    given = tables(pool("n1", [device("gpu-0"), device("gpu-1")]), classes=CLASSES, asks=[("asks", "gpu.nvidia.com", 1)])
    pods = (pod("waits", on=None, phase="Pending", resources={GPU: 1}), pod("asks", on=None, phase="Pending"))
    found = claimed(pods, {**given, "claims": given["claims"].iloc[:0]}, unread=["resourceclaims"])
    assert [(one.pod, one.verdict) for one in found.waiting] == [("waits", "unknown")]
    assert found.pending_pod_count is None


def test_more_devices_than_a_node_has_never_fit_on_it_whatever_is_known_of_claims() -> None:
    given = tables(pool("n1", [device("gpu-0")]), classes=CLASSES)
    found = claimed((pod("waits", on=None, phase="Pending", resources={GPU: 2}),), given, unread=["resourceclaims"])
    assert found.waiting[0].verdict == "never"


def test_without_claims_a_pod_that_refers_to_one_is_no_guest() -> None:
    given = tables(pool("n1", [device("gpu-0")]), classes=CLASSES, asks=[("holds", "gpu.nvidia.com", 1)])
    assert claimed((pod("holds"), pod("web")), given, unread=["resourceclaims"]).guests[0].pods == ()
    assert claimed((pod("holds"), pod("web")), given, unread=["resourceclaims"]).guests[0].pod_count == 1


def test_without_slices_claimed_cards_are_unknown_and_no_node_is_called_silent() -> None:
    given = tables(claims={}, classes=CLASSES)
    waits = pod("waits", on=None, phase="Pending", resources={GPU: 1})
    shot = snapshot(nodes=[node("n1", labels=LABELLED)], pods=[waits], tables=given, unread=["resourceslices"])
    found = assess(shot, Settings())
    assert (found.card_count, found.requests_cards, found.waiting[0].verdict) == (None, None, "unknown")
    assert [finding.id for finding in found.findings] == []
    gpu, words = reported(shot)
    assert gpu["card_count"] is None
    assert "Whether there are GPUs is unknown, because ResourceSlices could not be read" in words


def test_without_slices_a_cluster_that_nothing_says_claims_devices_in_has_no_gpus() -> None:
    shot = snapshot(nodes=[node("n1")], unread=["resourceslices"])
    assert assess(shot, Settings()).card_count == 0


def test_devices_that_belong_to_no_single_node_are_not_said_to_be_nowhere() -> None:
    given = tables(pool(None, [device("gpu-0")], pool="fabric"), classes=CLASSES, asks=[("waits", "gpu.nvidia.com", 1)])
    found = claimed((pod("waits", on=None, phase="Pending"),), given)
    assert (found.waiting[0].verdict, found.card_count) == ("unknown", 1)
    assert [finding.id for finding in found.findings] == []


def test_an_incomplete_pool_is_named_among_the_reasons() -> None:
    given = tables(pool("n1", [device("gpu-0")], slice_count=2), classes=CLASSES, asks=[("waits", "gpu.nvidia.com", 1)])
    found = claimed((pod("waits", on=None, phase="Pending"),), given)
    assert [(name, [(why.kind, why.free) for why in whys]) for name, whys in found.waiting[0].nodes] == [("n1", [("devices", 0)])]
