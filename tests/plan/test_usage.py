from __future__ import annotations

import pandas as pd
import pytest

from batch.plan.usage import distribution, fit_ratio
from batch.snapshot.views import INTEGER


def values(*numbers: int | None) -> pd.Series:
    return pd.Series(list(numbers), dtype=INTEGER)


def test_quantiles_interpolate_between_the_known_values() -> None:
    found = dict(distribution(values(190, None, 200, 210, 200), ()).quantiles)
    assert found[0.5] == 200
    assert found[0.95] == pytest.approx(208.5)  # rank 0.95 * 3 = 2.85: 200 + 0.85 * 10
    assert found[1.0] == 210


def test_thresholds_are_counted_strictly_above() -> None:
    assert distribution(values(99, 100, 101, None), (100, 99)).over == ((100, 1), (99, 2))


def test_the_mean_leaves_unmeasured_pods_out() -> None:
    assert distribution(values(1, None, 2), ()).mean == 1.5


def test_nothing_measured_says_nothing() -> None:
    found = distribution(values(None, None), (100,))
    assert (found.values, found.mean, found.quantiles, found.over) == ((), None, (), ())
    assert fit_ratio(found, 1000, 10) is None


def test_a_pod_fits_when_it_uses_exactly_its_share() -> None:
    use = distribution(values(33, 34), ())
    assert fit_ratio(use, 100, 3) == 0.5  # a third of 100 is 33.3
    assert fit_ratio(use, 102, 3) == 1.0
