"""Every figure of the made-up week equals the one worked out from the raw samples."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from batch.collect.prometheus.read import Measures
from tests.prometheus import proxy, raw, week
from tests.prometheus.conftest import measure

LIVES = {life.key: life for life in week.lives()}
AT = week.AT.timestamp()
WEEK, STEP = 7 * week.DAY, 300
RATE = 4 * week.SCRAPE

# the server adds up doubles, and whole nanocores are rounded up once
CPU_TOLERANCE = 2


def rows(measures: Measures, table: str = "measured_containers") -> dict[Any, dict[str, Any]]:
    frame = measures.tables[table]
    found: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]  # columns have names
    return {(row["namespace"], row["pod"], row["container"]): row for row in found}


def nanocores(cores: float) -> Any:
    return pytest.approx(math.ceil(cores * 1e9), abs=CPU_TOLERANCE)


def test_nothing_is_missing(measured: Measures) -> None:
    assert measured.gaps == ()
    assert measured.unread == {"gpu_usage"}


def test_it_has_every_container_once_and_nothing_else(measured: Measures) -> None:
    assert sorted(rows(measured)) == sorted(LIVES)


@pytest.mark.parametrize("key", LIVES, ids="/".join)
def test_cpu_quantiles_maximum_and_count_are_those_of_the_raw_samples(measured: Measures, key: week.Container) -> None:
    found = rows(measured)[key]
    rates = raw.usual_rates(LIVES[key].cpu_series(), raw.grid(AT, WEEK, STEP), RATE)
    assert found["cpu_sample_count"] == len(rates)
    assert found["cpu_p50_nanocores"] == nanocores(raw.quantile(rates, 0.5))
    assert found["cpu_p95_nanocores"] == nanocores(raw.quantile(rates, 0.95))
    assert found["cpu_max_nanocores"] == nanocores(max(rates))


@pytest.mark.parametrize("key", LIVES, ids="/".join)
def test_memory_quantiles_maximum_and_count_are_those_of_the_raw_samples(measured: Measures, key: week.Container) -> None:
    found = rows(measured)[key]
    samples = [value for series in LIVES[key].memory_series() for _, value in series]
    assert found["memory_sample_count"] == len(samples)
    assert found["memory_p50_bytes"] == pytest.approx(raw.quantile(samples, 0.5), abs=1)
    assert found["memory_p95_bytes"] == pytest.approx(raw.quantile(samples, 0.95), abs=1)
    assert found["memory_max_bytes"] == max(samples)


def test_days_have_the_quantiles_and_peaks_of_their_own_samples(measured: Measures) -> None:
    numbers = {row["series"]: key for key, row in rows(measured).items()}
    frame = measured.tables["container_days"].astype(object)
    found = {
        (numbers[series], end.timestamp()): (None if pd.isna(cpu) else cpu, None if pd.isna(memory) else memory)
        for series, end, cpu, memory in frame.itertuples(index=False, name=None)
    }
    ends = [AT - back * week.DAY for back in range(7)]
    expected = {(key, end): of_day(life, end) for key, life in LIVES.items() for end in ends}
    assert found == {day: figures for day, figures in expected.items() if figures != (None, None)}


def of_day(life: week.Life, end: float) -> tuple[Any, Any]:
    rates = raw.usual_rates(life.cpu_series(), raw.grid(end, week.DAY, STEP), RATE)
    used = [value for series in life.memory_series() for at, value in series if end - week.DAY <= at <= end]
    return nanocores(raw.quantile(rates, 0.95)) if rates else None, max(used, default=None)


def test_instants_have_all_that_ran_at_that_moment(measured: Measures) -> None:
    numbers = {row["series"]: key for key, row in rows(measured).items()}
    found = measured.tables["container_instants"]
    moments = sorted(found["at"].unique())
    assert [moment.timestamp() for moment in moments] == [AT - 3600 * back for back in reversed(range(168))]
    for moment in moments[::29]:
        at, together = moment.timestamp(), found.loc[found["at"] == moment]
        expected = {
            key: (nanocores(max(rates)), value)
            for key, life in LIVES.items()
            if (value := last(life, at)) is not None
            and (rates := [r for series in life.cpu_series() if (r := raw.rate(series, at, RATE)) is not None])
        }
        rows_ = (
            (numbers[n], cpu, memory)
            for n, cpu, memory in zip(together["series"], together["usage_cpu_nanocores"], together["usage_memory_bytes"], strict=True)
        )
        assert {key: (cpu, memory) for key, cpu, memory in rows_ if not pd.isna(cpu) and not pd.isna(memory)} == expected


def last(life: week.Life, at: float) -> float | None:
    """Give the newest sample that is not older than five minutes, of the incarnations the larger."""
    newest = [max((s for s in series if at - 300 <= s[0] <= at), default=None) for series in life.memory_series()]
    return max((sample[1] for sample in newest if sample), default=None)


def test_a_gap_is_no_zero_and_lowers_the_coverage(measured: Measures) -> None:
    lone = rows(measured)["data", "lone", "main"]
    assert lone["cpu_sample_count"] / lone["expected_count"] == pytest.approx(5 / 7, abs=0.01)
    assert lone["memory_p50_bytes"] > 100 * 2**20


def test_kills_and_throttling_are_told(measured: Measures) -> None:
    found = rows(measured)
    assert found["data", "db-0", "db"]["oom_kill_count"] == 1
    assert pd.isna(found["data", "lone", "main"]["oom_kill_count"])
    assert found["data", "lone", "main"]["throttled_ratio"] == pytest.approx(0.4)
    assert pd.isna(found["data", "db-0", "db"]["throttled_ratio"])


def test_pods_that_are_gone_are_of_the_workload_that_made_them(measured: Measures) -> None:
    for (_, name, _), row in rows(measured).items():
        expected = "web-cache" if name.startswith("web-cache") else name.split("-")[0]
        assert row["workload"] == expected
        assert row["listed"] == (LIVES[row["namespace"], name, row["container"]].end == AT)


def test_machines_have_their_own_use(measured: Measures) -> None:
    nodes = measured.tables["node_windows"].set_index("node")
    assert nodes.loc["n2", "cpu_p95_nanocores"] == pytest.approx(10**9, abs=CPU_TOLERANCE)
    assert nodes.loc["n2", "memory_max_bytes"] == 2 * 2**30


def test_what_the_metrics_api_did_not_tell_is_filled_in(measured: Measures) -> None:
    usage = measured.tables["container_usage"]
    assert len(usage) == 6
    assert set(usage["measured_at"]) == {pd.Timestamp(week.AT)}


def test_smaller_parts_change_no_figure(store: str, measured: Measures) -> None:
    with proxy.standing(lambda _: None, store) as way:
        found = measure(way.address, prometheus={"series_per_query": 10, "points_per_query": 11_000, "parallelism": 4})
    assert all(found.tables[name].equals(frame) for name, frame in measured.tables.items() if name != "prometheus")
    assert len(way.requests) > 60
