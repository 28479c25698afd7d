"""When a growing series reaches a limit, against answers worked out by hand and by formula, and against chance."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from batch.plan.forecast.exhaustion import Exhaustion, estimate
from batch.plan.forecast.model import Refusal

PAGE = Path(__file__).parents[3] / "docs" / "trends.md"
MONDAY = date(2026, 1, 5)


def after(values: Sequence[float], limit: int, *, first: date = MONDAY, horizon: int = 365) -> Exhaustion:
    """Estimate from one value a night."""
    return estimate([(first + timedelta(days=number), round(value)) for number, value in enumerate(values)], limit, horizon)


def test_the_worked_example_of_the_documentation() -> None:
    text = PAGE.read_text(encoding="utf-8")
    nights = [int(cell) for cell in re.findall(r"\d+", re.findall(r"\| cores (.+)\n", text)[0])]
    (limit,) = (int(cores) for cores in re.findall(r"the pool has (\d+):", text))
    told = [int(day) for day in re.findall(r"Full in (\d+) days, between (\d+) and (\d+)\.", text)[0]]
    found = after([cores * 1000 for cores in nights], limit * 1000)
    assert [found.day, found.low, found.high] == told
    assert found.weekly_growth == pytest.approx(14_000)
    assert (found.refusal, found.compound, found.seasonal) == (None, False, False)


def test_growth_at_a_constant_rate_is_told_by_the_formula() -> None:
    values = [10**6 * 1.02 ** (night / 7) for night in range(60)]
    found = after(values, int(1.25 * values[-1]))
    true = 7 * math.log(1.25) / math.log(1.02)
    assert found.compound
    assert found.day == math.ceil(true)
    assert found.low is not None
    assert found.high is not None
    assert true - 0.1 * true < found.low <= true <= found.high < true + 0.1 * true
    assert found.weekly_growth == pytest.approx(values[-1] * 0.02, rel=0.001)


def test_a_step_is_no_growth() -> None:
    values = [10**6 * 1.02 ** (night / 7) * (0.8 if night < 25 else 1) for night in range(60)]
    found = after(values, int(1.25 * values[-1]))
    assert found.step_dates == ((MONDAY + timedelta(days=25)).isoformat(),)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 7 * math.log(1.25) / math.log(1.02) <= found.high
    flat = [800_000 if night < 25 else 1_000_000 for night in range(60)]
    assert after(flat, 1_100_000).refusal is Refusal.NO_TREND


def test_a_step_downwards_does_not_hide_growth() -> None:
    values = [10**6 * (1 + night / 100) - (300_000 if night >= 30 else 0) for night in range(60)]
    found = after(values, int(values[-1] + 200_000))
    assert found.day == pytest.approx(20, abs=1)


def test_the_week_is_no_trend() -> None:
    workdays = [1_000_000 - (400_000 if (MONDAY + timedelta(days=night)).weekday() >= 5 else 0) for night in range(42)]
    assert after(workdays, 1_100_000).refusal is Refusal.NO_TREND
    growing = [value + night * 5000 for night, value in enumerate(workdays)]
    found = after(growing, 1_300_000)
    assert found.seasonal
    # Monday 2026-01-05 is night 0: 1,000,000 + 5,000 n reaches 1,300,000 on night 60, a Friday; tonight is night 41
    assert found.day == 19


@pytest.mark.parametrize("count", range(1, 7))
def test_under_seven_nights_nothing_is_told(count: int) -> None:
    assert after([1000 + 10 * night for night in range(count)], 2000) == Exhaustion(Refusal.FEW_NIGHTS)


def test_seven_nights_of_clear_growth_are_enough() -> None:
    assert after([1000 + 10 * night for night in range(7)], 1160).day == 10


@pytest.mark.parametrize(
    "values",
    [[1000] * 30, [1000 - night for night in range(30)], [1000, 1001] * 15, [0] * 30, [1000] * 29 + [1100]],
    ids=["flat", "shrinking", "to and fro", "nothing", "one jump tonight"],
)
def test_without_growth_nothing_is_told(values: list[int]) -> None:
    assert after(values, 2000).refusal is Refusal.NO_TREND


def test_what_is_full_is_full_however_few_nights() -> None:
    assert (after([100], 100).day, after([100], 100).refusal) == (0, None)


def test_a_date_beyond_the_horizon_is_not_told() -> None:
    found = after([1000 + night for night in range(40)], 5000)
    assert (found.refusal, found.day, found.high) == (Refusal.FAR, None, None)


def test_nights_that_are_missing_count_as_time() -> None:
    dates = [MONDAY + timedelta(days=day) for day in (0, 1, 2, 10, 11, 12, 20, 21, 30)]
    nights = [(day, 1000 + 10 * (day - MONDAY).days) for day in dates]
    assert estimate(nights, 1400, 365).day == 10


def test_growth_that_is_only_chance_is_rarely_told() -> None:
    dice = np.random.default_rng(1)
    told = sum(after(list(10**6 + dice.normal(0, 20_000, 40)), 2 * 10**6).refusal is not Refusal.NO_TREND for _ in range(100))
    assert told <= 5


@pytest.mark.parametrize(
    ("nights", "noise", "weekend", "step"), [(60, 0.01, 0.1, 0.0), (60, 0.005, 0.0, 0.1), (30, 0.01, 0.0, 0.0), (14, 0.005, 0.0, 0.0)]
)
def test_the_interval_holds_the_true_date_at_least_as_often_as_it_says(nights: int, noise: float, weekend: float, step: float) -> None:
    """Series with a known rate of growth, drawn with a fixed seed: the formula gives the true date."""
    dice, hits, told = np.random.default_rng(7), 0, 0
    true = 7 * math.log(1.2) / math.log(1.03)
    for number in range(60):
        first = MONDAY + timedelta(days=number % 7)
        values = []
        for night in range(nights):
            value = 10**6 * 1.03 ** ((night - nights + 1) / 7) * (1 + noise * dice.standard_normal())
            dips = weekend * 10**6 if (first + timedelta(days=night)).weekday() >= 5 else 0
            values.append(value - dips - (step * 10**6 if night < nights // 2 else 0))
        found = after(values, 1_200_000, first=first)
        if found.refusal is not Refusal.NO_TREND:
            told += 1
            hits += (found.low or 999) - 1 <= true <= (found.high or 999)
    assert told >= 40
    assert hits >= 0.8 * told
