"""Jobs: who started them, and what their pods will hold."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import Annotations, Job, JobSpec, PodSpec, PodTemplate
from batch.collect.rejects import Rejects
from batch.collect.requests import template_requests
from batch.snapshot.schemas import JOB_RESOURCES, JOBS

_OWN_COLUMN = ("cpu", "memory")


class JobCollector:
    """Turns pages of the Job list into tables."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._items = Items(Job, "Job", rejects, namespaces)
        self._rejects = rejects
        self._jobs = JOBS.builder()
        self._resources = JOB_RESOURCES.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many Jobs it held."""
        count, jobs = self._items.of(page)
        for name, job in jobs:
            self._take_job((job.metadata.namespace or "default", name), job)
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {"jobs": self._jobs.frame(), "job_resources": self._resources.frame()}

    def _take_job(self, key: tuple[str, str], job: Job) -> None:
        spec = job.spec or JobSpec()
        template = (spec.template or PodTemplate()).spec or PodSpec()
        requests = template_requests(template, f"job {key[0]}/{key[1]}", self._rejects)
        references = job.metadata.owner_references or []
        owner = next((o for o in references if o.controller), references[0] if references else None)
        self._jobs.add(
            (
                *key,
                job.metadata.uid,
                owner.kind if owner else None,
                owner.name if owner else None,
                (job.metadata.annotations or Annotations()).instantiate == "manual",
                bool(spec.suspend),
                _parallelism(spec),
                requests.get("cpu", 0),
                requests.get("memory", 0),
            )
        )
        for resource, amount in requests.items():
            if resource not in _OWN_COLUMN and amount:
                self._resources.add((*key, resource, amount))


def _parallelism(spec: JobSpec) -> int:
    """Tell how many pods may run at once: no more than are to be completed."""
    wanted = 1 if spec.parallelism is None else spec.parallelism
    return wanted if spec.completions is None else min(wanted, spec.completions)
