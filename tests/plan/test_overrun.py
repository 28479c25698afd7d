from __future__ import annotations

import itertools
from math import comb

import pytest

from batch.plan.overrun import overrun_probabilities


def brute_force(values: list[int], pod_count: int, size: int) -> float:
    draws = list(itertools.product(values, repeat=pod_count))
    return sum(sum(draw) > size for draw in draws) / len(draws)


def test_three_pods_of_one_or_two() -> None:
    # over 5 only 2 + 2 + 2: 1 of 8; over 4 also the three orders of 1 + 2 + 2: 4 of 8; over 3 all but 1 + 1 + 1: 7 of 8
    found = overrun_probabilities([1, 2], 3, [3, 4, 5], 1)
    assert found == pytest.approx({3: 7 / 8, 4: 4 / 8, 5: 1 / 8})


@pytest.mark.parametrize("pod_count", [1, 2, 3, 5])
def test_every_size_agrees_with_counting_all_draws(pod_count: int) -> None:
    values = [0, 0, 3, 7, 19]
    sizes = range(19 * pod_count + 2)
    assert overrun_probabilities(values, pod_count, sizes, 1) == pytest.approx(
        {size: brute_force(values, pod_count, size) for size in sizes}, abs=1e-12
    )


def test_busy_pods_follow_the_binomial_distribution() -> None:
    # 1 pod in 10 uses a core, 40 on a node of 8: more than 8 of them are busy
    more = sum(comb(40, k) * 0.1**k * 0.9 ** (40 - k) for k in range(9, 41))
    assert overrun_probabilities([0] * 9 + [1000], 40, [8000], 10) == pytest.approx({8000: more}, abs=1e-12)


def test_values_are_rounded_up_to_their_bin() -> None:
    # 11 counts as 20 in bins of 10, so two pods need 40
    assert overrun_probabilities([11], 2, [39, 40], 10) == pytest.approx({39: 1.0, 40: 0.0})


def test_what_cannot_happen_is_exactly_zero_and_no_room_is_certain_to_overrun() -> None:
    assert overrun_probabilities([5, 10], 3, [30, -1], 1) == {30: 0.0, -1: 1.0}


def test_values_over_the_largest_size_overrun_by_themselves() -> None:
    # one pod in four is over the size; neither of two is with (3/4)^2
    assert overrun_probabilities([1, 1, 1, 10**9], 2, [5], 1) == pytest.approx({5: 1 - 9 / 16})
