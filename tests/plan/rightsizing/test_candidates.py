"""The candidates are what KRR and the Vertical Pod Autoscaler's recommender give for the same samples, and what the docs work out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from batch.plan.rightsizing.candidates import interval_ranks
from batch.plan.rightsizing.histograms import Histograms
from batch.snapshot.buckets import CPU, MEMORY, Buckets
from batch.snapshot.history import History
from tests.builders import CORE, GIB, MIB, UsageRow, usage
from tests.plan.rightsizing.sized import MILLI, advice, at, deployed, samples, sized

EXAMPLES = Path(__file__).parents[3] / "docs" / "worked-examples.md"


def test_peak_is_the_95th_percentile_of_the_busiest_pod_and_the_memory_peak_with_15_percent() -> None:
    # KRR: each pod's quantile_over_time(0.95), then the largest of them. Pod a: rank 0.95 * 4 = 3.8, 400 + 0.8 * 100 = 480 m.
    # Pod b: rank 0.95 * 1, 450 + 0.95 * 20 = 469 m. Memory: 300 MiB * 1.15 = 345 MiB.
    a = samples("a", [100 * MILLI, 300 * MILLI, 200 * MILLI, 500 * MILLI, 400 * MILLI], [90 * MIB] * 5)
    b = samples("b", [450 * MILLI, 470 * MILLI], [300 * MIB, 10 * MIB])
    one = advice([deployed("a"), deployed("b")], [*a, *b])
    assert (one.cpu.peak, one.memory.peak) == (480 * MILLI, 345 * MIB)


@pytest.mark.parametrize(
    ("buckets", "value", "end"),
    [
        (CPU, CORE // 4, 258_403_663),
        (CPU, CORE, 1_016_281_388),
        (CPU, 4 * CORE, 4_124_698_514),
        (MEMORY, 250 * MIB, 281_323_846),
        (MEMORY, GIB, 1_077_095_457),
        (MEMORY, 8 * GIB, 8_790_737_608),
        (CPU, 0, 10 * MILLI),
        (MEMORY, 10**15, 1_021_109_408_904),  # the last bucket has no end, so its start: 1e7 * (1.05^175 - 1) / 0.05
    ],
)
def test_a_percentile_is_the_end_of_the_recommenders_bucket(buckets: Buckets, value: int, end: int) -> None:
    found = Histograms.of(buckets, 1, np.array([0]), buckets.find(np.array([value])), np.array([1.0]))
    assert found.percentile(0.9).tolist() == [end]


def test_decayed_adds_the_margin() -> None:
    one = advice([deployed("a")], samples("a", [CORE // 4], [GIB]))
    assert one.cpu.decayed == 258_403_663 + 38_760_549  # 15 percent, what is less than a nanocore cut off
    assert one.memory.decayed == 1_077_095_457 + 161_564_318


@pytest.mark.parametrize(("days", "end", "margin"), [(3, 1_016_281_388, 152_442_208), (4, 110_265_643, 16_539_846)])
def test_old_samples_lose_half_of_their_weight_each_day(days: int, end: int, margin: int) -> None:
    # 100 m now weighs 1. One core 3 days ago weighs 1/8: 0.9 * 1.125 = 1.0125 is not reached by 1, so p90 is in the bucket of one core.
    # 4 days ago it weighs 1/16: 0.9 * 1.0625 = 0.956 is reached, and the bucket of 100 m ends at 0.2 * (1.05^9 - 1) = 0.1102656.
    rows = [usage("a", 100 * MILLI, MIB), usage("a", CORE, MIB, measured_at=at(hours=24 * days))]
    assert advice([deployed("a")], rows).cpu.decayed == end + margin


def test_bounds_widen_by_confidence() -> None:
    # A sample a minute for one day and one minute: confidence min(1440 / 1440 days, 1441 / 1440) = 1.
    # 258403663 and 15 percent: 297164212. Upper bound times 1 + 1/1, lower bound times (1 + 0.001)^-2 = 0.998003.
    one = advice([deployed("a")], samples("a", [CORE // 4] * 1441, [GIB] * 1441))
    assert one.evidence.confidence == 1
    assert one.cpu.upper_bound == 2 * 297_164_212
    assert one.cpu.lower_bound == pytest.approx(297_164_212 * 0.998003, rel=1e-6)
    assert one.cpu.target is not None


def test_below_a_confidence_of_one_there_are_no_bounds() -> None:
    one = advice([deployed("a")], samples("a", [CORE // 4] * 1440, [GIB] * 1440))
    assert one.evidence.confidence < 1
    assert (one.cpu.lower_bound, one.cpu.upper_bound, one.memory.lower_bound, one.memory.upper_bound) == (None,) * 4


def test_memory_counts_once_a_day_with_its_peak() -> None:
    # Nine samples of 100 MiB and one of 1 GiB within a day are one sample of 1 GiB.
    one = advice([deployed("a")], samples("a", [CORE] * 10, [100 * MIB] * 9 + [GIB]))
    assert one.memory.decayed == 1_077_095_457 + 161_564_318


def test_the_interval_of_the_90th_percentile_needs_29_nights() -> None:
    # 0.9^28 = 0.0523 and 0.9^29 = 0.0471: of 29 values the largest is above the 90th percentile in 95 of 100 cases, of 28 it is not.
    # P(at most 22 of 29 below) = 0.0216 and P(at most 23) = 0.0637: the 23rd is the lower end.
    assert interval_ranks(28) is None
    assert interval_ranks(29) == (23, 29)


CPU_USES = [50, 60, 70, 80, 90, 100, 110, 120, 130, 250]
MEMORY_USES = [200, 210, 220, 230, 240, 250, 260, 270, 280, 500]


def example(cpu: list[int], memory: list[int]) -> list[UsageRow]:
    return [usage(f"p{i}", c * MILLI, m * MIB) for i, (c, m) in enumerate(zip(cpu, memory, strict=True))]


def test_the_worked_example_of_the_docs() -> None:
    pods = [deployed(f"p{i}") for i in range(10)]
    one = advice(pods, example(CPU_USES, MEMORY_USES))
    assert (one.cpu.peak, one.cpu.decayed, one.cpu.target_ratio) == (250_000_000, 163_378_051, 280_000_000)
    assert (one.memory.peak, one.memory.decayed, one.memory.target_ratio) == (602_931_200, 351_198_544, 600_684_252)
    before = sized(pods, example([300] * 10, [280] * 10)).sketch
    assert before is not None
    yesterday = type(before)("2026-02-28", "r", at(hours=24), at(hours=24), at(hours=24), before.sketches)
    later = advice(pods, example(CPU_USES, MEMORY_USES), history=History((yesterday,)))
    assert later.cpu.decayed == 351_198_544
    assert later.cpu.peak == 300_000_000


def test_the_docs_have_the_numbers_of_the_worked_example() -> None:
    page = EXAMPLES.read_text(encoding="utf-8")
    for number in ("250,000,000", "163,378,051", "280,000,000", "602,931,200", "351,198,544", "600,684,252"):
        assert number in page
