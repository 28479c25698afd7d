"""Accelerators: whose they are, what they did, and never one thing twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from batch.collect.prometheus.read import Measures, Prometheus
from batch.deadline import Deadline
from tests.builders import node, snapshot
from tests.prometheus import gpu_store, server
from tests.prometheus.conftest import given

Row = dict[str, Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server.running(server.write_blocks(tmp_path_factory.mktemp("gpus"), gpu_store.store())) as running:
        yield running


def asked(address: str, **settings: Any) -> Measures:
    tables = dict(snapshot(nodes=[node("gpu-1")]).tables)
    asking = Prometheus(given(address, **settings), "test", lambda _: None)
    return asking.measure(gpu_store.AT, tables, (), Deadline(None, 0, time.monotonic, time.monotonic()))


def rows_of(measures: Measures) -> dict[tuple[str, str, str], Row]:
    found: list[Row] = measures.tables["gpu_usage"].to_dict("records")  # type: ignore[assignment]  # columns have names
    return {(row["device"], row["mig_instance"], row["pod"]): row for row in found}


@pytest.fixture(scope="module")
def rows(address: str) -> dict[tuple[str, str, str], Row]:
    return rows_of(asked(address))


def test_a_store_with_accelerators_only_is_a_gap_for_containers_alone(address: str) -> None:
    measures = asked(address)
    assert [gap.source for gap in measures.gaps] == ["prometheus"]
    assert measures.unread == {"prometheus", "node_windows"}


def test_each_device_has_a_row_for_each_that_held_it(rows: dict[tuple[str, str, str], Row]) -> None:
    assert sorted(rows) == sorted([
        ("GPU-both", "", "train-0"), ("GPU-mig", "1", "slice-1"), ("GPU-mig", "2", "slice-2"), ("GPU-util", "", "train-1"),
        ("GPU-shared", "", "shared-a"), ("GPU-shared", "", "shared-b"), ("GPU-free", "", ""), ("GPU-named", "", "train-2"),
        ("GPU-nameless", "", ""), ("GPU-blank", "", "train-3"), ("gpu-9/3", "", "old"), ("amd-1", "", "rocm-0"), ("intel-1", "", "sycl-0"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("key", "metric", "mean"),
    [
        (("GPU-both", "", "train-0"), "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.75),
        (("GPU-mig", "1", "slice-1"), "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.5),
        (("GPU-mig", "2", "slice-2"), "DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1.0),
        (("GPU-util", "", "train-1"), "DCGM_FI_DEV_GPU_UTIL", 0.15),
        (("GPU-shared", "", "shared-b"), "DCGM_FI_DEV_GPU_UTIL", 0.1),
        (("GPU-named", "", "train-2"), "DCGM_FI_DEV_GPU_UTIL", 0.9),
        (("GPU-blank", "", "train-3"), "DCGM_FI_DEV_GPU_UTIL", 0.4),
        (("amd-1", "", "rocm-0"), "amd_gpu_gfx_activity", 0.6),
        (("intel-1", "", "sycl-0"), "xpum_engine_ratio", 0.4),
    ],
)
def test_activity_is_a_ratio_of_one_named_metric(
    rows: dict[tuple[str, str, str], Row], key: tuple[str, str, str], metric: str, mean: float
) -> None:
    assert rows[key]["metric"] == metric
    assert rows[key]["activity_mean_ratio"] == pytest.approx(mean)


def test_a_pair_of_replicas_counts_once(rows: dict[tuple[str, str, str], Row]) -> None:
    row = rows["GPU-both", "", "train-0"]
    assert (row["step_seconds"], row["sample_count"], row["idle_sample_count"]) == (30, gpu_store.COUNT, 0)
    assert row["memory_used_max_bytes"] == 1119 * 2**20
    assert row["memory_used_p95_bytes"] == pytest.approx((1000 + 0.95 * 119) * 2**20, abs=1)
    assert row["power_mean_watts"] == pytest.approx(101)
    assert (row["node"], row["product"]) == ("gpu-1", "NVIDIA A100-SXM4-40GB")


def test_idle_samples_and_the_last_busy_one_are_counted_by_the_server(rows: dict[tuple[str, str, str], Row]) -> None:
    row = rows["GPU-util", "", "train-1"]
    assert (row["sample_count"], row["idle_sample_count"]) == (120, 60)
    busy = gpu_store.LAST - gpu_store.STEP * 60
    assert 0 <= row["last_active_at"].timestamp() - busy < gpu_store.STEP
    assert 0 <= row["last_at"].timestamp() - gpu_store.LAST < gpu_store.STEP
    assert row["recent_max_ratio"] == 0
    assert row["activity_max_ratio"] == pytest.approx(0.3)


def test_values_that_mean_none_are_left_out_of_counts_too(rows: dict[tuple[str, str, str], Row]) -> None:
    row = rows["GPU-blank", "", "train-3"]
    assert row["activity_max_ratio"] == pytest.approx(0.4)
    assert (row["sample_count"], row["idle_sample_count"]) == (60, 0)


def test_a_profile_of_an_instance_is_told(rows: dict[tuple[str, str, str], Row]) -> None:
    assert rows["GPU-mig", "1", "slice-1"]["mig_profile"] == "1g.5gb"


def test_what_counts_as_idle_is_a_setting(address: str) -> None:
    rows = rows_of(asked(address, gpu={"idle_ratio": 0.1}))
    assert rows["GPU-shared", "", "shared-a"]["idle_sample_count"] == gpu_store.COUNT
    assert rows["GPU-both", "", "train-0"]["idle_sample_count"] == 0


def test_times_are_moments_in_utc(rows: dict[tuple[str, str, str], Row]) -> None:
    assert rows["GPU-free", "", ""]["first_at"] >= datetime.fromtimestamp(gpu_store.LAST - 3600, UTC)
