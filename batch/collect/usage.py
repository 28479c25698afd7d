"""PodMetrics and NodeMetrics: what was really used, and when it was measured."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import pandas as pd

from batch.collect.objects import Decoder, NodeMetrics, PodMetrics, Quantities
from batch.collect.quantity import QuantityError, read_usage
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant, read_seconds
from batch.snapshot.schemas import CONTAINER_USAGE, NODE_USAGE


class PodUsageCollector:
    """Turns PodMetrics into table container_usage."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._decoder = Decoder(PodMetrics)
        self._rejects = rejects
        self._namespaces = frozenset(namespaces)
        self._table = CONTAINER_USAGE.builder()
        self._newest: datetime | None = None

    def take(self, page: bytes) -> int:
        """Read one page; return how many pods it held."""
        count = 0
        for item in self._decoder.items(page):
            count += 1
            if isinstance(item, tuple):
                self._rejects.add(f"podmetrics {item[0]}", "object", "", item[1])
            elif not self._namespaces or item.metadata.namespace in self._namespaces:
                self._take_pod(item)
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as a table."""
        return {"container_usage": self._table.frame()}

    def join(self, other: PodUsageCollector) -> None:
        """Add another reading; a measurement of the same window read twice counts once."""
        self._table.join(other._table)
        self._newest = max(filter(None, (self._newest, other._newest)), default=None)

    def newest(self) -> datetime | None:
        """Give the time of the newest measurement."""
        return self._newest

    def _take_pod(self, item: PodMetrics) -> None:
        namespace, name = item.metadata.namespace or "default", item.metadata.name or ""
        thing = f"podmetrics {namespace}/{name}"
        measured_at = read_instant(item.timestamp)
        if not name or measured_at is None:
            self._rejects.add(thing, "timestamp", item.timestamp, "not a time")
            return
        window_seconds = read_seconds(item.window)
        for container in item.containers or ():
            cpu, memory = _read_used(container.usage) or self._read_each(container.usage, f"{thing}/{container.name}")
            self._table.add((namespace, name, container.name, measured_at, window_seconds, cpu, memory))
        if item.containers and (self._newest is None or measured_at > self._newest):
            self._newest = measured_at

    def _read_each(self, usage: Quantities | None, thing: str) -> tuple[int | None, int | None]:
        used = self._rejects.amounts(usage, thing, "usage", read_usage)
        return used.get("cpu"), used.get("memory")


def _read_used(usage: Quantities | None) -> tuple[int, int] | None:
    """Read CPU and memory where both are there and fine, as they nearly always are."""
    try:
        return (read_usage("cpu", usage["cpu"]), read_usage("memory", usage["memory"])) if usage else None
    except (KeyError, TypeError, QuantityError):
        return None


class NodeUsageCollector:
    """Turns NodeMetrics into table node_usage."""

    def __init__(self, rejects: Rejects) -> None:
        self._decoder = Decoder(NodeMetrics)
        self._rejects = rejects
        self._table = NODE_USAGE.builder()
        self._newest: datetime | None = None

    def take(self, page: bytes) -> int:
        """Read one page; return how many nodes it held."""
        count = 0
        for item in self._decoder.items(page):
            count += 1
            if isinstance(item, tuple):
                self._rejects.add(f"nodemetrics {item[0]}", "object", "", item[1])
            else:
                self._take_node(item)
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as a table."""
        return {"node_usage": self._table.frame()}

    def newest(self) -> datetime | None:
        """Give the time of the newest measurement."""
        return self._newest

    def _take_node(self, item: NodeMetrics) -> None:
        thing = f"nodemetrics {item.metadata.name}"
        measured_at = read_instant(item.timestamp)
        if not item.metadata.name or measured_at is None:
            self._rejects.add(thing, "timestamp", item.timestamp, "not a time")
            return
        used = self._rejects.amounts(item.usage, thing, "usage", read_usage)
        self._table.add((item.metadata.name, measured_at, read_seconds(item.window), used.get("cpu"), used.get("memory")))
        self._newest = max(self._newest or measured_at, measured_at)
