"""Nodes: capacity, allocatable, labels, taints, conditions, images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from batch.collect.objects import Decoder, Node, NodeInfo, NodeSpec, NodeStatus
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant
from batch.snapshot.schemas import NODE_CONDITIONS, NODE_IMAGES, NODE_LABELS, NODE_RESOURCES, NODE_TAINTS, NODES

_INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_OWN_COLUMN = ("cpu", "memory", "pods")
_NO_NAME = "<none>"


class NodeCollector:
    """Turns pages of the node list into tables."""

    def __init__(self, rejects: Rejects) -> None:
        self._decoder = Decoder(Node)
        self._rejects = rejects
        self._nodes: dict[str, Node] = {}

    def take(self, page: bytes) -> int:
        """Read one page; return how many nodes it held."""
        count = 0
        for item in self._decoder.items(page):
            count += 1
            if isinstance(item, tuple):
                self._rejects.add(f"node {item[0]}", "object", "", item[1])
            elif not item.metadata.name:
                self._rejects.add("node without a name", "metadata.name", "", "missing")
            else:
                self._nodes[item.metadata.name] = item
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables, one row a node whatever it lacks."""
        nodes = sorted(self._nodes.items())
        amounts = {name: self._amounts(name, node) for name, node in nodes}
        return {
            "nodes": NODES.frame(_node_row(name, node, *amounts[name]) for name, node in nodes),
            "node_labels": NODE_LABELS.frame((n, k, v) for n, node in nodes for k, v in sorted((node.metadata.labels or {}).items())),
            "node_taints": NODE_TAINTS.frame(row for n, node in nodes for row in _taint_rows(n, node)),
            "node_conditions": NODE_CONDITIONS.frame(row for n, node in nodes for row in _condition_rows(n, node)),
            "node_resources": NODE_RESOURCES.frame(row for n, _ in nodes for row in _resource_rows(n, *amounts[n])),
            "node_images": NODE_IMAGES.frame(row for n, node in nodes for row in _image_rows(n, node)),
        }

    def _amounts(self, name: str, node: Node) -> tuple[Mapping[str, int | None], Mapping[str, int | None]]:
        """Capacity and allocatable; a node that states no allocatable has its capacity, as the API server defaults it."""
        status = node.status or NodeStatus()
        capacity = self._rejects.amounts(status.capacity, f"node {name}", "status.capacity")
        allocatable = self._rejects.amounts(status.allocatable, f"node {name}", "status.allocatable")
        return capacity, allocatable or capacity


def _node_row(name: str, node: Node, capacity: Mapping[str, int | None], allocatable: Mapping[str, int | None]) -> tuple[object, ...]:
    spec, status = node.spec or NodeSpec(), node.status or NodeStatus()
    info = status.node_info or NodeInfo()
    labels = node.metadata.labels or {}
    return (
        name,
        node.metadata.uid,
        read_instant(node.metadata.creation_timestamp),
        _first(labels, _INSTANCE_TYPE),
        _first(labels, _ZONE),
        (spec.provider_id or "").partition("://")[0] or None,
        info.architecture,
        info.kubelet_version,
        info.os_image,
        info.kernel_version,
        info.container_runtime_version,
        next((c.status == "True" for c in status.conditions or [] if c.type == "Ready" and c.status), None),
        not spec.unschedulable,
        _is_virtual(labels),
        capacity.get("cpu"),
        capacity.get("memory"),
        allocatable.get("cpu"),
        allocatable.get("memory"),
        allocatable.get("pods"),
    )


def _is_virtual(labels: Mapping[str, str]) -> bool:
    """Tell nodes that stand for somebody else's machine: virtual-kubelet's label, and that of AWS Fargate."""
    return labels.get("type") == "virtual-kubelet" or labels.get("eks.amazonaws.com/compute-type") == "fargate"


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((labels[key] for key in keys if labels.get(key)), None)


def _taint_rows(name: str, node: Node) -> Iterator[tuple[object, ...]]:
    taints = {(t.key, t.effect): t.value for t in (node.spec and node.spec.taints) or []}
    yield from ((name, key, effect, value) for (key, effect), value in sorted(taints.items()))


def _condition_rows(name: str, node: Node) -> Iterator[tuple[object, ...]]:
    conditions = {c.type: (c.status, c.reason) for c in (node.status and node.status.conditions) or []}
    yield from ((name, kind, status, reason) for kind, (status, reason) in sorted(conditions.items()))


def _resource_rows(name: str, capacity: Mapping[str, int | None], allocatable: Mapping[str, int | None]) -> Iterator[tuple[object, ...]]:
    for resource in sorted({*capacity, *allocatable} - {*_OWN_COLUMN}):
        yield name, resource, capacity.get(resource), allocatable.get(resource)


def _image_rows(name: str, node: Node) -> Iterator[tuple[object, ...]]:
    """One row for each image; of its names the one with a tag rather than a digest, which a person can read."""
    sizes: dict[str, int] = {}
    for image in (node.status and node.status.images) or []:
        readable = min(image.names or [_NO_NAME], key=lambda text: ("@" in text, text))
        sizes[readable] = sizes.get(readable, 0) + (image.size_bytes or 0) if readable == _NO_NAME else image.size_bytes or 0
    yield from ((name, image, size) for image, size in sorted(sizes.items()))
