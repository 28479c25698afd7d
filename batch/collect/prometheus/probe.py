"""Look before asking: whose pods the store has, how often it has a sample of them, and which series are to be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from batch.collect.prometheus.answers import Answer
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import NothingThereError, PrometheusError, TooMuchError
from batch.collect.prometheus.pods import Pod, Pods
from batch.collect.prometheus.promql import CONTAINERS, MEMORY, RECORDED, Dialect, select
from batch.collect.prometheus.shards import Shard, quoted
from batch.settings import PrometheusSettings

_LOOK_SECONDS = 3600
"""Time over which the distance of samples is looked at."""

_ASKED_PODS = 10
_SAMPLES_A_RATE = 4
"""A rate needs two samples in its window, and four leave room for one that fails (Prometheus' documentation of rate)."""

_NEARLY_ALL = 0.95
"""Share of the containers that a recorded series must have to be used in place of the counters."""

_CHURN = 3
"""Containers of a week for each of this moment, where the week could not be counted."""

_NAMED = 5


@dataclass(frozen=True)
class Store:
    """What was learnt of the store: how to ask it, how many containers each namespace has in the window, how far samples are apart."""

    dialect: Dialect
    containers: Mapping[str, int]
    scrape_seconds: int | None


def probe(client: Client, settings: PrometheusSettings, pods: Pods, at: datetime, namespaces: Sequence[str]) -> Store:
    """Ask a few cheap queries. Raises PrometheusError when the store has several clusters, or none of this cluster's pods."""
    dialect, step = dialect_of(settings), settings.step_seconds
    there = Shard(tuple(namespaces)).matchers()
    containers = _containers(client, dialect, at, there)
    chosen = _spread(pods.running_since((at - timedelta(seconds=_LOOK_SECONDS)).timestamp()))
    raw = _samples(client, dialect.memory(of_pods(chosen)), at) if chosen else Answer()
    if len(chosen) > 1 and not raw.series:
        raise PrometheusError(
            f"it has series of containers, but of none of {len(chosen)} running pods that were looked for, such as {'/'.join(chosen[0])}",
            "It may be the store of another cluster, or have stopped: look at prometheus.url and prometheus.selector.",
        )
    scrape = _distance(raw)
    rate = max(step, _SAMPLES_A_RATE * (scrape or 0))
    dialect = replace(dialect, rate=rate, with_ids=any(labels.get("id") for labels, _ in raw.series))
    return Store(_with_recorded(client, dialect, chosen, at), containers, scrape)


def dialect_of(settings: PrometheusSettings) -> Dialect:
    """Give how a store is asked of which nothing is known yet."""
    step = settings.step_seconds
    return Dialect(settings.selector.strip().rstrip(","), int(settings.window_seconds), step, step, with_ids=False)


def only_cluster(answer: Answer, selector: str) -> None:
    """Raise PrometheusError when series by label cluster are of several clusters: figures of two are worse than none."""
    found = sorted({labels.get("cluster", "") for labels, _ in answer.series})
    if len(found) > 1:
        names = ", ".join(name or "(none)" for name in found[:_NAMED])
        asked = f"of {selector}" if selector else "that it holds"
        raise PrometheusError(
            f"the series {asked} are of {len(found)} clusters, by their label cluster: {names}",
            "Set prometheus.selector so that one is left.",
        )


def _containers(client: Client, dialect: Dialect, at: datetime, namespaces: str) -> dict[str, int]:
    try:
        answer, times = client.query(dialect.containers_by_namespace(namespaces), at), 1
    except TooMuchError:
        answer, times = client.query(dialect.present_by_namespace(namespaces), at), _CHURN
    only_cluster(answer, dialect.matchers)
    if not answer.series:
        raise NothingThereError(
            f"it has no series {MEMORY}{f' of {dialect.matchers}' if dialect.matchers else ''} with the labels container and pod",
            "Let it scrape the kubelets' /metrics/cadvisor, or correct prometheus.selector.",
        )
    return {labels.get("namespace", ""): int(count) * times for labels, count in answer.values()}


def _samples(client: Client, selected: str, at: datetime) -> Answer:
    """Read raw samples, with their own times."""
    return client.query(f"{selected}[{_LOOK_SECONDS}s]", at)


def _with_recorded(client: Client, dialect: Dialect, chosen: Sequence[Pod], at: datetime) -> Dialect:
    """Use a recorded series in place of the counters where it has nearly all containers, now and when the window began."""
    for name in RECORDED if chosen else ():
        recorded = replace(dialect, recorded=name)
        distance = _distance(_samples(client, select(name, dialect.matchers, CONTAINERS, of_pods(chosen)), at))
        began = at - timedelta(seconds=dialect.window - _LOOK_SECONDS)
        if distance and all(_is_whole(client, recorded, moment) for moment in (at, began)):
            return replace(recorded, step=distance, rate=distance)
    return dialect


def _is_whole(client: Client, dialect: Dialect, moment: datetime) -> bool:
    """Tell whether the recorded series has nearly all of the containers that memory has."""
    counts = client.query(f"count({dialect.cpu('')}) / count({dialect.memory_now('')})", moment).values()
    return bool(counts) and counts[0][1] >= _NEARLY_ALL


def of_pods(pods: Iterable[Pod]) -> str:
    """Match these pods by name; others of the same name in another namespace come along."""
    names = sorted({name for _, name in pods})
    return f"pod=~{quoted('|'.join(name.replace('.', '[.]') for name in names))}"


def _spread(pods: Sequence[Pod]) -> Sequence[Pod]:
    """Choose a few from all over the list."""
    return pods[:: max(1, -(-len(pods) // _ASKED_PODS))]


def _distance(raw: Answer) -> int | None:
    """Give the usual time between two samples of one series."""
    apart = [later - sooner for _, points in raw.series for (sooner, _), (later, _) in pairwise(points)]
    return max(1, round(median(apart))) if apart else None
