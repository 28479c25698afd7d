"""The chance that the pods of a node together need more than it has."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

MEMORY_BIN_BYTES = 1024**2
CPU_BIN_NANOCORES = 10**6

_Floats = npt.NDArray[np.float64]


def overrun_probabilities(values: Sequence[int], pod_count: int, sizes: Collection[int], bin_width: int) -> dict[int, float]:
    """Give for each size the chance that `pod_count` pods, drawn independently from `values`, need more than it.

    `values`, `sizes` and `bin_width` share a unit. Each value is rounded up to its bin, so the chance errs to the safe side by less than
    one bin a pod; apart from that it is exact: the `pod_count`-fold convolution of the values' distribution. Sums over the largest size
    of interest are dropped on the way, which changes nothing at or below it, since no value is negative.

    Costs about 4 * log2(pod_count) Fourier transforms over twice as many bins as the smaller of the largest size and the largest
    possible sum has: with bins of 1 MiB about 0.1 s for machines of 64 GiB, 3 s and 200 MB for machines of 2 TiB.
    """
    bins = -(-np.asarray(values, dtype=np.int64) // bin_width)
    highest = int(bins.max()) * pod_count
    held = {size: size // bin_width for size in sizes}
    known = {size: 1.0 if bin_ < 0 else 0.0 for size, bin_ in held.items() if bin_ < 0 or bin_ >= highest}
    asked = {size: bin_ for size, bin_ in held.items() if size not in known}
    if not asked:
        return known
    cut = max(asked.values())
    single = np.bincount(bins[bins <= cut], minlength=cut + 1) / bins.size
    within = np.cumsum(_self_convolved(single, pod_count))
    return known | {size: float(np.clip(1.0 - within[bin_], 0.0, 1.0)) for size, bin_ in asked.items()}


def _self_convolved(single: _Floats, times: int) -> _Floats:
    """Convolve a distribution with itself `times` times by repeated squaring, keeping its length."""
    power, result = single, None
    while times:
        if times & 1:
            result = power if result is None else _convolved(result, power)
        times >>= 1
        if times:
            power = _convolved(power, power)
    return single if result is None else result


def _convolved(left: _Floats, right: _Floats) -> _Floats:
    """Convolve two distributions of one length and cut the result to it; what rounding made negative is 0."""
    length = 1 << (2 * len(left) - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(left, length) * np.fft.rfft(right, length), length)
    return np.maximum(product[: len(left)], 0.0)
