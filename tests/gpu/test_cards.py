from typing import Any

import pytest

from batch.gpu.assess import assess
from batch.gpu.mig import card_product, parts_of_card, product_profile, read_profile, slices_of_card
from batch.settings import Settings
from batch.snapshot.schemas import NODE_CARDS
from tests.builders import GIB, node, snapshot

GPU = "nvidia.com/gpu"
A100 = "NVIDIA-A100-SXM4-80GB"


@pytest.mark.parametrize(
    ("product", "slices"),
    [
        ("NVIDIA-A100-SXM4-40GB", 7),
        ("NVIDIA-H100-NVL", 7),
        ("NVIDIA-GH200-480GB", 7),
        ("NVIDIA-B200", 7),
        ("NVIDIA-A30", 4),
        ("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", 4),
        ("NVIDIA-RTX-PRO-5000-Blackwell", 2),
        ("NVIDIA-A10", None),
        ("NVIDIA-RTX-6000-Ada-Generation", None),
        ("Tesla-T4", None),
        ("NVIDIA-A1000", None),
        (None, None),
    ],
)
def test_slices_of_a_card(product: str | None, slices: int | None) -> None:
    assert slices_of_card(product) == slices


# NVIDIA MIG User Guide, "Supported MIG Profiles": number of instances available
@pytest.mark.parametrize(
    ("product", "profile", "parts"),
    [
        ("NVIDIA-A30", "1g.6gb", 4),
        ("NVIDIA-H200", "1g.18gb", 7),
        ("NVIDIA-H200", "1g.35gb", 4),
        ("NVIDIA-H100-NVL", "1g.24gb", 4),
        ("NVIDIA-GH200-480GB", "1g.24gb", 4),
        ("NVIDIA-B200", "1g.45gb", 4),
        ("NVIDIA-A30", "2g.12gb", 2),
        ("NVIDIA-A30", "4g.24gb", 1),
        ("NVIDIA-A100-SXM4-40GB", "1g.5gb", 7),
        ("NVIDIA-A100-SXM4-40GB", "1g.10gb", 4),
        ("NVIDIA-A100-SXM4-40GB", "2g.10gb", 3),
        ("NVIDIA-A100-SXM4-40GB", "3g.20gb", 2),
        ("NVIDIA-A100-SXM4-40GB", "4g.20gb", 1),
        ("NVIDIA-A100-SXM4-40GB", "1g.5gb+me", 1),
        ("NVIDIA-H100-80GB-HBM3", "1g.20gb", 4),
        ("NVIDIA-H200-141GB", "1g.18gb", 7),
        ("NVIDIA-H200-141GB", "1g.35gb", 4),
        ("Tesla-T4", "1g.5gb", None),
    ],
)
def test_parts_of_one_profile_that_a_card_holds(product: str, profile: str, parts: int | None) -> None:
    found = read_profile(profile)
    assert found
    assert parts_of_card(found, product) == parts


def test_the_product_of_a_part_or_share_names_the_card() -> None:
    assert card_product("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED") == "NVIDIA-H100-80GB-HBM3"
    assert card_product("Tesla-T4-SHARED") == "Tesla-T4"
    found = product_profile("NVIDIA-H100-80GB-HBM3-MIG-3g.40gb-SHARED")
    assert found
    assert (found.slice_count, found.gigabytes) == (3, 40)


def cards(resources: dict[str, int], labels: dict[str, str], **settings: Any) -> int | None:
    shot = snapshot(nodes=[node("n1", labels=labels, resources={name: (count, count) for name, count in resources.items()})])
    return assess(shot, Settings(**settings)).card_count


@pytest.mark.parametrize(
    ("resources", "labels", "expected"),
    [
        pytest.param({GPU: 8}, {}, 8, id="whole cards"),
        pytest.param({GPU: 40}, {}, None, id="more than any machine has"),
        pytest.param({GPU: 40}, {"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "time-slicing"}, 4, id="time slices"),
        pytest.param({"nvidia.com/gpu.shared": 40}, {"nvidia.com/gpu.replicas": "10"}, 4, id="time slices under a name of their own"),
        pytest.param({"nvidia.com/gpu.shared": 4}, {}, None, id="shares of an unknown number"),
        pytest.param({GPU: 40}, {"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "mps"}, 4, id="MPS"),
        pytest.param({GPU: 48}, {"cloud.google.com/gke-max-shared-clients-per-gpu": "48"}, 1, id="GKE shares"),
        pytest.param(
            {GPU: 7}, {"cloud.google.com/gke-accelerator": A100, "cloud.google.com/gke-gpu-partition-size": "1g.10gb"}, 1, id="GKE parts"
        ),
        pytest.param(
            {GPU: 112}, {"nvidia.com/gpu.product": f"{A100}-MIG-1g.10gb-SHARED", "nvidia.com/gpu.replicas": "2"}, 8, id="parts shared"
        ),
        pytest.param({"nvidia.com/mig-3g.40gb": 16}, {"nvidia.com/gpu.product": A100}, 8, id="one profile that leaves a slice over"),
        pytest.param(
            {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 8},
            {"nvidia.com/gpu.product": A100, "nvidia.com/gpu.count": "8"},
            8,
            id="profiles that leave slices over, counted by the label",
        ),
        pytest.param(
            {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 8}, {"nvidia.com/gpu.product": A100}, None, id="without that label"
        ),
        pytest.param(
            {GPU: 6, "nvidia.com/mig-4g.40gb": 2, "nvidia.com/mig-3g.40gb": 2},
            {"nvidia.com/gpu.product": A100},
            8,
            id="cut and whole cards",
        ),
        pytest.param({"nvidia.com/mig-1g.5gb": 7}, {"nvidia.com/gpu.product": "New-Card"}, None, id="parts of an unknown model"),
        pytest.param({"amd.com/gpu": 64}, {"amd.com/compute-memory-partition": "cpx_nps4"}, 8, id="AMD partitions"),
        pytest.param({"amd.com/cpx_nps4": 64}, {}, 8, id="AMD partitions under a name of their own"),
        pytest.param({"gpu.intel.com/i915": 10}, {"gpu.intel.com/device.count": "2"}, 2, id="Intel, counted by a label"),
        pytest.param({"habana.ai/gaudi": 8}, {}, 8, id="Gaudi"),
        pytest.param({"google.com/tpu": 4}, {}, 4, id="TPU"),
        pytest.param({"aliyun.com/gpu-milli": 2500}, {}, None, id="thousandths that are no whole card"),
    ],
)
def test_cards_behind_what_a_node_offers(resources: dict[str, int], labels: dict[str, str], expected: int | None) -> None:
    assert cards(resources, labels) == expected


def test_a_node_of_unknown_cards_makes_the_total_unknown_and_not_smaller() -> None:
    shot = snapshot(nodes=[node("a", resources={GPU: (4, 4)}), node("b", resources={"gpu.intel.com/xe": (6, 6)})])
    found = assess(shot, Settings())
    assert (found.node_cards, found.card_count) == ({"a": 4, "b": None}, None)


def test_the_driver_and_the_memory_of_a_card_come_from_labels() -> None:
    labels = {"nvidia.com/gpu.memory": "81920", "nvidia.com/cuda.driver.major": "580", "nvidia.com/cuda.driver.minor": "95"}
    found = assess(snapshot(nodes=[node("n1", labels=labels, resources={GPU: (1, 1)})]), Settings()).nodes.iloc[0]
    assert (found["card_memory_bytes"], found["driver_version"]) == (80 * 1024**3, "580.95")


def test_cards_of_a_resource_are_unknown_where_one_node_does_not_tell() -> None:
    intel = {"gpu.intel.com/i915": (10, 10)}
    nodes = [node("a", labels={"gpu.intel.com/device.count": "2"}, resources=intel), node("b", resources=intel)]
    (resource,) = assess(snapshot(nodes=nodes), Settings()).resources
    assert (resource.allocatable_count, resource.card_count) == (20, None)


def test_no_more_cards_are_healthy_than_their_slots_can_be_given_out() -> None:
    listed = NODE_CARDS.frame(("n1", f"GPU-{number}", 10, 32 * GIB, "NVIDIA-V100", True) for number in range(8))
    (resource,) = assess(snapshot(nodes=[node("n1", resources={GPU: (80, 60)})], tables={"node_cards": listed}), Settings()).resources
    assert (resource.card_count, resource.healthy_card_count) == (8, 6)
