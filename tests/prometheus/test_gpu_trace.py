"""The GenAI trace: what 143 containers' GPUs did in 22.8 hours, by a real Prometheus, against figures worked out from the trace's own files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.collect.prometheus.read import Prometheus
from batch.deadline import Deadline
from batch.snapshot.model import Snapshot
from tests.prometheus import server
from tests.prometheus.conftest import given

TRACE = Path(os.environ.get("TEST_TRACES", "/nowhere")) / "gentd26-gpu"

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not TRACE.is_dir(), reason="TEST_TRACES names no folder that holds gentd26-gpu"),
]

# expected.json is rounded to six digits of percent
TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACE / "expected.json").read_text())
    return found


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory, expected: dict[str, Any]) -> Snapshot:
    folder = tmp_path_factory.mktemp("trace")
    with gzip.open(TRACE / "metrics.om.gz") as packed, (folder / "metrics.om").open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    with server.running(server.blocks_of(folder / "metrics.om", folder / "data")) as address:
        return assemble(
            Dump(TRACE),
            Identity("genai", "dump:genai"),
            taken_at=datetime.fromtimestamp(expected["about"]["end"], UTC),
            fallback_taken_at=lambda: datetime.now(UTC),
            deadline=Deadline(None, 0, lambda: 0.0, 0.0),
            prometheus=Prometheus(given(address), "test", lambda _: None),
        )


@pytest.fixture(scope="module")
def usage(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    rows: list[dict[str, Any]] = snapshot.table("gpu_usage").to_dict("records")  # type: ignore[assignment]  # columns have names
    return {row["pod"]: row for row in rows}


def test_every_pod_with_samples_has_one_row(usage: dict[str, dict[str, Any]], expected: dict[str, Any]) -> None:
    with_samples = {name for name, pod in expected["per_pod"].items() if pod["util_samples"]}
    assert set(usage) == with_samples
    assert len(with_samples) == expected["pods"]["with_util_series"]
    assert {row["step_seconds"] for row in usage.values()} == {expected["about"]["step_seconds"]}


def test_mean_p95_and_maximum_of_each_pod_are_those_of_the_trace(usage: dict[str, dict[str, Any]], expected: dict[str, Any]) -> None:
    for name, row in usage.items():
        figures = expected["per_pod"][name]["gpu_util"]
        for column, figure in (("activity_mean_ratio", "mean"), ("activity_p95_ratio", "p95"), ("activity_max_ratio", "max")):
            assert row[column] == pytest.approx(figures[figure] / 100, abs=TOLERANCE), (name, column)


def test_memory_of_each_pod_is_that_of_the_trace(usage: dict[str, dict[str, Any]], expected: dict[str, Any]) -> None:
    for name, row in usage.items():
        figures = expected["per_pod"][name]["gpu_mem_mib"]
        # whole bytes, of six digits of MiB
        assert row["memory_used_max_bytes"] == pytest.approx(figures["max"] * 2**20, abs=2), name
        assert row["memory_used_p95_bytes"] == pytest.approx(figures["p95"] * 2**20, abs=2), name


def test_gpu_hours_and_idle_ones_are_those_of_the_trace(usage: dict[str, dict[str, Any]], expected: dict[str, Any]) -> None:
    hours = {name: row["sample_count"] * row["step_seconds"] / 3600 for name, row in usage.items()}
    idle = {name: row["idle_sample_count"] * row["step_seconds"] / 3600 for name, row in usage.items()}
    assert sum(hours.values()) == pytest.approx(expected["gpu_hours"], abs=1e-6)
    assert sum(idle.values()) == pytest.approx(expected["idle_gpu_hours"], abs=1e-6)
    for name in usage:
        assert hours[name] == pytest.approx(expected["per_pod"][name]["gpu_hours"], abs=1e-6)
        assert idle[name] == pytest.approx(expected["per_pod"][name]["idle_gpu_hours"], abs=1e-6), name


def test_containers_have_their_memory_though_no_series_tells_of_cpu(snapshot: Snapshot) -> None:
    measured = snapshot.table("measured_containers")
    assert len(measured) == 144
    assert int(measured["memory_sample_count"].sum()) == 161452
    assert int(measured["cpu_sample_count"].sum()) == 0
