"""Dynamic resource allocation: the devices of a node, the class that claims name, and a claim that has one."""

from __future__ import annotations

from datetime import timedelta

from sample.builder import Builder
from sample.identity import ago, suffix, uid
from sample.machines import Node
from sample.objects import Json, api_object, owner_reference

DRIVER = "gpu.nvidia.com"
_ADMITTED = "resource.kubernetes.io/pod-claim-name"


def add_devices(builder: Builder, node: Node) -> None:
    """Add the driver's DeviceClass, and one ResourceSlice with every card of the node."""
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"
    spec: Json = {"selectors": [{"cel": {"expression": expression}}]}
    builder.add("deviceclasses", api_object("DeviceClass", DRIVER, ago(days=21), generation=1, spec=spec, status=None))
    spec = {
        "devices": [_device(node, number) for number in range(node.machine.gpu_count)],
        "driver": DRIVER,
        "nodeName": node.name,
        "pool": {"generation": 1, "name": node.name, "resourceSliceCount": 1},
    }
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": uid("Node", None, node.name), "controller": True}
    name = f"{node.name}-{DRIVER}-{suffix(5, 'slice', node.name)}"
    builder.add("resourceslices", api_object("ResourceSlice", name, ago(days=21), owner=owner, generation=1, spec=spec, status=None))


def claim_device(builder: Builder, pod: Json, node: Node, device: str) -> None:
    """Add the claim that was made for a pod from its template, and what the pod's status says of it."""
    metadata = pod["metadata"]
    name = f"{metadata['name']}-gpu-{suffix(5, 'claim', metadata['name'])}"
    result = {"device": device, "driver": DRIVER, "pool": node.name, "request": "gpu"}
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node.name]}]}]
    status: Json = {
        "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": terms}},
        "reservedFor": [{"name": metadata["name"], "resource": "pods", "uid": metadata["uid"]}],
    }
    request = {"exactly": {"allocationMode": "ExactCount", "count": 1, "deviceClassName": DRIVER}, "name": "gpu"}
    claim = api_object(
        "ResourceClaim",
        name,
        ago(days=20, hours=3) + timedelta(seconds=1),
        namespace=metadata["namespace"],
        annotations={_ADMITTED: "gpu"},
        owner=owner_reference(pod),
        generation=1,
        spec={"devices": {"requests": [request]}},
        status=status,
    )
    builder.add("resourceclaims", claim)
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": name}]


def _device(node: Node, number: int) -> Json:
    """Give a card as NVIDIA's driver publishes it."""
    texts = {"type": "gpu", "productName": node.machine.product.replace("-", " "), "brand": "Nvidia", "architecture": "Hopper"}
    card = uid("card", node.name, number)
    return {
        "attributes": {**{name: {"string": text} for name, text in texts.items()}, "uuid": {"string": f"GPU-{card}"}},
        "capacity": {"memory": {"value": f"{node.machine.gpu_memory_mib}Mi"}},
        "name": f"gpu-{number}",
    }
