"""A made-up week in a store: two deployments restarted daily, a pair of replicas that doubles everything, one kill for memory.

Beside the containers stand what must not count: pods' own cgroups, pause containers in both spellings, the kubelet's second account of the
same containers, values of single cores, NaN. Samples are 100 s apart and off every grid, so that no edge of a range falls on one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pandas as pd

from tests.builders import CORE, GIB, MIB, PodRows, node, pod, snapshot
from tests.prometheus.server import Series

AT = datetime(2026, 3, 8, 2, 1, tzinfo=UTC)
"""The moment of the snapshot: no multiple of a step, for there versions of Prometheus differ about the edge."""

DAY, SCRAPE, OFFSET = 86_400, 100, 17
BEGIN = int(AT.timestamp()) - 7 * DAY
REPLICAS = ("a", "b")

Samples = list[tuple[float, float]]
Container = tuple[str, str, str]


@dataclass(frozen=True)
class Life:
    """One container of one pod, from when to when, and under which ids of cAdvisor (incarnations, in turn)."""

    namespace: str
    pod: str
    container: str
    node: str
    begin: int
    end: int
    restarts: tuple[int, ...] = ()
    salt: int = 0
    gap: tuple[int, int] = (0, 0)

    @property
    def key(self) -> Container:
        return self.namespace, self.pod, self.container

    def incarnations(self) -> Iterator[tuple[str, range]]:
        edges = (self.begin, *self.restarts, self.end)
        for number, (begin, end) in enumerate(pairwise(edges)):
            first = begin - begin % SCRAPE + OFFSET
            yield f"/kubepods/{self.pod}/{self.container}-{number}", range(first + (SCRAPE if first < begin else 0), end, SCRAPE)

    def _scraped(self, times: range) -> Iterator[int]:
        return (at for at in times if not self.gap[0] <= at < self.gap[1])

    def memory(self, at: int) -> float:
        wave = math.sin((at - BEGIN) / 7000 + self.salt)
        return float(round((200 + 20 * self.salt + 60 * wave + (at // SCRAPE * 37 % 11)) * MIB))

    def counter(self, begin: int, at: int) -> float:
        """CPU seconds since the incarnation began: a rate that goes up and down."""
        return (0.05 + 0.01 * self.salt) * (at - begin) + 40 * (1 - math.cos((at - begin) / 1700)) * (1 + self.salt % 3)

    def memory_series(self) -> list[Samples]:
        return [[(at, self.memory(at)) for at in self._scraped(times)] for _, times in self.incarnations()]

    def cpu_series(self) -> list[Samples]:
        return [[(at, self.counter(times.start, at)) for at in self._scraped(times)] for _, times in self.incarnations()]


def lives() -> list[Life]:
    """Two deployments of two pods that are replaced every day, a stateful pod that was killed once, and a pod with a gap."""
    found = []
    for number, (name, hash_) in enumerate((("web", "7d9c5bbcf"), ("web-cache", "6c8d4f"))):
        for day in range(7):
            for copy in range(2):
                end = BEGIN + (day + 1) * DAY if day < 6 else int(AT.timestamp())
                suffix = f"x{'bcdfghj'[day]}{'vw'[copy]}z{number + 4}"
                found.append(
                    Life("shop", f"{name}-{hash_}-{suffix}", "main", f"n{copy + 1}", BEGIN + day * DAY, end, salt=2 * day + copy + number)
                )
    found.append(Life("data", "db-0", "db", "n1", BEGIN, int(AT.timestamp()), restarts=(BEGIN + 3 * DAY + 1000,), salt=5))
    found.append(Life("data", "lone", "main", "n2", BEGIN, int(AT.timestamp()), salt=1, gap=(BEGIN + DAY, BEGIN + 3 * DAY)))
    return found


def store(cluster: str | None = None) -> Iterator[Series]:
    """Give everything that was scraped."""
    for replica in REPLICAS:
        outer = {"prometheus_replica": replica} | ({"cluster": cluster} if cluster else {})
        for life in lives():
            yield from _of(life, outer)
        yield from _of_machines(outer)
        yield from _kill(outer)


def _of(life: Life, outer: dict[str, str]) -> Iterator[Series]:
    place = {"namespace": life.namespace, "pod": life.pod, "node": life.node, "job": "kubelet"}
    cadvisor = {**outer, **place, "metrics_path": "/metrics/cadvisor"}
    for (cgroup, times), memory, cpu in zip(life.incarnations(), life.memory_series(), life.cpu_series(), strict=True):
        own = {**cadvisor, "container": life.container, "id": cgroup, "image": "registry.example/app:1"}
        yield Series("container_memory_working_set_bytes", own, memory)
        yield Series("container_cpu_usage_seconds_total", {**own, "cpu": "total"}, cpu)
        yield Series("container_cpu_usage_seconds_total", {**own, "cpu": "cpu00"}, cpu)
        twice = {**outer, **place, "metrics_path": "/metrics/resource", "container": life.container}
        yield Series("container_memory_working_set_bytes", twice, [(at + 20, value * 1.5) for at, value in memory])
        yield Series("container_cpu_usage_seconds_total", twice, [(at + 20, value * 1.5) for at, value in cpu])
        for container, image in (("POD", "registry.example/pause:3"), ("", "")):
            beside = {**cadvisor, **({"container": container} if container else {}), "id": f"{cgroup}-{container or 'pod'}", "image": image}
            yield Series("container_memory_working_set_bytes", beside, [(at, 9.0 * GIB) for at in times])
            yield Series("container_cpu_usage_seconds_total", {**beside, "cpu": "total"}, [(at, 7.0 * (at - times.start)) for at in times])
    if life.pod == "lone":
        times = next(life.incarnations())[1]
        limits = {**cadvisor, "container": life.container, "id": "/kubepods/lone/main-0"}
        yield Series("container_cpu_cfs_periods_total", limits, [(at, 10.0 * (at - times.start)) for at in times])
        yield Series("container_cpu_cfs_throttled_periods_total", limits, [(at, 4.0 * (at - times.start)) for at in times])


def _of_machines(outer: dict[str, str]) -> Iterator[Series]:
    for number, name in enumerate(("n1", "n2"), 1):
        times = range(BEGIN + OFFSET, int(AT.timestamp()), SCRAPE)
        root = {**outer, "node": name, "id": "/", "job": "kubelet", "metrics_path": "/metrics/cadvisor"}
        yield Series("container_cpu_usage_seconds_total", {**root, "cpu": "total"}, [(at, 0.5 * number * (at - BEGIN)) for at in times])
        yield Series("container_memory_working_set_bytes", root, [(at, float(number * GIB)) for at in times])


def _kill(outer: dict[str, str]) -> Iterator[Series]:
    (killed,) = (life for life in lives() if life.restarts)
    labels = {"namespace": "monitoring", "pod": "kube-state-metrics-0", "job": "kube-state-metrics", "reason": "OOMKilled", **outer}
    told = {**labels, "exported_namespace": killed.namespace, "exported_pod": killed.pod, "exported_container": killed.container}
    times = range(killed.restarts[0] + 30, int(AT.timestamp()), SCRAPE)
    yield Series("kube_pod_container_status_last_terminated_reason", told, [(at, 1.0) for at in times])


def cluster() -> dict[str, object]:
    """Give nodes and pods as they are at the moment of the snapshot, for tests.builders.snapshot."""
    now = [life for life in lives() if life.end == int(AT.timestamp())]
    return {
        "nodes": [node(name, cpu=16 * CORE, memory=64 * GIB, instance_type="m5.4xlarge") for name in ("n1", "n2")],
        "pods": [_listed(life) for life in now],
    }


def _listed(life: Life) -> PodRows:
    kind, name = {"web": ("Deployment", "web"), "cache": ("Deployment", "web-cache"), "db": ("StatefulSet", "db")}.get(
        "cache" if life.pod.startswith("web-cache") else life.pod.split("-")[0], ("Pod", life.pod)
    )
    container: dict[str, Any] = {
        "container": life.container,
        "requests_cpu_nanocores": CORE,
        "requests_memory_bytes": GIB,
        "limits_memory_bytes": GIB,
    }
    if life.restarts:
        ended = datetime.fromtimestamp(life.restarts[-1], UTC)
        container |= {"restart_count": len(life.restarts), "last_end_reason": "OOMKilled", "last_end_at": ended}
    return pod(
        life.pod,
        namespace=life.namespace,
        on=life.node,
        cpu=CORE,
        memory=GIB,
        memory_limit=GIB,
        labels={"app": name},
        workload_kind=kind,
        workload=name,
        started_at=datetime.fromtimestamp(life.begin, UTC),
        created_at=datetime.fromtimestamp(life.begin, UTC) - timedelta(seconds=5),
        containers=[container],
    )


def tables() -> dict[str, pd.DataFrame]:
    """Give the tables of that cluster."""
    return dict(snapshot(**cluster()).tables)  # type: ignore[arg-type]  # as cluster() says
