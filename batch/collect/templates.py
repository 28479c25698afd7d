"""Templates of Deployments, StatefulSets and DaemonSets: which containers stand in them, and who owns the workload itself."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import PodSpec, PodTemplate, Workload, WorkloadSpec
from batch.collect.rejects import Rejects
from batch.collect.source import DAEMON_SETS, DEPLOYMENTS, STATEFUL_SETS, Kind
from batch.snapshot.schema import TableBuilder
from batch.snapshot.schemas import WORKLOAD_CONTAINERS

TEMPLATED = {DEPLOYMENTS: "Deployment", STATEFUL_SETS: "StatefulSet", DAEMON_SETS: "DaemonSet"}
"""The kinds that are read for their templates, and what an object of each is called."""


class TemplateCollector:
    """Reads the containers of the templates of one kind."""

    def __init__(self, kind: Kind, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._kind = TEMPLATED[kind]
        self._items = Items(Workload, self._kind, rejects, namespaces)
        self._rows = WORKLOAD_CONTAINERS.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        for name, workload in self._items.of(page):
            self._take_workload(name, workload)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give no table: the rows of all kinds make one."""
        return {}

    def rows(self) -> TableBuilder:
        """Give the rows of table `workload_containers` read so far."""
        return self._rows

    def _take_workload(self, name: str, item: Workload) -> None:
        meta = item.metadata
        owner = next((o for o in meta.owner_references or [] if o.controller), None)
        template = ((item.spec or WorkloadSpec()).template or PodTemplate()).spec or PodSpec()
        for container in [*(template.containers or []), *(template.init_containers or [])]:
            key = (self._kind, meta.namespace or "default", name, container.name)
            self._rows.add((*key, owner and owner.kind, owner and owner.name))
