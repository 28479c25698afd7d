"""One night of every group: tonight from its samples, an earlier one from its sketch, in the same form so that they add up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batch.plan.rightsizing.groups import Flags, Groups, Integers, as_integers, is_known
from batch.plan.rightsizing.histograms import largest, quantiles
from batch.plan.rightsizing.model import NAMELESS
from batch.snapshot.buckets import CPU, MEMORY, Buckets
from batch.snapshot.model import Snapshot
from batch.snapshot.sketches import SKETCHES, Night

PEAK_QUANTILE = 0.95
"""KRR's simple strategy takes the 95th percentile of CPU (robusta-dev/krr, strategies/simple.py, August 2026)."""

MEMORY_WINDOW = timedelta(hours=24)
"""The recommender counts memory once in 24 hours, with its peak (model/aggregations_config.go at 55c37cd)."""

SECOND = 10**6
"""Times inside are whole microseconds since 1970, as the tables have them."""

_WINDOW = int(MEMORY_WINDOW.total_seconds()) * SECOND


@dataclass(frozen=True)
class Part:
    """Samples in buckets: of each its group, bucket, number, and time (microseconds since 1970)."""

    group: Integers
    bucket: Integers
    count: Integers
    at: Integers


@dataclass(frozen=True)
class Peaks:
    """One figure of each group; only there where its flag says so."""

    value: Integers
    known: Flags


@dataclass(frozen=True)
class GroupNight:
    """What one run measured of every group. Peaks of CPU are the busiest pod's 95th percentile, those of memory the largest sample.

    `expected` are the samples there would be if every running pod had answered every reading.
    """

    date: date
    expected: Integers
    samples: Integers
    first_at: int
    last_at: int
    cpu: Part
    memory: Part
    cpu_peak: Peaks
    memory_peak: Peaks


def tonight(groups: Groups, snapshot: Snapshot) -> GroupNight:
    """Sum up the samples of the snapshot."""
    samples, count = groups.samples, len(groups)
    group_of = as_integers(groups.containers["group"])
    cpu, memory = samples.has_cpu, samples.has_memory
    container, peak, window_end = _memory_peaks(samples.container[memory], samples.at[memory], samples.memory[memory])
    busy, p95 = quantiles(samples.container[cpu], samples.cpu[cpu], PEAK_QUANTILE)
    return GroupNight(
        date=date.fromisoformat(snapshot.date),
        expected=groups.count() * _reading_count(samples.container, samples.at),
        samples=np.bincount(samples.group[cpu], minlength=count).astype(np.int64),
        first_at=int(samples.at.min(initial=np.iinfo(np.int64).max)),
        last_at=int(samples.at.max(initial=0)),
        cpu=Part(samples.group[cpu], CPU.find(samples.cpu[cpu]), np.ones(int(cpu.sum()), dtype=np.int64), samples.at[cpu]),
        memory=Part(group_of[container], MEMORY.find(peak), np.ones(len(peak), dtype=np.int64), window_end),
        cpu_peak=Peaks(*largest(group_of[busy], p95, count)),
        memory_peak=Peaks(*largest(samples.group[memory], samples.memory[memory], count)),
    )


def earlier(groups: Groups, night: Night) -> GroupNight:
    """Read a sketch for these groups; its other rows are of workloads that do not run now.

    Every count has the time of the night, and memory, as the recommender has it, the end of its window.
    """
    group = groups.find([night.sketches[name] for name in SKETCHES.key])
    rows, group = night.sketches.filter(pa.array(group >= 0)), group[group >= 0]
    at = microseconds(night.taken_at)

    def spread(column: str) -> Integers:
        values = np.zeros(len(groups), dtype=np.int64)
        values[group] = as_integers(rows[column])
        return values

    def peaks(column: str) -> Peaks:
        known = np.zeros(len(groups), dtype=np.bool_)
        known[group] = is_known(rows[column])
        return Peaks(spread(column), known)

    def part(name: str, moment: int) -> Part:
        row = as_integers(pc.list_parent_indices(rows[f"{name}_buckets"]))
        bucket, count = (as_integers(pc.list_flatten(rows[f"{name}_{what}"])) for what in ("buckets", "counts"))
        return Part(group[row], bucket, count, np.full(len(row), moment, dtype=np.int64))

    return GroupNight(
        date=date.fromisoformat(night.date),
        expected=spread("expected_count"),
        samples=spread("sample_count"),
        first_at=microseconds(night.first_at),
        last_at=microseconds(night.last_at),
        cpu=part("cpu", at),
        memory=part("memory", at + _WINDOW),
        cpu_peak=peaks("cpu_peak_nanocores"),
        memory_peak=peaks("memory_peak_bytes"),
    )


def sketched(groups: Groups, night: GroupNight, snapshot: Snapshot) -> Night | None:
    """Give what later runs need of tonight; None when nothing was measured, for such a night is none."""
    if not night.last_at:
        return None
    columns = dict(zip(SKETCHES.key, (list(part) for part in zip(*groups.keys, strict=True)), strict=True))
    cpu, memory = (_lists(part, len(groups), buckets) for part, buckets in ((night.cpu, CPU), (night.memory, MEMORY)))
    arrays = [
        *(pa.array(columns[name], pa.string()) for name in SKETCHES.key),
        pa.array(night.expected),
        pa.array(night.samples),
        pa.array(night.cpu_peak.value, mask=~night.cpu_peak.known),
        pa.array(night.memory_peak.value, mask=~night.memory_peak.known),
        *cpu,
        *memory,
    ]
    table = pa.Table.from_arrays(arrays, names=[column.name for column in SKETCHES.columns]).cast(SKETCHES.arrow)
    lasting = pc.invert(pc.is_in(table["kind"], value_set=pa.array(NAMELESS)))
    return Night(
        date=snapshot.date,
        run_id=snapshot.run_id,
        taken_at=snapshot.taken_at,
        first_at=instant(night.first_at),
        last_at=instant(night.last_at),
        sketches=table.filter(lasting).sort_by([(name, "ascending") for name in SKETCHES.key]),
    )


def microseconds(moment: datetime) -> int:
    """Give a moment as whole microseconds since 1970."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def instant(at: int) -> datetime:
    """Give the moment of so many microseconds since 1970."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)


def _reading_count(container: Integers, at: Integers) -> int:
    """Give the readings of the run: the most instants at which one container was measured, at least the one that was due."""
    instants = np.unique(np.stack([container, at]), axis=1)[0] if len(at) else container
    return max(1, int(np.bincount(instants).max(initial=0)))


def _memory_peaks(container: Integers, at: Integers, memory: Integers) -> tuple[Integers, Integers, Integers]:
    """Give container, peak and end of each window of 24 hours, counted for each container from its first sample."""
    if not len(at):
        return container, memory, at
    first = np.full(int(container.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, container, at)
    window = (at - first[container]) // _WINDOW
    found, which = np.unique(np.stack([container, window]), axis=1, return_inverse=True)
    peak = np.zeros(found.shape[1], dtype=np.int64)
    np.maximum.at(peak, which.reshape(-1), memory)
    return found[0], peak, first[found[0]] + (found[1] + 1) * _WINDOW


def _lists(part: Part, group_count: int, buckets: Buckets) -> tuple[pa.Array, pa.Array]:
    """Give for each group the buckets that have samples, ascending, and how many are in each."""
    width = len(buckets.starts)
    cells, which = np.unique(part.group * width + part.bucket, return_inverse=True)
    counts = np.bincount(which, weights=part.count, minlength=len(cells)).astype(np.int64)
    ends = np.searchsorted(cells // width, np.arange(group_count + 1))
    offsets = pa.array(ends, pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.array(cells % width, pa.uint8())), pa.ListArray.from_arrays(
        offsets, pa.array(counts, pa.uint32())
    )
