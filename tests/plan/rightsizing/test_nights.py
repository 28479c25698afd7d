"""Nights add up: what earlier runs left is worth what it is worth, and no more."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from batch.plan.rightsizing.model import Advice, Verdict
from batch.report.format import render_message
from batch.snapshot.history import History
from batch.snapshot.sketches import Night
from tests.builders import CORE, GIB, MIB, TAKEN_AT, PodRows, UsageRow, pod
from tests.plan.rightsizing.sized import MILLI, advice, deployed, samples, settings, sized

LASTING = settings(samples_min=29, days_min=7, memory_hours_min=12)


def night(back: int, cpu: int, memory: int, pods: list[PodRows] | None = None, rows: list[UsageRow] | None = None) -> Night:
    """Give what a run of so many nights ago left, with one sample of one pod unless told otherwise."""
    sketch = sized(pods or [deployed("old")], rows or samples("old", [cpu], [memory])).sketch
    assert sketch is not None
    moment = TAKEN_AT - timedelta(days=back)
    return replace(sketch, date=moment.date().isoformat(), run_id=f"r{back}", taken_at=moment, first_at=moment, last_at=moment)


@cache
def after(count: int) -> Advice:
    """Give advice for a pod after so many nights with one sample each, tonight included; CPU grows by a millicore a night."""
    nights = tuple(night(back, (count - back) * MILLI, GIB // 4) for back in range(count - 1, 0, -1))
    one = samples("a", [count * MILLI], [GIB // 4])
    return advice([deployed("a", cpu=CORE, memory=GIB)], one, history=History(nights), given=LASTING)


def test_advice_comes_when_there_are_enough_nights() -> None:
    assert after(28).cpu.verdict is Verdict.UNKNOWN
    one = after(29)
    assert (one.evidence.sample_count, one.evidence.night_count, one.evidence.window_seconds) == (29, 29, 28 * 86_400)
    assert (one.cpu.verdict, one.cpu.target) == (Verdict.LOWER, 30 * MILLI)  # the busiest night had 29 m
    assert one.memory.verdict is Verdict.HELD


def test_the_interval_of_the_90th_percentile_is_that_of_the_nights() -> None:
    assert after(28).cpu.interval is None
    assert after(29).cpu.interval == (23 * MILLI, 29 * MILLI)  # the 23rd and the 29th of 1 m to 29 m


def test_many_nights_with_one_sample_have_no_bounds_and_say_how_many_are_missing() -> None:
    one = after(29)
    assert one.evidence.confidence == pytest.approx(29 / 1440)
    assert one.cpu.upper_bound is None
    words = " ".join(render_message(reason) for reason in one.reasons)
    assert "1,411 more nights like this one are missing, more than the 30 days that are kept" in words


def test_several_pods_in_a_night_are_several_samples_but_one_night() -> None:
    pods = [deployed(name) for name in "abcd"]
    rows = [row for place, name in enumerate("abcd", 1) for row in samples(name, [place * MILLI], [place * MIB])]
    one = advice(pods, rows, history=History((night(1, 0, 0, pods, rows), night(2, 0, 0, pods, rows))))
    assert (one.evidence.sample_count, one.evidence.night_count) == (12, 3)
    assert (one.cpu.usage, one.memory.usage) == (4 * MILLI, 4 * MIB)


def test_the_peak_of_an_earlier_night_counts_and_the_target_ratio_is_that_of_all_nights() -> None:
    one = advice(
        [deployed("a")], samples("a", [100 * MILLI], [MIB]), history=History((night(1, CORE, GIB),)), given=settings(target_usage_ratio=1)
    )
    assert (one.cpu.peak, one.memory.peak) == (CORE, GIB * 115 // 100 + 1)
    assert one.cpu.target_ratio == 1_016_281_388  # the end of the bucket of one core


def test_nights_without_a_run_and_pods_that_did_not_answer_lower_the_coverage() -> None:
    # Five days, three runs. One night both pods answered, one night one of two, tonight one of two: 4 of 6 samples, on 3 of 5 days.
    pods = [deployed("a"), deployed("b")]
    both = [*samples("a", [CORE], [GIB]), *samples("b", [CORE], [GIB])]
    nights = (night(4, 0, 0, pods, both), night(2, 0, 0, pods, samples("a", [CORE], [GIB])))
    one = advice(pods, samples("b", [CORE], [GIB]), history=History(nights))
    assert one.evidence.coverage_ratio == pytest.approx(4 / 6 * 3 / 5)


def test_a_workload_is_not_to_blame_for_nights_before_it_was_there() -> None:
    other = pod("old", workload_kind="Deployment", workload="other")
    nights = tuple(night(back, CORE, GIB, [other]) for back in (3, 2, 1))
    assert advice([deployed("a")], samples("a", [CORE], [GIB]), history=History(nights)).evidence.coverage_ratio == 1


def test_a_sketch_leaves_out_what_has_no_lasting_name() -> None:
    pods = [deployed("a"), pod("bare"), pod("once", workload_kind="Job", workload="once")]
    rows = [row for name in ("a", "bare", "once") for row in samples(name, [CORE], [GIB])]
    sketch = sized(pods, rows).sketch
    assert sketch is not None
    assert sketch.sketches["workload"].to_pylist() == ["web"]


def test_a_night_without_measurements_leaves_no_sketch() -> None:
    assert sized([deployed("a")]).sketch is None
