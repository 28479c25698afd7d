"""The nodes: machines of Google's, and what GKE leaves of them for pods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sample.identity import TAKEN_AT, ago, digest, share, stamp, suffix
from sample.images import image_names, image_size
from sample.objects import Json, api_object

GPU = "nvidia.com/gpu"
VERSION = "v1.36.2-gke.1412000"
_REGION = "europe-west4"
_MAX_IMAGES = 50
"""Images in a node's status: kubelet's nodeStatusMaxImages."""

_CPU_STEPS = ((1, 60), (1, 10), (2, 5), (10**6, 2.5))
"""Millicores reserved of each core, by cores: 6 %, 1 %, 0.5 %, 0.5 %, then 0.25 %."""

_MEMORY_STEPS = ((4, 25), (4, 20), (8, 10), (112, 6), (10**6, 2))
"""Hundredths of a GiB reserved of each GiB, by GiB. Both from cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes."""

_EVICTION = 10
"""Hundredths of a GiB below which the kubelet evicts: 100 MiB, rounded as that page does."""


@dataclass(frozen=True)
class Machine:
    """A machine type, with Google's figures.

    `parts` are those of MIG by resource, `replicas` the pods that share a card by time-slicing; `claimed`: a DRA driver gives out its cards.
    """

    name: str
    cores: int
    memory_gib: int
    gpu_count: int = 0
    accelerator: str = ""
    product: str = ""
    gpu_memory_mib: int = 0
    parts: tuple[tuple[str, int], ...] = ()
    replicas: int = 1
    claimed: bool = False

    @property
    def offers(self) -> dict[str, int]:
        """What the device plugin advertises: cards, parts of MIG's mixed strategy beside no whole card, or shares; nothing where claims give them."""
        if not self.gpu_count or self.claimed:
            return {}
        return {GPU: 0 if self.parts else self.gpu_count * self.replicas, **dict(self.parts)}

    def reserved(self, steps: tuple[tuple[int, float], ...], size: int) -> float:
        """Give what GKE reserves of `size` cores or GiB."""
        total = 0.0
        for width, amount in steps:
            total += min(width, size) * amount
            size -= min(width, size)
        return total

    @property
    def allocatable_millicores(self) -> int:
        """CPU that pods may use."""
        return self.cores * 1000 - round(self.reserved(_CPU_STEPS, self.cores))

    @property
    def allocatable_mib(self) -> int:
        """Memory that pods may use."""
        return (self.memory_gib * 100 - round(self.reserved(_MEMORY_STEPS, self.memory_gib)) - _EVICTION) * 1024 // 100


N2 = Machine("n2-standard-8", 8, 32)
N1 = Machine("n1-highmem-8", 8, 52)
L4 = Machine("g2-standard-24", 24, 96, 2, "nvidia-l4", "NVIDIA-L4", 23_034)
A100 = Machine("a2-highgpu-2g", 24, 170, 2, "nvidia-tesla-a100", "NVIDIA-A100-SXM4-40GB", 40_960)

A100_MIG = Machine(
    "a2-ultragpu-1g",
    12,
    170,
    1,
    "nvidia-a100-80gb",
    "NVIDIA-A100-SXM4-80GB",
    81_920,
    parts=(("nvidia.com/mig-1g.10gb", 2), ("nvidia.com/mig-2g.20gb", 1), ("nvidia.com/mig-3g.40gb", 1)),
)
T4_SHARED = Machine("n1-standard-8", 8, 30, 1, "nvidia-tesla-t4", "Tesla-T4-SHARED", 15_360, replicas=4)
H100_DRA = Machine("a3-highgpu-2g", 52, 468, 2, "nvidia-h100-80gb", "NVIDIA-H100-80GB-HBM3", 81_559, claimed=True)

POOLS = (
    ("general", N2, 6, "abcabc"),
    ("users", N1, 5, "abcab"),
    ("gpu-l4", L4, 3, "aba"),
    ("gpu-a100", A100, 2, "ab"),
    ("gpu-mig", A100_MIG, 1, "b"),
    ("gpu-shared", T4_SHARED, 1, "a"),
    ("gpu-dra", H100_DRA, 1, "c"),
)
"""Pool, machine, nodes, and the zone of each."""


@dataclass
class Node:
    """A node while pods are put on it: `pods` are the effective requests of each, `usage` nanocores and KiB of all."""

    pool: str
    machine: Machine
    number: int
    zone: str
    created: datetime
    cordoned: datetime | None = None
    apps: list[str] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=dict)
    usage: list[int] = field(default_factory=lambda: [0, 0])
    images: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Name as GKE builds it."""
        return f"gke-sample-{self.pool}-{digest('template', self.pool)[:8]}-{suffix(4, 'node', self.number)}"

    @property
    def address(self) -> str:
        """Address in the network of the machines."""
        return f"10.164.0.{10 + self.number}"

    def pod_address(self, index: int) -> str:
        """Address of the pod that was the node's index-th."""
        return f"10.60.{self.number}.{2 + index}"

    @property
    def allocatable(self) -> dict[str, int]:
        """What pods may use: millicores, bytes, counts."""
        own = {"cpu": self.machine.allocatable_millicores, "memory": self.machine.allocatable_mib * 2**20, "pods": 110}
        return {**own, **self.machine.offers}

    def fits(self, requests: dict[str, int]) -> bool:
        """Whether a pod with these effective requests finds room."""
        return not self.lacks(requests)

    def lacks(self, requests: dict[str, int]) -> list[str]:
        """Name the resources that are short for such a pod."""
        wanted = {**requests, "pods": 1}
        return [r for r, n in wanted.items() if n > self.allocatable.get(r, 0) - self.requests.get(r, 0)]

    def hold(self, app: str, requests: dict[str, int]) -> None:
        """Bind a pod to the node."""
        if short := self.lacks(requests):
            raise ValueError(f"{app} does not fit on {self.name}: {short}")
        self.apps.append(app)
        for resource, amount in {**requests, "pods": 1}.items():
            self.requests[resource] = self.requests.get(resource, 0) + amount


def build_nodes() -> list[Node]:
    """Give the empty nodes, pool by pool."""
    nodes: list[Node] = []
    for pool, machine, count, zones in POOLS:
        for index in range(count):
            created = ago(days=75 + int(20 * share("age", pool)), minutes=97 + 7 * index)
            nodes.append(Node(pool, machine, len(nodes), f"{_REGION}-{zones[index]}", created))
    return nodes


def node_object(node: Node) -> Json:
    """Build the Node with everything that kubelet, node-problem-detector and GKE write."""
    labels, annotations = node_labels(node), _annotations(node)
    return api_object("Node", node.name, node.created, labels=labels, annotations=annotations, spec=_spec(node), status=_status(node))


def node_labels(node: Node) -> dict[str, str]:
    """Give the labels of the node, which its NodeMetrics repeats."""
    machine = node.machine
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": machine.name,
        "beta.kubernetes.io/os": "linux",
        "cloud.google.com/gke-boot-disk": "pd-balanced",
        "cloud.google.com/gke-container-runtime": "containerd",
        "cloud.google.com/gke-cpu-scaling-level": str(machine.cores),
        "cloud.google.com/gke-logging-variant": "DEFAULT",
        "cloud.google.com/gke-max-pods-per-node": "110",
        "cloud.google.com/gke-memory-gb-scaling-level": str(machine.memory_gib),
        "cloud.google.com/gke-nodepool": node.pool,
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/gke-provisioning": "standard",
        "cloud.google.com/gke-stack-type": "IPV4",
        "cloud.google.com/machine-family": machine.name.split("-")[0],
        "failure-domain.beta.kubernetes.io/region": _REGION,
        "failure-domain.beta.kubernetes.io/zone": node.zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.gke.io/zone": node.zone,
        "topology.kubernetes.io/region": _REGION,
        "topology.kubernetes.io/zone": node.zone,
    }
    if node.pool == "users":
        labels["hub.jupyter.org/node-purpose"] = "user"
    return {**labels, **(_gpu_labels(machine) if machine.gpu_count else {})}


def _gpu_labels(machine: Machine) -> dict[str, str]:
    """Labels of GKE and of NVIDIA's GPU feature discovery."""
    return {
        "cloud.google.com/gke-accelerator": machine.accelerator,
        "cloud.google.com/gke-accelerator-count": str(machine.gpu_count),
        "cloud.google.com/gke-gpu": "true",
        "cloud.google.com/gke-gpu-driver-version": "latest",
        "nvidia.com/gpu.count": str(machine.gpu_count),
        "nvidia.com/gpu.memory": str(machine.gpu_memory_mib),
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": machine.product,
        "nvidia.com/gpu.replicas": str(machine.replicas),
        "nvidia.com/gpu.sharing-strategy": "time-slicing" if machine.replicas > 1 else "none",
        "nvidia.com/mig.strategy": "mixed" if machine.parts else "none",
    }


def _annotations(node: Node) -> dict[str, str]:
    number = str(10**18 + int(digest("instance", node.number)[:14], 16))
    path = f"projects/sample-project/zones/{node.zone}/instances/{node.name}"
    return {
        "container.googleapis.com/instance_id": number,
        "csi.volume.kubernetes.io/nodeid": f'{{"pd.csi.storage.gke.io":"{path}"}}',
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
    }


def _spec(node: Node) -> Json:
    cidr = f"10.60.{node.number}.0/24"
    taints: list[Json] = []
    if node.machine.gpu_count:
        taints.append({"effect": "NoSchedule", "key": GPU, "value": "present"})
    if node.pool == "users":
        taints.append({"effect": "PreferNoSchedule", "key": "hub.jupyter.org/dedicated", "value": "user"})
    spec: Json = {"podCIDR": cidr, "podCIDRs": [cidr], "providerID": f"gce://sample-project/{node.zone}/{node.name}"}
    if node.cordoned:
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": stamp(node.cordoned)})
        spec["unschedulable"] = True
    return {**spec, "taints": taints} if taints else spec


def _status(node: Node) -> Json:
    machine = node.machine
    gpus = {resource: str(count) for resource, count in machine.offers.items()}
    both = {"attachable-volumes-gce-pd": "127", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "pods": "110", **gpus}
    features = {"recursiveReadOnlyMounts": True, "userNamespaces": True}
    return {
        "addresses": [{"address": node.address, "type": "InternalIP"}, {"address": node.name, "type": "Hostname"}],
        "allocatable": {
            **both,
            "cpu": f"{machine.allocatable_millicores}m",
            "ephemeral-storage": "47060071478",
            "memory": f"{machine.allocatable_mib * 1024}Ki",
        },
        "capacity": {**both, "cpu": str(machine.cores), "ephemeral-storage": "98831908Ki", "memory": f"{machine.memory_gib * 2**20}Ki"},
        "conditions": _conditions(node),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "features": {"supplementalGroupsPolicy": True},
        "images": _images(node.images),
        "nodeInfo": _node_info(node),
        "runtimeHandlers": [{"features": features, "name": name} for name in ("", "runc")],
    }


_CONDITIONS = (
    ("KernelDeadlock", "False", "KernelHasNoDeadlock", "kernel has no deadlock"),
    ("ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "Filesystem is not read-only"),
    ("CorruptDockerOverlay2", "False", "NoCorruptDockerOverlay2", "docker overlay2 is functioning properly"),
    ("FrequentUnregisterNetDevice", "False", "NoFrequentUnregisterNetDevice", "node is functioning properly"),
    ("FrequentKubeletRestart", "False", "NoFrequentKubeletRestart", "kubelet is functioning properly"),
    ("FrequentDockerRestart", "False", "NoFrequentDockerRestart", "docker is functioning properly"),
    ("FrequentContainerdRestart", "False", "NoFrequentContainerdRestart", "containerd is functioning properly"),
    ("NetworkUnavailable", "False", "RouteCreated", "NodeController create implicit route"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
"""What node-problem-detector, the cloud controller and the kubelet say of a healthy GKE node."""


def _conditions(node: Node) -> list[Json]:
    heartbeat = stamp(TAKEN_AT - timedelta(seconds=10 + int(290 * share("heartbeat", node.number))))
    since = stamp(node.created + timedelta(seconds=31))
    return [
        {"lastHeartbeatTime": heartbeat, "lastTransitionTime": since, "message": message, "reason": reason, "status": status, "type": kind}
        for kind, status, reason, message in _CONDITIONS
    ]


def _images(images: Iterable[str]) -> list[Json]:
    largest = sorted(images, key=lambda image: (-image_size(image), image))[:_MAX_IMAGES]
    return [{"names": image_names(image), "sizeBytes": image_size(image)} for image in largest]


def _node_info(node: Node) -> Json:
    machine_id = digest("machine", node.number)[:32]
    return {
        "architecture": "amd64",
        "bootID": str(UUID(digest("boot", node.number)[:32])),
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.12.46+",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": machine_id,
        "operatingSystem": "linux",
        "osImage": "Container-Optimized OS from Google",
        "systemUUID": str(UUID(machine_id)),
    }
