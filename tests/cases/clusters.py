"""Clusters as JSON objects, read and assessed as a night does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from batch.collect.assemble import Identity, assemble
from batch.collect.source import DEPLOYMENTS, JOBS, NODE_METRICS, NODES, POD_METRICS, PODS, Kind, SourceError, at_any_time
from batch.deadline import Deadline
from batch.plan.assess import assess
from batch.plan.model import CapacityPlan
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.collect.objects_json import page

Json = dict[str, Any]
MOMENT = datetime(2026, 12, 1, 2, tzinfo=UTC)
CORE, MILLI, KI, MI, GI = 10**9, 10**6, 2**10, 2**20, 2**30


class Lists:
    """A source of one page for each kind; a kind that has none is not served."""

    def __init__(self, lists: dict[Kind, Sequence[Json]], version: str | None) -> None:
        self._lists = lists
        self._version = version

    def kubernetes_version(self) -> str | None:
        return self._version

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        before_page()
        if kind not in self._lists:
            raise SourceError(kind, "not served", absent=True)
        yield page(*self._lists[kind])


def read(
    nodes: Sequence[Json] = (),
    pods: Sequence[Json] = (),
    *,
    pod_metrics: Sequence[Json] | None = None,
    node_metrics: Sequence[Json] | None = None,
    jobs: Sequence[Json] = (),
    deployments: Sequence[Json] = (),
    version: str | None = "v1.36.2",
) -> Snapshot:
    """Collect a cluster."""
    lists = {NODES: nodes, PODS: pods, POD_METRICS: pod_metrics, NODE_METRICS: node_metrics, JOBS: jobs, DEPLOYMENTS: deployments}
    return assemble(
        Lists({kind: items for kind, items in lists.items() if items is not None}, version),
        Identity("c", "dump:c"),
        taken_at=MOMENT,
        fallback_taken_at=lambda: MOMENT,
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )


def plan(snapshot: Snapshot) -> CapacityPlan:
    """Assess it."""
    return assess(snapshot, Settings())


def ready_node(
    name: str = "n1", *, capacity: Json | None = None, allocatable: Json | None = None, ready: str = "True", **more: Any
) -> Json:
    """Give a Node of 8 cores, 32 GiB and 110 pods unless told otherwise."""
    status: Json = {
        "capacity": capacity or {"cpu": "8", "memory": "32Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": ready}],
    }
    if allocatable:
        status["allocatable"] = allocatable
    metadata = {"name": name, "labels": more.pop("labels", {})}
    return {"metadata": metadata, "spec": more.pop("spec", {}), "status": {**status, **more}}


def pod_metrics(name: str, **containers: Json) -> Json:
    """Give PodMetrics of a pod, one usage for each container."""
    return {
        "metadata": {"name": name, "namespace": "default"},
        "timestamp": "2026-12-01T02:00:00Z",
        "window": "15s",
        "containers": [{"name": container, "usage": usage} for container, usage in containers.items()],
    }


def node_metrics(name: str, **usage: str) -> Json:
    """Give NodeMetrics."""
    return {"metadata": {"name": name}, "timestamp": "2026-12-01T02:00:00Z", "window": "15s", "usage": usage}
