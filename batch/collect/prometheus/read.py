"""The door: everything that Prometheus is asked in one run, and what becomes a gap when it does not answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pandas as pd

from batch.collect.prometheus import containers, control_plane, gpus, nodes
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import NothingThereError, PrometheusError
from batch.collect.prometheus.owners import owners
from batch.collect.prometheus.pods import Pods
from batch.collect.prometheus.probe import Store, dialect_of, probe
from batch.collect.prometheus.tables import container_tables, newest_usage
from batch.deadline import Deadline
from batch.settings import Settings
from batch.snapshot.control_plane import SOURCE as CONTROL_PLANE
from batch.snapshot.model import Gap
from batch.snapshot.prometheus_schemas import PROMETHEUS

CONTAINERS, NODES, GPUS = "prometheus", "node_windows", "gpu_usage"
"""Names under which these count as read or not, and of their gaps."""

_EFFECTS = {
    CONTAINERS: "Usage rests on the metrics API and on what earlier nights left.",
    NODES: "Usage of whole machines over the window is unknown.",
    GPUS: "What accelerators did is unknown.",
    CONTROL_PLANE: "Whether etcd, the API servers and DNS would stand more is unknown.",
}

_FILLED = {"podmetrics": "container_usage", "nodemetrics": "node_usage"}
"""Kinds of the metrics API, and the table that Prometheus fills in when they could not be read."""

_INSTEAD = "Usage at the moment of the snapshot is taken from Prometheus."

_STRANGERS, _FEW = 0.5, 3
"""Share of the containers of this moment that may be of no listed pod, when they are more than a few: those are another cluster's."""


@dataclass(frozen=True)
class Measures:
    """What Prometheus told: tables, gaps, and what of it is unknown."""

    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    gaps: tuple[Gap, ...] = ()
    unread: frozenset[str] = frozenset({CONTAINERS, NODES, GPUS, CONTROL_PLANE})

    def explained(self, gaps: Iterable[Gap]) -> Iterator[Gap]:
        """Give the gaps of the metrics API; of what Prometheus filled in they say so."""
        filled = {source for source, table in _FILLED.items() if table in self.tables}
        yield from (replace(gap, effect=_INSTEAD) if gap.source in filled else gap for gap in gaps)


NOT_ASKED = Measures()
"""What is known when Prometheus is not asked at all, which is no gap."""


class Prometheus:
    """Asks Prometheus about a cluster that was just read."""

    def __init__(self, settings: Settings, user_agent: str, sleep: Callable[[float], None]) -> None:
        self._settings = settings
        self._user_agent = user_agent
        self._sleep = sleep

    def measure(
        self,
        at: datetime,
        tables: Mapping[str, pd.DataFrame],
        unread: Collection[str],
        deadline: Deadline,
        namespaces: Sequence[str] = (),
    ) -> Measures:
        """Ask for the window that ends at that moment, of these namespaces (empty: all).

        Whatever fails is a gap; what `unread` names of the metrics API is filled in.
        """
        reading = _Reading(self._settings, at.replace(microsecond=0), tables, unread, namespaces)
        with reading.noting(CONTAINERS), closing(Client(self._settings.prometheus, deadline, self._user_agent, self._sleep)) as client:
            reading.read(client)
        return Measures(reading.tables, tuple(reading.gaps), frozenset(reading.unread))


@dataclass
class _Reading:
    """One run's questions in progress: what is known, and what is not."""

    settings: Settings
    at: datetime
    given: Mapping[str, pd.DataFrame]
    lacking: Collection[str]
    namespaces: Sequence[str]
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    unread: set[str] = field(default_factory=lambda: {CONTAINERS, NODES, GPUS, CONTROL_PLANE})

    @contextmanager
    def noting(self, source: str) -> Iterator[None]:
        """Turn what fails into a gap of that source."""
        try:
            yield
        except PrometheusError as error:
            why = ". ".join(filter(None, (error.reason.rstrip("."), error.remedy.rstrip("."))))
            self.gaps.append(Gap(source, why, _EFFECTS[source]))

    def read(self, client: Client) -> None:
        """Ask about containers, nodes, accelerators and the control plane. A store that does not even answer the first questions is not asked others."""
        pods, own = Pods(self.given["pods"]), self.settings.prometheus
        try:
            store = probe(client, own, pods, self.at, self.namespaces)
        except NothingThereError:
            with self.noting(GPUS):
                self._read_gpus(client, None)
            with self.noting(CONTROL_PLANE):
                self._read_control_plane(client)
            raise
        with self.noting(CONTAINERS):
            self._read_containers(client, store, pods)
        with self.noting(NODES):
            self._read_nodes(client, store)
        with self.noting(GPUS):
            self._read_gpus(client, store)
        with self.noting(CONTROL_PLANE):
            self._read_control_plane(client)
        self._note_warnings(client)
        if CONTAINERS not in self.unread:
            self.tables["prometheus"] = PROMETHEUS.frame([self._described(client, store)])

    def _read_containers(self, client: Client, store: Store, pods: Pods) -> None:
        found = containers.ask(client, store, self.settings.prometheus, self.at)
        known = owners(client, store.dialect, self.at, self.namespaces, found.keys, pods)
        tables = container_tables(found, store.dialect, pods, known, self.at)
        _refuse_strangers(tables, self.at)
        self.tables |= tables
        self.unread.discard(CONTAINERS)
        if self._lacks("podmetrics", "container_usage"):
            self.tables["container_usage"] = newest_usage(tables, store.dialect, self.at)

    def _lacks(self, source: str, table: str) -> bool:
        """Tell whether the metrics API told nothing that still counts at the moment of the snapshot."""
        if source in self.lacking or table not in self.given:
            return True
        oldest = pd.Timestamp(self.at) - pd.Timedelta(seconds=self.settings.usage.max_age_seconds)
        return not (self.given[table]["measured_at"] >= oldest).any()

    def _read_nodes(self, client: Client, store: Store) -> None:
        names = frozenset(self.given["nodes"]["node"]) if "nodes" in self.given else frozenset()
        if not names:
            return
        self.tables["node_windows"] = nodes.windows(client, store.dialect, self.at, names)
        self.unread.discard(NODES)
        if self._lacks("nodemetrics", "node_usage"):
            self.tables["node_usage"] = nodes.newest(client, store.dialect, self.at, names)

    def _read_gpus(self, client: Client, store: Store | None) -> None:
        dialect = store.dialect if store else dialect_of(self.settings.prometheus)
        found = gpus.usage(client, self.settings, dialect, self.at)
        if found is not None:
            self.tables["gpu_usage"] = found
            self.unread.discard(GPUS)

    def _read_control_plane(self, client: Client) -> None:
        self.tables["control_plane_metrics"] = control_plane.metrics(client, self.settings.prometheus.selector, self.at)
        self.unread.discard(CONTROL_PLANE)

    def _note_warnings(self, client: Client) -> None:
        if client.warnings:
            first = next(iter(client.warnings))
            reason = f"its answers came with {len(client.warnings)} warnings; the first: {first}"
            self.gaps.append(Gap(CONTAINERS, reason, "Series may be missing from its figures."))

    def _described(self, client: Client, store: Store) -> tuple[object, ...]:
        dialect, grid = store.dialect, containers.instants(self.settings.prometheus, sum(store.containers.values()), self.at)
        return (
            client.address,
            self.at - timedelta(seconds=dialect.window),
            self.at,
            store.scrape_seconds,
            dialect.step,
            dialect.rate,
            dialect.recorded or None,
            grid.step,
            grid.count,
            client.request_count,
            client.received_bytes,
            0.0 if self.settings.run.now else client.elapsed_seconds,  # equal input is to give equal bytes
            client.dropped_count,
        )


def _refuse_strangers(tables: Mapping[str, pd.DataFrame], at: datetime) -> None:
    """Raise PrometheusError when most of what runs now by these series is not in the cluster: they are of another one."""
    measured = tables["measured_containers"]
    now = measured.loc[measured["last_at"] == pd.Timestamp(at)]
    strangers = now.loc[~now["listed"]]
    if len(strangers) > _FEW and len(strangers) > _STRANGERS * len(now):
        name = "/".join(strangers.iloc[0][["namespace", "pod"]])
        raise PrometheusError(
            f"{len(strangers)} of the {len(now)} containers that run now by its series are of pods that the cluster does not have, such as {name}",
            "It may hold several clusters: set prometheus.selector.",
        )
