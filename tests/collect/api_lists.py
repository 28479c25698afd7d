"""What the tests of the live API share: time without waiting, and lists made and read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from batch.collect.api import Cluster
from batch.collect.source import PODS, Kind

Connect = Callable[..., Cluster]


class Clock:
    """Time that passes only by sleeping; `sleeps` are all waits so far."""

    def __init__(self) -> None:
        self.sleeps: list[float] = []

    def now(self) -> float:
        return sum(self.sleeps)


def pods(count: int, namespace: str = "a") -> dict[str, Any]:
    """Make a List of pods p00000, p00001 and so on."""
    items = [{"metadata": {"namespace": namespace, "name": f"p{number:05}"}} for number in range(count)]
    return {"apiVersion": "v1", "kind": "PodList", "items": items}


def names(cluster: Cluster, kind: Kind = PODS) -> list[list[str]]:
    """List a kind and give the names of the objects, page by page."""
    return [[item["metadata"]["name"] for item in json.loads(page)["items"] or []] for page in cluster.pages(kind)]
