"""Nodes and NodeMetrics as JSON text."""

from __future__ import annotations

from dataclasses import dataclass, field

from bench.amounts import GIB, GPU, KIB, MIB, STORAGE, Amounts, quantities
from bench.dice import Dice
from bench.managed import Json, managed
from bench.pages import compact

_SHAPES = (("std-16", 16, 64, 110), ("std-16", 16, 64, 110), ("std-32", 32, 128, 110), ("cpu-64", 64, 128, 250), ("mem-48", 48, 384, 250))
"""Instance type, cores, GiB, most pods."""

_GPU_SHAPE = ("gpu-96", 96, 768, 110)
_GPU_COUNT = 8
_IMAGES = 50
"""Images that a kubelet reports by default (nodeStatusMaxImages)."""

_CONDITIONS = (
    ("MemoryPressure", "KubeletHasSufficientMemory"),
    ("DiskPressure", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "KubeletHasSufficientPID"),
)


@dataclass
class Node:
    """One machine while pods are put on it. `usage` is nanocores and KiB."""

    number: int
    name: str
    instance_type: str
    capacity: Amounts
    allocatable: Amounts
    ready: bool = True
    schedulable: bool = True
    free: Amounts = field(default_factory=dict)
    usage: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Begin empty."""
        self.free = dict(self.allocatable)

    @property
    def address(self) -> str:
        """Its own IP address."""
        return f"10.{self.number // 65536}.{self.number // 256 % 256}.{self.number % 256}"

    def fits(self, requests: Amounts) -> bool:
        """Tell whether one more pod has room."""
        return self.free["pods"] > 0 and all(self.free.get(name, 0) >= amount for name, amount in requests.items())

    def hold(self, requests: Amounts) -> None:
        """Take the room of one pod, whether or not there is any: a DaemonSet's pod does not ask."""
        self.free["pods"] -= 1
        for name, amount in requests.items():
            self.free[name] = self.free.get(name, 0) - amount

    def use(self, nanocores: int, kibibytes: int) -> None:
        """Add what a pod uses."""
        self.usage = (self.usage[0] + nanocores, self.usage[1] + kibibytes)


def draw_node(dice: Dice, number: int, *, gpu: bool) -> Node:
    """Draw a machine; every 100th is cordoned or not ready, so that sums must leave nothing out."""
    instance_type, cores, gibibytes, pods = _GPU_SHAPE if gpu else dice.pick(_SHAPES)
    memory = gibibytes * GIB - (180_000 + dice.below(4000)) * KIB
    capacity = {"cpu": cores * 1000, STORAGE: 200 * GIB, "memory": memory, "pods": pods}
    reserved = {"cpu": 80 + 5 * cores // 2, "memory": (355 + 11 * pods) * MIB, STORAGE: 20 * GIB}
    allocatable = {name: amount - reserved.get(name, 0) for name, amount in capacity.items()}
    gpus = {GPU: _GPU_COUNT} if gpu else {}
    node = Node(number, f"{instance_type}-{number:05}", instance_type, capacity | gpus, allocatable | gpus)
    node.ready = gpu or not dice.chance(0.005)
    node.schedulable = gpu or not dice.chance(0.005)
    node.use(int((0.15 + 0.2 * dice.share()) * 10**9), int((1.5 + dice.share()) * GIB) // KIB)
    return node


def draw_images(dice: Dice) -> list[Json]:
    """Draw the images that the nodes share."""
    return [
        {
            "names": [f"registry.example/{dice.suffix(6)}@sha256:{dice.hex(64)}", f"registry.example/{dice.suffix(6)}:v1.{i}"],
            "sizeBytes": dice.below(10**9),
        }
        for i in range(400)
    ]


def node_text(node: Node, images: list[Json], time: str, dice: Dice) -> str:
    """Give the Node object."""
    zone = f"region-1{'abc'[node.number % 3]}"
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": node.instance_type,
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": zone,
        "karpenter.sh/nodepool": node.instance_type,
    }
    annotations = {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    spec = {
        "podCIDR": f"10.{64 + node.number // 256}.{node.number % 256}.0/24",
        "providerID": f"example:///{zone}/i-{dice.hex(17)}",
    } | _spec(node)
    status = _status(node, images, time, dice)
    metadata = {"name": node.name, "uid": dice.uid(), "resourceVersion": "800000001", "creationTimestamp": time, "labels": labels}
    entries = [
        managed("kubelet", time, {"metadata": {"annotations": annotations, "labels": labels}}),
        managed(
            "kubelet", time, {"status": {name: status[name] for name in ("allocatable", "capacity", "conditions")}}, subresource="status"
        ),
    ]
    return compact({"metadata": metadata | {"annotations": annotations, "managedFields": entries}, "spec": spec, "status": status})


def node_metrics_text(node: Node, time: str) -> str:
    """Give the NodeMetrics object."""
    usage = {"cpu": f"{node.usage[0]}n", "memory": f"{node.usage[1]}Ki"}
    metadata = {"name": node.name, "creationTimestamp": time, "labels": {"kubernetes.io/hostname": node.name}}
    return compact({"metadata": metadata, "timestamp": time, "window": "20.05s", "usage": usage})


def _spec(node: Node) -> Json:
    taints = [{"key": GPU, "value": "present", "effect": "NoSchedule"}] if GPU in node.capacity else []
    if not node.schedulable:
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    return ({"taints": taints} if taints else {}) | ({} if node.schedulable else {"unschedulable": True})


def _status(node: Node, images: list[Json], time: str, dice: Dice) -> Json:
    times = {"lastHeartbeatTime": time, "lastTransitionTime": time}
    fine, ready = ("False", ("True", "KubeletReady")) if node.ready else ("Unknown", ("Unknown", "NodeStatusUnknown"))
    conditions = [{"type": kind, "status": fine, **times, "reason": reason, "message": reason} for kind, reason in _CONDITIONS]
    conditions.append({"type": "Ready", "status": ready[0], **times, "reason": ready[1], "message": ready[1]})
    first = dice.below(len(images) - _IMAGES)
    info = {"machineID": dice.hex(32), "systemUUID": dice.uid(), "bootID": dice.uid(), "kernelVersion": "6.12.0-1-cloud-amd64"}
    info |= {"osImage": "Debian GNU/Linux 13 (trixie)", "containerRuntimeVersion": "containerd://2.1.4", "kubeletVersion": "v1.36.2"}
    return {
        "capacity": quantities(node.capacity) | {"hugepages-1Gi": "0", "hugepages-2Mi": "0"},
        "allocatable": quantities(node.allocatable) | {"hugepages-1Gi": "0", "hugepages-2Mi": "0"},
        "conditions": conditions,
        "addresses": [{"type": "InternalIP", "address": node.address}, {"type": "Hostname", "address": node.name}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": info | {"kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"},
        "images": images[first : first + _IMAGES],
    }
