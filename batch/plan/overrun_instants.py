"""The chance of an overrun at each of many instants: of one number of pods at all of them, and how many pods keep the worst of them small."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from batch.plan.overrun import Draws
from batch.plan.sums import Floats, Integers, good_length

_NOTHING = 1e-9
"""What the transforms below tell from nothing; the report prints nothing below 1e-6."""

_DAMPING = math.log(1e14)
"""Logarithm by which sums are damped over the length of a transform, which is at least twice what is looked at: what wraps around is
1e-14 of what it was, and rounding is enlarged by 1e7 at most."""

_COARSE = 16
"""Bins that are taken together for a bound above: each value is rounded up to them, and that many times fewer are transformed."""


class Moments:
    """Draws for each of several instants. `values` are those of each instant, `sizes` the only ones asked for; all share a unit.

    As in Draws every value is rounded up to its bin, and the chance is that of the N-fold convolution, to about 1e-9. One transform a
    number of pods gives the chances for all sizes up to twice as large; where Chernoff's bounds tell enough, none is made.
    """

    def __init__(self, values: Sequence[Integers], bin_width: int, sizes: Collection[int]) -> None:
        self._values = [part for part in values if len(part)]
        self._bin_width, self._sizes = bin_width, sizes
        self._draws = [Draws(part, bin_width, sizes) for part in self._values]
        self._known: dict[int, dict[int, Floats]] = {}

    def __len__(self) -> int:
        return len(self._draws)

    def overruns(self, pod_count: int, size: int) -> Floats:
        """Give the chance at each instant that `pod_count` pods need more than `size`."""
        if pod_count not in self._known:
            rows = [self._of_sizes(place, pod_count) for place in range(len(self))]
            self._known[pod_count] = {one: np.array([row[one] for row in rows]) for one in self._sizes}
        return self._known[pod_count][size]

    def _of_sizes(self, place: int, pod_count: int) -> dict[int, float]:
        """Give the chance for every size at one instant: by the bounds, else by one transform for sizes up to a factor of two apart."""
        found: dict[int, float] = {}
        open_sizes = []
        for size in sorted(self._sizes, reverse=True):
            least, most = self._draws[place].bounds(pod_count, size // self._bin_width)
            if most < _NOTHING or least > 1 - _NOTHING:
                found[size] = float(round(most))
            else:
                open_sizes.append(size)
        while open_sizes:
            alike = [size for size in open_sizes if 2 * size >= open_sizes[0]]
            found |= zip(alike, self._transformed(place, pod_count, alike), strict=True)
            open_sizes = open_sizes[len(alike) :]
        return found

    def most_pods(self, size: int, chance: float, limit: int) -> tuple[int, int]:
        """Give the most pods, at most `limit`, whose chance is at most that at every instant, and the place of the instant that limits them.

        The instants with the most to fear come first: most others then only need to be found harmless, which a bound above mostly does.
        """
        most, decisive = limit, self._by_danger[0]
        for place in self._by_danger:
            if self._is_safe(place, most, size, chance):
                continue
            low, high = 0, most
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if self._is_safe(place, middle, size, chance) else (low, middle)
            most, decisive = low, place
        return most, decisive

    def draws(self, place: int) -> Draws:
        """Give the draws of one instant."""
        return self._draws[place]

    @cached_property
    def _by_danger(self) -> list[int]:
        """Order instants by what their pods need on average, most first."""
        means = [float(np.mean(part)) for part in self._values]
        return sorted(range(len(means)), key=lambda place: -means[place])

    def _is_safe(self, place: int, pod_count: int, size: int, chance: float) -> bool:
        least, most = self._draws[place].bounds(pod_count, size // self._bin_width)
        if most <= chance or least > chance:
            return most <= chance
        (coarse,) = self._coarser._transformed(place, pod_count, [size])  # noqa: SLF001  of its own kind
        return coarse <= chance or self._transformed(place, pod_count, [size])[0] <= chance

    @cached_property
    def _coarser(self) -> Moments:
        return Moments(self._values, self._bin_width * _COARSE, self._sizes)

    def _transformed(self, place: int, pod_count: int, sizes: Sequence[int]) -> list[float]:
        """Give the chances for sizes, the largest first, by one damped transform: cyclic, but what comes around is as good as gone."""
        rooms = [size // self._bin_width for size in sizes]
        bins, shares = self._draws[place].shares
        within = bins <= rooms[0]
        length = good_length(2 * (rooms[0] + 1))
        rate = _DAMPING / length
        single = np.zeros(rooms[0] + 1)
        single[bins[within]] = shares[within] * np.exp(-rate * bins[within])
        spectrum = _power(np.fft.rfft(single, length), pod_count)
        sums = np.fft.irfft(spectrum, length)[: rooms[0] + 1] * np.exp(rate * np.arange(rooms[0] + 1))
        return [float(np.clip(1.0 - sums[: room + 1].sum(), 0.0, 1.0)) for room in rooms]


def _power(spectrum: np.ndarray, exponent: int) -> np.ndarray:
    """Raise to a whole power by squaring, which is several times faster than by logarithms."""
    result, square = np.ones_like(spectrum), spectrum.copy()
    while exponent:
        if exponent & 1:
            result *= square
        exponent >>= 1
        if exponent:
            square *= square
    return result
