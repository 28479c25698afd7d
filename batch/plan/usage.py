"""How the pods of a profile use one resource: quantiles, mean, and how many are over a threshold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from batch.plan.model import Distribution

QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 1.0)


def distribution(values: pd.Series, thresholds: Iterable[int]) -> Distribution:
    """Describe the known values (bytes or nanocores), leaving NA out; thresholds are counted strictly above.

    Quantiles interpolate linearly between order statistics at position q * (n - 1), pandas' default.
    """
    known = np.sort(values.dropna().to_numpy(dtype=np.int64))
    if not known.size:
        return Distribution((), None, (), ())
    return Distribution(
        values=tuple(known.tolist()),
        mean=sum(known.tolist()) / known.size,
        quantiles=tuple((q, quantile(known, q)) for q in QUANTILES),
        over=tuple((limit, int(known.size - np.searchsorted(known, limit, side="right"))) for limit in thresholds),
    )


def quantile(values: Sequence[int] | np.ndarray, q: float) -> float:
    """Give the linear-interpolation quantile of at least one value."""
    return float(np.quantile(np.asarray(values, dtype=np.float64), q))


def fit_ratio(use: Distribution, size: int, pods_per_node: int) -> float | None:
    """Give the share of measured pods that use at most `size` / `pods_per_node`, compared in exact integers; None when none was measured."""
    if not use.values:
        return None
    return bisect_right(use.values, size // pods_per_node) / len(use.values)
