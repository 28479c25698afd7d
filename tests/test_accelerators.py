import pytest

from batch.accelerators import Kind, dedicates, drives_accelerators, kind


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("nvidia.com/gpu", Kind.ACCELERATOR),
        ("nvidia.com/gpu.shared", Kind.ACCELERATOR),
        ("nvidia.com/mig-1g.10gb.shared", Kind.ACCELERATOR),
        ("gpu.intel.com/xe", Kind.ACCELERATOR),
        ("habana.ai/gaudi", Kind.ACCELERATOR),
        ("aws.amazon.com/neurondevice", Kind.ACCELERATOR),
        ("gpu.intel.com/xe_monitoring", Kind.OTHER),
        ("rdma/gpu_nic", Kind.OTHER),
        ("vpc.amazonaws.com/efa", Kind.OTHER),
        ("hugepages-2Mi", Kind.OTHER),
        ("example.com/output-slots", Kind.OTHER),
        ("gpu.intel.com/millicores", Kind.AMOUNT),
        ("nvidia.com/gpumem-percentage", Kind.AMOUNT),
        ("koordinator.sh/gpu-memory-ratio", Kind.AMOUNT),
        ("metax-tech.com/gpu", Kind.UNKNOWN),
        ("example.com/TPU", Kind.UNKNOWN),
        ("huawei.com/Ascend910", Kind.UNKNOWN),
        ("cambricon.com/mlu", Kind.UNKNOWN),
        ("example.com/accelerator", Kind.UNKNOWN),
    ],
)
def test_kind_of_a_resource_name(resource: str, expected: Kind) -> None:
    assert kind(resource) is expected


@pytest.mark.parametrize(
    ("taint", "value", "expected"),
    [("nvidia.com/gpu", "present", True), ("sku", "gpu", True), ("sku", "spot", False), ("team", None, False)],
)
def test_taints_that_only_keep_other_pods_away(taint: str, value: str | None, *, expected: bool) -> None:
    assert dedicates(taint, value) is expected


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("gpu.nvidia.com", True),
        ("gpu.intel.com", True),
        ("dra.net", False),
        ("compute-domain.nvidia.com", False),
        ("gpu.intel.com/i915", False),
    ],
)
def test_drivers_of_accelerators_are_no_resources(driver: str, *, expected: bool) -> None:
    assert drives_accelerators(driver) is expected
