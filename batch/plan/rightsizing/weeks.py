"""The window of Prometheus for every group: figures of the server over all samples, and instants for what takes samples side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batch.plan.rightsizing.groups import Flags, Groups, Integers, Samples, as_integers, is_known
from batch.plan.rightsizing.histograms import largest, quantiles
from batch.plan.rightsizing.nights import PEAK_QUANTILE, SECOND, GroupNight, Part, Peaks
from batch.snapshot.buckets import CPU, MEMORY
from batch.snapshot.model import Snapshot
from batch.snapshot.prometheus_schemas import CONTAINER_DAYS, CONTAINER_INSTANTS, MEASURED_CONTAINERS

_KEY = ("workload_kind", "namespace", "workload", "container")
_HOUR = 3600 * SECOND
_HOURS = 24

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Week:
    """What Prometheus has of every group, pods that are gone included; only where `there`. Times are microseconds since 1970.

    Peaks are exact, over all samples. The 95th percentile of all pods together and the histogram of CPU are over the instants, the
    histogram of memory over the peak of each container and day. `kills` are those for memory, `throttled` the share of periods in which
    the limit held back the container that it held back most; NaN: unknown.
    """

    there: Flags
    samples: Integers
    days: Integers
    coverage: Floats
    first_at: Integers
    last_at: Integers
    hours: Integers
    cpu_peak: Peaks
    memory_peak: Peaks
    p95_cpu: Peaks
    p95_memory: Peaks
    cpu: Part
    memory: Part
    daily_cpu: Sequence[Peaks]
    daily_memory: Sequence[Peaks]
    kills: Mapping[int, int]
    throttled: Floats


def week(groups: Groups, snapshot: Snapshot) -> Week | None:
    """Gather it; None when Prometheus told nothing."""
    containers = MEASURED_CONTAINERS.to_arrow(snapshot.table("measured_containers"))
    if not len(containers):
        return None
    group_of = groups.find([containers[name].fill_null("") for name in _KEY])
    containers, kept = containers.filter(pa.array(group_of >= 0)), group_of[group_of >= 0]
    instants = _Rows.of(CONTAINER_INSTANTS.to_arrow(snapshot.table("container_instants")), "at", "usage_", "", containers, kept)
    days = _Rows.of(CONTAINER_DAYS.to_arrow(snapshot.table("container_days")), "day_end_at", "", ("_p95", "_max"), containers, kept)
    count = len(groups)
    samples = _sum(kept, as_integers(containers["cpu_sample_count"]), count)
    cells = np.unique(np.stack([days.group, days.at]), axis=1)[0] if len(days.at) else days.group
    first, last = _span(instants, count)
    return Week(
        there=samples > 0,
        samples=samples,
        days=np.bincount(cells, minlength=count).astype(np.int64),
        coverage=samples / np.maximum(_sum(kept, as_integers(containers["expected_count"]), count), 1),
        first_at=first,
        last_at=last,
        hours=_hours(instants, (first, last), count),
        cpu_peak=_largest(kept, containers["cpu_p95_nanocores"], count),
        memory_peak=_largest(kept, containers["memory_max_bytes"], count),
        p95_cpu=_pooled(instants.group[instants.has_cpu], instants.cpu[instants.has_cpu], count),
        p95_memory=_pooled(instants.group[instants.has_memory], instants.memory[instants.has_memory], count),
        cpu=_part(instants.group, CPU.find(instants.cpu), instants.at, instants.has_cpu),
        memory=_part(days.group, MEMORY.find(days.memory), days.at, days.has_memory),
        daily_cpu=_daily(days, days.cpu, days.has_cpu, count),
        daily_memory=_daily(days, days.memory, days.has_memory, count),
        kills=_kills(kept, as_integers(containers["oom_kill_count"])),
        throttled=_throttled(kept, containers["throttled_ratio"], count),
    )


@dataclass(frozen=True)
class _Rows:
    """Values of the groups' containers at moments, one element each."""

    group: Integers
    at: Integers
    cpu: Integers
    has_cpu: Flags
    memory: Integers
    has_memory: Flags

    @classmethod
    def of(cls, table: pa.Table, moment: str, before: str, after: tuple[str, str] | str, containers: pa.Table, group_of: Integers) -> _Rows:
        """Read the rows of these containers; columns are called `before`cpu`after`_nanocores and so on."""
        known = as_integers(containers["series"])
        series = as_integers(table["series"])
        place = np.searchsorted(known, series)
        kept = (place < len(known)) & (known[np.minimum(place, max(0, len(known) - 1))] == series) if len(known) else series < 0
        rows = table.filter(pa.array(kept))
        endings = after or ("", "")
        cpu, memory = rows[f"{before}cpu{endings[0]}_nanocores"], rows[f"{before}memory{endings[1]}_bytes"]
        at = as_integers(rows[moment].cast(pa.int64()))
        return cls(group_of[place[kept]], at, as_integers(cpu), is_known(cpu), as_integers(memory), is_known(memory))


def without(keep: Flags, nights: Sequence[GroupNight], own: Samples) -> tuple[list[GroupNight], Samples]:
    """Give the nights, and the samples, of the groups to keep alone: of the others Prometheus tells more."""
    rows = keep[own.group]
    kept = Samples(
        own.group[rows], own.container[rows], own.at[rows], own.cpu[rows], own.has_cpu[rows], own.memory[rows], own.has_memory[rows]
    )
    return [_masked(night, keep) for night in nights], kept


def _masked(night: GroupNight, keep: Flags) -> GroupNight:
    def part(whole: Part) -> Part:
        rows = keep[whole.group]
        return Part(whole.group[rows], whole.bucket[rows], whole.count[rows], whole.at[rows])

    def peaks(whole: Peaks) -> Peaks:
        return Peaks(np.where(keep, whole.value, 0), whole.known & keep)

    return GroupNight(
        date=night.date,
        expected=np.where(keep, night.expected, 0),
        samples=np.where(keep, night.samples, 0),
        first_at=night.first_at,
        last_at=night.last_at,
        cpu=part(night.cpu),
        memory=part(night.memory),
        cpu_peak=peaks(night.cpu_peak),
        memory_peak=peaks(night.memory_peak),
    )


def _sum(group: Integers, values: Integers, count: int) -> Integers:
    return np.bincount(group, weights=values, minlength=count).astype(np.int64)


def _largest(group: Integers, column: pa.ChunkedArray, count: int) -> Peaks:
    known = is_known(column)
    return Peaks(*largest(group[known], as_integers(column)[known], count))


def _pooled(group: Integers, values: Integers, count: int) -> Peaks:
    found, p95 = quantiles(group, values, PEAK_QUANTILE)
    return Peaks(*largest(found, p95, count))


def _part(group: Integers, bucket: Integers, at: Integers, known: Flags) -> Part:
    return Part(group[known], bucket[known], np.ones(int(known.sum()), dtype=np.int64), at[known])


def _daily(days: _Rows, values: Integers, known: Flags, count: int) -> list[Peaks]:
    moments = np.unique(days.at)
    chosen = ((days.at == moment) & known for moment in moments)
    return [Peaks(*largest(days.group[rows], values[rows], count)) for rows in chosen]


def _span(instants: _Rows, count: int) -> tuple[Integers, Integers]:
    first, last = np.full(count, np.iinfo(np.int64).max), np.zeros(count, dtype=np.int64)
    np.minimum.at(first, instants.group, instants.at)
    np.maximum.at(last, instants.group, instants.at)
    return np.where(last > 0, first, 0), last


def _hours(instants: _Rows, span: tuple[Integers, Integers], count: int) -> Integers:
    """Give the hours of the instants; all of them after a day, for the server looked at every sample between."""
    hours = np.zeros(count, dtype=np.int64)
    np.bitwise_or.at(hours, instants.group, np.left_shift(1, instants.at // _HOUR % _HOURS))
    return np.where(span[1] - span[0] >= (_HOURS - 1) * _HOUR, (1 << _HOURS) - 1, hours)


def _kills(group: Integers, counts: Integers) -> dict[int, int]:
    killed = counts > 0
    sums = np.bincount(group[killed], weights=counts[killed]).astype(np.int64)
    return {int(number): int(sums[number]) for number in np.flatnonzero(sums)}


def _throttled(group: Integers, column: pa.ChunkedArray, count: int) -> Floats:
    known = is_known(column)
    most = np.full(count, -1.0)
    np.maximum.at(most, group[known], column.fill_null(0.0).combine_chunks().to_numpy(zero_copy_only=False)[known])
    return np.where(most < 0, np.nan, most)
