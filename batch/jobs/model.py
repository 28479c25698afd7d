"""JobAssessment and its parts: how each Job and CronJob stands, in seconds and in what it holds."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from batch.findings import Finding, Message

Key = tuple[str, str]
"""Namespace and name."""


class State(enum.StrEnum):
    """How a Job stands. Only a condition that is True ends it."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


UNFINISHED = (State.PENDING, State.RUNNING, State.SUSPENDED)
DEADLINE_EXCEEDED = "DeadlineExceeded"
"""Reason of a Job that its activeDeadlineSeconds ended (k8s.io/api/batch/v1, JobReasonDeadlineExceeded)."""


@dataclass(frozen=True, slots=True)
class Owner:
    """What a Job belongs to by its owner reference. `controls`: it made the Job by itself, and clears it away."""

    kind: str
    namespace: str
    name: str
    controls: bool


@dataclass(frozen=True, slots=True)
class Indexes:
    """How far an Indexed Job is, in indexes."""

    completed_count: int
    failed_count: int
    remaining_count: int | None


@dataclass(frozen=True, slots=True)
class Held:
    """What the pods of a Job hold now, and have held: None where pods that had it are gone.

    A GPU is one of the resource that the pods ask for, be it a card, a slice or a share of one.
    """

    pod_count: int = 0
    gpu_count: float = 0
    cpu_nanocores: int = 0
    memory_bytes: int = 0
    gpu_seconds: float | None = 0
    cpu_nanocore_seconds: float | None = 0


NOTHING = Held()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A deadline to set. It rests on `run_count` finished runs, `cut_count` of which their deadline ended; on none, twice the Job's age.

    `basis_seconds` is the quantile of the durations, or the age.
    """

    deadline_seconds: int
    basis_seconds: float
    run_count: int
    cut_count: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One Job. `ending` is the reason for which it is about to fail or to succeed, while its pods still end.

    `duration_seconds` runs from start to end, or to the snapshot; a resumed Job starts anew. `stuck` are sentences on pods that
    outlive it or its deadline, and do not end by themselves.
    """

    namespace: str
    name: str
    uid: str | None
    owner: Owner | None
    manual: bool
    state: State
    reason: str | None
    ending: str | None
    created_at: datetime | None
    deleted_at: datetime | None
    scheduled_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    duration_seconds: float | None
    deadline_seconds: int | None
    pod_deadline_seconds: int | None
    remaining_seconds: float | None
    retry_count: int
    backoff_limit: int | None
    backoff_limit_per_index: int | None
    indexes: Indexes | None
    ttl_seconds: int | None
    managed_by: str | None
    held: Held = NOTHING
    stuck: tuple[Message, ...] = ()
    proposal: Proposal | None = None

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def unfinished(self) -> bool:
        """Whether it has neither succeeded nor failed."""
        return self.state in UNFINISHED

    @property
    def closing(self) -> bool:
        """Whether only its pods have to end: the outcome is settled, or it is being deleted. No deadline would change that."""
        return self.unfinished and (self.ending is not None or self.deleted_at is not None)

    @property
    def unbounded(self) -> bool:
        """Whether it is unfinished, and nothing ends it."""
        return self.unfinished and self.deadline_seconds is None and not self.closing

    @property
    def exceeded(self) -> bool:
        """Whether its deadline ended it."""
        return self.state is State.FAILED and self.reason == DEADLINE_EXCEEDED

    @property
    def overdue(self) -> bool:
        """Whether it is past its deadline and has not ended."""
        return self.remaining_seconds is not None and self.remaining_seconds <= 0

    @property
    def cronjob(self) -> Key | None:
        """The CronJob that it belongs to, also when it was started by hand."""
        return (self.owner.namespace, self.owner.name) if self.owner and self.owner.kind == "CronJob" else None

    @property
    def start_delay_seconds(self) -> float | None:
        """How long after its time it was made; None where no schedule wanted it."""
        if self.manual or self.scheduled_at is None or self.created_at is None:
            return None
        return (self.created_at - self.scheduled_at).total_seconds()


class Trouble(enum.StrEnum):
    """What can be wrong with a CronJob, by the end of the slug of its finding; the gravest first."""

    SCHEDULE = "schedule-invalid"
    NO_START = "no-start"
    STARTING_DEADLINE = "starting-deadline"
    LATE = "late"
    NEVER_SUCCEEDED = "never-succeeded"
    DEADLINE_TOO_SHORT = "deadline-too-short"
    LONGER_THAN_INTERVAL = "longer-than-interval"
    DEADLINE_EXCEEDED = "deadline-exceeded"
    FAILED_LAST = "failed-last"
    HELD_BACK = "held-back"
    OVERLAP = "overlap"
    ZONE_INSIDE = "zone-in-schedule"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a CronJob, in a sentence."""

    trouble: Trouble
    text: Message


@dataclass(frozen=True, slots=True)
class Runs:
    """The Jobs of a CronJob that are still there: scheduled ones by how they ended, those by hand apart, durations of all that succeeded.

    None are `known` where Jobs were not read.
    """

    unfinished: tuple[Job, ...] = ()
    succeeded: tuple[Job, ...] = ()
    failed: tuple[Job, ...] = ()
    manual: tuple[Job, ...] = ()
    durations: tuple[float, ...] = ()
    known: bool = True

    @property
    def counts(self) -> Mapping[str, int | None]:
        """The counts of report.json; None when Jobs were not read."""
        counts = {
            "unfinished_count": len(self.unfinished),
            "succeeded_count": len(self.succeeded),
            "failed_count": len(self.failed),
            "deadline_exceeded_count": len(self.exceeded),
            "manual_count": len(self.manual),
        }
        return {name: count if self.known else None for name, count in counts.items()}

    @property
    def exceeded(self) -> tuple[Job, ...]:
        """Those that their deadline ended."""
        return tuple(job for job in self.failed if job.exceeded)


@dataclass(frozen=True, slots=True)
class CronJob:
    """One CronJob. A `next_at` not after the snapshot is due now.

    `missed_count` are starts that passed without a Job; it and `late` are None where the schedule cannot be read.
    `requests_*` is what one start asks for. `interval_seconds` is the shortest time between two of the coming starts.
    """

    namespace: str
    name: str
    schedule: str
    time_zone: str | None
    suspended: bool
    concurrency_policy: str
    starting_deadline_seconds: int | None
    deadline_seconds: int | None
    pod_deadline_seconds: int | None
    last_scheduled_at: datetime | None
    last_succeeded_at: datetime | None
    next_at: datetime | None
    missed_count: int | None
    late: bool | None
    interval_seconds: float | None
    requests_cpu_nanocores: int | None
    requests_memory_bytes: int | None
    requests_gpu_count: float
    runs: Runs = Runs()
    proposal: Proposal | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.namespace, self.name


@dataclass(frozen=True, slots=True)
class Minute:
    """How many CronJobs start in one minute, and what their Jobs ask for together; `unknown_count` of them ask for an unknown amount."""

    at: datetime
    cronjobs: tuple[Key, ...]
    requests_cpu_nanocores: int
    requests_memory_bytes: int
    requests_gpu_count: float
    unknown_count: int


@dataclass(frozen=True, slots=True)
class Pile:
    """Finished Jobs of a namespace that nothing ever deletes."""

    namespace: str
    job_count: int
    oldest_at: datetime | None


@dataclass(frozen=True, slots=True)
class OwnRun:
    """The Job of this very run, and the time that the run allows itself (setting run.deadline_seconds)."""

    job: Job
    budget_seconds: float | None


@dataclass(frozen=True)
class JobAssessment:
    """Everything about Jobs and CronJobs. `jobs_known` and `cronjobs_known` tell "none" from "not read".

    `starts` are the minutes of the next 24 hours in which something starts, in order.
    """

    jobs_known: bool
    cronjobs_known: bool
    jobs: tuple[Job, ...]
    cronjobs: tuple[CronJob, ...]
    starts: tuple[Minute, ...]
    piles: tuple[Pile, ...]
    own_run: OwnRun | None
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> Mapping[str, int | None]:
        """The counts of report.json; None when Jobs were not read."""
        jobs = self.jobs
        counts = {
            "job_count": len(jobs),
            "active_job_count": sum(job.state in (State.PENDING, State.RUNNING) for job in jobs),
            "without_deadline_count": sum(job.unbounded for job in jobs),
            "past_deadline_count": sum(job.overdue for job in jobs),
            "deadline_exceeded_count": sum(job.exceeded for job in jobs),
        }
        return {name: count if self.jobs_known else None for name, count in counts.items()}
