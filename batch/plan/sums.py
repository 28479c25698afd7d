"""The distribution of what several pods together need, for any number of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_STEP = 16
"""Distributions are kept for 1 to 15 pods and for multiples of 16: any other number is one of the latter and one of the former."""


class Sums:
    """Sums of pods whose needs have the distribution `single` (index: the need in bins; what is missing to 1 needs more than the last).

    Sums over the last bin are dropped on the way, which changes nothing at or below it, since no need is negative.

    Costs about log2(N) + N / 16 + 15 convolutions for all numbers up to N, fewer when few are asked for: with 65,000 bins (64 GiB in bins
    of 1 MiB) some 8 ms each; and eight bytes a bin for each distribution kept.
    """

    def __init__(self, single: Floats) -> None:
        self._folds: dict[int, Floats] = {1: single}
        self._within: dict[int, Floats] = {}
        self._length = good_length(2 * len(single) - 1)

    @property
    def kept_bytes(self) -> int:
        """Memory of the distributions kept so far."""
        return (len(self._folds) + len(self._within)) * self._folds[1].nbytes

    def within(self, pod_count: int, room: int) -> float:
        """Give the chance that `pod_count` pods need at most `room` bins."""
        rest = pod_count % _STEP
        if pod_count < _STEP or not rest:
            return float(self._fold(pod_count)[: room + 1].sum())
        if rest not in self._within:
            self._within[rest] = np.cumsum(self._fold(rest))
        return float(self._fold(pod_count - rest)[: room + 1] @ self._within[rest][room::-1])

    def _fold(self, pod_count: int) -> Floats:
        """Convolve the distribution with itself, from two halves that are kept for other numbers."""
        if pod_count not in self._folds:
            half = pod_count // 2
            if pod_count >= 2 * _STEP:
                half -= half % _STEP
            self._folds[pod_count] = self._convolved(self._fold(half), self._fold(pod_count - half))
        return self._folds[pod_count]

    def _convolved(self, left: Floats, right: Floats) -> Floats:
        """Convolve two distributions and cut the result to their length; what rounding made negative is 0."""
        spectrum = np.fft.rfft(left, self._length)
        spectrum *= spectrum if right is left else np.fft.rfft(right, self._length)
        return np.maximum(np.fft.irfft(spectrum, self._length)[: len(left)], 0.0)


def good_length(least: int) -> int:
    """Give the smallest number from `least` on without a prime factor over 5: the transform is fastest there."""
    best = 1 << (least - 1).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            quotient = -(-least // threes)
            best = min(best, threes << max(0, quotient - 1).bit_length())
            threes *= 3
        fives *= 5
    return best
