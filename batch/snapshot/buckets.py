"""Exponential buckets: how usage is kept from night to night in little room.

Origin: the Vertical Pod Autoscaler's recommender (kubernetes/autoscaler at 55c37cd, August 2026,
vertical-pod-autoscaler/pkg/recommender/model/aggregations_config.go and util/histogram_options.go): bucket n begins at
first * (1.05^n - 1) / 0.05; CPU from 0.01 core to 1,000 cores, memory from 1e7 to 1e12 bytes. That makes 176 buckets each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

RATIO = 1.05
"""How much wider each bucket is than the one before it, and so how exactly a value stays known: to about 5 percent."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Buckets:
    """Buckets for integers of one unit: the first is `first` wide, the last begins at `most` or above it."""

    first: int
    most: int
    starts: Integers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out where each bucket begins, rounded down to whole units as the recommender rounds."""
        count = math.ceil(math.log(self.most * (RATIO - 1) / self.first + 1, RATIO)) + 1
        powers = np.power(RATIO, np.arange(count, dtype=np.float64))
        object.__setattr__(self, "starts", np.asarray(self.first * (powers - 1) / (RATIO - 1), dtype=np.int64))

    def find(self, values: Integers) -> Integers:
        """Give the bucket of each value, none of them negative: the last bucket that begins at it or below."""
        return np.searchsorted(self.starts, values, side="right") - 1

    def ends(self, buckets: Integers) -> Integers:
        """Give where each bucket ends, which is what a value in it is taken for; the last has no end and gives its start."""
        return self.starts[np.minimum(buckets + 1, len(self.starts) - 1)]


CPU = Buckets(first=10**7, most=1000 * 10**9)
"""Nanocores."""

MEMORY = Buckets(first=10**7, most=10**12)
"""Bytes."""
