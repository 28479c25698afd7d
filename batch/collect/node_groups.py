"""How far node autoscalers may go: the status of the cluster autoscaler, and Karpenter's NodePools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import yaml

from batch.collect.items import Item
from batch.collect.kept import KeptItems
from batch.collect.objects import ConfigMap, NodePool, NodePoolSpec, NodePoolStatus
from batch.collect.rejects import Rejects
from batch.snapshot.schema import TableBuilder
from batch.snapshot.schemas import NODE_GROUPS

_Group = tuple[str, int | None, int | None]

_MOST_NODES = 10**9
"""Sizes from here on are none that a group of nodes can have."""

_NAME = re.compile(r"^\s*Name:\s+(\S+)\s*$")
_SIZES = re.compile(r"cloudProviderTarget=([0-9]{1,9}) \(minSize=[0-9]+, maxSize=([0-9]{1,9})\)")
"""Lines of the status before cluster autoscaler 1.30, which was written for people; since then it is YAML."""


class NodeGroupCollector(KeptItems[Item]):
    """Keeps rows of table node_groups; those of several autoscalers are joined."""

    def __init__(self, rejects: Rejects) -> None:
        super().__init__(rejects)
        self._groups = NODE_GROUPS.builder()

    def rows(self) -> TableBuilder:
        """Give everything read so far."""
        return self._groups

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give nothing: its rows are joined with those of others."""
        return {}


class AutoscalerStatusCollector(NodeGroupCollector[ConfigMap]):
    """Reads the status ConfigMap of the cluster autoscaler."""

    item, kind = ConfigMap, "ConfigMap"

    def keep(self, key: tuple[str, str], item: ConfigMap) -> None:
        """Keep the size and the most of each node group; a status that cannot be read is noted."""
        status = (item.data or {}).get("status", "")
        groups = list(_groups(status))
        if not groups:
            self._rejects.add(f"configmap {key[0]}/{key[1]}", "data.status", status, "no node group with its sizes")
        for name, size, most in groups:
            self._groups.add(("cluster-autoscaler", name, "nodes", size, most))


class NodePoolCollector(NodeGroupCollector[NodePool]):
    """Turns pages of Karpenter's NodePool list into rows."""

    item, kind = NodePool, "NodePool"

    def keep(self, key: tuple[str, str], item: NodePool) -> None:
        """Keep every limit with what there is of it; a NodePool without limits has no row."""
        thing = f"nodepool {key[1]}"
        limits = self._rejects.amounts((item.spec or NodePoolSpec()).limits, thing, "spec.limits")
        has = self._rejects.amounts((item.status or NodePoolStatus()).resources, thing, "status.resources")
        for resource, limit in sorted(limits.items()):
            self._groups.add(("karpenter", key[1], resource, has.get(resource), limit))


COLLECTORS: dict[str, Callable[[Rejects], AutoscalerStatusCollector | NodePoolCollector]] = {
    "cluster-autoscaler": AutoscalerStatusCollector,
    "karpenter": NodePoolCollector,
}


def _groups(status: str) -> Iterator[_Group]:
    """Yield name, size and most of each node group."""
    try:
        read = yaml.safe_load(status)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError of a time or a number that Python does not take
        read = None
    if isinstance(read, dict) and isinstance(read.get("nodeGroups"), list):
        yield from map(_group, filter(_is_named, read["nodeGroups"]))
        return
    name = ""
    for line in status.splitlines():
        named, sizes = _NAME.match(line), _SIZES.search(line)
        name = named[1] if named else name
        if sizes and name:
            yield name, int(sizes[1]), int(sizes[2])
            name = ""


def _is_named(group: Any) -> bool:
    return isinstance(group, dict) and isinstance(group.get("name"), str)


def _group(group: dict[str, Any]) -> _Group:
    health = group.get("health")
    sizes = health if isinstance(health, dict) else {}
    size, most = (_size(sizes.get(name)) for name in ("cloudProviderTarget", "maxSize"))
    return group["name"], size, most


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_NODES else None
