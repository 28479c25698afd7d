from typing import Any

import pytest

from batch.findings import Severity
from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment, GpuResource
from batch.settings import PoolSettings, Settings
from tests.builders import CORE, GIB, NodeRows, PodRows, node, pod, snapshot

GPU = "nvidia.com/gpu"
T4 = {"nvidia.com/gpu.product": "Tesla-T4"}


def gpu_node(name: str, count: int = 4, allocatable: int | None = None, resource: str = GPU, **columns: Any) -> NodeRows:
    offered = count if allocatable is None else allocatable
    return node(name, **{"labels": T4, "resources": {resource: (count, offered)}, **columns})


def gpu_pod(name: str, on: str | None, count: int = 1, resource: str = GPU, **columns: Any) -> PodRows:
    return pod(name, on=on, resources={resource: count}, **columns)


def assessed(nodes: list[NodeRows], pods: tuple[PodRows, ...] = (), **more: Any) -> GpuAssessment:
    return assess(snapshot(nodes=nodes, pods=pods, **more), Settings())


def only(assessment: GpuAssessment) -> GpuResource:
    (resource,) = assessment.resources
    return resource


def problems(assessment: GpuAssessment) -> dict[tuple[str, str], str]:
    rows = assessment.nodes.dropna(subset="problem")
    return dict(zip(zip(rows["node"], rows["resource"], strict=True), rows["problem"], strict=True))


def finding_ids(assessment: GpuAssessment) -> list[str]:
    return [finding.id for finding in assessment.findings]


def test_cluster_without_accelerators_has_empty_tables_and_no_findings() -> None:
    assessment = assessed([node("n1", resources={"ephemeral-storage": (10**12, 10**12)})], (pod("p"),))
    assert assessment.nodes.empty
    assert (assessment.resources, assessment.unknown_resources, assessment.findings) == ((), (), ())


def test_free_ones_are_split_by_the_first_reason_that_holds() -> None:
    nodes = [
        gpu_node("usable"),
        gpu_node("full", cpu=4 * CORE),
        gpu_node("tainted", taints=[("team", "NoSchedule")]),
        gpu_node("cordoned", schedulable=False, taints=[("team", "NoExecute")]),
        gpu_node("broken", ready=False, schedulable=False),
        gpu_node("silent", ready=None),
    ]
    pods = (gpu_pod("a", "usable"), gpu_pod("b", "full", count=2, cpu=4 * CORE - 1))
    resource = only(assessed(nodes, pods))
    # usable 4-1, full 4-2; the other four nodes hold no pod and have 4 each
    assert resource.free_by_reason == {"usable": 3, "stranded": 2, "tainted": 4, "cordoned": 4, "not ready": 8}
    assert (resource.allocatable_count, resource.requests_count, resource.unrequested_count) == (24, 3, 21)
    assert resource.stranded_count == 2
    assert resource.largest_free_block == {2: 1, 3: 1, 4: 4}
    assert resource.idle_node_count == 4


@pytest.mark.parametrize(
    ("cpu", "memory", "pods", "reason"),
    [
        (CORE, GIB, 2, "usable"),
        (CORE - 1, GIB, 2, "stranded"),
        (CORE, GIB - 1, 2, "stranded"),
        (CORE, GIB, 1, "stranded"),
        (None, None, None, "usable"),
    ],
)
def test_stranded_is_exact_to_the_nanocore_byte_and_pod(cpu: int | None, memory: int | None, pods: int | None, reason: str) -> None:
    assessment = assessed([gpu_node("n1", cpu=cpu, memory=memory, pods=pods)], (gpu_pod("p", "n1"),))
    assert list(assessment.nodes["free_reason"]) == [reason]


@pytest.mark.parametrize(("taint", "reason"), [("nvidia.com/gpu", "usable"), ("google.com/tpu", "usable"), ("dedicated", "tainted")])
def test_taint_that_keeps_other_pods_off_leaves_gpus_usable(taint: str, reason: str) -> None:
    assessment = assessed([gpu_node("n1", taints=[(taint, "NoSchedule")])])
    assert list(assessment.nodes["free_reason"]) == [reason]


def test_finished_and_unbound_pods_hold_nothing() -> None:
    pods = (gpu_pod("done", "n1", phase="Succeeded"), gpu_pod("waiting", None, phase="Pending"))
    assessment = assessed([gpu_node("n1")], pods)
    assert only(assessment).requests_count == 0
    assert assessment.pending_pod_count == 1


def test_gated_pod_does_not_wait_for_a_gpu() -> None:
    assert assessed([gpu_node("n1")], (gpu_pod("p", None, phase="Pending", gated=True),)).pending_pod_count == 0


def test_mig_devices_are_not_added_to_whole_gpus() -> None:
    mig = {"nvidia.com/gpu": (0, 0), "nvidia.com/mig-1g.12gb": (2, 2), "nvidia.com/mig-2g.24gb": (1, 1), "nvidia.com/mig-3g.47gb": (1, 1)}
    assessment = assessed([node("n1", resources=mig)], (gpu_pod("p", "n1", resource="nvidia.com/mig-2g.24gb"),))
    counts = {r.resource: (r.allocatable_count, r.requests_count) for r in assessment.resources}
    assert counts == {"nvidia.com/mig-1g.12gb": (2, 0), "nvidia.com/mig-2g.24gb": (1, 1), "nvidia.com/mig-3g.47gb": (1, 0)}
    assert finding_ids(assessment) == []


def test_single_strategy_mig_keeps_the_slice_in_its_product() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/gpu.count": "8"}
    resource = only(assessed([node("n1", labels=labels, resources={GPU: (56, 56)})]))
    assert (resource.product, resource.allocatable_count, resource.card_count) == ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", 56, 8)


def test_names_of_the_same_silicon_are_never_added_up() -> None:
    neuron, core = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
    nodes = [
        node("inf1", resources={neuron: (1, 1), core: (4, 4)}),
        node("inf2", resources={neuron: (1, 1), core: (2, 2)}),
        node("trn1", resources={neuron: (2, 2), core: (4, 4)}),
    ]
    pods = (gpu_pod("a", "inf1", 2, core), gpu_pod("b", "inf2", 1, core), gpu_pod("c", "trn1", 1, neuron))
    resource = only(assessed(nodes, pods))
    # trn1 has two cores a device, so one device takes two cores: 2 + 1 + 2 of 4 + 2 + 4
    assert (resource.resource, resource.requests_count, resource.allocatable_count, resource.card_count) == (core, 5, 10, 4)


def test_what_only_looks_like_a_gpu_is_not_counted() -> None:
    nodes = [
        node("a", resources={"gpu.intel.com/i915": (10, 10), "gpu.intel.com/i915_monitoring": (1, 1), "gpu.intel.com/memory.max": (9, 9)}),
        node("b", resources={"amd.com/gpu": (4, 4), "vpc.amazonaws.com/efa": (1, 1)}),
        node("c", resources={"alpha.kubernetes.io/nvidia-gpu": (2, 2), "rdma/hca": (1000, 1000)}),
        node("d", resources={GPU: (70, 70), "nvidia.com/gpucores": (700, 700), "nvidia.com/gpumem": (8000, 8000)}),
        node("e", resources={"example.com/npu": (8, 8), "example.com/input-slots": (1, 1)}),
    ]
    assessment = assessed(nodes)
    counts = {r.resource: r.allocatable_count for r in assessment.resources}
    assert counts == {"alpha.kubernetes.io/nvidia-gpu": 2, "amd.com/gpu": 4, "gpu.intel.com/i915": 10, GPU: 70}
    assert assessment.unknown_resources == ("example.com/npu",)
    assert {"gpus.legacy-resource", "gpus.unknown-resources"} <= set(finding_ids(assessment))


def test_capacity_without_allocatable_is_named_and_never_divided() -> None:
    nodes = [gpu_node("n1", 16, 0), gpu_node("n2", 3, 2), node("n3", labels={"nvidia.com/gpu.present": "true"}, resources={GPU: (0, 0)})]
    assessment = assessed(nodes, (gpu_pod("a", "n1"), gpu_pod("b", "n1")))
    resource = only(assessment)
    assert (resource.capacity_count, resource.allocatable_count, resource.requests_count, resource.unrequested_count) == (19, 2, 2, 2)
    assert problems(assessment) == {
        ("n1", GPU): "16 of 16 not allocatable; 2 requested, 0 allocatable",
        ("n2", GPU): "1 of 3 not allocatable",
        ("n3", ""): "labelled as a GPU node but advertises none",
    }
    objects = {finding.id: finding.objects for finding in assessment.findings}
    assert objects["gpus.not-allocatable/nvidia.com/gpu"] == ("n1", "n2")
    assert objects["gpus.none-advertised"] == ("n3",)


def test_pods_that_hold_gpus_on_a_node_that_lost_them_are_shown() -> None:
    assessment = assessed([node("n1", resources={GPU: (0, 0)}), node("n2")], (gpu_pod("a", "n1", 2), gpu_pod("b", "n2")))
    assert problems(assessment) == {("n1", GPU): "2 requested, 0 allocatable", ("n2", GPU): "1 requested, 0 allocatable"}
    assert (only(assessment).node_count, only(assessment).requests_count) == (0, 3)
    assert finding_ids(assessment) == ["gpus.none-advertised"]


@pytest.mark.parametrize("labels", [{"nvidia.com/gpu.present": "false"}, {"nvidia.com/gpu.count": "0"}, {"accelerator": "none"}])
def test_label_that_denies_a_gpu_names_no_gpu_node(labels: dict[str, str]) -> None:
    assert assessed([node("n1", labels=labels)]).nodes.empty


def test_node_whose_cards_are_shared_out_under_other_names_is_not_silent() -> None:
    assert assessed([node("n1", labels=T4, resources={"aliyun.com/gpu-mem": (15, 15)})]).nodes.empty


@pytest.mark.parametrize(
    ("labels", "resource", "product"),
    [
        ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4", **T4}, GPU, "Tesla-T4"),
        ({"cloud.google.com/gke-accelerator": "nvidia-l4"}, GPU, "nvidia-l4"),
        ({"karpenter.k8s.aws/instance-gpu-name": "a10g"}, GPU, "a10g"),
        ({"kubernetes.azure.com/accelerator": "nvidia"}, GPU, None),
        ({"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", **T4}, "amd.com/gpu", "AMD_Instinct_MI300X_OAM"),
        (T4, "gpu.intel.com/i915", None),
    ],
)
def test_product_comes_from_the_labels_of_the_resources_vendor(labels: dict[str, str], resource: str, product: str | None) -> None:
    assert only(assessed([node("n1", labels=labels, resources={resource: (1, 1)})])).product == product


def test_products_are_counted_apart() -> None:
    nodes = [gpu_node("n1", 2), gpu_node("n2", 8, labels={"nvidia.com/gpu.product": "A100"}), gpu_node("n3", 1, labels={})]
    counts = [(r.product, r.node_count, r.allocatable_count) for r in assessed(nodes).resources]
    assert counts == [("A100", 1, 8), ("Tesla-T4", 1, 2), (None, 1, 1)]


def test_thousandths_stay_thousandths_and_tell_their_cards() -> None:
    milli = "aliyun.com/gpu-milli"
    resource = only(assessed([gpu_node("n1", 2000, resource=milli)], (gpu_pod("p", "n1", 250, milli),)))
    assert (resource.allocatable_count, resource.unrequested_count, resource.card_count) == (2000, 1750, 2)
    assert resource.largest_free_block == {1750: 1}


def test_cards_that_pods_share_are_those_that_their_annotation_names() -> None:
    milli = "aliyun.com/gpu-milli"
    pods = (gpu_pod("a", "n1", 500, milli, gpu_index="0"), gpu_pod("b", "n1", 2000, milli, gpu_index="1-2"))
    (resource,) = assessed([gpu_node("n1", 8000, resource=milli)], pods).resources
    assert (resource.wholly_free_device_count, resource.unrequested_count) == (5, 5500)


def test_idle_gpu_nodes_are_a_warning_worth_their_number() -> None:
    assessment = assessed([gpu_node("n1"), gpu_node("n2"), gpu_node("n3")], (gpu_pod("p", "n2"), pod("q", on="n1")))
    (finding,) = assessment.findings
    assert (finding.id, finding.severity, finding.objects) == ("gpus.idle-nodes", Severity.WARNING, ("n1", "n3"))
    assert finding.worth is not None
    assert dict(finding.worth.values) == {"count": 2}


def test_stranded_gpus_are_a_warning() -> None:
    pods = (gpu_pod("p", "n1", cpu=4 * CORE), gpu_pod("q", "n2"))
    finding = next(f for f in assessed([gpu_node("n1"), gpu_node("n2")], pods).findings if f.id.startswith("gpus.stranded"))
    assert (finding.id, finding.objects) == ("gpus.stranded/nvidia.com/gpu", ("n1",))
    # 3 of 4 are free on n1 and on n2
    assert dict(finding.title.values) == {"count": 3, "free": 6, "resource": GPU}


def test_with_some_namespaces_only_what_others_hold_is_unknown() -> None:
    assessment = assessed([gpu_node("n1")], (gpu_pod("p", "n1"),), namespaces=("default",))
    resource = only(assessment)
    assert (resource.allocatable_count, resource.requests_count, resource.unrequested_count, resource.idle_node_count) == (
        4,
        None,
        None,
        None,
    )
    assert (resource.free_by_reason, resource.largest_free_block, assessment.findings) == ({}, {}, ())


def test_virtual_nodes_are_left_out() -> None:
    assert assessed([gpu_node("n1", virtual=True)]).nodes.empty


def test_pool_follows_the_setting() -> None:
    shot = snapshot(nodes=[gpu_node("n1", labels={"team": "ml"})])
    assert list(assess(shot, Settings(pools=PoolSettings(label="team"))).nodes["pool"]) == ["ml"]
