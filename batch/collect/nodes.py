"""Nodes: capacity, allocatable, labels, taints, conditions, images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
import pandas as pd

from batch.collect.items import Items
from batch.collect.node_cards import CardsError, read_cards
from batch.collect.node_images import NodeImages
from batch.collect.objects import Node, NodeInfo, NodeSpec, NodeStatus, decode_labels
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant
from batch.snapshot.schemas import NODE_CARDS, NODE_CONDITIONS, NODE_LABELS, NODE_RESOURCES, NODE_TAINTS, NODES

INSTANCE_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_ARCHITECTURE = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
_OWN_COLUMN = ("cpu", "memory", "pods")


class NodeCollector:
    """Turns pages of the node list into tables."""

    def __init__(self, rejects: Rejects) -> None:
        self._items = Items(Node, "Node", rejects)
        self._rejects = rejects
        self._tables = {
            schema.name: schema.builder() for schema in (NODES, NODE_LABELS, NODE_TAINTS, NODE_CONDITIONS, NODE_RESOURCES, NODE_CARDS)
        }
        self._images = NodeImages(rejects)

    def take(self, page: bytes) -> int:
        """Read one page; return how many nodes it held."""
        for name, node in self._items.of(page):
            self._take_node(name, node)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables, one row a node whatever it lacks."""
        return {**{name: table.frame() for name, table in self._tables.items()}, "node_images": self._images.frame()}

    def _take_node(self, name: str, node: Node) -> None:
        capacity, allocatable = self._amounts(name, node)
        try:
            labels = decode_labels(node.metadata.labels)
        except msgspec.ValidationError as error:
            self._rejects.add(f"node {name}", "metadata.labels", "", str(error))
            labels = {}
        rows: dict[str, Iterable[tuple[object, ...]]] = {
            "nodes": [_node_row(name, node, labels, capacity, allocatable)],
            "node_labels": [(name, label, value) for label, value in labels.items()],
            "node_taints": _taint_rows(name, node),
            "node_conditions": _condition_rows(name, node),
            "node_resources": _resource_rows(name, capacity, allocatable),
            "node_cards": self._card_rows(name, node),
        }
        for table, table_rows in rows.items():
            self._tables[table].extend(table_rows)
        self._images.add(name, (node.status and node.status.images) or ())

    def _card_rows(self, name: str, node: Node) -> list[tuple[object, ...]]:
        """Give one row for each card that HAMi lists; a list that cannot be read is noted."""
        text = node.metadata.annotations.gpu_register if node.metadata.annotations else None
        if text is None:
            return []
        try:
            return [(name, *card) for card in read_cards(text)]
        except CardsError as error:
            self._rejects.add(f"node {name}", "metadata.annotations.hami.io/node-nvidia-register", text, str(error))
            return []

    def _amounts(self, name: str, node: Node) -> tuple[Mapping[str, int | None], Mapping[str, int | None]]:
        """Capacity and allocatable; a node that states no allocatable has its capacity, as the API server defaults it."""
        status = node.status or NodeStatus()
        capacity = self._rejects.amounts(status.capacity, f"node {name}", "status.capacity")
        allocatable = self._rejects.amounts(status.allocatable, f"node {name}", "status.allocatable")
        return capacity, allocatable or capacity


def _node_row(
    name: str,
    node: Node,
    labels: Mapping[str, str],
    capacity: Mapping[str, int | None],
    allocatable: Mapping[str, int | None],
) -> tuple[object, ...]:
    spec, status = node.spec or NodeSpec(), node.status or NodeStatus()
    info = status.node_info or NodeInfo()
    return (
        name,
        node.metadata.uid,
        read_instant(node.metadata.creation_timestamp),
        _first(labels, INSTANCE_TYPE_LABELS),
        _first(labels, _ZONE),
        (spec.provider_id or "").partition("://")[0] or None,
        info.architecture or _first(labels, _ARCHITECTURE),
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
        ",".join(spec.pod_cidrs or filter(None, [spec.pod_cidr])) or None,
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
