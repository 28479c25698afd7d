"""Right-sizing by the window of Prometheus: exact peaks, kills, throttling, evidence; nights where it has nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batch.plan.rightsizing.model import METRICS_API, PROMETHEUS, Advice, Verdict
from batch.report.format import render_message
from batch.settings import Settings
from tests.builders import CORE, GIB, MIB, TAKEN_AT
from tests.plan.measured_days import Told, tables
from tests.plan.rightsizing.sized import advice, deployed, samples, sized

WEB = ("Deployment", "web")
HOURS = range(168)


def told(name: str, cpu: int = CORE // 10, memory: int = 100 * MIB, **columns: Any) -> Told:
    """Give a week of a container that always uses the same."""
    more = {key: columns.pop(key) for key in ("listed", "container") if key in columns}
    days = [(back, cpu, memory) for back in range(7)]
    return Told(name, [(hour, cpu, memory) for hour in HOURS], workload=WEB, days=days, columns=columns, **more)


def by_week(*measured: Told, **more: Any) -> Advice:
    pods = [deployed("web-1", cpu=CORE, memory=GIB, memory_limit=GIB)]
    return advice(pods, more.pop("usage_rows", ()), tables=tables(*measured), given=Settings.model_validate({"rightsizing": more}))


def words(one: Advice) -> str:
    return " ".join(map(render_message, one.reasons))


def test_a_week_is_enough_for_advice_that_a_night_is_not() -> None:
    found = by_week(told("web-1"))
    assert found.cpu.verdict is Verdict.LOWER
    assert found.memory.verdict is Verdict.LOWER
    assert found.evidence.source == PROMETHEUS
    assert (found.evidence.sample_count, found.evidence.night_count, found.evidence.coverage_ratio) == (2016, 7, 1.0)
    assert found.evidence.hours == tuple(range(24))


def test_peaks_are_the_servers_over_all_samples_not_those_of_the_instants() -> None:
    found = by_week(told("web-1", cpu_p95_nanocores=3 * CORE // 10, memory_max_bytes=400 * MIB))
    assert found.cpu.peak == 3 * CORE // 10
    assert found.memory.usage == 400 * MIB
    assert found.memory.peak == -(-400 * MIB * 115 // 100)


def test_pods_that_are_gone_count_where_they_were_the_busiest() -> None:
    gone = told("web-0", cpu_p95_nanocores=2 * CORE, memory_max_bytes=700 * MIB, listed=False)
    found = by_week(told("web-1"), gone)
    assert found.cpu.peak == 2 * CORE
    assert found.memory.usage == 700 * MIB
    assert found.pod_count == 1


def test_the_ratio_takes_the_percentile_of_all_pods_together() -> None:
    found = by_week(told("web-1", cpu=CORE // 10), told("web-0", cpu=CORE // 5, listed=False))
    assert found.cpu.target_ratio == pytest.approx(CORE / 5 / 0.7, abs=1)


def test_bounds_need_no_months_with_a_sample_every_five_minutes() -> None:
    found = by_week(told("web-1"))
    assert found.evidence.confidence == pytest.approx(2016 / 1440)
    assert found.cpu.lower_bound is not None
    assert found.cpu.decayed is not None
    assert CORE // 10 < found.cpu.decayed < CORE // 10 * 1.15 * 1.11  # the bucket's end, and 15 %


def test_kills_that_only_prometheus_knows_raise_memory() -> None:
    found = by_week(told("web-1", memory_max_bytes=900 * MIB), told("web-0", oom_kill_count=3, listed=False))
    assert found.kill_count == 3
    assert found.memory.target is not None
    assert found.memory.target >= GIB * 6 // 5
    assert "3 containers were killed for memory, as Prometheus tells, when held to 1 GiB" in words(found).replace("\u00a0", " ")


def test_a_limit_that_holds_a_container_back_is_said() -> None:
    assert "held it back in 43 % of the scheduling periods" in words(by_week(told("web-1", throttled_ratio=0.43))).replace("\u00a0", " ")
    assert "held it back" not in words(by_week(told("web-1", throttled_ratio=0.01)))


def test_a_low_coverage_is_no_ground_for_advice() -> None:
    found = by_week(told("web-1", cpu_sample_count=200, expected_count=2016))
    assert found.cpu.verdict is Verdict.UNKNOWN
    assert "from 7 days" in words(found)
    assert "10 % are" in words(found).replace("\u00a0", " ")


def test_what_prometheus_does_not_know_rests_on_nights_beside_what_it_knows() -> None:
    pods = [deployed("web-1", cpu=CORE), deployed("api-1", workload="api", cpu=CORE)]
    rows = [*samples("web-1", [CORE], [GIB]), *samples("api-1", [CORE // 2], [200 * MIB])]
    found = {one.workload: one for one in sized(pods, rows, tables=tables(told("web-1"))).advice}
    assert found["web"].evidence.source == PROMETHEUS
    assert found["web"].cpu.usage == CORE // 10
    assert found["api"].evidence.source == METRICS_API
    assert (found["api"].cpu.usage, found["api"].evidence.sample_count, found["api"].evidence.night_count) == (CORE // 2, 1, 1)


def test_the_sketch_for_later_nights_is_still_of_the_metrics_api() -> None:
    found = sized([deployed("web-1", cpu=CORE)], samples("web-1", [CORE], [GIB]), tables=tables(told("web-1")))
    assert found.sketch is not None
    assert found.sketch.sample_count == 1
    assert found.sketch.last_at <= TAKEN_AT + timedelta(0)
