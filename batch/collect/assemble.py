"""Collect every kind from a source and put the tables together into a Snapshot."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Protocol, TypeVar

import pandas as pd

from batch.collect.autoscalers import AutoscalerCollector
from batch.collect.cost import ApiCost
from batch.collect.devices import ClaimCollector, ClassCollector, SliceCollector
from batch.collect.items import NotAList
from batch.collect.jobs import CronJobCollector, JobCollector
from batch.collect.moment import latest_believed, split
from batch.collect.node_groups import COLLECTORS
from batch.collect.nodes import NodeCollector
from batch.collect.owners import OwnerCollector, has_unexplained_replica_sets, job_owners, with_top_owners
from batch.collect.pods import PodCollector
from batch.collect.policies import BudgetCollector, QuotaCollector, ServiceCollector
from batch.collect.prometheus.read import NOT_ASKED, Prometheus
from batch.collect.rejects import Rejects
from batch.collect.source import (
    AUTOSCALERS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    DEVICE_CLASSES,
    DISRUPTION_BUDGETS,
    FILE_NAMES,
    JOBS,
    NODE_METRICS,
    NODES,
    OF_AUTOSCALERS,
    POD_METRICS,
    PODS,
    REPLICA_SETS,
    RESOURCE_CLAIMS,
    RESOURCE_QUOTAS,
    RESOURCE_SLICES,
    SERVICES,
    STATEFUL_SETS,
    Footprint,
    Kind,
    ListExpired,
    PartlyForbidden,
    Source,
    SourceError,
)
from batch.collect.templates import TEMPLATED, TemplateCollector
from batch.collect.usage import NodeUsageCollector, PodUsageCollector
from batch.deadline import Deadline
from batch.errors import CollectError
from batch.memory import garbage_collection_off
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.requests_rule import rule_of
from batch.snapshot.schemas import NODE_GROUPS, WORKLOAD_CONTAINERS

_MOST_RESTARTS = 3
"""How often one list is begun again after its continue token expired: a list that takes longer than the API server keeps
tokens (5 to 15 minutes) three times will not be faster the fourth time."""

EFFECTS = {
    NODES: "Node figures are unknown: capacity, allocatable, pools, headroom and GPUs.",
    POD_METRICS: "Usage of pods is unknown: distributions, quantiles and flavors cannot be planned.",
    NODE_METRICS: "Usage of whole machines is unknown.",
    JOBS: "Whether Jobs finish, and in time, is unknown; pods of a CronJob are listed under their Job.",
    CRON_JOBS: "When Jobs start next, and which starts were missed, is unknown.",
    REPLICA_SETS: "Pods of some ReplicaSets are listed under the ReplicaSet instead of what owns it.",
    DEPLOYMENTS: "Containers that were injected into pods of Deployments are not marked as such.",
    STATEFUL_SETS: "Containers that were injected into pods of StatefulSets are not marked as such.",
    DAEMON_SETS: "Containers that were injected into pods of DaemonSets are not marked as such.",
    AUTOSCALERS: "Advice on requests does not know which of them an autoscaler depends on.",
    RESOURCE_SLICES: "Devices of dynamic resource allocation are unknown.",
    RESOURCE_CLAIMS: "Which devices of dynamic resource allocation are taken, and by whom, is unknown.",
    DEVICE_CLASSES: "Which resources dynamic resource allocation serves is known from pods alone.",
    SERVICES: "How many Services there are is unknown.",
    RESOURCE_QUOTAS: "Whether quotas are nearly used is unknown.",
    **dict.fromkeys(OF_AUTOSCALERS.values(), "Whether node pools are at their maximum is unknown."),
    DISRUPTION_BUDGETS: "Which pods may not be evicted, and so which nodes cannot be drained, is unknown.",
}
"""What a report lacks when a kind could not be read."""

NAMESPACES_WILL_DO = "With rights in some namespaces only, name these with --namespace: the report then covers them."

_OTHERS_UNKNOWN = (
    "What other pods hold of the nodes is unknown, and with it how full nodes and pools are, what still fits, what a loss would do, "
    "fleets, a flavor to take, and free GPUs. Advice on requests is not held to what a node leaves."
)

_NEVER_SCALED = ("Pod", "StaticPod", "Job", "CronJob", "DaemonSet")
"""Workload kinds whose number of pods no autoscaler sets."""


class Collector(Protocol):
    """Turns pages into tables."""

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        ...

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far."""
        ...


AnyCollector = TypeVar("AnyCollector", bound=Collector)


@dataclass(frozen=True)
class Identity:
    """Where a snapshot is filed; what is None follows from `taken_at`."""

    cluster: str
    source: str
    run_id: str | None = None
    date: str | None = None


@dataclass(frozen=True)
class Sampling:
    """How often usage of pods is read, and how the time between two readings is spent."""

    samples: int = 1
    interval_seconds: float = 0.0
    sleep: Callable[[float], None] = lambda _seconds: None


ONCE = Sampling()


def assemble(
    source: Source,
    identity: Identity,
    *,
    taken_at: datetime | None,
    fallback_taken_at: Callable[[], datetime],
    deadline: Deadline,
    namespaces: Collection[str] = (),
    sampling: Sampling = ONCE,
    prometheus: Prometheus | None = None,
    on_page: Callable[[str, int], None] = lambda _name, _count: None,
    footprint: Callable[[], Footprint | None] = lambda: None,
    autoscalers: Collection[str] = (),
) -> Snapshot:
    """Read every kind, ask Prometheus if there is one, and give a checked Snapshot.

    `taken_at` None: the newest measurement, else what `fallback_taken_at` gives. `on_page` hears of every page (name of the kind, objects
    so far); `footprint` tells what was asked of the API server so far, None when there is none. `autoscalers` are those whose
    limits are read. Raises CollectError when pods, or without `namespaces` nodes, cannot be read; every other source becomes a Gap.
    """
    reading = _Reading(source, deadline, on_page, ApiCost(footprint))
    version = source.kubernetes_version()
    with garbage_collection_off():
        reading.read(NODES, lambda: NodeCollector(reading.rejects), required=not namespaces)
        reading.read(PODS, lambda: PodCollector(reading.rejects, namespaces, rule_of(version)), required=True)
        reading.read_usage(namespaces, sampling, taken_at)
        reading.read(JOBS, lambda: JobCollector(reading.rejects, namespaces))
        reading.read(CRON_JOBS, lambda: CronJobCollector(reading.rejects, namespaces))
        reading.find_top_owners()
        kinds = frozenset(reading.tables["pods"]["workload_kind"])
        reading.read_templates(namespaces, kinds)
        if kinds - {*_NEVER_SCALED}:
            reading.read(AUTOSCALERS, lambda: AutoscalerCollector(reading.rejects, namespaces))
        reading.read(RESOURCE_SLICES, lambda: SliceCollector(reading.rejects))
        reading.read(RESOURCE_CLAIMS, lambda: ClaimCollector(reading.rejects, namespaces))
        reading.read(DEVICE_CLASSES, lambda: ClassCollector(reading.rejects))
        reading.read(SERVICES, lambda: ServiceCollector(reading.rejects, namespaces))
        reading.read(RESOURCE_QUOTAS, lambda: QuotaCollector(reading.rejects, namespaces))
        reading.read(DISRUPTION_BUDGETS, lambda: BudgetCollector(reading.rejects, namespaces))
        reading.read_node_groups(autoscalers)
    read = sorted({*namespaces} - reading.forbidden_namespaces)
    if read:
        reading.gaps.append(Gap("pods", f"only those of {', '.join(read)} were read", _OTHERS_UNKNOWN))
    reading.note_rejects()
    moment = (taken_at or reading.newest or fallback_taken_at()).astimezone(UTC)
    measures = prometheus.measure(moment, reading.tables, reading.unread, deadline, read) if prometheus else NOT_ASKED
    return Snapshot(
        taken_at=moment,
        cluster=identity.cluster,
        kubernetes_version=version,
        source=identity.source,
        run_id=identity.run_id or moment.strftime("%Y%m%dT%H%M%SZ"),
        date=identity.date or moment.strftime("%Y-%m-%d"),
        tables={**reading.tables, **measures.tables, "rejects": reading.rejects.table(), "api_requests": reading.cost.table()},
        gaps=(*measures.explained(reading.gaps), *measures.gaps),
        namespaces=tuple(read) or None,
        complete=reading.complete,
        unread=frozenset({*reading.unread, *measures.unread}),
    )


_MEASURED = {NODE_METRICS: "node_usage", POD_METRICS: "container_usage"}
"""The kinds that are measurements, and their tables."""

_TIME_REMEDY = "Raise run.deadline_seconds and with it the Job's activeDeadlineSeconds, or find out why the API server is slow."


class _TimeIsUp(SourceError):
    """The run has no time left for this kind."""


@dataclass
class _Reading:
    """One collection in progress: what was read, and what could not be."""

    source: Source
    deadline: Deadline
    on_page: Callable[[str, int], None]
    cost: ApiCost
    rejects: Rejects = field(default_factory=Rejects)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    newest: datetime | None = None
    forbidden_namespaces: set[str] = field(default_factory=set)
    complete: bool = True

    def read(self, kind: Kind, make: Callable[[], AnyCollector], *, required: bool = False) -> AnyCollector | None:
        """Read one kind into a collector and keep its tables; None when it became a Gap."""
        name = FILE_NAMES[kind]
        try:
            collector = self._read_pages(kind, make, required=required)
        except SourceError as error:
            if required:
                remedy = f"{error.remedy} {NAMESPACES_WILL_DO}" if error.forbidden and kind is NODES else error.remedy
                raise CollectError(f"{name}-unreadable", attempted=f"list {name}", why=error.reason, remedy=remedy) from error
            self.complete &= not isinstance(error, _TimeIsUp)
            self._give_up(kind, error.reason)
            return None
        self.tables.update(collector.tables())
        return collector

    def read_usage(self, namespaces: Collection[str], sampling: Sampling, taken_at: datetime | None) -> None:
        """Read what machines use once, and what pods use as often as the sampling says and time allows."""
        self.read(NODE_METRICS, lambda: NodeUsageCollector(self.rejects))
        pods = self.read(POD_METRICS, lambda: PodUsageCollector(self.rejects, namespaces))
        if pods is not None:
            self._read_again(pods, namespaces, sampling)
        read = {kind: table for kind, table in _MEASURED.items() if table in self.tables}
        elapsed_seconds = self.deadline.monotonic() - self.deadline.started
        latest = latest_believed([self.tables[table]["measured_at"] for table in read.values()], taken_at, elapsed_seconds)
        for kind, table in read.items():
            if latest is not None:
                self._leave_out_future(kind, table, latest)
            if self.tables[table].empty:
                self._give_up(kind, "the list was read and held no measurement")
            else:
                self.newest = max(filter(None, (self.newest, self.tables[table]["measured_at"].max().to_pydatetime())))

    def _leave_out_future(self, kind: Kind, table: str, latest: datetime) -> None:
        """Note the measurements from after `latest` once for each object, and go on without them."""
        self.tables[table], ahead = split(self.tables[table], latest)
        names = [name for name in ("namespace", "pod", "node") if name in ahead]
        for *name, measured_at in ahead[[*names, "measured_at"]].drop_duplicates(names).itertuples(index=False):
            self.rejects.add(f"{FILE_NAMES[kind]} {'/'.join(name)}", "timestamp", measured_at.isoformat(), "it is in the future")

    def _read_again(self, pods: PodUsageCollector, namespaces: Collection[str], sampling: Sampling) -> None:
        """Add the further readings that the sampling asks for; one that fails ends them, and what was read before stays."""
        for number in range(2, sampling.samples + 1):
            if self.deadline.collection_seconds() <= sampling.interval_seconds:
                self._note_fewer(number - 1, sampling, "the run's time was used up")
                break
            sampling.sleep(sampling.interval_seconds)
            try:
                pods.join(self._read_pages(POD_METRICS, lambda: PodUsageCollector(self.rejects, namespaces)))
            except SourceError as error:
                self._note_fewer(number - 1, sampling, error.reason)
                break
        self.tables.update(pods.tables())

    def _note_fewer(self, taken: int, sampling: Sampling, reason: str) -> None:
        self.gaps.append(
            Gap(FILE_NAMES[POD_METRICS], f"{taken} of {sampling.samples} readings were taken: {reason}", "Usage rests on these.")
        )

    def find_top_owners(self) -> None:
        """Put the workload at the top in place of ReplicaSets and Jobs; ReplicaSets are listed only when pods leave a question."""
        owners = job_owners(self.tables["jobs"]) if "jobs" in self.tables else {}
        if has_unexplained_replica_sets(self.tables["pods"]):
            replica_sets = self.read(REPLICA_SETS, lambda: OwnerCollector(self.rejects))
            owners.update(replica_sets.owners() if replica_sets else {})
        self.tables["pods"] = with_top_owners(self.tables["pods"], owners)

    def read_templates(self, namespaces: Collection[str], kinds: Collection[str]) -> None:
        """Read the templates of those of the workload kinds that have one into one table; a kind that cannot be read is missing from it.

        A ReplicaSet that is still a workload may belong to a Deployment, as far as is known.
        """
        rows = WORKLOAD_CONTAINERS.builder()
        wanted = {*kinds} | ({"Deployment"} if "ReplicaSet" in kinds else set())
        for kind in (kind for kind, name in TEMPLATED.items() if name in wanted):
            collector = self.read(kind, partial(TemplateCollector, kind, self.rejects, namespaces))
            if collector is not None:
                rows.join(collector.rows())
        self.tables["workload_containers"] = rows.frame()

    def read_node_groups(self, autoscalers: Collection[str]) -> None:
        """Read how far these autoscalers may go; what is not asked is unknown, and no gap."""
        rows = NODE_GROUPS.builder()
        for name, kind in OF_AUTOSCALERS.items():
            collector = self.read(kind, partial(COLLECTORS[name], self.rejects)) if name in autoscalers else None
            if collector is not None:
                rows.join(collector.rows())
            else:
                self.unread.add(FILE_NAMES[kind])
        self.tables["node_groups"] = rows.frame()

    def note_rejects(self) -> None:
        """Say in a gap that something was refused, with the first of it."""
        if len(self.rejects):
            reason = f"{len(self.rejects)} could not be read; the first: {self.rejects.first()}"
            self.gaps.append(Gap("objects", reason, "They are missing from the sums; all are in rejects.csv."))

    def _give_up(self, kind: Kind, reason: str) -> None:
        name = FILE_NAMES[kind]
        self.gaps.append(Gap(name, reason, EFFECTS[kind]))
        self.unread.add(name)

    def _read_pages(self, kind: Kind, make: Callable[[], AnyCollector], *, required: bool = False) -> AnyCollector:
        """Read all pages into a fresh collector; a list that expired in the middle is begun again, and never half used."""
        with self.cost.of(FILE_NAMES[kind]) as count_objects:
            return self._read_whole(kind, make, count_objects, required=required)

    def _read_whole(
        self, kind: Kind, make: Callable[[], AnyCollector], count_objects: Callable[[int], None], *, required: bool
    ) -> AnyCollector:
        refused_before = len(self.rejects)
        for _ in range(_MOST_RESTARTS):
            collector, count = make(), 0
            try:
                for page in self.source.pages(kind, partial(self._check_time, kind, required=required)):
                    count += collector.take(page)
                    self.on_page(FILE_NAMES[kind], count)
            except ListExpired:
                self.rejects.forget_after(refused_before)
                continue
            except PartlyForbidden as error:
                self._note_forbidden(error)
            except NotAList as error:
                raise SourceError(
                    kind, f"the answer is not a Kubernetes List: {error}", "Look at what is served or stored there."
                ) from error
            count_objects(count)
            return collector
        raise SourceError(
            kind,
            f"its continue token expired {_MOST_RESTARTS} times in mid-list",
            "Raise api.page_size, or read the cluster at a quieter time.",
        )

    def _check_time(self, kind: Kind, *, required: bool) -> None:
        """Let a page be asked for only in time; without a required list there is no report, so it may use the reserve."""
        if (self.deadline.remaining_seconds() if required else self.deadline.collection_seconds()) <= 0:
            raise _TimeIsUp(kind, "the run's time was used up before it was read to its end", _TIME_REMEDY)

    def _note_forbidden(self, error: PartlyForbidden) -> None:
        where = ", ".join(error.namespaces)
        gap = Gap(
            FILE_NAMES[error.kind], f"left out in {where}: {error.reason}", "Nothing of these namespaces is in the figures that rest on it."
        )
        if gap not in self.gaps:  # each reading of usage meets it
            self.gaps.append(gap)
        if error.kind is PODS:
            self.forbidden_namespaces.update(error.namespaces)
