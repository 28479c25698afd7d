"""PodMetrics and NodeMetrics: what was really used, and when it was measured."""

from __future__ import annotations

import functools
from collections.abc import Collection

import msgspec
import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import NodeMetrics, PodMetrics, Usage
from batch.collect.quantity import read_measured, read_usage
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant, read_seconds
from batch.snapshot.schemas import CONTAINER_USAGE, NODE_USAGE

_UNKNOWN = Usage()


class PodUsageCollector:
    """Turns PodMetrics into table container_usage."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._items = Items(PodMetrics, "PodMetrics", rejects, namespaces)
        self._rejects = rejects
        self._table = CONTAINER_USAGE.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many pods it held."""
        for name, item in self._items.of(page):
            self._take_pod(name, item)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as a table."""
        return {"container_usage": self._table.frame()}

    def join(self, other: PodUsageCollector) -> None:
        """Add another reading; a measurement of the same window read twice counts once."""
        self._table.join(other._table)

    def _take_pod(self, name: str, item: PodMetrics) -> None:
        namespace = item.metadata.namespace or "default"
        measured_at = _read_instant(item.timestamp)
        if measured_at is None:
            self._rejects.add(f"podmetrics {namespace}/{name}", "timestamp", item.timestamp, "not a time")
            return
        window_seconds = read_seconds(item.window)
        for container in item.containers or ():
            usage = container.usage or _UNKNOWN
            cpu, memory = read_measured(usage.cpu, usage.memory) or self._read_each(usage, f"{namespace}/{name}/{container.name}")
            self._table.add((namespace, name, container.name, measured_at, window_seconds, cpu, memory))

    def _read_each(self, usage: Usage, name: str) -> tuple[int | None, int | None]:
        stated = {resource: value for resource, value in (("cpu", usage.cpu), ("memory", usage.memory)) if value is not msgspec.UNSET}
        used = self._rejects.amounts(stated, f"podmetrics {name}", "usage", read_usage)
        return used.get("cpu"), used.get("memory")


_read_instant = functools.lru_cache(maxsize=4096)(read_instant)
"""Pods are measured within a minute or so, and times are whole seconds: many share one."""


class NodeUsageCollector:
    """Turns NodeMetrics into table node_usage."""

    def __init__(self, rejects: Rejects) -> None:
        self._items = Items(NodeMetrics, "NodeMetrics", rejects)
        self._rejects = rejects
        self._table = NODE_USAGE.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many nodes it held."""
        for name, item in self._items.of(page):
            self._take_node(name, item)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as a table."""
        return {"node_usage": self._table.frame()}

    def _take_node(self, name: str, item: NodeMetrics) -> None:
        thing = f"nodemetrics {name}"
        measured_at = read_instant(item.timestamp)
        if measured_at is None:
            self._rejects.add(thing, "timestamp", item.timestamp, "not a time")
            return
        used = self._rejects.amounts(item.usage, thing, "usage", read_usage)
        self._table.add((name, measured_at, read_seconds(item.window), used.get("cpu"), used.get("memory")))
