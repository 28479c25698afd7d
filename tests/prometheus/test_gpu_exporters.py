"""Exporters that were restarted, are gone, or tell odd values: each holding is still counted once, and whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batch.collect.prometheus.read import Prometheus
from batch.deadline import Deadline
from tests.builders import node, snapshot
from tests.prometheus import raw, server
from tests.prometheus.conftest import given
from tests.prometheus.gpu_store import AT, LAST, dcgm

UTIL, STEP = "DCGM_FI_DEV_GPU_UTIL", 15
COUNT = 240
TURN = 150
"""Samples of an hour, and the first of them that the new exporter gave."""

Samples = list[tuple[float, float]]


def busy(number: int) -> float:
    return 0.0 if number % 3 == 0 else 20.0 + number % 60


def samples(first: int = 0, end: int = COUNT, ago: int = 0) -> Samples:
    return [(LAST - ago - STEP * (COUNT - 1 - number), busy(number)) for number in range(first, end)]


def named(uuid: str, pod: str, exporter: str) -> dict[str, str]:
    """Give labels as a scrape leaves them whose own labels win."""
    own = {"namespace": "gpu-operator", "pod": exporter, "container": "nvidia-dcgm-exporter", "instance": exporter}
    held = {"exported_namespace": "ml", "exported_pod": pod, "exported_container": "main"} if pod else {}
    return {"UUID": uuid, "gpu": "0", "Hostname": exporter, "job": "dcgm", **own, **held}


def restarted() -> Iterator[server.Series]:
    """Give three devices over the restart of their exporter: with the holder's own labels, with renamed ones, and held by nobody."""
    for labels in ({"instance": "10.1.0.5:9400"}, {"instance": "10.1.0.9:9400"}):
        part = samples(0, TURN) if labels["instance"].startswith("10.1.0.5") else samples(TURN)
        yield server.Series(UTIL, dcgm("GPU-own", "train-a", job="other", **labels), part)
        yield server.Series("DCGM_FI_DEV_POWER_USAGE", dcgm("GPU-own", "train-a", job="other", **labels), part)
    for exporter, part in (("exporter-aaaaa", samples(0, TURN)), ("exporter-bbbbb", samples(TURN))):
        yield server.Series(UTIL, named("GPU-named", "train-b", exporter), part)
        yield server.Series(UTIL, named("GPU-free", "", exporter), part)


def asked(folder: Path, series: Iterator[server.Series]) -> dict[str, dict[str, Any]]:
    tables = dict(snapshot(nodes=[node("gpu-1")]).tables)
    with server.running(server.write_blocks(folder, series)) as address:
        asking = Prometheus(given(address), "test", lambda _: None)
        found = asking.measure(AT, tables, (), Deadline(None, 0, time.monotonic, time.monotonic()))
    rows: list[dict[str, Any]] = found.tables["gpu_usage"].to_dict("records")  # type: ignore[assignment]  # columns have names
    assert len({row["device"] for row in rows}) == len(rows)
    return {row["device"]: row for row in rows}


def check(row: Mapping[str, Any], every: Samples) -> None:
    values = [value for _, value in every]
    assert (row["step_seconds"], row["sample_count"], row["idle_sample_count"]) == (STEP, len(values), sum(not value for value in values))
    assert row["activity_mean_ratio"] == pytest.approx(sum(values) / len(values) / 100)
    assert row["activity_p95_ratio"] == pytest.approx(raw.quantile(values, 0.95) / 100)
    assert row["activity_max_ratio"] == pytest.approx(max(values) / 100)
    for column, at in (("first_at", every[0][0]), ("last_at", every[-1][0])):
        assert 0 <= row[column].timestamp() - at < STEP


def test_a_restarted_exporter_does_not_halve_the_hours_of_a_device(tmp_path: Path) -> None:
    rows = asked(tmp_path, restarted())
    assert {device: row["pod"] for device, row in rows.items()} == {"GPU-own": "train-a", "GPU-named": "train-b", "GPU-free": ""}
    for row in rows.values():
        check(row, samples())
    assert rows["GPU-own"]["power_mean_watts"] == pytest.approx(sum(busy(number) for number in range(COUNT)) / COUNT)
    assert pd.isna(rows["GPU-free"]["power_mean_watts"])


def test_hours_are_right_where_the_exporter_is_gone(tmp_path: Path) -> None:
    """Nothing tells the distance of samples at the moment of the snapshot; what it was two hours ago does."""
    rows = asked(tmp_path, iter([server.Series(UTIL, dcgm("GPU-gone", "train-a"), samples(ago=7200))]))
    check(rows["GPU-gone"], samples(ago=7200))
    assert pd.isna(rows["GPU-gone"]["recent_max_ratio"])


def test_labels_that_were_renamed_only_for_a_while_do_not_hide_a_holder(tmp_path: Path) -> None:
    """The scrape of the same job was changed: since then the holder's labels win."""
    before = named("GPU-changed", "train-a", "exporter-aaaaa")
    since = dcgm("GPU-changed", "train-a", job="dcgm", instance="exporter-aaaaa")
    rows = asked(tmp_path, iter([server.Series(UTIL, before, samples(0, TURN)), server.Series(UTIL, since, samples(TURN))]))
    assert rows["GPU-changed"]["pod"] == "train-a"


def test_values_that_are_no_numbers_do_not_count_as_idle(tmp_path: Path) -> None:
    odd = [(at, float("nan") if number % 4 == 1 else value) for number, (at, value) in enumerate(samples())]
    rows = asked(tmp_path, iter([server.Series(UTIL, dcgm("GPU-nan", "train-a"), odd)]))
    check(rows["GPU-nan"], [(at, value) for at, value in odd if value == value])  # noqa: PLR0124  NaN is not itself
