"""What each accelerator did, and in whose hands: table gpu_usage."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from statistics import median

import pandas as pd

from batch.collect.prometheus.answers import Answer, Labels
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.containers import step_end
from batch.collect.prometheus.exporters import EXPORTERS, Exporter, Metric, first_of
from batch.collect.prometheus.holdings import Holding, Holdings
from batch.collect.prometheus.probe import only_cluster
from batch.collect.prometheus.promql import Dialect, quantile, select
from batch.collect.prometheus.shards import Asker, Shard, quoted
from batch.settings import Settings
from batch.snapshot.schemas import GPU_USAGE

_LOOK_SECONDS, _LAST_SEEN_STEP = 3600, 300
_FEW = 3
"""Devices of which the distance of samples is looked at."""

_USUAL_STEP = 30
"""Seconds between two samples where it cannot be told: dcgm-exporter's own interval by default (cmd/dcgm-exporter, --collect-interval)."""


@dataclass
class _Row:
    """One holding: what the labels say of it, and its figures by name."""

    node: str | None
    product: str | None
    mig_profile: str | None
    metric: str
    step: int
    figures: dict[str, float] = field(default_factory=dict)


def usage(client: Client, settings: Settings, dialect: Dialect, at: datetime) -> pd.DataFrame | None:
    """Ask every exporter that the store has series of; None when it has none. Raises PrometheusError."""
    names = "|".join(metric.name for exporter in EXPORTERS for metric in exporter.activities)
    known = f"last_over_time({select('', f'__name__=~{quoted(names)}', dialect.matchers)}[{dialect.window}s])"
    there = client.query(f"count by (__name__, cluster) ({known})", at)
    only_cluster(there, dialect.matchers)
    present = {labels.get("__name__", "") for labels, _ in there.series}
    rows: dict[Holding, _Row] = {}
    for exporter in EXPORTERS:
        if any(metric.name in present for metric in exporter.activities):
            rows |= _Asking(client, settings, dialect, at, exporter).holdings(present)
    return GPU_USAGE.frame(tuple(_table_row(key, row)) for key, row in sorted(rows.items())) if present else None


class _Asking:
    """Asks about the devices of one exporter."""

    def __init__(self, client: Client, settings: Settings, dialect: Dialect, at: datetime, exporter: Exporter) -> None:
        self._client, self._dialect, self._at, self._exporter = client, dialect, at, exporter
        self._idle, self._recent = settings.gpu.idle_ratio, int(settings.gpu.idle_seconds)
        self._parts = Asker([Shard(label=exporter.device[0])], settings.prometheus.parallelism)

    def holdings(self, present: set[str]) -> dict[Holding, _Row]:
        """Give the holdings with their activity, memory and power."""
        rows: dict[Holding, _Row] = {}
        for metric in self._exporter.activities:
            if metric.name in present:
                found = self._activity(metric)
                taken = {key[0] for key in rows}
                rows |= {key: row for key, row in found.items() if key[0] not in taken}
        rows = _without_parents(rows)
        for metric, functions in (
            (self._exporter.memory, {"memory_max": "max_over_time(", "memory_p95": quantile(0.95)}),
            (self._exporter.power, {"power": "avg_over_time("}),
        ):
            self._add_gauge(rows, metric, functions)
        return rows

    def _activity(self, metric: Metric) -> dict[Holding, _Row]:
        """Ask for the activity by one metric. Counts are the server's: no sample is fetched."""
        window = self._dialect.window
        answers = self._ask(partial(self._raw, metric, "max_over_time(", window))
        known = Holdings(self._exporter, (labels for answer in answers for labels, _ in answer.series))
        step = self._step(metric, answers)
        rows: dict[Holding, _Row] = {}
        for labels, value in (pair for answer in answers for pair in answer.values()):
            row = rows.setdefault(known.key(labels), self._described(labels, metric, step))
            row.figures["max"] = max(row.figures.get("max", 0.0), value * metric.scale)
        self._add(rows, known, "mean", metric, partial(self._raw, metric, "avg_over_time(", window))
        odd = any(row.figures["max"] > metric.most * metric.scale or "mean" not in row.figures for row in rows.values())
        over, grid = (self._sampled(known, step), step) if odd or known.are_split else (self._raw, 0)
        for name, function, seconds in (
            ("max", "max_over_time(", window),
            ("mean", "avg_over_time(", window),
            ("p95", quantile(0.95), window),
            ("recent_max", "max_over_time(", self._recent),
        ):
            if grid or name not in ("max", "mean"):
                self._forget(rows, name)
                self._add(rows, known, name, metric, partial(over, metric, function, seconds), grid=grid)
        plain = Metric(metric.name, 1.0, metric.most)
        self._add(rows, known, "count", plain, partial(over, plain, "count_over_time(", window), grid=grid)
        self._add_moments(rows, known, plain, self._idle / metric.scale, step)
        return rows

    def _add_gauge(self, rows: dict[Holding, _Row], metric: Metric, functions: Mapping[str, str]) -> None:
        """Ask for figures of a gauge beside the activity; it has series of its own, with the same labels."""
        answers = self._ask(partial(self._raw, metric, "max_over_time(", self._dialect.window)) if rows else []
        known = Holdings(self._exporter, (labels for answer in answers for labels, _ in answer.series))
        step = max((row.step for row in rows.values()), default=_USUAL_STEP)
        over, grid = (self._sampled(known, step), step) if known.are_split else (self._raw, 0)
        for name, function in functions.items() if answers else ():
            self._add(rows, known, name, metric, partial(over, metric, function, self._dialect.window), grid=grid)

    def _add_moments(self, rows: dict[Holding, _Row], known: Holdings, metric: Metric, limit: float, step: int) -> None:
        """Count idle samples, and find the first, the last, and the last busy one, on a grid as fine as the samples.

        Ranges over it are a second shorter, for versions of Prometheus differ about a step on the edge.
        """

        def on_grid(text: str, shard: str) -> str:
            sample = known.together(metric.name, step, (self._dialect.matchers, shard), _upto(metric))
            return f"{text.format(sample=sample)}[{self._dialect.window - 1}s:{step}s])"

        for name, text in (
            ("idle_count", f"count_over_time(({{sample}} <= {limit:.12g})"),
            ("first_at", "min_over_time(timestamp({sample})"),
            ("last_at", "max_over_time(timestamp({sample})"),
            ("last_active_at", f"max_over_time(timestamp({{sample}} > {limit:.12g})"),
        ):
            self._add(rows, known, name, metric, partial(on_grid, text), grid=step)

    def _raw(self, metric: Metric, function: str, seconds: int, shard: str) -> str:
        labels = ", ".join(self._exporter.labels)
        return f"max by ({labels}) ({function}{select(metric.name, self._dialect.matchers, shard)}[{seconds}s]))"

    def _sampled(self, known: Holdings, step: int) -> Callable[[Metric, str, int, str], str]:
        """Put all series of a holding together, and leave out what means "no value", which takes a subquery as fine as the samples."""
        return lambda metric, function, seconds, shard: (
            f"{function}{known.together(metric.name, step, (self._dialect.matchers, shard), _upto(metric))}[{seconds - 1}s:{step}s])"
        )

    def _step(self, metric: Metric, answers: Sequence[Answer]) -> int:
        """Give the time between two samples of a device, as a rule the same for all; where none is there now, when one was there last."""
        names = sorted({name for answer in answers for labels, _ in answer.series if (name := first_of(labels, self._exporter.device[:1]))})
        few = f"{self._exporter.device[0]}=~{quoted('|'.join(names[:: max(1, -(-len(names) // _FEW))]))}" if names else ""
        some = select(metric.name, self._dialect.matchers, few)
        seen = self._client.query(f"max(max_over_time(timestamp({some})[{self._dialect.window}s:{_LAST_SEEN_STEP}s]))", self._at).values()
        last = datetime.fromtimestamp(math.ceil(seen[0][1]), UTC) if seen else self._at
        raw = self._client.query(f"{some}[{_LOOK_SECONDS}s]", last)
        apart = [later - sooner for _, points in raw.series for (sooner, _), (later, _) in pairwise(points)]
        return max(1, round(median(apart))) if apart else _USUAL_STEP

    def _forget(self, rows: Mapping[Holding, _Row], name: str) -> None:
        for row in rows.values():
            row.figures.pop(name, None)

    def _ask(self, text: Callable[[str], str], *, grid: int = 0) -> list[Answer]:
        """Ask in parts. On a grid of so many seconds it is asked at the end of the step that the moment is in: the newest sample is in that step."""
        at = step_end(self._at, grid) if grid else self._at
        return list(self._parts.ask(lambda shard: self._client.query(text(shard), at)))

    def _add(
        self, rows: dict[Holding, _Row], known: Holdings, name: str, metric: Metric, text: Callable[[str], str], *, grid: int = 0
    ) -> None:
        """Ask for one figure of every holding that has activity; of several series of one the largest."""
        for labels, value in (pair for answer in self._ask(text, grid=grid) for pair in answer.values()):
            key = known.key(labels)
            if key in rows:
                rows[key].figures[name] = max(rows[key].figures.get(name, value * metric.scale), value * metric.scale)

    def _described(self, labels: Labels, metric: Metric, step: int) -> _Row:
        exporter = self._exporter
        profile = labels.get(exporter.mig_profile) or None
        return _Row(first_of(labels, exporter.node), first_of(labels, exporter.product), profile, metric.name, step)


def _upto(metric: Metric) -> str:
    """Give the condition that leaves out NaN, infinity and what the exporter writes where it has no value."""
    return f" <= {metric.most:.12g}" if math.isfinite(metric.most) else " < Inf"


def _without_parents(rows: dict[Holding, _Row]) -> dict[Holding, _Row]:
    """Leave out a card as a whole where its MIG instances have rows: it would be counted twice."""
    split = {key[0] for key in rows if key[1]}
    return {key: row for key, row in rows.items() if key[1] or key[0] not in split}


def _table_row(key: Holding, row: _Row) -> Iterator[object]:
    figures = row.figures
    count = int(figures.get("count", 0))
    yield from key
    yield from (row.node, row.product, row.mig_profile, row.metric, row.step)
    yield from (count, min(count, int(figures.get("idle_count", 0))))
    yield from (_moment(figures.get(name)) for name in ("first_at", "last_at", "last_active_at"))
    yield from (_share(figures.get(name)) for name in ("mean", "p95", "max", "recent_max"))
    yield from (None if (size := figures.get(name)) is None else round(size) for name in ("memory_max", "memory_p95"))
    yield figures.get("power")


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _share(ratio: float | None) -> float | None:
    """Give a ratio of at most 1: profiling counters of MIG instances can be slightly above."""
    return None if ratio is None else min(1.0, max(0.0, ratio))
