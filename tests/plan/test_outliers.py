from __future__ import annotations

import pandas as pd
import pytest

from batch.plan.measured import with_usage
from batch.plan.model import Outliers
from batch.plan.outliers import outliers, overflow_probability, tolerated
from batch.plan.usage import distribution
from batch.settings import PlanSettings
from tests.builders import GIB, MIB, PodRows, pod, snapshot


def members(*rows: PodRows) -> pd.DataFrame:
    return with_usage(snapshot(pods=rows), 600)


def found(pods: pd.DataFrame, pods_per_node: int = 10, settings: PlanSettings | None = None) -> Outliers | None:
    return outliers(pods, distribution(pods["usage_memory_bytes"], ()), pods_per_node, settings or PlanSettings())


def limited(name: str, limit: int, use: int = 100 * MIB) -> PodRows:
    return pod(name, memory_limit=limit, usage=(0, use))


def test_the_commonest_limit_counts_and_of_equally_common_ones_the_larger() -> None:
    one = found(members(limited("a", GIB), limited("b", 2 * GIB), limited("c", GIB)))
    assert one is not None
    assert one.memory_limit_bytes == one.level_bytes == GIB
    tie = found(members(limited("a", GIB), limited("b", 2 * GIB)))
    assert tie is not None
    assert tie.memory_limit_bytes == 2 * GIB


def test_a_limit_of_some_containers_is_no_limit_of_the_pod() -> None:
    assert found(members(pod("a", memory_limit=GIB, memory_limited=False, usage=(0, MIB)))) is None


def test_the_setting_is_stronger_and_nothing_measured_gives_nothing() -> None:
    set_limit = PlanSettings(memory_limit_bytes=4 * GIB)
    one = found(members(limited("a", GIB)), settings=set_limit)
    assert one is not None
    assert (one.memory_limit_bytes, one.limit_source) == (4 * GIB, "the setting plan.memory_limit_bytes")
    assert found(members(pod("a")), settings=set_limit) is None


def test_the_outlier_level_may_be_another_than_the_limit_and_needs_none() -> None:
    level = PlanSettings(outlier_level_bytes=500 * MIB)
    one = found(members(limited("a", GIB)), pods_per_node=2, settings=level)
    assert one is not None
    assert (one.memory_limit_bytes, one.level_bytes) == (GIB, 500 * MIB)
    assert one.memory_needed_bytes == (200 * MIB, 600 * MIB, 1000 * MIB)
    without = found(members(pod("a", usage=(0, MIB))), settings=level)
    assert without is not None
    assert (without.memory_limit_bytes, without.level_bytes) == (None, 500 * MIB)


def test_the_share_of_outliers_is_that_of_the_pods_within_a_tenth_of_their_limit() -> None:
    pods = members(
        limited("at", 1000 * MIB, 900 * MIB),
        limited("under", 1000 * MIB, 900 * MIB - 1),
        limited("small", 10 * MIB, 9 * MIB),
        limited("idle", GIB, 0),
        pod("unlimited", usage=(0, GIB)),
        pod("unmeasured", memory_limit=GIB),
    )
    one = found(pods)
    assert one is not None
    assert (one.share, one.share_source) == (0.5, "2 of 4 measured pods are within a tenth of it")
    level = found(pods, settings=PlanSettings(outlier_level_bytes=1000 * MIB))
    assert level is not None
    assert level.share == 2 / 5  # "at" and "unlimited" of five measured
    given = found(pods, settings=PlanSettings(outlier_share=0.125))
    assert given is not None
    assert (given.share, given.share_source) == (0.125, "the setting plan.outlier_share")


def test_memory_needed_grows_by_limit_less_typical_with_each_outlier() -> None:
    one = found(members(limited("a", 1000 * MIB)), pods_per_node=3)
    assert one is not None
    # 3 * 100, 1000 + 2 * 100, 2 * 1000 + 100, 3 * 1000
    assert one.memory_needed_bytes == (300 * MIB, 1200 * MIB, 2100 * MIB, 3000 * MIB)


def test_outliers_are_tolerated_up_to_the_last_that_fits() -> None:
    level, typical = 1000 * MIB, 100.0 * MIB
    assert tolerated(level, typical, 30, 2999 * MIB) is None  # 30 * 100 does not fit
    assert tolerated(level, typical, 30, 3000 * MIB) == 0
    assert tolerated(level, typical, 30, 4800 * MIB) == 2  # 2 * 1000 + 28 * 100
    assert tolerated(level, typical, 30, 100_000 * MIB) == 30


# The example of JupyterHub's capacity planning: 8 GiB for 8 pods, of which the light ones use 0.5 GiB. At 2 GiB two fit (2 * 2 + 6 * 0.5 = 7)
# and three do not (8.5); at 3 GiB one fits (6.5) and two do not (9). With p = 1/8, of 8^8 = 16,777,216 equal cases 7^8 have none at the level,
# 8 * 7^7 one and 28 * 7^6 two; with p = 1/2, of 2^8 = 256 cases 1, 8 and 28.
@pytest.mark.parametrize(
    ("level_gib", "withstood", "one_in_eight", "half"),
    [
        (2, 2, (16_777_216 - 5_764_801 - 6_588_344 - 3_294_172) / 16_777_216, 219 / 256),  # 6.7 % and 85.5 %
        (3, 1, (16_777_216 - 5_764_801 - 6_588_344) / 16_777_216, 247 / 256),  # 26.4 % and 96.5 %
    ],
)
def test_the_capacity_example_of_jupyterhub(level_gib: int, withstood: int, one_in_eight: float, half: float) -> None:
    assert tolerated(level_gib * GIB, 0.5 * GIB, 8, 8 * GIB) == withstood
    assert overflow_probability(8, withstood, 1 / 8) == pytest.approx(one_in_eight)
    assert overflow_probability(8, withstood, 1 / 2) == pytest.approx(half)


def test_certainty_and_large_nodes() -> None:
    assert (overflow_probability(8, 2, 0.0), overflow_probability(8, 2, 1.0), overflow_probability(8, 8, 1.0)) == (0.0, 1.0, 0.0)
    # of 1,000 pods that are outliers with one half more than 499 are with one half and half the chance of exactly 500
    exactly = 0.0252250182
    assert overflow_probability(1000, 499, 0.5) == pytest.approx(0.5 + exactly / 2, abs=1e-9)
