from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest

from batch.plan.overrun import Draws
from batch.plan.sums import Sums


def overrun(values: list[int], pod_count: int, size: int, bin_width: int = 1) -> float:
    return Draws(values, bin_width, [size]).overrun(pod_count, size)


def brute_force(values: list[int], pod_count: int, size: int) -> float:
    draws = list(itertools.product(values, repeat=pod_count))
    return sum(sum(draw) > size for draw in draws) / len(draws)


@pytest.mark.parametrize(("size", "chance"), [(3, 7 / 8), (4, 4 / 8), (5, 1 / 8)])
def test_three_pods_of_one_or_two(size: int, chance: float) -> None:
    # over 5 only 2 + 2 + 2: 1 of 8; over 4 also the three orders of 1 + 2 + 2: 4 of 8; over 3 all but 1 + 1 + 1: 7 of 8
    assert overrun([1, 2], 3, size) == pytest.approx(chance)


@pytest.mark.parametrize("pod_count", [1, 2, 3, 5])
def test_every_size_agrees_with_counting_all_draws(pod_count: int) -> None:
    values = [0, 0, 3, 7, 19]
    sizes = range(19 * pod_count + 2)
    draws = Draws(values, 1, sizes)
    assert [draws.overrun(pod_count, size) for size in sizes] == pytest.approx(
        [brute_force(values, pod_count, size) for size in sizes], abs=1e-12
    )


@pytest.mark.parametrize("pod_count", [15, 16, 40, 100, 235])
def test_busy_pods_follow_the_binomial_distribution(pod_count: int) -> None:
    # 1 pod in 10 uses a core; of room for 8 cores more than 8 of them are busy
    more = sum(comb(pod_count, k) * 0.1**k * 0.9 ** (pod_count - k) for k in range(9, pod_count + 1))
    assert overrun([0] * 9 + [1000], pod_count, 8000, 10) == pytest.approx(more, abs=1e-12)


def test_values_are_rounded_up_to_their_bin() -> None:
    # 11 counts as 20 in bins of 10, so two pods need 40
    assert (overrun([11], 2, 39, 10), overrun([11], 2, 40, 10)) == (1.0, 0.0)


def test_what_cannot_happen_is_exactly_zero_and_no_room_is_certain_to_overrun() -> None:
    assert (overrun([5, 10], 3, 30), overrun([5, 10], 3, -1)) == (0.0, 1.0)


def test_values_over_the_size_overrun_by_themselves() -> None:
    # one pod in four is over the size; neither of two is with (3/4)^2
    assert overrun([1, 1, 1, 10**9], 2, 5) == pytest.approx(1 - 9 / 16)


@pytest.mark.parametrize("size", [0, 60, 500, 1_000, 5_000, 40_000])
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.5])
def test_the_most_pods_are_those_that_trying_every_number_finds(size: int, chance: float) -> None:
    values = [int(value) for value in np.random.default_rng(1).lognormal(3, 1.5, 200)]
    draws = Draws(values, 1, [size])
    tried = [pod_count for pod_count in range(1, 121) if draws.overrun(pod_count, size) <= chance]
    assert draws.most_pods(size, chance, 120) == max(tried, default=0)


def test_no_pod_fits_without_room_and_no_more_than_the_limit() -> None:
    draws = Draws([5], 1, [-1, 4, 5, 50])
    assert [draws.most_pods(size, 0.01, 7) for size in (-1, 4, 5, 50)] == [0, 0, 1, 7]


def test_on_very_large_machines_the_search_errs_to_the_safe_side_by_less_than_eight_bins_a_pod() -> None:
    size = 1 << 20
    fine = Draws([9_000, 1], 1, [size])
    found = fine.most_pods(size, 0.01, 400)
    assert fine.overrun(found, size) <= 0.01
    assert fine.overrun(found + 2, size) > 0.01


def test_sums_of_any_number_agree_with_adding_one_at_a_time() -> None:
    single = np.array([0.5, 0.0, 0.3, 0.1, 0.0, 0.1])
    sums, added = Sums(single), single
    for pod_count in range(2, 70):
        added = np.convolve(added, single)[: len(single)]
        assert sums.within(pod_count, 4) == pytest.approx(added[:5].sum(), abs=1e-13)


def test_chances_are_the_same_when_sums_of_other_sizes_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    values, sizes = [3, 5, 5, 8, 40], (30, 100, 400, 1600)
    asked = list(itertools.product((1, 2, 17, 40), sizes)) * 2
    kept = Draws(values, 1, sizes)
    expected = [kept.overrun(pod_count, size) for pod_count, size in asked]
    monkeypatch.setattr("batch.plan.overrun._MOST_KEPT_BYTES", 0)
    forgetful = Draws(values, 1, sizes)
    assert [forgetful.overrun(pod_count, size) for pod_count, size in asked] == expected
