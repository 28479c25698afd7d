"""Trends of hand-made nights: what is remembered, what moved, what is warned of."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from batch.gpu.assess import assess as assess_gpu
from batch.gpu.levels import levels
from batch.plan.assess import assess as assess_plan
from batch.plan.forecast.assess import assess
from batch.plan.forecast.model import Comparison, Refusal, Trends
from batch.plan.price_list import read as read_prices
from batch.settings import PriceSettings, Settings
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.model import Snapshot
from batch.snapshot.summaries import Level
from tests.builders import CORE, GIB, PodRows, node, pod, snapshot
from tests.remembered import before, growing_to

GPU = "nvidia.com/gpu"
POOL = {"karpenter.sh/nodepool": "general"}


def trends(shot: Snapshot, history: History = NO_HISTORY, **settings: Any) -> Trends:
    chosen = Settings(**settings)
    plan = assess_plan(shot, chosen, prices=read_prices(chosen.prices))
    return assess(shot, plan, tuple(levels(assess_gpu(shot, chosen))), history, chosen)


def shot_of(*pods: PodRows, **parts: Any) -> Snapshot:
    return snapshot(nodes=[node("n1", cpu=10 * CORE, memory=100 * GIB, labels=POOL)], pods=pods, **parts)


def web(name: str, cores: float = 1, **more: Any) -> PodRows:
    return pod(name, **{"cpu": int(cores * CORE), "memory": GIB, "workload_kind": "Deployment", "workload": "web", **more})


def test_tonight_is_remembered_with_its_pools_and_accelerators() -> None:
    machine = node("n1", cpu=10 * CORE, memory=100 * GIB, labels=POOL, resources={GPU: (8, 8)})
    shot = snapshot(nodes=[machine], pods=[web("a", usage=(CORE // 2, GIB // 2)), web("b", resources={GPU: 3})])
    tonight = trends(shot).tonight
    assert (tonight.node_count, tonight.bound_pod_count, tonight.date, tonight.namespaces) == (1, 2, shot.date, None)
    assert tonight.level(None, "cpu") == Level(None, "cpu", 10 * CORE, 2 * CORE, CORE // 2)
    assert tonight.level("general", "memory") == Level("general", "memory", 100 * GIB, 2 * GIB, GIB // 2)
    assert tonight.level("general", GPU) == Level("general", GPU, 8, 3)
    assert tonight.level(None, GPU) == Level(None, GPU, 8, 3)
    assert tonight.level(None, "pods") == Level(None, "pods", 110, 2)


def test_what_is_not_known_tonight_is_not_zero() -> None:
    tonight = trends(snapshot(pods=[web("a")], unread=["nodes"])).tonight
    level = tonight.level(None, "cpu")
    assert level is not None
    assert (tonight.node_count, level.allocatable, level.usage) == (None, None, None)


def test_a_month_has_a_cost_only_where_every_node_has_a_price() -> None:
    prices = PriceSettings(currency="EUR", per_hour={"m5.xlarge": 0.1}, date=date(2026, 2, 1))
    known = snapshot(nodes=[node("n1", instance_type="m5.xlarge"), node("n2", instance_type="m5.xlarge")])
    assert (trends(known, prices=prices).tonight.monthly_cost, trends(known, prices=prices).tonight.currency) == (146.0, "EUR")
    other = snapshot(nodes=[node("n1", instance_type="m5.xlarge"), node("n2", instance_type="odd")])
    assert (trends(other, prices=prices).tonight.monthly_cost, trends(other, prices=prices).tonight.currency) == (None, None)
    assert trends(known).tonight.monthly_cost is None


def test_workloads_add_up_their_pods_and_the_nameless_their_namespace() -> None:
    alone: dict[str, Any] = {"workload_kind": "Pod", "cpu": CORE, "memory": GIB}
    pods = [web("a"), web("b", usage=(CORE, GIB)), pod("x", workload="x", **alone), pod("y", workload="y", **alone)]
    rows = trends(shot_of(*pods)).workloads.table.to_pylist()
    assert [
        (row["kind"], row["workload"], row["pod_count"], row["requests_cpu_nanocores"], row["usage_cpu_nanocores"]) for row in rows
    ] == [
        ("Deployment", "web", 2, 2 * CORE, CORE),
        ("Pod", "", 2, 2 * CORE, None),
    ]


def test_a_pool_that_fills_up_is_forecast_and_warned_of() -> None:
    shot = shot_of(web("a", 8))
    nights = growing_to(trends(shot).tonight, 20, CORE // 10)
    found = trends(shot, History(summaries=nights))
    (cpu,) = (one for one in found.forecasts if (one.pool, one.resource) == ("general", "cpu"))
    assert cpu.exhausted_at == shot.taken_at + timedelta(days=20)
    assert cpu.low is not None
    assert cpu.high is not None
    assert cpu.low <= cpu.exhausted_at <= cpu.high
    assert cpu.night_count == 21
    assert cpu.weekly_growth == pytest.approx(0.7 * CORE)
    (finding,) = found.findings
    assert (finding.id, finding.severity.value) == ("trends.filling/general/cpu", "warning")
    assert trends(shot, History(summaries=nights), trends={"warning_seconds": 86_400}).findings == ()


def test_a_full_pool_is_full_tonight_and_no_forecast() -> None:
    found = trends(shot_of(web("a", 10)))
    (cpu,) = (one for one in found.forecasts if (one.pool, one.resource) == ("general", "cpu"))
    assert (cpu.exhausted_at, cpu.low, cpu.high, cpu.refusal) == (found.tonight.taken_at,) * 3 + (None,)
    assert found.findings == ()


def test_under_seven_nights_it_says_so() -> None:
    shot = shot_of(web("a", 8))
    found = trends(shot, History(summaries=growing_to(trends(shot).tonight, 5, CORE // 10)))
    assert {one.refusal for one in found.forecasts} == {Refusal.FEW_NIGHTS}


def test_nights_that_stopped_early_do_not_count_for_a_forecast() -> None:
    shot = shot_of(web("a", 8))
    nights = tuple(
        replace(night, complete=number % 2 == 0) for number, night in enumerate(growing_to(trends(shot).tonight, 20, CORE // 10))
    )
    found = trends(shot, History(summaries=nights))
    assert {one.night_count for one in found.forecasts} == {11}


def compared(old: list[PodRows], new: list[PodRows], **history: Any) -> Comparison:
    earlier = trends(shot_of(*old))
    night = replace(earlier.workloads, date=before(earlier.tonight, 1).date)
    given = {"summaries": (before(earlier.tonight, 1),), "last_night": night, **history}
    found = trends(shot_of(*new), History(**given)).last_night
    assert found is not None
    return found


def test_workloads_that_moved_come_largest_first() -> None:
    db: dict[str, Any] = {"workload": "db", "cpu": CORE, "memory": 20 * GIB}
    old = [web("a"), web("b"), web("gone", workload="old", cores=0.5)]
    new = [web("a"), web("b"), web("c"), web("d", **db)]
    found = compared(old, new)
    assert found.movers is not None
    assert [(one.workload, one.pods, one.requests_cpu) for one in found.movers] == [
        ("db", (None, 1), (None, CORE)),  # a fifth of the memory outweighs a tenth of the CPU
        ("web", (2, 3), (2 * CORE, 3 * CORE)),
        ("old", (1, None), (CORE // 2, None)),
    ]
    assert {change.what: (change.before, change.now) for change in found.changes}["cpu requests"] == (2.5 * CORE, 4 * CORE)


def test_a_request_that_is_not_known_moves_nothing() -> None:
    found = compared([web("a", cpu=None, memory=None)], [web("a")])
    assert found.movers == ()


def test_figures_are_compared_also_where_workloads_are_not_known() -> None:
    found = compared([web("a")], [web("a"), web("b")], last_night=None)
    assert found.movers is None
    assert found.changes[1].now == 2


def test_last_week_is_compared_also_where_its_workloads_are_not_known() -> None:
    shot = shot_of(web("a"))
    tonight = trends(shot).tonight
    found = trends(shot, History(summaries=tuple(before(tonight, days) for days in (14, 8, 6, 1)))).last_week
    assert found is not None
    assert (found.date, found.movers) == (before(tonight, 8).date, None)


def test_a_first_night_has_nothing_to_compare_with() -> None:
    first = trends(shot_of(web("a")))
    assert (first.last_night, first.last_week, len(first.summaries)) == (None, None, 1)
