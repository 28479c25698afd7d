"""Jobs in every state, with their pods, and CronJobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sample.builder import Builder
from sample.controllers import pod_template
from sample.identity import stamp, suffix, uid
from sample.machines import Node
from sample.objects import Json, api_object, owner_reference
from sample.pods import Ending, Identity
from sample.templates import Template

_REACHED = {"message": "Reached expected number of succeeded pods", "reason": "CompletionsReached"}
_DEADLINE = {"message": "Job was active longer than specified deadline", "reason": "DeadlineExceeded"}
_INDEXES = {"message": "Job has failed indexes", "reason": "FailedIndexes"}
_BACKOFF = {"message": "Job has reached the specified backoff limit", "reason": "BackoffLimitExceeded"}


@dataclass(frozen=True)
class Run:
    """One Job: its template, when it was made, and what is special about its spec. `cronjob` made it when one is given."""

    template: Template
    created: datetime
    name: str = ""
    deadline: int | None = None
    parallelism: int = 1
    cronjob: Json | None = None
    manual: bool = False
    spec: Json | None = None
    scheduled: datetime | None = None

    @property
    def job(self) -> str:
        """Name: a CronJob's Jobs end in the minutes since 1970 at which they were due."""
        if self.cronjob and not self.manual:
            return f"{self.cronjob['metadata']['name']}-{int(self.due.timestamp()) // 60}"
        return self.name or self.template.app

    @property
    def due(self) -> datetime:
        """When the schedule wanted it: the full minute, unless it could not start then."""
        return self.scheduled or self.created.replace(second=0)

    @property
    def labels(self) -> dict[str, str]:
        """Labels of its pods, in their new and their old form."""
        own = {"controller-uid": uid("Job", self.template.namespace, self.job), "job-name": self.job}
        return {**{f"batch.kubernetes.io/{key}": value for key, value in own.items()}, **own}

    def pod(self, attempt: int, created: datetime, job: Json) -> Identity:
        """Identity of one of its pods."""
        name = f"{self.job}-{suffix(5, 'pod', self.template.namespace, self.job, attempt)}"
        return Identity(name, created, owner_reference(job), f"{self.job}-", self.labels)


def running_job(
    builder: Builder, run: Run, *, nodes: list[Node] | None = None, indexes: tuple[int, ...] | None = None, **status: Any
) -> Json:
    """Add a Job that runs, with a pod for each of its parallelism; `indexes` are those of an Indexed Job."""
    active = {"active": run.parallelism, "ready": run.parallelism, "startTime": stamp(run.created), "terminating": 0}
    job = _job(builder, run, {**active, "uncountedTerminatedPods": {}, **status})
    for number in range(run.parallelism):
        identity = run.pod(number, run.created + timedelta(seconds=1), job)
        if indexes is not None:
            identity = _indexed(identity, run.job, indexes[number])
        builder.run(run.template, identity, nodes[number] if nodes else None)
    return job


def waiting_job(builder: Builder, run: Run) -> Json:
    """Add a Job whose pod fits nowhere."""
    status = {"active": 1, "ready": 0, "startTime": stamp(run.created), "terminating": 0, "uncountedTerminatedPods": {}}
    job = _job(builder, run, status)
    builder.wait(run.template, run.pod(0, run.created + timedelta(seconds=1), job))
    return job


def suspended_job(builder: Builder, run: Run, since: datetime) -> Json:
    """Add a Job that somebody suspended before it started."""
    condition = _condition("Suspended", since, message="Job suspended", reason="JobSuspended")
    return _job(builder, run, {"conditions": [condition], "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}, suspend=True)


def stuck_job(builder: Builder, run: Run, finalizers: list[str]) -> Json:
    """Add a Job past its deadline whose pod was deleted and does not go: it is about to fail, and has not failed yet."""
    if run.deadline is None:
        raise ValueError(f"{run.job} has no deadline")
    stopped = run.created + timedelta(seconds=run.deadline)
    status = {
        "conditions": [_condition("FailureTarget", stopped, **_DEADLINE)],
        "ready": 0,
        "startTime": stamp(run.created),
        "terminating": 1,
        "uncountedTerminatedPods": {},
    }
    job = _job(builder, run, status)
    identity = run.pod(0, run.created + timedelta(seconds=1), job)
    builder.keep(run.template, identity, stopped + timedelta(seconds=30), ["batch.kubernetes.io/job-tracking", *finalizers])
    return job


def broken_indexes_job(builder: Builder, run: Run, completed: str, failed: str, counts: tuple[int, int], seconds: int) -> Json:
    """Add an Indexed Job of which some indexes failed for good, each after its own retries; its pods are gone."""
    ended = run.created + timedelta(seconds=seconds)
    status = _failed(run, ended, ended, counts[1], _INDEXES)
    return _job(builder, run, {**status, "completedIndexes": completed, "failedIndexes": failed, "succeeded": counts[0]})


def succeeded_job(builder: Builder, run: Run, seconds: int, *, swept: bool = False) -> Json:
    """Add a Job that completed after so many seconds, with its pod unless that was swept away."""
    done = run.created + timedelta(seconds=seconds)
    status = {
        "completionTime": stamp(done),
        "conditions": [_condition("SuccessCriteriaMet", done, **_REACHED), _condition("Complete", done, **_REACHED)],
        "ready": 0,
        "startTime": stamp(run.created),
        "succeeded": 1,
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }
    job = _job(builder, run, status)
    if not swept:
        builder.end(run.template, run.pod(0, run.created, job), Ending(done - timedelta(seconds=2)))
    return job


def late_job(builder: Builder, run: Run) -> Json:
    """Add a Job that ran into its deadline: its pods are deleted by the controller."""
    if run.deadline is None:
        raise ValueError(f"{run.job} has no deadline")
    stopped = run.created + timedelta(seconds=run.deadline)
    return _job(builder, run, _failed(run, stopped, stopped + timedelta(seconds=32), 1, _DEADLINE))


def failing_job(builder: Builder, run: Run, attempts: int) -> Json:
    """Add a Job that gave up after so many failed pods, which stay."""
    first_wait = 10  # seconds; doubled after each failure, as the Job controller does
    times = [run.created + timedelta(seconds=(first_wait + 6) * (2**attempt - 1)) for attempt in range(attempts)]
    stopped = times[-1] + timedelta(seconds=8)
    job = _job(builder, run, _failed(run, stopped, stopped, attempts, _BACKOFF))
    for attempt, began in enumerate(times):
        builder.end(run.template, run.pod(attempt, began, job), Ending(began + timedelta(seconds=7), exit_code=1))
    return job


def cronjob(
    builder: Builder, template: Template, schedule: str, created: datetime, spec: Json, *, deadline: int | None, **status: str
) -> Json:
    """Add a CronJob; `status` are lastScheduleTime and lastSuccessfulTime."""
    job_spec = {"backoffLimit": 6, **({"activeDeadlineSeconds": deadline} if deadline is not None else {})}
    full = {
        "concurrencyPolicy": "Forbid",
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {"labels": template.all_labels}, "spec": {**job_spec, "template": pod_template(template)}},
        "schedule": schedule,
        "successfulJobsHistoryLimit": 3,
        "suspend": False,
        **spec,
    }
    return builder.add(
        "cronjobs",
        api_object(
            "CronJob",
            template.app,
            created,
            namespace=template.namespace,
            labels=template.all_labels,
            generation=1,
            spec=full,
            status=status,
        ),
    )


def mark_active(owner: Json, job: Json) -> None:
    """Put a Job that runs on the list of its CronJob."""
    metadata = job["metadata"]
    reference = {"apiVersion": job["apiVersion"], "kind": job["kind"], **{key: metadata[key] for key in ("name", "namespace", "uid")}}
    owner["status"].setdefault("active", []).append({**reference, "resourceVersion": metadata["resourceVersion"]})


def _job(builder: Builder, run: Run, status: Json, *, suspend: bool = False) -> Json:
    spec = {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": run.parallelism,
        "manualSelector": False,
        "parallelism": run.parallelism,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": run.labels["controller-uid"]}},
        "suspend": suspend,
        "template": pod_template(run.template, run.labels),
        **({"activeDeadlineSeconds": run.deadline} if run.deadline is not None else {}),
        **(run.spec or {}),
    }
    return builder.add(
        "jobs",
        api_object(
            "Job",
            run.job,
            run.created,
            namespace=run.template.namespace,
            labels=run.template.all_labels,
            annotations=_job_annotations(run),
            owner=owner_reference(run.cronjob, controller=not run.manual) if run.cronjob else None,
            generation=1,
            spec=spec,
            status=status,
        ),
    )


def _job_annotations(run: Run) -> dict[str, str]:
    if run.manual:
        return {"cronjob.kubernetes.io/instantiate": "manual"}
    return {"batch.kubernetes.io/cronjob-scheduled-timestamp": stamp(run.due)} if run.cronjob else {}


def _failed(run: Run, stopped: datetime, ended: datetime, attempts: int, why: dict[str, str]) -> Json:
    """Status of a failed Job: FailureTarget when it is decided, Failed when no pod runs any more."""
    return {
        "conditions": [_condition("FailureTarget", stopped, **why), _condition("Failed", ended, **why)],
        "failed": attempts,
        "ready": 0,
        "startTime": stamp(run.created),
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }


def _condition(kind: str, at: datetime, **words: str) -> Json:
    return {"lastProbeTime": stamp(at), "lastTransitionTime": stamp(at), "status": "True", "type": kind, **words}


def _indexed(identity: Identity, job: str, index: int) -> Identity:
    label = {"batch.kubernetes.io/job-completion-index": str(index)}
    name = f"{job}-{index}-{identity.name[-5:]}"
    return Identity(name, identity.created, identity.owner, f"{job}-{index}-", {**identity.labels, **label}, label)
