import json
from typing import Any

import pandas as pd
import pytest

from batch.collect.devices import ClaimCollector, ClassCollector, SliceCollector
from batch.collect.node_cards import CardsError, read_cards
from batch.collect.nodes import NodeCollector
from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import node, page, pod

MIB = 1024**2


def rows(frame: Any, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(None if pd.isna(value) else value for value in row) for row in frame[list(columns)].to_numpy(object)]


def published(version: str) -> dict[str, Any]:
    """Give one device as each version writes it."""
    has = {
        "attributes": {
            "type": {"string": "mig"},
            "gpu.nvidia.com/productName": {"string": "H100"},
            "parentUUID": {"string": "U0"},
            "index": {"int": 3},
        },
        "capacity": {"memory": {"value": "10Gi"}},
        "consumesCounters": [{"counterSet": "gpu-0", "counters": {"slices": {"value": "1"}}}],
        "taints": [{"key": "old", "effect": "None"}, {"key": "broken", "effect": "NoSchedule"}],
    }
    return {"name": "mig-1", **({"basic": has} if version == "v1beta1" else has)}


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_slice_is_read_alike_in_every_version(version: str) -> None:
    spec = {
        "driver": "gpu.nvidia.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 3, "resourceSliceCount": 2},
        "sharedCounters": [{"name": "gpu-0", "counters": {"slices": {"value": "7"}}}],
        "devices": [published(version)],
    }
    collector = SliceCollector(Rejects())
    collector.take(page({"metadata": {"name": "s"}, "spec": spec}))
    tables = collector.tables()
    assert rows(tables["device_slices"], "slice", "driver", "pool", "generation", "slice_count", "node") == [
        ("s", "gpu.nvidia.com", "n1", 3, 2, "n1")
    ]
    (device,) = tables["devices"].to_dict("records")
    shown = {name: device[name] for name in ("device", "type", "product", "parent_uuid", "memory_bytes", "shared", "taint")}
    assert shown == {
        "device": "mig-1",
        "type": "mig",
        "product": "H100",
        "parent_uuid": "U0",
        "memory_bytes": 10 * 1024**3,
        "shared": False,
        "taint": "broken",
    }
    assert rows(tables["device_counters"], "device", "counter_set", "counter", "amount") == [
        ("", "gpu-0", "slices", 7),
        ("mig-1", "gpu-0", "slices", 1),
    ]


def asked(version: str) -> dict[str, Any]:
    what = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2, "adminAccess": True}
    return {"name": "r", **(what if version == "v1beta1" else {"exactly": what})}


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_claim_is_read_alike_in_every_version(version: str) -> None:
    results = [
        {"driver": "d", "pool": "p", "device": "a", "request": "r"},
        {"driver": "d", "pool": "p", "device": "b", "adminAccess": True},
    ]
    status = {
        "allocation": {"devices": {"results": results}},
        "reservedFor": [{"resource": "pods", "name": "x", "uid": "1"}, {"apiGroup": "other", "resource": "things", "name": "y"}],
    }
    one = {"metadata": {"name": "c", "namespace": "a"}, "spec": {"devices": {"requests": [asked(version)]}}, "status": status}
    collector = ClaimCollector(Rejects(), ["a"])
    collector.take(page(one, {"metadata": {"name": "open", "namespace": "a"}}, {"metadata": {"name": "c", "namespace": "b"}}))
    tables = collector.tables()
    assert rows(tables["claims"], "namespace", "claim", "allocated") == [("a", "c", True), ("a", "open", False)]
    assert rows(tables["claim_requests"], "request", "device_class", "requests_count", "admin") == [("r", "gpu", 2, True)]
    assert rows(tables["claim_devices"], "device", "admin") == [("a", False), ("b", True)]
    assert rows(tables["claim_pods"], "pod") == [("x",)]


def test_of_alternatives_the_first_is_asked_for_and_all_devices_are_no_number() -> None:
    requests = [{"name": "a", "firstAvailable": [{"name": "x", "deviceClassName": "big"}, {"name": "y", "deviceClassName": "small"}]}]
    requests.append({"name": "b", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}})  # type: ignore[dict-item]
    collector = ClaimCollector(Rejects())
    collector.take(page({"metadata": {"name": "c", "namespace": "a"}, "spec": {"devices": {"requests": requests}}}))
    found = collector.tables()["claim_requests"]
    assert found[["request", "device_class"]].to_numpy().tolist() == [["a", "big"], ["b", "gpu"]]
    assert found["requests_count"].isna().tolist() == [False, True]


def test_a_class_names_its_driver_and_the_resource_that_stands_for_it() -> None:
    selectors = [{"cel": {"expression": "device.driver == 'gpu.nvidia.com' && true"}}]
    collector = ClassCollector(Rejects())
    collector.take(
        page(
            {"metadata": {"name": "gpu"}, "spec": {"selectors": selectors, "extendedResourceName": "nvidia.com/gpu"}},
            {"metadata": {"name": "any"}},
        )
    )
    found = collector.tables()["device_classes"]
    assert found.iloc[1].tolist() == ["gpu", "gpu.nvidia.com", "nvidia.com/gpu"]
    assert found.iloc[0].isna().tolist() == [False, True, True]


def test_a_broken_object_costs_itself() -> None:
    rejects = Rejects()
    collector = SliceCollector(rejects)
    good = {"metadata": {"name": "s"}, "spec": {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}
    assert collector.take(page({"metadata": {"name": "bad"}, "spec": {"driver": 7}}, good)) == 2
    assert (len(collector.tables()["device_slices"]), len(rejects)) == (1, 1)


def test_a_pod_tells_its_claims_deadline_and_shared_cards() -> None:
    spec = {
        "activeDeadlineSeconds": 600,
        "resourceClaims": [
            {"name": "own", "resourceClaimName": "mine"},
            {"name": "made", "resourceClaimTemplateName": "t"},
            {"name": "later"},
        ],
    }
    status = {
        "resourceClaimStatuses": [{"name": "made", "resourceClaimName": "p1-made-x"}],
        "extendedResourceClaimStatus": {
            "resourceClaimName": "p1-extended",
            "requestMappings": [{"containerName": "app", "resourceName": "nvidia.com/gpu", "requestName": "r"}],
        },
    }
    collector = PodCollector(Rejects())
    collector.take(page(pod(spec=spec, status=status, annotations={"alibabacloud.com/gpu-index": "2-3", "secret": "no"})))
    tables = collector.tables()
    claims = tables["pod_claims"].to_numpy(object).tolist()
    assert [row[2:4] for row in claims] == [["", "nvidia.com/gpu"], ["later", ""], ["made", ""], ["own", ""]]
    assert tables["pod_claims"]["claim"].dropna().tolist() == ["p1-extended", "p1-made-x", "mine"]
    assert tables["pods"][["deadline_seconds", "gpu_index"]].to_numpy().tolist() == [[600, "2-3"]]


LISTED = [("GPU-1", 10, 32768 * MIB, "V100", True), ("GPU-2", 10, 32768 * MIB, "V100", False)]


@pytest.mark.parametrize(
    "text",
    [
        "GPU-1,10,32768,100,V100,0,true:GPU-2,10,32768,100,V100,0,false:",
        json.dumps([{"id": f"GPU-{n}", "count": 10, "devmem": 32768, "type": "V100", "health": n == 1, "numa": 0} for n in (1, 2)]),
    ],
)
def test_cards_of_a_sharing_scheduler_are_read_in_both_forms(text: str) -> None:
    assert [tuple(card) for card in read_cards(text)] == LISTED


@pytest.mark.parametrize(
    "text",
    [
        "GPU-1",
        "GPU-1,x,y,z,V100,0,true:",
        "[1]",
        7,
        f"GPU-1,10,{'9' * 5000},100,V100,0,true:",
        f"GPU-1,{10**19},1,100,V100,0,true:",
        json.dumps([{"id": "GPU-1", "count": 10, "devmem": 10**13}]),
        json.dumps([{"id": "GPU-1", "count": -1}]),
    ],
)
def test_a_list_of_cards_that_cannot_be_read_is_refused(text: object) -> None:
    with pytest.raises(CardsError):
        read_cards(text)


def test_a_node_with_such_a_list_stays_without_it() -> None:
    rejects = Rejects()
    collector = NodeCollector(rejects)
    collector.take(page(node(annotations={"hami.io/node-nvidia-register": "what"})))
    assert (len(collector.tables()["nodes"]), len(collector.tables()["node_cards"])) == (1, 0)
    assert [entry[0] for entry in rejects.entries()] == ["node n1"]
