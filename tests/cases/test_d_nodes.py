"""Case group D: nodes, and what of them can be used."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from tests.cases.clusters import CORE, GI, KI, MI, plan, read, ready_node
from tests.collect.objects_json import container, node, pod

ROOT = Path(__file__).parents[2]


def asking(name: str, cpu: str, on: str) -> dict[str, Any]:
    return pod(name, spec={"nodeName": on, "containers": [container(requests={"cpu": cpu})]})


def test_d01_without_allocatable_capacity_counts_and_without_both_the_node_is_unknown() -> None:
    found = plan(read([ready_node("n1", capacity={"cpu": "4", "memory": "8Gi", "pods": "110"}), node("n2")]))
    rows = found.nodes.set_index("node")
    assert rows["allocatable_cpu_nanocores"]["n1"] == 4 * CORE
    assert rows["allocatable_memory_bytes"]["n1"] == 8 * GI
    assert rows.loc["n2", ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "allocatable_pod_count"]].isna().all()
    assert found.totals.node_count == 2


def test_d02_capacity_and_allocatable_in_different_units() -> None:
    capacity, allocatable = {"cpu": "8", "ephemeral-storage": "10190100Ki"}, {"cpu": "8", "ephemeral-storage": "9391196145"}
    row = read([ready_node(capacity=capacity, allocatable=allocatable)]).table("node_resources").iloc[0]
    assert (row["capacity_count"], row["allocatable_count"]) == (10_434_662_400, 9_391_196_145)
    assert round(100 * Fraction(int(row["allocatable_count"]), int(row["capacity_count"])), 1) == Fraction("90.0")
    assert row["capacity_count"] - row["allocatable_count"] == 1_043_466_255


def test_d03_huge_pages_are_resources_of_their_own_and_no_memory() -> None:
    huge = {"hugepages-1Gi": "16Gi", "hugepages-2Mi": "1Gi"}
    big = ready_node(
        capacity={"cpu": "16", "memory": "65966924Ki", "pods": "110", **huge},
        allocatable={"cpu": "16", "memory": "46990156Ki", "pods": "110", **huge},
    )
    asks = pod(spec={"containers": [container(requests={"hugepages-2Mi": "512Mi", "memory": "1Gi"})]})
    found = plan(read([big], [asks]))
    assert (found.totals.allocatable_memory_bytes, found.totals.requests_memory_bytes) == (46990156 * KI, GI)
    pages = {row.resource: (row.allocatable_bytes, row.requests_bytes) for row in found.minor_resources}
    assert pages == {"hugepages-1Gi": (16 * GI, 0), "hugepages-2Mi": (GI, 512 * MI)}


def test_d04_room_on_nodes_that_ordinary_pods_cannot_use_is_shown_by_reason() -> None:
    control_plane = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
    advised = [{"key": "spot", "effect": "PreferNoSchedule"}]
    nodes = [
        ready_node("n1", spec={"taints": advised}),
        ready_node("n2", spec={"unschedulable": True}),
        ready_node("n3", capacity={"cpu": "4", "memory": "8Gi", "pods": "110"}, spec={"taints": control_plane}),
        ready_node("n4", ready="Unknown"),
    ]
    found = plan(read(nodes, [asking("a", "6", "n1"), asking("b", "1", "n2"), asking("c", "1", "n3")]))
    (pool,) = found.pools
    assert pool.headroom_cpu_nanocores == 2 * CORE
    assert {one.reason: one.headroom_cpu_nanocores for one in pool.unusable} == {
        "cordoned": 7 * CORE,
        "tainted": 3 * CORE,
        "not ready": 8 * CORE,
    }
    assert found.totals.requests_cpu_nanocores == 8 * CORE


def test_d05_a_fargate_node_is_what_was_bought_for_its_pod_and_has_no_room() -> None:
    fargate = ready_node(
        "f", capacity={"cpu": "2", "memory": "3935140Ki", "pods": "1"}, labels={"eks.amazonaws.com/compute-type": "fargate"}
    )
    small = pod(
        spec={"nodeName": "f", "containers": [container(requests={"cpu": "150m", "memory": "150Mi"})]},
        annotations={"CapacityProvisioned": "0.25vCPU 0.5GB"},
    )
    found = plan(read([fargate], [small]))
    row = found.nodes.iloc[0]
    assert bool(row["virtual"])
    assert (row["allocatable_cpu_nanocores"], row["allocatable_memory_bytes"]) == (CORE // 4, 512 * MI)
    assert (found.totals.allocatable_cpu_nanocores, found.totals.allocatable_pod_count, found.pools) == (0, 0, ())
    assert not [finding for finding in found.findings if "f" in finding.objects]


def test_d06_pod_slots_are_those_that_the_node_says() -> None:
    nodes = [
        ready_node("n1", capacity={"cpu": "8", "memory": "32Gi", "pods": "29"}, labels={"node.kubernetes.io/instance-type": "m5.large"}),
        ready_node("n2", capacity={"cpu": "8", "memory": "32Gi", "pods": "250"}, labels={"node.kubernetes.io/instance-type": "m5.metal"}),
    ]
    pods = [asking(f"p{i}", "59m", "n1") for i in range(27)]
    found = plan(read(nodes, pods))
    slots = found.nodes.set_index("node")["allocatable_pod_count"]
    assert slots.to_dict() == {"n1": 29, "n2": 250}
    pool = next(pool for pool in found.pools if pool.name == "m5.large")
    assert (pool.bound_pod_count, pool.headroom_pod_count, pool.binding_resource) == (27, 2, "pods")
    assert round(100 * Fraction(27, 29)) == 93


def test_d06_the_page_says_that_a_kubelets_own_setting_is_not_asked_for() -> None:
    assert "maxPods" in (ROOT / "docs" / "collection.md").read_text()


def test_d07_unknown_conditions_and_images_without_names_cost_nothing() -> None:
    odd = ready_node(images=[{"names": None, "sizeBytes": 1}])
    odd["status"]["conditions"] += [{"type": "CorruptDockerOverlay2", "status": "False"}, {"type": "NoStatus"}]
    snapshot = read([odd])
    assert snapshot.table("rejects").empty
    assert snapshot.table("nodes")["ready"].tolist() == [True]
    assert snapshot.table("node_images")["image"].tolist() == ["<none>"]


def test_d07_a_bad_node_costs_one_row() -> None:
    snapshot = read([ready_node("good"), {"metadata": {"name": "bad"}, "status": {"conditions": "none"}}])
    assert snapshot.table("nodes")["node"].tolist() == ["good"]
    assert snapshot.table("rejects")["object"].tolist() == ["node bad"]


def test_images_without_names_that_are_too_large_together_cost_themselves() -> None:
    snapshot = read([ready_node(images=[{"names": None, "sizeBytes": 2**63 - 1}] * 2)])
    assert snapshot.table("node_images")["size_bytes"].tolist() == [2**63 - 1]
    assert len(snapshot.table("rejects")) == 1


def test_a_node_of_unknown_readiness_is_known_to_be_that() -> None:
    assert pd.isna(read([node("n2")]).table("nodes")["ready"].iloc[0])
