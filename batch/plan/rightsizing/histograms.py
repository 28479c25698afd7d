"""Percentiles of many groups at once: of samples as they are, and of samples in buckets with weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batch.snapshot.buckets import Buckets

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_TIE = 1e-9
"""Share by which a sum of weights may miss a percentile and still reach it: rounding must not move a tie into the next bucket."""


def quantiles(group: Integers, values: Integers, q: float) -> tuple[Integers, Floats]:
    """Give the groups that have values, ascending, and the quantile of each: linear between order statistics, at q * (n - 1).

    That is what Prometheus' quantile_over_time and numpy's default do.
    """
    order = np.lexsort((values, group))
    ordered = values[order].astype(np.float64)
    found, start, size = np.unique(group[order], return_index=True, return_counts=True)
    place = q * (size - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, size - 1)
    low, high = ordered[start + below], ordered[start + above]
    return found, low + (high - low) * (place - below)


def largest(group: Integers, values: npt.NDArray[np.generic], count: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Give the largest value of each of `count` groups, rounded up, and which groups have one."""
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, group, np.ceil(values).astype(np.int64))
    return most, np.bincount(group, minlength=count) > 0


@dataclass(frozen=True)
class Histograms:
    """One histogram of weighted samples for each group.

    Of each bucket with a weight, ordered by group and bucket: `bucket`, and `reach`, which is the place of its group among those that
    have weights plus the share of the group's weight up to and including the bucket. `place` is -1 for a group without weights.
    """

    buckets: Buckets
    bucket: Integers
    reach: Floats
    place: Integers

    @classmethod
    def of(cls, buckets: Buckets, group_count: int, group: Integers, bucket: Integers, weight: Floats) -> Histograms:
        """Add up the weights by group and bucket."""
        width = len(buckets.starts)
        cells, cell = np.unique(group * width + bucket, return_inverse=True)
        weights = np.bincount(cell, weights=weight, minlength=len(cells))
        owner = cells // width
        found, place_of_cell = np.unique(owner, return_inverse=True)
        share = np.divide(weights, np.bincount(place_of_cell, weights=weights)[place_of_cell])
        summed: Floats = np.cumsum(share)
        first = np.searchsorted(owner, found)
        before = np.concatenate(([0.0], summed))[first]
        place = np.full(group_count, -1, dtype=np.int64)
        place[found] = np.arange(len(found))
        return cls(buckets, cells % width, place_of_cell + summed - before[place_of_cell], place)

    def percentile(self, q: float) -> Integers:
        """Give the end of the bucket in which each group's percentile falls, 0 where a group has no weights.

        As the Vertical Pod Autoscaler's recommender does (util/histogram.go, Percentile), so it errs high by up to a bucket's width.
        """
        ends = np.zeros(len(self.place), dtype=np.int64)
        known = self.place >= 0
        cell = np.searchsorted(self.reach, self.place[known] + q - _TIE)
        ends[known] = self.buckets.ends(self.bucket[cell])
        return ends
