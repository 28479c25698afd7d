"""The chance that the pods of a node together need more than it has, and how many pods keep it small."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from batch.plan.sums import Floats, Integers, Sums

MEMORY_BIN_BYTES = 1024**2
CPU_BIN_NANOCORES = 10**6

_NOTHING = 1e-15
"""Beside 1 a double cannot tell less than this from 0, and neither can the convolution."""

_ALIKE = 2
"""Sizes up to this factor apart share the sums of pods, which are kept up to the largest of them."""

_FINE = 1 << 19
"""Bins of a size up to which many numbers of pods are tried in bins of their own width, and beyond it in eightfold ones."""

_MOST_KEPT_BYTES = 32 * 1024**2
"""Sums kept for sizes that were asked for before. Without a bound, flavors up to 2 TiB took 450 MiB for the pods of a large cluster; with it the
sums of some are worked out twice."""

_TILTS = np.geomspace(1e-4, 1e4, 65)
"""Where the bound is tried, in 1 / mean; any of them gives a valid one, and a closer grid hardly a lower one."""


class Draws:
    """Pods drawn independently from measured ones, and the chance that a number of them needs more than a size.

    `values`, `sizes` and `bin_width` share a unit; only the sizes given are asked for later. Each value is rounded up to its bin, so a
    chance errs to the safe side by less than one bin a pod; apart from that it is exact: the N-fold convolution of the values'
    distribution, without random numbers. No value is negative, so the chance never falls as pods are added.

    Sums are worked out once for sizes of about the same amount (see Sums). Where Chernoff's bounds already tell that a chance is nothing,
    certain, small enough or too large, nothing is convolved: that leaves out most machines that are far too large or too small.
    """

    def __init__(self, values: Sequence[int] | Integers, bin_width: int, sizes: Collection[int]) -> None:
        bins = -(-np.asarray(values, dtype=np.int64) // bin_width)
        self._values, self._bin_width = values, bin_width
        self._large = [size for size in sizes if size // bin_width > _FINE]
        self._bins, counts = np.unique(bins, return_counts=True)
        self._shares: Floats = counts / bins.size
        tilts = _TILTS / (float(self._bins @ self._shares) or 1.0)
        self._tilts: Floats = np.concatenate([-tilts, tilts])
        self._logarithms = np.array([self._log_moment(tilt) for tilt in self._tilts])
        self._groups = _groups(size // bin_width for size in sizes)
        self._sums: dict[int, Sums] = {}

    def overrun(self, pod_count: int, size: int) -> float:
        """Give the chance that `pod_count` pods need more than `size`; 1 where the size is negative."""
        room = size // self._bin_width
        least, most = self.bounds(pod_count, room)
        if most < _NOTHING or least > 1 - _NOTHING:
            return float(round(most))
        return float(np.clip(1.0 - self._sums_up_to(room).within(pod_count, room), 0.0, 1.0))

    def overruns(self, pod_counts: Iterable[int], size: int) -> Iterator[float]:
        """Give the chance for one number of pods after the other. On machines of over 512 GiB the bins are of 8 MiB."""
        draws = self if size // self._bin_width <= _FINE else self._coarser
        return (draws.overrun(pod_count, size) for pod_count in pod_counts)

    def most_pods(self, size: int, chance: float, limit: int) -> int:
        """Give the largest number of pods, at most `limit`, that need more than `size` with at most that chance; 0 when not even one does.

        A bisection, which monotony allows, between the numbers of which the bounds tell. On machines of over 512 GiB its bins are of 8 MiB.
        """
        room = size // self._bin_width
        if room > _FINE:
            return self._coarser.most_pods(size, chance, limit)
        known = _last(0, limit, lambda pod_count: self.bounds(pod_count, room)[1] <= chance)
        possible = _last(known, limit, lambda pod_count: self.bounds(pod_count, room)[0] <= chance)
        return _last(known, possible, lambda pod_count: self.overrun(pod_count, size) <= chance)

    @property
    def shares(self) -> tuple[Integers, Floats]:
        """The bins that have values, ascending, and the share of values in each."""
        return self._bins, self._shares

    @functools.cached_property
    def _coarser(self) -> Draws:
        return Draws(self._values, 8 * self._bin_width, self._large)

    def _sums_up_to(self, room: int) -> Sums:
        """Give the sums of sizes like this one. Of the others the least recently used are forgotten when all together take too much memory."""
        cut = self._groups[room]
        sums = self._sums.pop(cut, None)
        if sums is None:
            within = self._bins <= cut
            single = np.zeros(cut + 1)
            single[self._bins[within]] = self._shares[within]
            sums = Sums(single)
        self._sums[cut] = sums
        while len(self._sums) > 1 and sum(one.kept_bytes for one in self._sums.values()) > _MOST_KEPT_BYTES:
            del self._sums[next(iter(self._sums))]
        return sums

    def _log_moment(self, tilt: float) -> float:
        """Give log E exp(tilt * value) in a way that does not overflow."""
        largest = float(self._bins[-1 if tilt > 0 else 0])
        return math.log(float(np.exp(np.maximum(tilt * (self._bins - largest), -700.0)) @ self._shares)) + float(tilt) * largest

    def bounds(self, pod_count: int, room: int) -> tuple[float, float]:
        """Give what the chance of more than `room` bins is at least and at most, by Chernoff's inequality (1952), which holds for every tilt.

        P(sum > room) <= exp(-tilt * (room + 1)) * E exp(tilt * value)^N, and for negative tilts P(sum <= room) <= exp(-tilt * room) * ….
        """
        if room < 0:
            return 1.0, 1.0
        if room >= int(self._bins[-1]) * pod_count:
            return 0.0, 0.0
        half = len(self._tilts) // 2
        exponents = pod_count * self._logarithms - self._tilts * room
        below, above = exponents[:half].min(), (exponents - self._tilts)[half:].min()
        return 1.0 - math.exp(min(0.0, float(below))), math.exp(min(0.0, float(above)))


def _groups(rooms: Iterable[int]) -> dict[int, int]:
    """Say for each room up to where sums are kept: to the largest of those that are alike."""
    groups: dict[int, int] = {}
    cut = -1
    for room in sorted({room for room in rooms if room >= 0}, reverse=True):
        if cut < 0 or room * _ALIKE < cut:
            cut = room
        groups[room] = cut
    return groups


def _last(known: int, limit: int, holds: Callable[[int], bool]) -> int:
    """Give the largest number up to `limit` for which it holds, by bisection: it holds for `known`, up to some number and not beyond."""
    fails = limit + 1
    while fails - known > 1:
        middle = (known + fails) // 2
        if holds(middle):
            known = middle
        else:
            fails = middle
    return known
