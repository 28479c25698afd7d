"""Chances at many instants: as those of one instant each, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest

from batch.plan.overrun import MEMORY_BIN_BYTES, Draws
from batch.plan.overrun_instants import Moments
from tests.builders import GIB, MIB

SIZES = (2 * GIB, 6 * GIB, 14 * GIB)


def days() -> list[np.ndarray]:
    """Give twelve instants of 300 pods whose needs rise and fall, with a heavy tail."""
    chance = np.random.default_rng(7)
    return [(chance.lognormal(17.3 + 0.4 * np.sin(hour / 2), 0.9, 300)).astype(np.int64) for hour in range(12)]


@pytest.fixture(scope="module")
def moments() -> Moments:
    return Moments(days(), MEMORY_BIN_BYTES, (*SIZES, -MIB))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("pod_count", [1, 7, 60, 100, 250])
def test_each_instant_has_the_chance_that_it_has_alone(moments: Moments, size: int, pod_count: int) -> None:
    alone = [Draws(values, MEMORY_BIN_BYTES, [size]).overrun(pod_count, size) for values in days()]
    assert moments.overruns(pod_count, size) == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chance", [0.01, 0.3])
def test_most_pods_are_those_that_every_instant_alone_allows(moments: Moments, size: int, chance: float) -> None:
    alone = [Draws(values, MEMORY_BIN_BYTES, [size]).most_pods(size, chance, 250) for values in days()]
    most, decisive = moments.most_pods(size, chance, 250)
    assert most == min(alone)
    assert alone[decisive] == most


def test_a_size_of_nothing_is_always_overrun(moments: Moments) -> None:
    assert set(moments.overruns(3, -MIB)) == {1.0}
    assert moments.most_pods(-MIB, 0.01, 250)[0] == 0


def test_instants_without_a_pod_do_not_count() -> None:
    found = Moments([np.array([], dtype=np.int64), np.array([GIB])], MEMORY_BIN_BYTES, [3 * GIB])
    assert found.overruns(4, 3 * GIB).tolist() == [1.0]
    assert found.most_pods(3 * GIB, 0.01, 10)[0] == 3
