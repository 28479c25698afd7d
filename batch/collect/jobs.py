"""Jobs and CronJobs: who started them, how they stand, and what their pods will hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Generic, TypeVar

import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import (
    Annotations,
    CronJob,
    CronJobSpec,
    CronJobStatus,
    Job,
    JobSpec,
    JobStatus,
    JobTemplate,
    Metadata,
    PodSpec,
    PodTemplate,
)
from batch.collect.rejects import Rejects
from batch.collect.requests import Amounts, template_requests
from batch.collect.times import read_instant
from batch.snapshot.job_schemas import CRONJOB_RESOURCES, CRONJOBS, JOB_CONDITIONS, JOB_RESOURCES, JOBS
from batch.snapshot.schema import Schema

_OWN_COLUMN = ("cpu", "memory")
_CONTROLLER = "kubernetes.io/job-controller"
"""Value of spec.managedBy that means the same as none (k8s.io/api/batch/v1, JobControllerName)."""

Item = TypeVar("Item", Job, CronJob)
Key = tuple[str, str]


class _Collector(Generic[Item]):
    """Turns pages of one kind into tables: a row for each object, and one for each further resource of its template."""

    def __init__(self, item: type[Item], kind: str, tables: tuple[Schema, Schema], rejects: Rejects, namespaces: Collection[str]) -> None:
        self._items: Items[Item] = Items(item, kind, rejects, namespaces)
        self._kind = kind.lower()
        self._rejects = rejects
        self._names = [table.name for table in tables]
        self._rows, self._resources = (table.builder() for table in tables)

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        for name, item in self._items.of(page):
            self._take((item.metadata.namespace or "default", name), item)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return dict(zip(self._names, (self._rows.frame(), self._resources.frame()), strict=True))

    def _take(self, key: Key, item: Item) -> None:
        raise NotImplementedError

    def _take_template(self, key: Key, spec: JobSpec) -> tuple[object, ...]:
        """Give the columns of a template, and note the rows of its further resources."""
        template = (spec.template or PodTemplate()).spec or PodSpec()
        requests: Amounts = template_requests(template, f"{self._kind} {key[0]}/{key[1]}", self._rejects)
        for resource, amount in requests.items():
            if resource not in _OWN_COLUMN and amount:
                self._resources.add((*key, resource, amount))
        return (
            _parallelism(spec),
            spec.active_deadline_seconds,
            template.active_deadline_seconds,
            spec.ttl_seconds_after_finished,
            requests.get("cpu", 0),
            requests.get("memory", 0),
        )


class JobCollector(_Collector[Job]):
    """Turns pages of the Job list into tables."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        super().__init__(Job, "Job", (JOBS, JOB_RESOURCES), rejects, namespaces)
        self._conditions = JOB_CONDITIONS.builder()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {**super().tables(), "job_conditions": self._conditions.frame()}

    def _take(self, key: Key, item: Job) -> None:
        meta, spec, status = item.metadata, item.spec or JobSpec(), item.status or JobStatus()
        annotations = meta.annotations or Annotations()
        self._rows.add(
            (
                *key,
                meta.uid,
                read_instant(meta.creation_timestamp),
                read_instant(meta.deletion_timestamp),
                *_owner(meta),
                annotations.instantiate == "manual",
                read_instant(annotations.scheduled) if isinstance(annotations.scheduled, str) else None,
                bool(spec.suspend),
                *self._take_template(key, spec),
                spec.completions,
                spec.completion_mode == "Indexed",
                None if spec.backoff_limit_per_index is not None else spec.backoff_limit,
                spec.backoff_limit_per_index,
                None if spec.managed_by == _CONTROLLER else spec.managed_by,
                *_progress(status),
            )
        )
        for condition in status.conditions or ():
            self._conditions.add((*key, condition.type, condition.status, condition.reason, read_instant(condition.last_transition_time)))


class CronJobCollector(_Collector[CronJob]):
    """Turns pages of the CronJob list into tables."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        super().__init__(CronJob, "CronJob", (CRONJOBS, CRONJOB_RESOURCES), rejects, namespaces)

    def _take(self, key: Key, item: CronJob) -> None:
        meta, spec, status = item.metadata, item.spec or CronJobSpec(), item.status or CronJobStatus()
        self._rows.add(
            (
                *key,
                meta.uid,
                read_instant(meta.creation_timestamp),
                read_instant(meta.deletion_timestamp),
                spec.schedule,
                spec.time_zone,
                bool(spec.suspend),
                spec.concurrency_policy or "Allow",
                spec.starting_deadline_seconds,
                read_instant(status.last_schedule_time),
                read_instant(status.last_successful_time),
                len(status.active or ()),
                *self._take_template(key, (spec.job_template or JobTemplate()).spec or JobSpec()),
            )
        )


def _owner(meta: Metadata) -> tuple[object, ...]:
    """Give kind, name and uid of the controlling owner, else of the first, and whether it controls."""
    references = meta.owner_references or []
    owner = next((o for o in references if o.controller), references[0] if references else None)
    return (owner.kind, owner.name, owner.uid, bool(owner.controller)) if owner else (None, None, None, False)


def _parallelism(spec: JobSpec) -> int:
    """Tell how many pods may run at once: no more than are to be completed."""
    wanted = 1 if spec.parallelism is None else spec.parallelism
    return wanted if spec.completions is None else min(wanted, spec.completions)


def _progress(status: JobStatus) -> Iterator[object]:
    yield read_instant(status.start_time)
    yield read_instant(status.completion_time)
    yield status.active or 0
    yield status.ready
    yield status.terminating
    yield status.succeeded or 0
    yield status.failed or 0
    yield status.completed_indexes or None
    yield status.failed_indexes or None
