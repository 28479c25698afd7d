from __future__ import annotations

import pandas as pd

from batch.plan.measured import with_usage
from batch.plan.model import Outliers
from batch.plan.outliers import outliers, tolerated
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
    assert one.memory_limit_bytes == GIB
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


def test_memory_needed_grows_by_limit_less_typical_with_each_outlier() -> None:
    one = found(members(limited("a", 1000 * MIB)), pods_per_node=3)
    assert one is not None
    # 3 * 100, 1000 + 2 * 100, 2 * 1000 + 100, 3 * 1000
    assert one.memory_needed_bytes == (300 * MIB, 1200 * MIB, 2100 * MIB, 3000 * MIB)


def test_outliers_are_tolerated_up_to_the_last_that_fits() -> None:
    pods = members(limited("a", 1000 * MIB))
    one = found(pods, pods_per_node=30)
    assert one is not None
    assert len(one.memory_needed_bytes) == 21
    assert tolerated(one, 30, 2999 * MIB) is None  # 30 * 100 does not fit
    assert tolerated(one, 30, 3000 * MIB) == 0
    assert tolerated(one, 30, 4800 * MIB) == 2  # 2 * 1000 + 28 * 100
    assert tolerated(one, 30, 100_000 * MIB) == 30
