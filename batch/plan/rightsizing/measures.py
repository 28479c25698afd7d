"""All samples together, of nights or of Prometheus: peaks, histograms in which old samples count less, and how much there is to rest advice on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from batch.plan.rightsizing.groups import Groups, Integers, Samples
from batch.plan.rightsizing.histograms import Histograms, largest, quantiles
from batch.plan.rightsizing.nights import PEAK_QUANTILE, SECOND, GroupNight, Part, Peaks
from batch.plan.rightsizing.weeks import Week, without
from batch.snapshot.buckets import CPU, MEMORY, Buckets

HALF_LIFE = timedelta(hours=24)
"""Time in which a sample loses half of its weight (the recommender's default, model/aggregations_config.go at 55c37cd)."""

_HOUR = 3600 * SECOND
_HOURS = 24
_DAY = _HOURS * _HOUR
_NEVER = np.iinfo(np.int64).max

Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Measured:
    """What is known of every group, one element each; times are microseconds since 1970.

    `p95_*` is the 95th percentile of all samples of all pods: exact when there are only tonight's, else the end of its bucket; with
    Prometheus that of its instants. `nightly_*` has the peaks of each night, or of each day of Prometheus. `hours` has a bit for each hour of the day (UTC) that samples come from.
    """

    samples: Integers
    samples_tonight: Integers
    nights: Integers
    coverage: Floats
    first_at: Integers
    last_at: Integers
    hours: Integers
    cpu_peak: Peaks
    memory_peak: Peaks
    p95_cpu: Peaks
    p95_memory: Peaks
    cpu: Histograms
    memory: Histograms
    nightly_cpu: Sequence[Peaks]
    nightly_memory: Sequence[Peaks]


def measured(groups: Groups, earlier: Sequence[GroupNight], tonight: GroupNight, now: int, week: Week | None = None) -> Measured:
    """Add up the nights, `earlier` ones oldest first. `now` is when advice is wanted: the age of a sample counts back from it.

    Where Prometheus has a group, its `week` takes the place of the nights.
    """
    if week is None:
        return _of_nights(groups.samples, earlier, tonight, now, len(groups))
    (*before, last), own = without(~week.there, (*earlier, tonight), groups.samples)
    return _with_week(_of_nights(own, before, last, now, len(groups)), [*before, last], week, now)


def _with_week(use: Measured, nights: Sequence[GroupNight], week: Week, now: int) -> Measured:
    """Put the week's figures where there are some; histograms and daily peaks have no group in common."""

    def chosen(of_week: npt.NDArray[Number], of_nights: npt.NDArray[Number]) -> npt.NDArray[Number]:
        return np.where(week.there, of_week, of_nights)

    def peaks(of_week: Peaks, of_nights: Peaks) -> Peaks:
        return Peaks(chosen(of_week.value, of_nights.value), np.where(week.there, of_week.known, of_nights.known))

    count = len(week.there)
    return Measured(
        samples=chosen(week.samples, use.samples),
        samples_tonight=chosen(week.samples // np.maximum(week.days, 1), use.samples_tonight),
        nights=chosen(week.days, use.nights),
        coverage=chosen(week.coverage, use.coverage),
        first_at=chosen(week.first_at, use.first_at),
        last_at=chosen(week.last_at, use.last_at),
        hours=chosen(week.hours, use.hours),
        cpu_peak=peaks(week.cpu_peak, use.cpu_peak),
        memory_peak=peaks(week.memory_peak, use.memory_peak),
        p95_cpu=peaks(week.p95_cpu, use.p95_cpu),
        p95_memory=peaks(week.p95_memory, use.p95_memory),
        cpu=_decayed(CPU, [*(night.cpu for night in nights), week.cpu], now, count),
        memory=_decayed(MEMORY, [*(night.memory for night in nights), week.memory], now, count),
        nightly_cpu=[*use.nightly_cpu, *week.daily_cpu],
        nightly_memory=[*use.nightly_memory, *week.daily_memory],
    )


def _of_nights(own: Samples, earlier: Sequence[GroupNight], tonight: GroupNight, now: int, count: int) -> Measured:
    nights = (*earlier, tonight)
    first_at, last_at = _span(nights, own, count)
    return Measured(
        samples=np.sum([night.samples for night in nights], axis=0),
        samples_tonight=tonight.samples,
        nights=sum(((night.samples > 0).astype(np.int64) for night in earlier), start=_dates(own, count)),
        coverage=_coverage(nights),
        first_at=first_at,
        last_at=last_at,
        hours=_hours(earlier, own, count),
        cpu_peak=_highest([night.cpu_peak for night in nights]),
        memory_peak=_highest([night.memory_peak for night in nights]),
        p95_cpu=_p95(own.group[own.has_cpu], own.cpu[own.has_cpu], [night.cpu for night in nights], CPU, count),
        p95_memory=_p95(own.group[own.has_memory], own.memory[own.has_memory], [night.memory for night in nights], MEMORY, count),
        cpu=_decayed(CPU, [night.cpu for night in nights], now, count),
        memory=_decayed(MEMORY, [night.memory for night in nights], now, count),
        nightly_cpu=[night.cpu_peak for night in nights],
        nightly_memory=[night.memory_peak for night in nights],
    )


def _decayed(buckets: Buckets, parts: Sequence[Part], now: int, count: int) -> Histograms:
    whole = _together(parts)
    age = (whole.at - now) / (HALF_LIFE.total_seconds() * SECOND)
    return Histograms.of(buckets, count, whole.group, whole.bucket, np.asarray(whole.count * np.exp2(age), dtype=np.float64))


def _p95(group: Integers, values: Integers, parts: Sequence[Part], buckets: Buckets, count: int) -> Peaks:
    if len(parts) == 1:
        found, p95 = quantiles(group, values, PEAK_QUANTILE)
        return Peaks(*largest(found, p95, count))
    whole = _together(parts)
    histograms = Histograms.of(buckets, count, whole.group, whole.bucket, np.asarray(whole.count, dtype=np.float64))
    return Peaks(histograms.percentile(PEAK_QUANTILE), histograms.place >= 0)


def _together(parts: Sequence[Part]) -> Part:
    return Part(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("group", "bucket", "count", "at")))


def _highest(nights: Sequence[Peaks]) -> Peaks:
    """Give the highest of all nights. What is not known is 0 inside, which no known value is below."""
    return Peaks(np.max([night.value for night in nights], axis=0), np.any([night.known for night in nights], axis=0))


def _span(nights: Sequence[GroupNight], own: Samples, count: int) -> tuple[Integers, Integers]:
    """Give the times of each group's first and last sample: of earlier nights those of the night."""
    first, last = np.full(count, _NEVER), np.zeros(count, dtype=np.int64)
    np.minimum.at(first, own.group, own.at)
    np.maximum.at(last, own.group, own.at)
    for night in nights[:-1]:
        there = night.samples > 0
        first[there] = np.minimum(first[there], night.first_at)
        last[there] = np.maximum(last[there], night.last_at)
    return np.where(last > 0, first, 0), last


def _dates(own: Samples, count: int) -> Integers:
    """Count the dates (UTC) of tonight's samples: one, unless they reach back further than a night."""
    days = np.unique(np.stack([own.group, own.at // _DAY]), axis=1)[0] if len(own.at) else own.group
    return np.bincount(days, minlength=count).astype(np.int64)


def _hours(earlier: Sequence[GroupNight], own: Samples, count: int) -> Integers:
    hours = np.zeros(count, dtype=np.int64)
    np.bitwise_or.at(hours, own.group, np.left_shift(1, own.at // _HOUR % _HOURS))
    for night in earlier:
        steps = range(night.first_at // _HOUR, night.last_at // _HOUR + 1)
        spread = sum({1 << step % _HOURS for step in steps})
        hours |= np.where(night.samples > 0, spread, 0)
    return hours


def _coverage(nights: Sequence[GroupNight]) -> Floats:
    """Give the share of samples that are there of those that could be: pods that did not answer, and nights without a run, count against it.

    Counted from the first night on which the group was there.
    """
    expected = np.stack([night.expected for night in nights])
    samples = np.sum([night.samples for night in nights], axis=0)
    first = np.argmax(expected > 0, axis=0)
    days = np.array([(nights[-1].date - night.date).days + 1 for night in nights])[first]
    runs = len(nights) - first
    whole = expected.sum(axis=0)
    return np.asarray(samples * runs / np.maximum(whole * days, 1), dtype=np.float64)
