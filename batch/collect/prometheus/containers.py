"""Ask what each container used: in the window, by day, and at instants together with all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from math import gcd

from batch.collect.prometheus.answers import Answer
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import TooMuchError
from batch.collect.prometheus.figures import Figures
from batch.collect.prometheus.probe import Store, of_pods
from batch.collect.prometheus.promql import Dialect, quantile
from batch.collect.prometheus.shards import Asker, Shard, planned
from batch.settings import PrometheusSettings

_DAY = 86_400
_HOURS = 24
_MOST_UNEVEN, _PODS_A_QUERY = 400, 50
"""Pods of which quantiles are asked for again, as a rule few; a week of samples every 30 s is a million for 50 of them."""

_COUNT, _MAX = "count_over_time(", "max_over_time("


@dataclass(frozen=True)
class Grid:
    """Moments at equal distances, the last of them at the end of the window."""

    last: datetime
    step: int
    count: int

    @property
    def first(self) -> datetime:
        """The first moment."""
        return self.last - timedelta(seconds=self.step * (self.count - 1))


def instants(settings: PrometheusSettings, container_count: int, at: datetime) -> Grid:
    """Choose instants: as far apart as the settings say, or so much more that their rows are not too many.

    The multiple has no factor in common with 24, so that on a large cluster too all hours of the day are seen in the course of the window.
    """
    window, wanted = int(settings.window_seconds), settings.instant_seconds
    most = max(1, settings.instant_rows_max // max(1, container_count))
    times = max(1, -(-window // (wanted * most)))
    while times > 1 and gcd(times, _HOURS) > 1:
        times += 1
    return Grid(at, wanted * times, max(1, window // (wanted * times)))


def days(window: int, at: datetime) -> Grid:
    """Give the ends of the whole days of the window."""
    return Grid(at, _DAY, max(1, window // _DAY))


def ask(client: Client, store: Store, settings: PrometheusSettings, at: datetime) -> Figures:
    """Ask every question about containers, each in as many parts as it takes. Raises PrometheusError when one of them has no answer."""
    found = Figures()
    parts = Asker(planned(store.containers, settings.series_per_query), settings.parallelism)
    for name, text in _of_window(store.dialect).items():
        found.take(name, parts.ask(partial(_query, client, text, at)))
    _ask_uneven(client, found, store, settings, at, parts)
    _ask_at(client, found, parts, _of_days(store.dialect), days(store.dialect.window, at))
    grid = instants(settings, sum(store.containers.values()), at)
    most = min(settings.series_per_query, settings.points_per_query // grid.count)
    _ask_at(client, found, Asker(planned(store.containers, max(1, most)), settings.parallelism), _of_instants(store.dialect), grid)
    _ask_kills(client, found, store.dialect, at, parts)
    return found


def _ask_uneven(client: Client, found: Figures, store: Store, settings: PrometheusSettings, at: datetime, parts: Asker) -> None:
    """Ask again for quantiles of memory of several incarnations, or among values that are no numbers: those of raw samples are not theirs."""
    if store.scrape_seconds is None:
        return
    answers = parts.ask(partial(_query, client, store.dialect.uneven, at))
    uneven = sorted({(labels.get("namespace", ""), labels.get("pod", "")) for answer in answers for labels, _ in answer.series})
    at = step_end(at, store.scrape_seconds)
    for start in range(0, min(len(uneven), _MOST_UNEVEN), _PODS_A_QUERY):
        chosen, some = of_pods(uneven[start : start + _PODS_A_QUERY]), Asker([Shard()], settings.parallelism)
        for name, share in (("memory_p50", 0.5), ("memory_p95", 0.95)):
            text = partial(store.dialect.memory_over_incarnations, quantile(share), store.scrape_seconds, chosen)
            found.take(name, some.ask(partial(_query, client, text, at)), only_known=True)


def step_end(at: datetime, step: int) -> datetime:
    """Give the end of the step of a grid that a moment is in: asked there, the grid has the newest sample too."""
    return datetime.fromtimestamp(-(-at.timestamp() // step) * step, UTC)


Text = Callable[[str], str]
"""Gives a query from the matchers of a part."""


def _of_window(dialect: Dialect) -> Mapping[str, Text]:
    window = dialect.window
    return {
        "cpu_count": lambda shard: dialect.cpu_over(_COUNT, window, shard),
        "cpu_p50": lambda shard: dialect.cpu_over(quantile(0.5), window, shard),
        "cpu_p95": lambda shard: dialect.cpu_over(quantile(0.95), window, shard),
        "cpu_max": lambda shard: dialect.cpu_over(_MAX, window, shard),
        "memory_count": dialect.memory_samples,
        "memory_p50": lambda shard: dialect.memory_over(quantile(0.5), window, shard),
        "memory_p95": lambda shard: dialect.memory_over(quantile(0.95), window, shard),
        "memory_max": lambda shard: dialect.memory_over(_MAX, window, shard),
        "throttled": dialect.throttled,
    }


def _of_days(dialect: Dialect) -> Mapping[str, Text]:
    day = min(_DAY, dialect.window)
    return {
        "day_cpu_p95": lambda shard: dialect.cpu_over(quantile(0.95), day, shard),
        "day_memory_max": lambda shard: dialect.memory_over(_MAX, day, shard),
    }


def _of_instants(dialect: Dialect) -> Mapping[str, Text]:
    return {"instant_cpu": dialect.cpu, "instant_memory": dialect.memory_now}


def _ask_at(client: Client, found: Figures, parts: Asker, questions: Mapping[str, Text], grid: Grid) -> None:
    for name, text in questions.items():
        found.take_series(name, parts.ask(partial(_query_grid, client, text, grid)))


def _query(client: Client, text: Text, at: datetime, shard: str) -> Answer:
    return client.query(text(shard), at)


def _query_grid(client: Client, text: Text, grid: Grid, shard: str) -> Answer:
    return client.query_range(text(shard), grid.first, grid.step, grid.count)


def _ask_kills(client: Client, found: Figures, dialect: Dialect, at: datetime, parts: Asker) -> None:
    """Ask for kills for memory of both that know of them. What kube-state-metrics tells is left out where it is too much: it only adds."""
    found.take("oom_events", parts.ask(partial(_query, client, dialect.oom_events, at)), only_known=True)
    with suppress(TooMuchError):
        found.take("oom_killed", [_as_told(client.query(dialect.oom_killed(), at))], only_known=True)


def _as_told(answer: Answer) -> Answer:
    """Give what kube-state-metrics tells under the names of the pods that it is about."""
    series = [
        ({name: labels.get(f"exported_{name}") or labels.get(name, "") for name in _NAMES}, points) for labels, points in answer.series
    ]
    return Answer(series)


_NAMES = ("namespace", "pod", "container")
