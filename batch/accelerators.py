"""Which resource names are accelerators, and which labels and taints say that a node has some.

Names and labels as their device plugins and clouds document them (December 2025): NVIDIA device plugin and GPU feature
discovery, AMD device plugin and node labeller, Intel device plugins, AWS Neuron, Karpenter, EKS, GKE, AKS, Alibaba ACK.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable


class Kind(enum.Enum):
    """What a resource name stands for."""

    ACCELERATOR = "counts devices, or parts of devices, that pods request"
    AMOUNT = "an amount of a device that is counted under another name: its memory, its cores"
    UNKNOWN = "looks like an accelerator of a vendor that is not known here"
    OTHER = "no accelerator"


LEGACY = "alpha.kubernetes.io/nvidia-gpu"
"""NVIDIA's name before Kubernetes 1.11; no device plugin of today advertises it."""

THOUSANDTHS = "aliyun.com/gpu-milli"
"""Thousandths of a card, advertised by Alibaba's GPU sharing."""

NEURON = ("aws.amazon.com/neuroncore", "aws.amazon.com/neuron", "aws.amazon.com/neurondevice")
"""The names of one and the same AWS silicon, finest unit first: cores, devices, and the old name of devices."""

_VENDORS = {
    "nvidia": re.compile(r"nvidia\.com/(gpu|gpu\.shared|mig-.+)|alpha\.kubernetes\.io/nvidia-gpu|aliyun\.com/gpu-milli"),
    "amd": re.compile(r"amd\.com/(gpu|[a-z]px_nps[0-9])"),
    "intel": re.compile(r"gpu\.intel\.com/(i915|xe)|habana\.ai/gaudi"),
    "google": re.compile(r"google\.com/tpu"),
    "aws": re.compile("|".join(map(re.escape, NEURON))),
}
_DRIVERS = re.compile(r"([^/]+[.-])?(gpu|gaudi|neuron|tpu|npu|accelerator)[.-][^/]+")
"""Names of drivers of dynamic resource allocation: gpu.nvidia.com, gpu.amd.com, gpu.intel.com, gaudi.intel.com, neuron.aws.com, tpu.google.com.

A driver is a DNS name; what has a slash, as gpu.intel.com/i915, is a resource.
"""

CLASS_RESOURCE = "deviceclass.resource.kubernetes.io/"
"""Prefix of the resources by which pods ask for a DeviceClass by its name (KEP-5004)."""

_PARTS = re.compile(r"nvidia\.com/(gpu\.shared|mig-.+)|aliyun\.com/gpu-milli|amd\.com/[a-z]px_nps[0-9]|" + re.escape(NEURON[0]))
"""Names that count shares, slices, thousandths or cores: many of them may be one device."""

_DEVICES = re.compile(r".+/[a-z]?gpu[-_.]?count")
"""Names of amounts that are numbers of devices all the same."""

_NO_DEVICE = re.compile(r".+_monitoring|rdma/.+")
_AMOUNT = re.compile(r"gpu\.intel\.com/.+|.+/[a-z]?gpu[-_.]?(mem|memory|core|cores|count|percent)([-_.].+)?")
_LOOKS_LIKE = re.compile(r"gpu|accelerator|ascend|(?<![a-z])(npu|tpu|xpu|gcu|dcu|mlu|qaic)")
"""npu and the like only at the start of a word: "input" and "output" hold them too.

Names of device plugins that say neither: huawei.com/Ascend910, cambricon.com/mlu, hygon.com/dcu, enflame.com/gcu, kunlunxin.com/xpu, qualcomm.com/qaic.
"""

_CLOUD_PRODUCTS = (
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name",
    "k8s.amazonaws.com/accelerator",
    "karpenter.azure.com/sku-gpu-name",
)
PRODUCT_LABELS = {
    "nvidia": ("nvidia.com/gpu.product", "aliyun.accelerator/nvidia_name", *_CLOUD_PRODUCTS),
    "amd": ("amd.com/gpu.product-name", "beta.amd.com/gpu.product-name", *_CLOUD_PRODUCTS),
    "intel": ("gpu.intel.com/product",),
    "google": ("cloud.google.com/gke-tpu-accelerator",),
    "aws": ("karpenter.k8s.aws/instance-accelerator-name", "k8s.amazonaws.com/accelerator"),
}
"""Labels whose value is the product, by vendor, in the order in which they are tried: what looked at the card before the clouds."""

PRESENCE_LABELS = frozenset(
    {
        *(label for labels in PRODUCT_LABELS.values() for label in labels),
        "nvidia.com/gpu.present",
        "nvidia.com/gpu.count",
        "kubernetes.azure.com/accelerator",
        "accelerator",
    }
)
"""Labels that say a node has accelerators. The last two hold a vendor or what an administrator typed, hence no product."""

ABSENT = frozenset({"", "0", "false", "no", "none"})
"""Values with which such a label says the opposite."""

_DEDICATING_TAINTS = frozenset({("sku", "gpu")})
"""Key and value of further taints that keep other pods off GPU nodes: the one in AKS' guide to GPU node pools."""


def kind(resource: str) -> Kind:
    """Tell what a resource name stands for."""
    if vendor(resource):
        return Kind.ACCELERATOR
    if resource.startswith(CLASS_RESOURCE):
        return Kind.OTHER  # its DeviceClass tells
    if _NO_DEVICE.fullmatch(resource):
        return Kind.OTHER
    if _AMOUNT.fullmatch(resource):
        return Kind.AMOUNT
    return Kind.UNKNOWN if _LOOKS_LIKE.search(resource.lower()) else Kind.OTHER


def vendor(resource: str) -> str | None:
    """Vendor of an accelerator, the key of PRODUCT_LABELS; None for any other resource."""
    return next((name for name, pattern in _VENDORS.items() if pattern.fullmatch(resource)), None)


def drives_accelerators(driver: str | None) -> bool:
    """Whether a driver of dynamic resource allocation gives out accelerators, and not network cards, CPUs or what goes with accelerators."""
    return bool(driver and _DRIVERS.fullmatch(driver))


def counts_parts(resource: str) -> bool:
    """Whether an accelerator resource counts slots, slices or thousandths of devices instead of devices."""
    return _PARTS.fullmatch(resource) is not None or resource == NEURON[0]


def of_kind(resources: Iterable[str], *kinds: Kind) -> list[str]:
    """Give the distinct names of those kinds, sorted."""
    return sorted(name for name in set(resources) if kind(name) in kinds)


def is_accelerator(resource: str) -> bool:
    """Whether a node that advertises it has accelerators, and a pod that requests it needs such a node."""
    return kind(resource) is not Kind.OTHER


def device_count(resource: str, count: int) -> int:
    """Give how many devices a node has at least that advertises so many: parts and amounts prove one, whatever their number."""
    if resource == THOUSANDTHS:
        return -(-count // 1000)
    counted = kind(resource) in (Kind.ACCELERATOR, Kind.UNKNOWN) and not _PARTS.fullmatch(resource)
    return count if counted or _DEVICES.fullmatch(resource) else min(count, 1)


def dedicates(taint: str, value: str | None) -> bool:
    """Whether a taint is there to keep pods without accelerators away; pods with one tolerate it.

    The key is then a resource name (GKE: nvidia.com/gpu=present; Kubernetes' ExtendedResourceToleration adds the toleration).
    """
    return vendor(taint) is not None or (taint, value) in _DEDICATING_TAINTS
