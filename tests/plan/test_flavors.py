from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from batch import plan
from batch.errors import SettingsError
from batch.plan.flavors import catalogue, compared_flavors
from batch.settings import FlavorSettings, PlanSettings
from tests.builders import CORE, GIB, node, snapshot


@pytest.mark.parametrize(
    ("name", "cores", "gib"),
    [
        ("n1-standard-4", 4, 15),  # 3.75 GiB a core
        ("n1-standard-16", 16, 60),
        ("n1-highmem-4", 4, 26),  # 6.5 GiB a core
        ("n1-highmem-16", 16, 104),
        ("m7g.2xlarge", 8, 32),
        ("Standard_E8s_v5", 8, 64),
    ],
)
def test_the_catalogue_knows_common_shapes(name: str, cores: int, gib: int) -> None:
    (flavor,) = [flavor for flavor in catalogue() if flavor.name == name]
    assert (flavor.cpu_nanocores, flavor.memory_bytes) == (cores * CORE, gib * GIB)


@pytest.mark.parametrize(
    ("name", "cores", "gib", "gpus", "gpu_gib", "pods"),
    [
        ("g5.2xlarge", 8, 32, 1, 24, 58),  # EC2: SizeInMiB 24576; an L4, with 22888, is in a g6
        ("p4d.24xlarge", 96, 1152, 8, 40, 737),
        ("p5.48xlarge", 192, 2048, 8, 80, 100),  # eni-max-pods counts the first of its network cards alone
        ("a2-highgpu-1g", 12, 85, 1, 40, None),
        ("a2-ultragpu-1g", 12, 170, 1, 80, None),
        ("a3-highgpu-8g", 208, 1872, 8, 80, None),
        ("g2-standard-48", 48, 192, 4, 24, None),
        ("Standard_NC16as_T4_v3", 16, 110, 1, 16, None),
        ("Standard_NC48ads_A100_v4", 48, 440, 2, 80, None),
        ("Standard_ND96asr_v4", 96, 900, 8, 40, None),
        ("Standard_ND96isr_H100_v5", 96, 1900, 8, 80, None),
    ],
)
def test_machines_with_gpus_are_as_their_providers_publish_them(
    name: str, cores: int, gib: int, gpus: int, gpu_gib: int, pods: int | None
) -> None:
    (flavor,) = [flavor for flavor in catalogue() if flavor.name == name]
    assert (flavor.cpu_nanocores, flavor.memory_bytes, flavor.pod_limit) == (cores * CORE, gib * GIB, pods)
    assert (flavor.gpu_count, flavor.gpu_memory_bytes) == (gpus, gpu_gib * GIB)


def test_every_file_of_the_catalogue_says_where_it_is_from_and_of_when() -> None:
    for path in (Path(plan.__file__).parent / "catalogue").glob("*.yaml"):
        tree = yaml.safe_load(path.read_text())
        assert tree["source"]
        assert re.fullmatch(r"20\d\d-\d\d", tree["date"])
        assert tree["flavors"]


def test_a_name_stands_once_in_the_catalogue_and_gpus_have_a_product() -> None:
    assert len({flavor.name for flavor in catalogue()}) == len(catalogue())
    assert all((flavor.gpu_product is not None) == (flavor.gpu_count > 0) for flavor in catalogue())


def test_the_cluster_is_compared_with_its_own_provider() -> None:
    taken = snapshot(nodes=[node("n1", provider="gce", instance_type="n1-highmem-8")])
    assert {flavor.provider for flavor in compared_flavors(taken, PlanSettings())} == {"google"}


def test_without_a_known_provider_all_are_compared_by_memory_then_cores_then_name() -> None:
    found = compared_flavors(snapshot(nodes=[node("n1", provider="kind")]), PlanSettings())
    assert {flavor.provider for flavor in found} == {"aws", "azure", "google"}
    keys = [(flavor.memory_bytes, flavor.cpu_nanocores, flavor.name) for flavor in found]
    assert keys == sorted(keys)


def test_an_instance_type_that_the_catalogue_lacks_has_the_capacity_of_its_smallest_node() -> None:
    nodes = [
        node("n1", instance_type="metal", cpu=32 * CORE, memory=100 * GIB, labels={"nvidia.com/gpu.count": "8"}),
        node("n2", instance_type="metal", cpu=32 * CORE, memory=99 * GIB, allocatable_memory_bytes=90 * GIB),
        node("n3", instance_type="blank", cpu=None),
    ]
    found = {flavor.name: flavor for flavor in compared_flavors(snapshot(nodes=nodes), PlanSettings())}
    assert (found["metal"].memory_bytes, found["metal"].gpu_count) == (99 * GIB, 8)
    assert "blank" not in found


@pytest.mark.parametrize(
    ("advertised", "labels", "count"),
    [
        ({"habana.ai/gaudi": 8}, {}, 8),
        ({"google.com/tpu": 4}, {}, 4),
        ({"gpu.intel.com/i915": 2}, {}, 2),
        ({"metax-tech.com/gpu": 8}, {}, 8),
        ({"aws.amazon.com/neuron": 2, "aws.amazon.com/neuroncore": 8}, {}, 2),
        ({"aws.amazon.com/neuroncore": 8}, {}, 1),
        ({"aliyun.com/gpu-milli": 2000}, {}, 2),
        ({"aliyun.com/gpu-mem": 32, "aliyun.com/gpu-count": 4}, {}, 4),
        ({"nvidia.com/mig-1g.5gb": 7}, {}, 1),
        ({"nvidia.com/gpu": 40}, {"nvidia.com/gpu.count": "4"}, 4),
        ({"nvidia.com/gpu": 2}, {"nvidia.com/gpu.count": "0"}, 2),
        ({}, {"cloud.google.com/gke-accelerator": "nvidia-l4"}, 1),
        ({}, {"nvidia.com/gpu.present": "false"}, 0),
        ({"hugepages-2Mi": 512, "rdma/hca": 8}, {}, 0),
        ({"nvidia.com/gpu": 0}, {}, 0),
    ],
)
def test_every_kind_of_accelerator_makes_a_flavor_one_with_accelerators(
    advertised: dict[str, int], labels: dict[str, str], count: int
) -> None:
    one = node("n1", instance_type="metal", labels=labels, resources={name: (amount, amount) for name, amount in advertised.items()})
    (found,) = [flavor for flavor in compared_flavors(snapshot(nodes=[one]), PlanSettings()) if flavor.name == "metal"]
    assert found.gpu_count == count


def test_named_flavors_are_compared_alone() -> None:
    own = FlavorSettings(name="own", cpu_cores=0.5, memory_bytes=GIB)
    settings = PlanSettings(flavors=(own,), flavor_names=("n1-highmem-8", "own"))
    found = compared_flavors(snapshot(), settings)
    assert [(flavor.name, flavor.cpu_nanocores) for flavor in found] == [("own", CORE // 2), ("n1-highmem-8", 8 * CORE)]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="n1-highmem-8") as caught:
        compared_flavors(snapshot(), PlanSettings(flavor_names=("n1-himem-8",)))
    assert caught.value.slug == "flavor-unknown"
