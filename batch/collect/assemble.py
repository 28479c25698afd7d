"""Collect every kind from a source and put the tables together into a Snapshot."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

import pandas as pd

from batch.collect.nodes import NodeCollector
from batch.collect.objects import NotAList
from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from batch.collect.source import FILE_NAMES, NODE_METRICS, NODES, POD_METRICS, PODS, Kind, ListExpired, Source, SourceError
from batch.collect.usage import NodeUsageCollector, PodUsageCollector
from batch.deadline import Deadline
from batch.errors import CollectError
from batch.snapshot.model import Gap, Snapshot

_MOST_RESTARTS = 3
"""How often one list is begun again after its continue token expired: a list that takes longer than the API server keeps
tokens (5 to 15 minutes) three times will not be faster the fourth time."""

_EFFECTS = {
    NODES: "Node figures are unknown: capacity, allocatable, pools, headroom and GPUs.",
    POD_METRICS: "Usage of pods is unknown: distributions, quantiles and flavors cannot be planned.",
    NODE_METRICS: "Usage of whole machines is unknown.",
}


class Collector(Protocol):
    """Turns pages into tables."""

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        ...

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far."""
        ...


@dataclass(frozen=True)
class Identity:
    """Where a snapshot is filed; what is None follows from `taken_at`."""

    cluster: str
    source: str
    run_id: str | None = None
    date: str | None = None


@dataclass
class _Collected:
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    newest: datetime | None = None
    complete: bool = True


def assemble(
    source: Source,
    identity: Identity,
    *,
    taken_at: datetime | None,
    fallback_taken_at: Callable[[], datetime],
    deadline: Deadline,
    namespaces: Collection[str] = (),
    on_page: Callable[[str, int], None] = lambda _name, _count: None,
) -> Snapshot:
    """Read every kind once and give a checked Snapshot.

    `taken_at` None: the newest measurement, else what `fallback_taken_at` gives. `on_page` hears of every page (name of the kind, objects
    so far). Raises CollectError when pods, or without `namespaces` nodes, cannot be read; every other source becomes a Gap.
    """
    rejects = Rejects()
    collected = _Collected()
    makers: Mapping[Kind, Callable[[], Collector]] = {
        NODES: lambda: NodeCollector(rejects),
        PODS: lambda: PodCollector(rejects, namespaces),
        POD_METRICS: lambda: PodUsageCollector(rejects, namespaces),
        NODE_METRICS: lambda: NodeUsageCollector(rejects),
    }
    version = source.kubernetes_version()
    for kind, make in makers.items():
        required = kind is PODS or (kind is NODES and not namespaces)
        _read_kind(source, kind, make, collected, deadline, on_page, required=required)
    if rejects:
        collected.gaps.append(
            Gap(
                "objects",
                f"{len(rejects)} could not be read; the first: {rejects.first()}",
                "They are missing from the sums; all are in rejects.csv.",
            )
        )
    moment = taken_at or collected.newest or fallback_taken_at()
    moment = moment.astimezone(UTC)
    return Snapshot(
        taken_at=moment,
        cluster=identity.cluster,
        kubernetes_version=version,
        source=identity.source,
        run_id=identity.run_id or moment.strftime("%Y%m%dT%H%M%SZ"),
        date=identity.date or moment.strftime("%Y-%m-%d"),
        tables={**collected.tables, "rejects": rejects.table()},
        gaps=tuple(collected.gaps),
        namespaces=tuple(sorted(namespaces)) or None,
        complete=collected.complete,
        unread=frozenset(collected.unread),
    )


def _read_kind(
    source: Source,
    kind: Kind,
    make: Callable[[], Collector],
    collected: _Collected,
    deadline: Deadline,
    on_page: Callable[[str, int], None],
    *,
    required: bool,
) -> None:
    name = FILE_NAMES[kind]
    if not required and deadline.collection_seconds() <= 0:
        collected.gaps.append(Gap(name, "the run's time was used up before it could be read", _EFFECTS[kind]))
        collected.unread.add(name)
        collected.complete = False
        return
    try:
        collector = _read_pages(source, kind, make, on_page)
    except SourceError as error:
        if required:
            raise CollectError(f"{name}-unreadable", attempted=f"list {name}", why=error.reason, remedy=error.remedy) from error
        collected.gaps.append(Gap(name, error.reason, _EFFECTS[kind]))
        collected.unread.add(name)
        return
    collected.tables.update(collector.tables())
    if isinstance(collector, (PodUsageCollector, NodeUsageCollector)):
        newest = collector.newest()
        collected.newest = max(filter(None, (collected.newest, newest)), default=None)
        if newest is None:
            collected.gaps.append(Gap(name, "the list was read and held no measurement", _EFFECTS[kind]))
            collected.unread.add(name)


def _read_pages(source: Source, kind: Kind, make: Callable[[], Collector], on_page: Callable[[str, int], None]) -> Collector:
    """Read all pages into a fresh collector; a list that expired in the middle is begun again, and never half used."""
    for _ in range(_MOST_RESTARTS):
        collector, count = make(), 0
        try:
            for page in source.pages(kind):
                count += collector.take(page)
                on_page(FILE_NAMES[kind], count)
        except ListExpired:
            continue
        except NotAList as error:
            raise SourceError(kind, f"the answer is not a Kubernetes List: {error}", "Look at what is served or stored there.") from error
        return collector
    raise SourceError(
        kind,
        f"its continue token expired {_MOST_RESTARTS} times in mid-list",
        "Raise api.page_size, or read the cluster at a quieter time.",
    )
