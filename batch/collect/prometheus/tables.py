"""Tables of containers from the figures that Prometheus gave, in whole nanocores and bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa

from batch.collect.prometheus.figures import SECOND, Figures, Floats, Integers, Key
from batch.collect.prometheus.pods import Listed, Pod, Pods, Workload
from batch.collect.prometheus.promql import Dialect
from batch.snapshot.prometheus_schemas import CONTAINER_DAYS, CONTAINER_INSTANTS, MEASURED_CONTAINERS
from batch.snapshot.schemas import CONTAINER_USAGE

_NANO = 10**9
_NOISE = 1e-3
"""Parts of a nanocore that are rounding of the server's, not use."""


def container_tables(found: Figures, dialect: Dialect, pods: Pods, owners: Mapping[Pod, Workload], at: datetime) -> dict[str, pd.DataFrame]:
    """Give measured_containers, container_days and container_instants."""
    number, moment, (cpu, memory) = found.series("instant_cpu", "instant_memory")
    day_number, day, (day_cpu, day_memory) = found.series("day_cpu_p95", "day_memory_max")
    return {
        "measured_containers": _containers(found, dialect, pods, owners, at, _span(number, moment, len(found.keys))),
        "container_days": CONTAINER_DAYS.from_arrow(
            pa.table([day_number, _instants(day), _nanocores(day_cpu), _bytes(day_memory)], names=[c.name for c in CONTAINER_DAYS.columns])
        ),
        "container_instants": CONTAINER_INSTANTS.from_arrow(
            pa.table([number, _instants(moment), _nanocores(cpu), _bytes(memory)], names=[c.name for c in CONTAINER_INSTANTS.columns])
        ),
    }


def newest_usage(tables: Mapping[str, pd.DataFrame], dialect: Dialect, at: datetime) -> pd.DataFrame:
    """Give what listed pods used at the moment of the snapshot as table container_usage, for where the metrics API told nothing."""
    instants = tables["container_instants"]
    rows = instants.loc[instants["at"] == pd.Timestamp(at)].merge(tables["measured_containers"], on="series", validate="1:1")
    rows = rows.loc[rows["listed"]].rename(columns={"at": "measured_at"}).assign(window_seconds=dialect.rate)
    rows = rows.sort_values(list(CONTAINER_USAGE.key))[[column.name for column in CONTAINER_USAGE.columns]]
    return CONTAINER_USAGE.from_arrow(pa.Table.from_pandas(rows, preserve_index=False))


def _containers(
    found: Figures, dialect: Dialect, pods: Pods, owners: Mapping[Pod, Workload], at: datetime, span: tuple[Integers, Integers]
) -> pd.DataFrame:
    keys, (first, last) = found.keys, span
    listed = [pods.get((namespace, pod)) for namespace, pod, _ in keys]
    workloads = [
        one.workload if one else pods.former((namespace, pod), owners.get((namespace, pod)))
        for one, (namespace, pod, _) in zip(listed, keys, strict=True)
    ]
    namespaces, names, containers = _parts(keys)
    counts = found.figure("cpu_count")
    columns: list[object] = [
        np.arange(len(keys)),
        *(namespaces, names, containers),
        [one is not None for one in listed],
        *([workload and workload[part] for workload in workloads] for part in (0, 1)),
        *(_instants(moments, known=last > 0) for moments in (first, last)),
        _expected(counts, _since(listed, dialect, at), first, last, dialect, at),
        _counted(counts),
        *(_nanocores(found.figure(f"cpu_{name}")) for name in ("p50", "p95", "max")),
        _counted(found.figure("memory_count")),
        *(_bytes(found.figure(f"memory_{name}")) for name in ("p50", "p95", "max")),
        _kills(found),
        pa.array(np.clip(found.figure("throttled"), 0, 1), from_pandas=True),
    ]
    return MEASURED_CONTAINERS.from_arrow(
        pa.table(
            [pa.array(c, from_pandas=True) if isinstance(c, list) else c for c in columns],
            names=[c.name for c in MEASURED_CONTAINERS.columns],
        )
    )


def _parts(keys: Sequence[Key]) -> tuple[list[str], list[str], list[str]]:
    return [key[0] for key in keys], [key[1] for key in keys], [key[2] for key in keys]


def _span(number: Integers, moment: Integers, count: int) -> tuple[Integers, Integers]:
    """Give the first and last instant of each container; 0 where it was at none."""
    first, last = np.full(count, np.iinfo(np.int64).max), np.zeros(count, dtype=np.int64)
    np.minimum.at(first, number, moment)
    np.maximum.at(last, number, moment)
    return np.where(last > 0, first, 0), last


def _since(listed: Sequence[Listed | None], dialect: Dialect, at: datetime) -> Floats:
    """Give since when, in seconds, a container can have run in the window; NaN of a pod that does not run now."""
    begin = at.timestamp() - dialect.window
    running = (one.started if one and one.phase == "Running" else None for one in listed)
    return np.array([np.nan if started is None else max(begin, started) for started in running], dtype=np.float64)


def _expected(counts: Floats, since: Floats, first: Integers, last: Integers, dialect: Dialect, at: datetime) -> Integers:
    """Give the samples there would be: of what runs those since it started, of what is gone those between the instants that saw it.

    Never fewer than there are: containers that no instant saw are taken to have no gaps.
    """
    steps = np.where(np.isnan(since), (last - first) / SECOND, at.timestamp() - since) // dialect.step
    return np.asarray(np.maximum(np.nan_to_num(steps), np.nan_to_num(counts)), dtype=np.int64)


def _counted(counts: Floats) -> Integers:
    return np.asarray(np.nan_to_num(counts), dtype=np.int64)


def _kills(found: Figures) -> pa.Array:
    """Give the larger of both accounts of kills; NA where there is none: a series of kills is there only where something was killed."""
    events, told = np.rint(found.figure("oom_events")), found.figure("oom_killed")
    most = np.fmax(events, told)
    return pa.array(np.nan_to_num(most).astype(np.int64), mask=~(most > 0))


def nanocores(cores: float | None) -> int | None:
    """Give cores as whole nanocores, rounded up."""
    return None if cores is None else max(0, math.ceil(cores * _NANO - _NOISE))


def whole_bytes(amount: float | None) -> int | None:
    """Give bytes, rounded up."""
    return None if amount is None else math.ceil(amount)


def _nanocores(cores: Floats) -> pa.Array:
    return _whole(cores * _NANO - _NOISE)


def _bytes(amount: Floats) -> pa.Array:
    return _whole(amount)


def _whole(amounts: Floats) -> pa.Array:
    """Round up once, as every amount is; NA where there is none."""
    return pa.array(np.maximum(np.ceil(np.nan_to_num(amounts)), 0).astype(np.int64), mask=np.isnan(amounts))


def _instants(moments: Integers, *, known: np.ndarray | None = None) -> pa.Array:
    return pa.array(moments, mask=None if known is None else ~known).cast(pa.timestamp("us", tz="UTC"))
