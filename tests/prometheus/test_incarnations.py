"""Containers whose series are several, or are no numbers here and there; and what counts as a kill in the window."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from batch.collect.prometheus.read import Prometheus
from batch.deadline import Deadline
from tests.builders import MIB, node, pod, snapshot
from tests.prometheus import raw, server
from tests.prometheus.conftest import given

AT = datetime(2026, 3, 8, 2, 1, tzinfo=UTC)
STEP, WINDOW = 60, 6 * 3600
LAST = int(AT.timestamp()) - 10
MEMORY = "container_memory_working_set_bytes"
TOLD, RESTARTS = "kube_pod_container_status_last_terminated_reason", "kube_pod_container_status_restarts_total"

Samples = list[tuple[float, float]]


def sizes(first: float, begin: int, end: int) -> Samples:
    """Give sizes at moments so many seconds before the last sample."""
    return [(LAST - back, first + back % 700 * MIB) for back in range(begin, end, -STEP)]


OLD, NEW = sizes(900 * MIB, WINDOW - STEP, 7200), sizes(100 * MIB, 7200, -STEP)
"""A large incarnation, and a small one after it, under the same name of the pod."""


def own(pod_name: str, /, **labels: str) -> dict[str, str]:
    return {"namespace": "data", "pod": pod_name, "container": "db", **labels}


def incarnations() -> Iterator[server.Series]:
    yield server.Series(MEMORY, own("with-id", id="/a"), OLD)
    yield server.Series(MEMORY, own("with-id", id="/b"), NEW)
    odd = [(at, math.nan if number % 3 == 0 else value) for number, (at, value) in enumerate(OLD + NEW)]
    yield server.Series(MEMORY, own("odd", id="/c"), odd)


def without_ids() -> Iterator[server.Series]:
    yield server.Series(MEMORY, own("by-name", name="a"), OLD)
    yield server.Series(MEMORY, own("by-name", name="b"), NEW)


def told(name: str, before: int, **labels: str) -> server.Series:
    """Say from so many seconds before the end on that a container last ended for memory."""
    at = range(LAST - before, LAST + 1, STEP)
    return server.Series(TOLD, own(name, reason="OOMKilled", **labels), [(moment, 1.0) for moment in at])


def restarts(name: str, *steps: tuple[int, float]) -> server.Series:
    """Count restarts: each number from so many seconds before the end on."""
    moments = range(LAST - steps[0][0], LAST + 1, STEP)
    values = ((at, [count for before, count in steps if at >= LAST - before][-1]) for at in moments)
    return server.Series(RESTARTS, own(name), list(values))


def kills() -> Iterator[server.Series]:
    for name in ("long-ago", "long-ago-bare", "lately", "again", "other-end", "young"):
        yield server.Series(MEMORY, own(name, id=f"/{name}"), OLD + NEW)
    long = WINDOW + 7200
    yield from (told("long-ago", long), restarts("long-ago", (long, 1)))
    yield told("long-ago-bare", long)
    yield from (told("lately", 3000), restarts("lately", (long, 0), (3000, 1)))
    yield from (told("again", long), restarts("again", (long, 1), (3000, 2)))
    yield from (told("young", 3000), restarts("young", (WINDOW - 600, 0), (3000, 1)))
    ended = told("other-end", long)
    yield server.Series(ended.metric, ended.labels, [(at, value) for at, value in ended.samples if at < LAST - 3000])
    yield restarts("other-end", (long, 1), (3000, 2))
    yield told("never-measured", 3000)


def rows(folder: Path, series: Iterator[server.Series]) -> pd.DataFrame:
    stored = list(series)
    names = sorted({one.labels["pod"] for one in stored} - {"never-measured"})
    listed = [pod(name, namespace="data", started_at=AT - timedelta(hours=1)) for name in names]
    tables = dict(snapshot(nodes=[node("n1")], pods=listed).tables)
    with server.running(server.write_blocks(folder, stored)) as address:
        asking = Prometheus(given(address, prometheus={"window_seconds": WINDOW}), "test", lambda _: None)
        found = asking.measure(AT, tables, (), Deadline(None, 0, time.monotonic, time.monotonic()))
    frame: pd.DataFrame = found.tables["measured_containers"].set_index("pod")
    return frame


def check(found: pd.DataFrame, name: str, values: list[float]) -> None:
    row = found.to_dict("index")[name]
    assert row["memory_p50_bytes"] == pytest.approx(raw.quantile(values, 0.5), abs=1)
    assert row["memory_p95_bytes"] == pytest.approx(raw.quantile(values, 0.95), abs=1)
    assert row["memory_max_bytes"] == max(values)


def test_a_pod_that_was_made_anew_under_its_name_has_the_quantiles_of_all_its_samples(tmp_path: Path) -> None:
    """No container of a StatefulSet's new pod restarted: only the store knows of the one before."""
    found = rows(tmp_path, incarnations())
    check(found, "with-id", [value for _, value in OLD + NEW])
    assert found.loc["with-id", "memory_sample_count"] == len(OLD + NEW)


def test_incarnations_are_told_by_name_where_there_is_no_id(tmp_path: Path) -> None:
    found = rows(tmp_path, without_ids())
    check(found, "by-name", [value for _, value in OLD + NEW])
    assert found.loc["by-name", "memory_sample_count"] == len(OLD + NEW)


def test_samples_that_are_no_numbers_are_no_small_ones(tmp_path: Path) -> None:
    found = rows(tmp_path, incarnations())
    check(found, "odd", [value for number, (_, value) in enumerate(OLD + NEW) if number % 3])


def test_a_kill_counts_in_the_window_that_it_was_in(tmp_path: Path) -> None:
    found = rows(tmp_path, kills())["oom_kill_count"]
    assert "never-measured" not in found.index
    assert found.dropna().to_dict() == {"lately": 1, "again": 1, "young": 1}
