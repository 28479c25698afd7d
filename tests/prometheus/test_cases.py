"""Single odd inputs with their right answers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batch.collect.prometheus.client import Client
from batch.collect.prometheus.containers import instants
from batch.collect.prometheus.pods import Pods
from batch.collect.prometheus.promql import RECORDED
from batch.collect.prometheus.read import Measures, Prometheus
from batch.collect.prometheus.shards import Shard, planned
from batch.deadline import Deadline
from batch.settings import PrometheusSettings
from tests.builders import GIB, MIB, node, pod, snapshot
from tests.prometheus import server
from tests.prometheus.conftest import given

AT = datetime(2026, 3, 8, 2, 1, tzinfo=UTC)
SLOT = 300
MEMORY, CPU = "container_memory_working_set_bytes", "container_cpu_usage_seconds_total"


def never() -> Deadline:
    return Deadline(None, 0, time.monotonic, time.monotonic())


def container(name: str, **labels: str) -> dict[str, str]:
    return {"namespace": "a", "pod": name, "container": "main", **labels}


def slots(*values: float) -> list[tuple[float, float]]:
    """Give values at the first of ten slots, of which the last ends with the window."""
    begin = AT.timestamp() - 10 * SLOT + 10
    return [(begin + number * SLOT, value) for number, value in enumerate(values)]


def counted(rate: float, count: int, step: int = SLOT) -> list[tuple[float, float]]:
    last = AT.timestamp() - 10
    return [(last - back * step, rate * (count - back) * step) for back in reversed(range(count))]


def store() -> Iterator[server.Series]:
    yield server.Series(MEMORY, container("short"), slots(*(float(size * MIB) for size in (200, 210, 190, 200))))
    for instance in ("x", "y"):
        yield server.Series(MEMORY, container("twice", instance=instance), slots(*[float(GIB)] * 10))
        yield server.Series(CPU, container("twice", instance=instance, cpu="total"), counted(0.2, 10))


def recorded() -> Iterator[server.Series]:
    """Give a day of two containers, and of another one that only the counters have."""
    for name in ("one", "two"):
        yield server.Series(MEMORY, container(name), [(at, float(GIB)) for at, _ in counted(1, 288)])
        yield server.Series(CPU, container(name, cpu="total"), counted(0.2, 288))
        yield server.Series(RECORDED[0], container(name), [(at, 0.3) for at, _ in counted(1, 2 * 60 * 24, 30)])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server.running(server.write_blocks(tmp_path_factory.mktemp("cases"), store())) as running:
        yield running


def asked(address: str, pods: tuple[str, ...] = (), **settings: Any) -> Measures:
    listed = [pod(name, namespace="a", started_at=AT - timedelta(days=3)) for name in pods]
    tables = dict(snapshot(nodes=[node("n1")], pods=listed).tables)
    asking = Prometheus(given(address, prometheus={"window_seconds": 3600, **settings}), "test", lambda _: None)
    return asking.measure(AT, tables, (), never())


@pytest.fixture(scope="module")
def rows(address: str) -> pd.DataFrame:
    return asked(address, ("short", "twice")).tables["measured_containers"].set_index("pod")


def test_missing_slots_are_no_zeros(rows: pd.DataFrame) -> None:
    short = rows.loc["short"]
    assert short["memory_sample_count"] == 4
    assert short["memory_p50_bytes"] == 200 * MIB
    assert short["memory_p95_bytes"] == 208.5 * MIB


def test_the_same_series_twice_counts_once(rows: pd.DataFrame) -> None:
    twice = rows.loc["twice"]
    assert twice["memory_sample_count"] == 10
    assert twice["cpu_p95_nanocores"] == pytest.approx(0.2e9, abs=2)


def test_a_range_of_too_many_points_is_asked_in_parts_without_a_moment_twice(address: str) -> None:
    client = Client(PrometheusSettings(url=address), never(), "test", lambda _: None)
    count = 30 * 86_400 // 60
    answer = client.query_range("vector(1)", AT - timedelta(days=30), 60, count)
    ((_, points),) = answer.series
    times = [at for at, _ in points]
    assert client.request_count == 4
    assert times == [(AT - timedelta(days=30)).timestamp() + 60 * step for step in range(count)]


def test_a_recorded_series_is_used_when_it_has_nearly_all_containers(tmp_path: Path) -> None:
    with server.running(server.write_blocks(tmp_path, recorded())) as address:
        found = asked(address, ("one", "two"), window_seconds=43_200)
    described = found.tables["prometheus"].iloc[0]
    assert (described["recorded_series"], described["step_seconds"]) == (RECORDED[0], 30)
    assert set(found.tables["measured_containers"]["cpu_p95_nanocores"]) == {300_000_000}


def test_a_recorded_series_that_lacks_containers_is_not_used(tmp_path: Path) -> None:
    some = [one for one in recorded() if one.metric != RECORDED[0] or one.labels["pod"] == "one"]
    with server.running(server.write_blocks(tmp_path, some)) as address:
        found = asked(address, ("one", "two"), window_seconds=43_200)
    assert found.tables["prometheus"]["recorded_series"].isna().all()
    assert found.tables["measured_containers"]["cpu_p95_nanocores"].tolist() == pytest.approx([2e8, 2e8], abs=2)


@pytest.mark.parametrize("count", [1, 1000, 100_000])
def test_large_clusters_get_fewer_instants_at_all_hours(count: int) -> None:
    grid = instants(PrometheusSettings(), count, AT)
    assert grid.count * count <= 2_000_000
    assert grid.first >= AT - timedelta(days=7)
    if count == 100_000:
        assert grid.count == 15
        assert len({(grid.last - timedelta(seconds=grid.step * n)).hour for n in range(grid.count)}) == 15


def test_parts_are_disjoint_and_together_the_whole() -> None:
    names = [f"app-{a}{b}" for a in "abz059-." for b in "bcdfghjklmnpqrstvwxz2456789"] + ["a", "Z", "é"]
    parts = planned({"one": 3, "big": 5000}, 100)
    big = [part for part in parts if part.namespaces == ("big",)]
    assert Shard(("one",), weight=3) in parts
    assert len(big) == 64
    for name in names:
        assert sum(matches(part, name) for part in big) == 1


def matches(part: Shard, name: str) -> bool:
    """Tell by the part's own matchers, as Prometheus reads them, whether a pod of that name is in it."""
    found = re.findall(r'pod(=~|!~)"([^"]*)"', part.matchers())
    return all((re.fullmatch(pattern, name) is not None) == (operator == "=~") for operator, pattern in found)


@pytest.mark.parametrize(
    ("name", "owner", "expected"),
    [
        ("web-7d9c5bbcf-x2z4b", None, ("Deployment", "web")),
        ("web-cache-6c8d4f-x2z4b", None, ("Deployment", "web-cache")),
        ("web-7d9c5bbcf-x2z4b", ("ReplicaSet", "web-7d9c5bbcf"), ("Deployment", "web")),
        ("web-7d9c5bbcf-x2z4b", ("StatefulSet", "other"), None),
        ("agent-x2z4b", None, ("DaemonSet", "agent")),
        ("db-17", None, ("StatefulSet", "db")),
        ("report-29538870-x2z4b", ("Job", "report-29538870"), ("CronJob", "report")),
        ("report-29538870-x2z4b", None, ("CronJob", "report")),
        ("jupyter-ada", None, None),
        ("webshop-7d9c5bbcf-x2z4b", None, None),
        ("web-aeiou-x2z4b", None, None),
    ],
)
def test_former_pods_are_of_the_workload_that_could_have_made_them(
    name: str, owner: tuple[str, str] | None, expected: tuple[str, str] | None
) -> None:
    there = [
        ("Deployment", "web"), ("Deployment", "web-cache"), ("DaemonSet", "agent"), ("StatefulSet", "db"), ("CronJob", "report"),
    ]  # fmt: skip
    listed = [pod(f"p{i}", namespace="a", workload_kind=kind, workload=own) for i, (kind, own) in enumerate(there)]
    assert Pods(snapshot(pods=listed).table("pods")).former(("a", name), owner) == expected
    assert Pods(snapshot(pods=listed).table("pods")).former(("elsewhere", name), owner) is None
