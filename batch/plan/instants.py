"""Pods as they ran together: what each used at each instant of the window, and how many ran at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
import pandas as pd

from batch.plan.model import AtOnce
from batch.snapshot.model import Snapshot

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_POD = ["namespace", "pod"]


@dataclass(frozen=True)
class Together:
    """The pods of a profile at each of `moments`: how many ran, and what each of them that was measured used (bytes, nanocores)."""

    moments: tuple[datetime, ...]
    pod_counts: tuple[int, ...]
    memory: tuple[Integers, ...]
    cpu: tuple[Integers, ...]


@dataclass(frozen=True)
class PodInstants:
    """Every pod at every instant, one element each: place of the pod in `pods`, place of the moment, values, and whether they are known.

    `pods` has namespace, pod, listed, workload_kind and workload.
    """

    pods: pd.DataFrame
    moments: tuple[datetime, ...]
    pod: Integers
    moment: Integers
    memory: Integers
    has_memory: Flags
    cpu: Integers
    has_cpu: Flags

    def of(self, chosen: Flags) -> Together | None:
        """Choose pods by place; None when none of them was there at any instant."""
        kept = chosen[self.pod]
        if not kept.any():
            return None
        moment, count = self.moment[kept], len(self.moments)
        return Together(
            moments=self.moments,
            pod_counts=tuple(np.bincount(moment, minlength=count).tolist()),
            memory=_by_moment(moment, self.memory[kept], self.has_memory[kept], count),
            cpu=_by_moment(moment, self.cpu[kept], self.has_cpu[kept], count),
        )


def pod_instants(snapshot: Snapshot) -> PodInstants | None:
    """Add up the containers of each pod at each instant; None without instants.

    A pod of which one container has no value at an instant has none there either: a part is not the whole. A container is missed
    between the first and the last instant that has it; what had not begun by then, or had ended, uses nothing.
    """
    rows = snapshot.table("container_instants")
    if rows.empty:
        return None
    measured = snapshot.table("measured_containers")
    place, pods = _places(measured)
    series = rows["series"].to_numpy(dtype=np.int64)
    position = np.searchsorted(measured["series"].to_numpy(dtype=np.int64), series)
    at, moment = np.unique(rows["at"].astype("int64[pyarrow]").to_numpy(dtype=np.int64), return_inverse=True)
    cells, where = np.unique(place[position] * len(at) + moment, return_inverse=True)
    order = np.argsort(where, kind="stable")
    first = np.searchsorted(where[order], np.arange(len(cells)))
    whole = np.bincount(where) == _expected(place, position, moment, len(at))[cells]
    values = {}
    for name in ("memory_bytes", "cpu_nanocores"):
        column = rows[f"usage_{name}"]
        known = column.notna().to_numpy(dtype=np.bool_)
        amounts = column.fillna(0).to_numpy(dtype=np.int64)
        values[name] = np.add.reduceat(amounts[order], first), np.logical_and.reduceat(known[order], first) & whole
    moments = tuple(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(each)) for each in at)
    return PodInstants(pods, moments, cells // len(at), cells % len(at), *values["memory_bytes"], *values["cpu_nanocores"])


def _expected(place: Integers, position: Integers, moment: Integers, count: int) -> npt.NDArray[np.int16]:
    """Give, for each pod and moment in turn, how many of its containers are between their first and last moment."""
    first, last = np.full(len(place), count), np.full(len(place), -1)
    np.minimum.at(first, position, moment)
    np.maximum.at(last, position, moment)
    there = last >= 0
    changes = np.zeros((int(place.max()) + 1, count + 1), dtype=np.int16)  # a day of short Jobs makes many pods
    np.add.at(changes, (place[there], first[there]), 1)
    np.subtract.at(changes, (place[there], last[there] + 1), 1)
    return np.cumsum(changes[:, :count], axis=1, dtype=np.int16).ravel()


def _places(measured: pd.DataFrame) -> tuple[Integers, pd.DataFrame]:
    """Give the place of each container's pod, and the pods in order."""
    by_pod = measured.groupby(_POD, sort=True)
    pods = by_pod[["listed", "workload_kind", "workload"]].first().reset_index()
    return np.asarray(by_pod.ngroup().to_numpy(dtype=np.int64)), pods


def _by_moment(moment: Integers, values: Integers, known: Flags, count: int) -> tuple[Integers, ...]:
    moment, values = moment[known], values[known]
    order = np.argsort(moment, kind="stable")
    return tuple(np.split(values[order], np.searchsorted(moment[order], np.arange(1, count))))


def at_once(together: Together) -> AtOnce:
    """Tell how many pods ran at the same time: the fewest, the median, the most, and when those were first."""
    counts = together.pod_counts
    peak = max(counts)
    return AtOnce(len(counts), min(counts), float(np.median(counts)), peak, together.moments[counts.index(peak)])


def pooled(parts: Sequence[Integers]) -> pd.Series:
    """Put the values of all instants together."""
    return pd.Series(np.concatenate(parts)) if parts else pd.Series([], dtype="int64")
