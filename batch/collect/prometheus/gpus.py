"""What each accelerator did, and in whose hands: table gpu_usage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from statistics import median

import pandas as pd

from batch.collect.prometheus.answers import Answer, Labels
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.containers import step_end
from batch.collect.prometheus.exporters import EXPORTERS, STYLES, Exporter, Metric, first_of
from batch.collect.prometheus.probe import only_cluster
from batch.collect.prometheus.promql import Dialect, quantile, select
from batch.collect.prometheus.shards import Asker, Shard, quoted
from batch.settings import Settings
from batch.snapshot.schemas import GPU_USAGE

_LOOK_SECONDS = 3600
_USUAL_STEP = 30
"""Seconds between two samples where it cannot be told: dcgm-exporter's own interval by default (cmd/dcgm-exporter, --collect-interval)."""

_EXPORTER = "exporter"
"""In the names of what exports: where they stand in place of the holder's, nobody holds the device."""

Holding = tuple[str, str, str, str, str]
"""Device, MIG instance, namespace, pod and container: the key of the table."""


@dataclass
class _Row:
    """One holding: what the labels say of it, and its figures by name."""

    node: str | None
    product: str | None
    mig_profile: str | None
    metric: str | None = None
    step: int = _USUAL_STEP
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
        self._exporters: set[tuple[str, str]] = set()

    def holdings(self, present: set[str]) -> dict[Holding, _Row]:
        """Give the holdings with their activity, memory and power."""
        rows: dict[Holding, _Row] = {}
        for metric in self._exporter.activities:
            if metric.name in present:
                found = self._activity(metric)
                taken = {key[0] for key in rows}
                rows |= {key: row for key, row in found.items() if key[0] not in taken}
        rows = _without_parents(rows)
        for name, metric, function in (
            ("memory_max", self._exporter.memory, "max_over_time("),
            ("memory_p95", self._exporter.memory, quantile(0.95)),
            ("power", self._exporter.power, "avg_over_time("),
        ):
            self._add(rows, name, metric, partial(self._raw, metric, function, self._dialect.window))
        return rows

    def _activity(self, metric: Metric) -> dict[Holding, _Row]:
        """Ask for the activity by one metric. Counts are the server's: no sample is fetched."""
        step, window = self._step(metric), self._dialect.window
        rows: dict[Holding, _Row] = {}
        self._add(rows, "max", metric, partial(self._raw, metric, "max_over_time(", window), grows=True)
        blank = any(row.figures["max"] > metric.most * metric.scale for row in rows.values())
        over, grid = (self._filtered(step), step) if blank else (self._raw, 0)
        plain = Metric(metric.name, 1.0)
        for name, function, seconds in (
            ("max", "max_over_time(", window),
            ("mean", "avg_over_time(", window),
            ("p95", quantile(0.95), window),
            ("recent_max", "max_over_time(", self._recent),
        ):
            if name != "max" or blank:
                self._forget(rows, name)
                self._add(rows, name, metric, partial(over, metric, function, seconds), grid=grid)
        self._add(rows, "count", plain, partial(over, metric, "count_over_time(", window), grid=grid)
        self._add_moments(rows, metric, step)
        for row in rows.values():
            row.metric, row.step = metric.name, step
        return rows

    def _add_moments(self, rows: dict[Holding, _Row], metric: Metric, step: int) -> None:
        """Count idle samples, and find the first, the last, and the last busy one, on a grid as fine as the samples."""
        limit = self._idle / metric.scale

        def on_grid(text: str, shard: str) -> str:
            return f"{self._by()} ({text.format(sample=self._sample(metric, step, shard))}[{self._dialect.window - 1}s:{step}s]))"

        for name, text in (
            ("idle_count", f"count_over_time(({{sample}} <= {limit:.12g})"),
            ("first_at", "min_over_time(timestamp({sample})"),
            ("last_at", "max_over_time(timestamp({sample})"),
            ("last_active_at", f"max_over_time(timestamp({{sample}} > {limit:.12g} <= {metric.most:.12g})"),
        ):
            self._add(rows, name, Metric(metric.name, 1.0), partial(on_grid, text), grid=step)

    def _sample(self, metric: Metric, step: int, shard: str) -> str:
        """Give the sample of this step of the grid, nothing where there is none: what came before would be counted twice.

        Ranges over it are a second shorter, for versions of Prometheus differ about a step on the edge.
        """
        return f"last_over_time({select(metric.name, self._dialect.matchers, shard)}[{step * 1000 - 1}ms])"

    def _raw(self, metric: Metric, function: str, seconds: int, shard: str) -> str:
        return f"{self._by()} ({function}{select(metric.name, self._dialect.matchers, shard)}[{seconds}s]))"

    def _filtered(self, step: int) -> Callable[[Metric, str, int, str], str]:
        """Leave out values that mean "no value", which takes a subquery; used only where there are some."""
        return lambda metric, function, seconds, shard: (
            f"{self._by()} ({function}({self._sample(metric, step, shard)} <= {metric.most:.12g})[{seconds - 1}s:{step}s]))"
        )

    def _by(self) -> str:
        return f"max by ({', '.join(self._exporter.labels)})"

    def _step(self, metric: Metric) -> int:
        """Give the time between two samples of a device that is there now, as a rule the same for all."""
        there = self._client.query(f"topk(3, {select(metric.name, self._dialect.matchers)})", self._at)
        apart: list[float] = []
        for labels, _ in there.series:
            own = ",".join(f'{name}="{value}"' for name in self._exporter.device if (value := labels.get(name)))
            raw = self._client.query(f"{select(metric.name, self._dialect.matchers, own)}[{_LOOK_SECONDS}s]", self._at)
            apart += [later - sooner for _, points in raw.series for (sooner, _), (later, _) in pairwise(points)]
        return max(1, round(median(apart))) if apart else _USUAL_STEP

    def _forget(self, rows: Mapping[Holding, _Row], name: str) -> None:
        for row in rows.values():
            row.figures.pop(name, None)

    def _add(
        self, rows: dict[Holding, _Row], name: str, metric: Metric, text: Callable[[str], str], *, grid: int = 0, grows: bool = False
    ) -> None:
        """Ask for one figure of every holding; of several series of one the largest. Only activity makes rows (`grows`).

        On a grid of so many seconds it is asked at the end of the step that the moment is in: the newest sample is in that step.
        """
        at = step_end(self._at, grid) if grid else self._at
        answers = list(self._parts.ask(lambda shard: self._client.query(text(shard), at)))
        self._note_exporters(answers)
        for labels, value in (pair for answer in answers for pair in answer.values()):
            key = self._key(labels)
            if key not in rows and grows:
                rows[key] = self._described(labels)
            if key in rows:
                known = rows[key].figures.get(name, value * metric.scale)
                rows[key].figures[name] = max(known, value * metric.scale)

    def _note_exporters(self, answers: list[Answer]) -> None:
        """Remember which pods and jobs export: where their own labels win, the holder's are renamed, and pod is never the holder."""
        renamed = STYLES[0][1]
        for labels, _ in (pair for answer in answers for pair in answer.series):
            if labels.get(renamed):
                self._exporters |= {("pod", labels.get("pod", "")), ("job", labels.get("job", ""))}

    def _key(self, labels: Labels) -> Holding:
        exporter = self._exporter
        device = first_of(labels, exporter.device)
        if device is None:
            device = "/".join(filter(None, (first_of(labels, exporter.node), first_of(labels, exporter.index))))
        return (device, labels.get(exporter.mig_id, ""), *self._holder(labels))

    def _holder(self, labels: Labels) -> tuple[str, str, str]:
        """Give the pod that holds the device; empty when nobody does, or when the labels are those of the exporter itself."""
        for style in STYLES:
            namespace, pod, container = (labels.get(label, "") for label in style)
            if namespace and pod and not (style == STYLES[-1] and self._exports(labels)):
                return namespace, pod, container
        return "", "", ""

    def _exports(self, labels: Labels) -> bool:
        """Tell whether pod names who exports, not who holds."""
        named = any(labels.get(label) and (label, labels[label]) in self._exporters for label in ("pod", "job"))
        return named or _EXPORTER in (labels.get("container") or labels.get("pod", ""))

    def _described(self, labels: Labels) -> _Row:
        exporter = self._exporter
        return _Row(first_of(labels, exporter.node), first_of(labels, exporter.product), labels.get(exporter.mig_profile) or None)


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
