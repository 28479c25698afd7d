"""Inputs that make reports on accelerators wrong, each with its right answer in report.json and in words."""

from __future__ import annotations

import pytest

from batch.snapshot.schemas import NODE_CARDS
from tests.builders import GIB, NodeRows, gpu_usage, node, pod, snapshot
from tests.gpu.claims import device, part, pool, tables
from tests.gpu.reported import Json, reported

GPU = "nvidia.com/gpu"
H100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}


def test_a_card_cut_up_by_migs_mixed_strategy_is_one_card() -> None:
    parts = {GPU: (0, 0), "nvidia.com/mig-1g.12gb": (2, 2), "nvidia.com/mig-2g.24gb": (1, 1), "nvidia.com/mig-3g.47gb": (1, 1)}
    gpu, words = reported(
        snapshot(nodes=[node("n1", labels=H100, resources=parts)], pods=[pod("p", resources={"nvidia.com/mig-2g.24gb": 1})])
    )
    assert gpu["card_count"] == 1
    assert gpu["nodes"][0]["card_count"] == 1
    assert gpu["requests_card_equivalents"] == pytest.approx(2 / 7, abs=1e-6)
    counts = {r["resource"]: (r["allocatable_count"], r["requests_count"]) for r in gpu["resources"]}
    assert counts == {"nvidia.com/mig-1g.12gb": (2, 0), "nvidia.com/mig-2g.24gb": (1, 1), "nvidia.com/mig-3g.47gb": (1, 0)}
    assert "0.3 of 1 GPU are requested" in words or "0.3 of 1 GPUs are requested" in words


def test_parts_under_the_plain_name_are_named_by_the_product_and_are_no_cards() -> None:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/gpu.count": "8",
    }
    gpu, words = reported(snapshot(nodes=[node("n1", labels=labels, resources={GPU: (56, 56)})]))
    (resource,) = gpu["resources"]
    assert (resource["allocatable_count"], resource["card_count"], gpu["card_count"]) == (56, 8, 8)
    assert resource["product"].endswith("MIG-1g.10gb")
    assert "0 of 8 GPUs are requested" in words
    assert "56 nvidia.com/gpu of NVIDIA-H100-80GB-HBM3-MIG-1g.10gb are on 8 cards (MIG)." in words
    assert gpu["nodes"][0]["problems"] == []


def test_a_count_label_that_contradicts_is_a_hint_and_not_the_answer() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "nvidia.com/gpu.count": "4"}
    gpu, words = reported(snapshot(nodes=[node("n1", labels=labels, resources={GPU: (56, 56)})]))
    assert gpu["card_count"] == 8
    assert "8 cards by its slots, 4 by label nvidia.com/gpu.count" in words


def test_cores_and_devices_are_the_same_silicon_at_each_nodes_own_ratio() -> None:
    neuron, core = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
    nodes = [node("n1", resources={neuron: (1, 1), core: (4, 4)}), node("n2", resources={neuron: (1, 1), core: (2, 2)})]
    gpu, words = reported(snapshot(nodes=nodes, pods=[pod("a", on="n1", resources={core: 2}), pod("b", on="n2", resources={core: 1})]))
    assert (gpu["card_count"], gpu["requests_card_equivalents"]) == (2, 1.0)
    halves = [(one["resources"][core]["requests_count"], one["resources"][core]["allocatable_count"]) for one in gpu["nodes"]]
    assert halves == [(2, 4), (1, 2)]
    assert [holder["card_equivalents"] for holder in gpu["holders"]] == [0.5, 0.5]
    assert [one["requests_card_equivalents"] for one in gpu["resources"]] == [1.0]
    assert "1 of 2 GPUs are requested" in words
    assert "6 aws.amazon.com/neuroncore are on 2 cards (cores)." in words


def test_silicon_that_is_held_by_its_devices_is_summed_up_with_its_cores() -> None:
    neuron, core = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
    labels = {"karpenter.k8s.aws/instance-accelerator-name": "inferentia2"}
    nodes = [node("n1", labels=labels, resources={neuron: (12, 12), core: (24, 24), "aws.amazon.com/neurondevice": (12, 12)})]
    gpu, _ = reported(snapshot(nodes=nodes, pods=[pod("a", resources={neuron: 3}), pod("b", resources={core: 2})]))
    (resource,) = gpu["resources"]
    assert (resource["resource"], resource["requests_count"], resource["requests_card_equivalents"]) == (core, 8, 4.0)
    assert {(one["pod"], one["count"], one["product"]) for one in gpu["holders"]} == {("a", 3, "inferentia2"), ("b", 2, "inferentia2")}


def lookalikes() -> list[NodeRows]:
    return [
        node("a", resources={"gpu.intel.com/i915": (10, 10), "gpu.intel.com/i915_monitoring": (1, 1), "gpu.intel.com/memory.max": (9, 9)}),
        node("b", resources={"amd.com/gpu": (4, 4), "vpc.amazonaws.com/efa": (1, 1)}),
        node("c", resources={"alpha.kubernetes.io/nvidia-gpu": (2, 2), "rdma/hca": (1000, 1000)}),
        node("d", resources={"example.com/npu": (8, 8)}),
    ]


def test_what_looks_like_a_gpu_is_left_out_and_slots_of_unknown_cards_are_said_to_be_so() -> None:
    gpu, words = reported(snapshot(nodes=lookalikes()))
    counts = {r["resource"]: (r["allocatable_count"], r["card_count"]) for r in gpu["resources"]}
    assert counts == {"alpha.kubernetes.io/nvidia-gpu": (2, 2), "amd.com/gpu": (4, 4), "gpu.intel.com/i915": (10, None)}
    assert (gpu["card_count"], gpu["unknown_resources"]) == (None, ["example.com/npu"])
    assert "How many cards are behind the slots of 1 node is not known" in words
    assert "Not counted, because their vendor is not known here: example.com/npu." in words
    assert "Install NVIDIA's device plugin on c and request nvidia.com/gpu instead" not in words  # that is on the first page
    assert "Nodes still advertise alpha.kubernetes.io/nvidia-gpu" in words
    assert "efa" not in words
    assert "hca" not in words


def test_told_the_share_count_slots_are_cards() -> None:
    gpu, _ = reported(snapshot(nodes=lookalikes()), gpu={"slots_per_card": {"gpu.intel.com/i915": 5}})
    assert {r["resource"]: r["card_count"] for r in gpu["resources"]}["gpu.intel.com/i915"] == 2
    assert gpu["card_count"] == 2 + 4 + 2


def test_slots_of_intels_plugin_count_among_the_requests() -> None:
    shot = snapshot(nodes=lookalikes(), pods=[pod("p", on="a", resources={"gpu.intel.com/i915": 1})])
    assert reported(shot, gpu={"slots_per_card": {"gpu.intel.com/i915": 5}})[0]["requests_card_equivalents"] == 0.2
    assert reported(shot)[0]["requests_card_equivalents"] is None


def sliced(listed: int) -> tuple[Json, str]:
    cards = [("n1", f"GPU-{number}", 10, 32 * GIB, "NVIDIA-V100", number != 3) for number in range(listed)]
    asks = {GPU: 1, "nvidia.com/gpucores": 25, "nvidia.com/gpumem": 8000}
    shot = snapshot(
        nodes=[node("n1", resources={GPU: (80, 70)})], pods=[pod("p", resources=asks)], tables={"node_cards": NODE_CARDS.frame(cards)}
    )
    return reported(shot)


def test_slots_of_a_software_scheduler_are_on_the_cards_that_it_lists() -> None:
    gpu, words = sliced(8)
    (resource,) = gpu["resources"]
    assert (resource["allocatable_count"], resource["card_count"], resource["healthy_card_count"]) == (70, 8, 7)
    (holder,) = gpu["holders"]
    assert (holder["count"], holder["card_equivalents"]) == (1, 0.25)
    assert gpu["requests_card_equivalents"] == 0.25
    assert "70 nvidia.com/gpu are on 7 healthy of 8 cards (software)." in words


def test_without_that_list_slots_are_slots() -> None:
    gpu, words = sliced(0)
    assert (gpu["resources"][0]["allocatable_count"], gpu["card_count"]) == (70, None)
    assert gpu["holders"][0]["card_equivalents"] == 0.25
    assert "1 of 70 nvidia.com/gpu are requested" in words
    assert "How many cards are behind the slots of 1 node is not known" in words


def test_installed_is_not_allocatable_and_nothing_is_divided_by_it() -> None:
    nodes = [
        node("n1", resources={GPU: (16, 0)}),
        node("n2", resources={GPU: (3, 2)}),
        node("n3", labels={"nvidia.com/gpu.present": "true"}, resources={GPU: (0, 0)}),
    ]
    gpu, words = reported(snapshot(nodes=nodes, pods=[pod("a", resources={GPU: 1}), pod("b", resources={GPU: 1})]))
    (resource,) = gpu["resources"]
    assert (resource["capacity_count"], resource["allocatable_count"], gpu["card_count"]) == (19, 2, 19)
    problems = {one["name"]: one["problems"] for one in gpu["nodes"]}
    assert problems["n1"] == ["nvidia.com/gpu: 16 of 16 not allocatable; 2 requested, 0 allocatable"]
    assert problems["n3"] == ["labelled as a GPU node but advertises none"]
    assert "17 of 19 nvidia.com/gpu cannot be allocated" in words
    assert "GPU node n3 advertises no GPU" in words


def test_activity_of_parts_is_their_own_and_each_device_says_by_which_metric() -> None:
    old, new = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    mig: Json = {"mig_profile": "3g.40gb", "product": "NVIDIA A100-SXM4-80GB"}
    readings = [
        gpu_usage("A", "a", mean=0.75, node="na"),
        gpu_usage("B", "b1", mean=0.5, node="nb", mig_instance="1", **mig),
        gpu_usage("B", "b2", mean=0.1, node="nb", mig_instance="2", **mig),
        gpu_usage("C", "c", mean=0.3, node="nc", metric=old),
    ]
    a100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
    nodes = [
        node("na", resources={GPU: (1, 1)}),
        node("nb", labels=a100, resources={"nvidia.com/mig-3g.40gb": (2, 2)}),
        node("nc", resources={GPU: (1, 1)}),
    ]
    held = {"a": ("na", GPU), "b1": ("nb", "nvidia.com/mig-3g.40gb"), "b2": ("nb", "nvidia.com/mig-3g.40gb"), "c": ("nc", GPU)}
    pods = [pod(name, on=where, resources={resource: 1}) for name, (where, resource) in held.items()]
    gpu, words = reported(snapshot(nodes=nodes, pods=pods, gpus=readings))
    found = {one["pod"]: (one["usage_ratio_mean"], one["activity_metric"]) for one in gpu["holders"]}
    assert found == {"a": (0.75, new), "b1": (0.5, new), "b2": (0.1, new), "c": (0.3, old)}
    assert all(not one["idle"] for one in gpu["holders"])
    assert gpu["activity_metrics"] == [old, new]
    assert f"Activity is by {old} or {new}, for each device by one of them." in words
    assert "DEV_GPU_UTIL" in words


def test_a_device_that_nobody_holds_is_booked_to_nobody() -> None:
    readings = [
        gpu_usage("GPU-1", "train-0", mean=0.9, namespace="ml", node="n1"),
        gpu_usage("GPU-2", "train-1", mean=0.1, namespace="ml", node="n1"),
        gpu_usage("GPU-3", mean=0.0, idle=60, node="n1"),
    ]
    pods = [pod(name, namespace="ml", resources={GPU: 1}) for name in ("train-0", "train-1")]
    exporter = pod("dcgm-exporter-x", namespace="monitoring")
    gpu, words = reported(snapshot(nodes=[node("n1", resources={GPU: (3, 3)})], pods=[*pods, exporter], gpus=readings))
    assert {one["pod"]: one["usage_ratio_mean"] for one in gpu["holders"]} == {"train-0": 0.9, "train-1": 0.1}
    assert (gpu["gpu_hours"], gpu["idle_gpu_hours"]) == (2.0, 0.0)  # the third is in nobody's hours, but in the mean of devices
    assert gpu["usage_ratio_mean"] == pytest.approx(1 / 3)
    assert "dcgm-exporter" not in words


def test_a_card_and_its_parts_are_one_card() -> None:
    devices = [device("gpu-0"), part("gpu-0-mig-1", "gpu-0", "3g.40gb"), part("gpu-0-mig-2", "gpu-0", "3g.40gb"), device("gpu-1")]
    gpu, words = reported(snapshot(nodes=[node("n1")], tables=tables(pool("n1", devices))))
    (found,) = gpu["dra"]
    assert (gpu["card_count"], found["card_count"], found["device_count"], found["part_count"]) == (2, 2, 3, 2)
    assert (found["allocated_count"], found["complete"], found["up_to"]) == (0, True, False)
    assert "0 of 2 GPUs are requested" in words
    assert "Of the devices that can be claimed 2 are parts of cards; a card that is cut up counts once." in words


def test_profiles_that_exclude_each_other_are_not_added_up() -> None:
    whole = [device("gpu-0", parent_uuid=None)]
    ones = [part(f"gpu-0-1g-{number}", "gpu-0", "1g.10gb") for number in range(7)]
    halves = [part(f"gpu-0-3g-{number}", "gpu-0", "3g.40gb") for number in range(2)]
    counters = [("n1-slice", "", "gpu-0-counters", "slices", 7), ("n1-slice", "gpu-0", "gpu-0-counters", "slices", 7)]
    counters += [("n1-slice", one["device"], "gpu-0-counters", "slices", 1) for one in ones]
    counters += [("n1-slice", one["device"], "gpu-0-counters", "slices", 3) for one in halves]
    given = tables(pool("n1", [*whole, *ones, *halves]), claims={"c": ["n1/gpu-0-3g-0"]}, users={"c": ["p"]}, counters=counters)
    gpu, words = reported(snapshot(nodes=[node("n1")], pods=[pod("p")], tables=given))
    (found,) = gpu["dra"]
    assert (found["card_count"], found["device_count"], found["up_to"], found["allocated_count"]) == (1, 7, True, 1)
    assert found["free_count"] == 4  # of seven slices three are taken, and the smallest part takes one
    assert gpu["requests_card_equivalents"] == pytest.approx(3 / 7, abs=1e-6)
    assert "up to 7" in words
