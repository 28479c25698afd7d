"""Usage: by name, with its time, and never a zero for what was not measured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd

from batch.collect.rejects import Rejects
from batch.collect.usage import NodeUsageCollector, PodUsageCollector
from tests.collect.objects_json import page


def metrics(name: str, *containers: dict[str, Any], timestamp: str | None = "2026-12-01T02:00:00Z") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "timestamp": timestamp, "window": "15.1s", "containers": list(containers)}


def usage_of(*items: dict[str, Any]) -> tuple[pd.DataFrame, Rejects]:
    rejects = Rejects()
    collector = PodUsageCollector(rejects)
    collector.take(page(*items))
    return collector.tables()["container_usage"], rejects


def test_cpu_and_memory_by_name_and_swap_is_neither() -> None:
    rows, _ = usage_of(metrics("p", {"name": "app", "usage": {"swap": "7Gi", "memory": "100Mi", "cpu": "10m"}}))
    row = rows.iloc[0]
    assert (row["usage_cpu_nanocores"], row["usage_memory_bytes"], row["window_seconds"]) == (10_000_000, 100 * 2**20, 15)


def test_a_missing_figure_is_unknown() -> None:
    rows, _ = usage_of(metrics("p", {"name": "app", "usage": {"cpu": "1"}}, {"name": "b"}))
    assert rows["usage_memory_bytes"].isna().all()


def test_a_negative_figure_is_refused() -> None:
    rows, rejects = usage_of(metrics("p", {"name": "app", "usage": {"cpu": "-513m", "memory": "1Mi"}}))
    assert rows["usage_cpu_nanocores"].isna().all()
    assert "-513m" in rejects.first()


def test_a_measurement_without_time_is_refused() -> None:
    rows, rejects = usage_of(metrics("p", {"name": "app"}, timestamp=None))
    assert rows.empty
    assert len(rejects) == 1


def test_a_null_list_is_an_empty_list() -> None:
    collector = PodUsageCollector(Rejects())
    assert collector.take(b'{"kind":"PodMetricsList","metadata":{},"items":null}') == 0
    assert collector.tables()["container_usage"].empty


def test_node_metrics_are_of_the_machine() -> None:
    collector = NodeUsageCollector(Rejects())
    collector.take(
        page({"metadata": {"name": "n1"}, "timestamp": "2026-12-01T02:00:00Z", "window": "1m0s", "usage": {"cpu": "6", "memory": "8Gi"}})
    )
    row = collector.tables()["node_usage"].iloc[0]
    assert (row["machine_usage_cpu_nanocores"], row["machine_usage_memory_bytes"], row["window_seconds"]) == (6 * 10**9, 8 * 2**30, 60)
    assert row["measured_at"] == datetime(2026, 12, 1, 2, tzinfo=UTC)
