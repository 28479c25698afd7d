"""What is wrong with Jobs and their deadlines, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from batch.findings import Finding, Message, Severity, joined, message, plural
from batch.jobs.cronjob_judgements import judge_cronjobs
from batch.jobs.crowding import most_crowded
from batch.jobs.model import DEADLINE_EXCEEDED, Job, JobAssessment
from batch.settings import JobSettings

SECTION = "jobs"
SCRIPT = "deadlines/kubectl.sh"
"""File of the run that holds every proposed deadline as a command."""

_HOUR = 3600
_FIRST, _SECOND = 100, 10
"""Weights: what is past its deadline before what has none, and both before CronJobs, however many."""


def judge(it: JobAssessment, settings: JobSettings, taken_at: datetime) -> tuple[Finding, ...]:
    """Give the findings; what was not read is not judged."""
    return (
        *_overdue(it.jobs),
        *_outlived(it.jobs),
        *_open(it.jobs, settings),
        *_near(it.jobs, settings),
        *_exceeded(it.jobs),
        *judge_cronjobs(it.cronjobs, SECTION, SCRIPT),
        *_crowded(it, settings),
        *_piles(it, settings, taken_at),
        *_own_run(it),
    )


def job_name(job: Job) -> str:
    """Name a Job as kubectl shows it with all namespaces."""
    return f"{job.namespace}/{job.name}"


def weight_of(job: Job) -> tuple[float, float, float, float]:
    """Order Jobs by what hangs on them, most first: GPU-hours, GPUs, core-hours, age.

    What pods held that are gone is unknown: then what is held now counts for the whole age, lest such a Job stand behind all others.
    """
    held, age = job.held, job.duration_seconds or 0
    gpu_seconds = held.gpu_count * age if held.gpu_seconds is None else held.gpu_seconds
    cpu_seconds = held.cpu_nanocores * age if held.cpu_nanocore_seconds is None else held.cpu_nanocore_seconds
    return (-gpu_seconds, -held.gpu_count, -cpu_seconds, -age)


def without_deadline(jobs: Sequence[Job]) -> list[Job]:
    """Give the unfinished Jobs without a deadline, those first on which most hangs."""
    return sorted((job for job in jobs if job.unbounded), key=lambda job: (*weight_of(job), job.key))


def near_deadline(jobs: Sequence[Job], ratio: float) -> list[Job]:
    """Give the Jobs of whose time at most that share is left, the least first."""
    timed = (job for job in jobs if job.remaining_seconds is not None and not job.closing)
    near = [job for job in timed if 0 < (job.remaining_seconds or 0) <= ratio * (job.deadline_seconds or 0)]
    return sorted(near, key=lambda job: (job.remaining_seconds, job.key))


def outlived(jobs: Sequence[Job]) -> list[Job]:
    """Give the Jobs that are over but for pods that do not end, those first on which most hangs."""
    over = (job for job in jobs if job.stuck and (job.closing or not job.unfinished) and not job.overdue)
    return sorted(over, key=lambda job: (*weight_of(job), job.key))


def outlived_title(count: int) -> str:
    """Say how many those are."""
    return f"{{count:count}} {plural(count, 'Job is over but has', 'Jobs are over but have')} pods that are not gone"


def _overdue(jobs: Sequence[Job]) -> Iterator[Finding]:
    late = sorted((job for job in jobs if job.overdue), key=lambda job: (*weight_of(job), job.key))
    if not late:
        return
    first, gpus = late[0], sum(job.held.gpu_count for job in late)
    over = message("{job:text} should have ended {since:seconds} ago.", job=job_name(first), since=-(first.remaining_seconds or 0))
    why = what_keeps(first)
    yield Finding(
        id="jobs.past-deadline",
        severity=Severity.CRITICAL if gpus else Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(late), 'Job is past its deadline', 'Jobs are past their deadlines')} and not over",
            count=len(late),
        ),
        detail=joined((over, why)),
        action=message(
            "See `kubectl describe job {name:text} --namespace={namespace:text}`, and what keeps its pods",
            name=first.name,
            namespace=first.namespace,
        ),
        objects=tuple(map(job_name, late)),
        worth=_held(late),
        worth_of="still held" if _held(late) else "",
        weight=_FIRST * len(late) + gpus,
    )


def what_keeps(job: Job) -> Message:
    """Say what keeps a Job that is past its deadline."""
    if job.stuck:
        return job.stuck[0]
    if job.managed_by:
        return message("Its controller {name:text} has not ended it.", name=job.managed_by)
    ending = job.closing and job.held.pod_count
    return message("Its pods are ending, within their grace period." if ending else "The Job controller has not ended it yet.")


def _outlived(jobs: Sequence[Job]) -> Iterator[Finding]:
    over = outlived(jobs)
    if not over:
        return
    first = over[0]
    yield Finding(
        id="jobs.outlived",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(outlived_title(len(over)), count=len(over)),
        detail=joined((message("{job:text}:", job=job_name(first)), first.stuck[0])),
        action=message("Bring the node back or delete its Node object; let what owns a finalizer take it away"),
        objects=tuple(map(job_name, over)),
        worth=_held(over),
        worth_of="still held",
        weight=sum(job.held.gpu_count for job in over),
    )


def _open(jobs: Sequence[Job], settings: JobSettings) -> Iterator[Finding]:
    found = without_deadline(jobs)
    if not found:
        return
    first = found[0]
    gpus = sum(job.held.gpu_count for job in found)
    old = any((job.duration_seconds or 0) > settings.open_seconds_max for job in found)
    holds = f", and {plural(len(found), 'holds', 'hold')} {{gpus:count}} {plural(int(gpus), 'GPU', 'GPUs')}" if gpus else ""
    title = f"{{count:count}} unfinished {plural(len(found), 'Job has', 'Jobs have')} no deadline{holds}"
    yield Finding(
        id="jobs.without-deadline",
        severity=Severity.WARNING if gpus or old else Severity.ADVICE,
        section=SECTION,
        title=message(title, count=len(found), **({"gpus": gpus} if gpus else {})),
        detail=_largest(first),
        action=message("Read and run {script:text}, which sets the proposed deadlines", script=SCRIPT)
        if any(job.proposal for job in found)
        else message("Set spec.activeDeadlineSeconds where they are made"),
        objects=tuple(map(job_name, found)),
        worth=_held(found),
        worth_of="held without an end" if _held(found) else "",
        weight=_SECOND + gpus,
    )


def _largest(job: Job) -> Message:
    if job.duration_seconds is None:
        return message("Nothing ends {job:text} once it runs.", job=job_name(job))
    gpu_hours = (job.held.gpu_seconds or 0) / _HOUR
    if gpu_hours:
        text = "Nothing ends {job:text}: it has run for {age:seconds} and has held {hours:count} GPU-hours."
        return message(text, job=job_name(job), age=job.duration_seconds, hours=gpu_hours)
    return message("Nothing ends {job:text}, which has run for {age:seconds}.", job=job_name(job), age=job.duration_seconds)


def _near(jobs: Sequence[Job], settings: JobSettings) -> Iterator[Finding]:
    near = near_deadline(jobs, settings.near_deadline_ratio)
    if not near:
        return
    first = near[0]
    yield Finding(
        id="jobs.near-deadline",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(near), 'Job is', 'Jobs are')} about to run into {plural(len(near), 'its deadline', 'their deadlines')}",
            count=len(near),
        ),
        detail=message(
            "{job:text} had {left:seconds} left of {deadline:seconds}. A Job that its deadline ended cannot be taken up again.",
            job=job_name(first),
            left=first.remaining_seconds,
            deadline=first.deadline_seconds,
        ),
        action=message("Raise spec.activeDeadlineSeconds of a Job that is to finish, while it runs"),
        objects=tuple(map(job_name, near)),
        worth=message("{left:seconds}", left=first.remaining_seconds),
        worth_of="left at the snapshot",
        weight=len(near),
    )


def _exceeded(jobs: Sequence[Job]) -> Iterator[Finding]:
    """Tell of Jobs whose name stays taken; scheduled runs have a new name each time, and are judged with their CronJob."""
    taken = sorted((job for job in jobs if job.exceeded and (job.cronjob is None or job.manual)), key=lambda job: job.key)
    if not taken:
        return
    first = taken[0]
    yield Finding(
        id="jobs.name-taken",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(taken), 'Job', 'Jobs')} ended by {plural(len(taken), 'its deadline keeps its name', 'their deadlines keep their names')}",
            count=len(taken),
        ),
        detail=message(
            f"Such a Job ({DEADLINE_EXCEEDED}) never runs again, not even with a longer deadline, and no new one can have its name."
        ),
        action=message(
            "To run it again, `kubectl delete job {name:text} --namespace={namespace:text}`, or give it another name",
            name=first.name,
            namespace=first.namespace,
        ),
        objects=tuple(map(job_name, taken)),
        weight=len(taken),
    )


def _crowded(it: JobAssessment, settings: JobSettings) -> Iterator[Finding]:
    peak = most_crowded(it.starts)
    if peak is None or len(peak.cronjobs) < settings.crowd_count:
        return
    yield Finding(
        id="jobs.crowded-start",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message("{count:count} CronJobs start in the same minute", count=len(peak.cronjobs)),
        detail=message(
            "At {at:instant} their Jobs ask for {cpu:nanocores} and {memory:bytes} together, and their pods pull images and ask the API server at once.",
            at=peak.at,
            cpu=peak.requests_cpu_nanocores,
            memory=peak.requests_memory_bytes,
        ),
        action=message("Spread them over the hour: any minute but 0 does"),
        objects=tuple(f"{namespace}/{name}" for namespace, name in peak.cronjobs),
        worth=message("{cpu:nanocores}", cpu=peak.requests_cpu_nanocores),
        worth_of="asked for at once",
        weight=len(peak.cronjobs),
    )


def _piles(it: JobAssessment, settings: JobSettings, taken_at: datetime) -> Iterator[Finding]:
    count = sum(pile.job_count for pile in it.piles)
    if count < settings.pile_count:
        return
    first = it.piles[0]
    oldest = min((pile.oldest_at for pile in it.piles if pile.oldest_at), default=taken_at)
    yield Finding(
        id="jobs.never-deleted",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message("{count:count} finished Jobs are never deleted", count=count),
        detail=message(
            "They and their pods fill the API server; most are in {namespace:text} ({most:count}), the oldest ended {age:seconds} ago.",
            namespace=first.namespace,
            most=first.job_count,
            age=(taken_at - oldest).total_seconds(),
        ),
        action=message("Set spec.ttlSecondsAfterFinished where they are made, and delete the old ones"),
        objects=tuple(pile.namespace for pile in it.piles),
        worth=message("{count:count} Jobs", count=count),
        worth_of="kept",
        weight=count,
    )


def _own_run(it: JobAssessment) -> Iterator[Finding]:
    """Judge this run's own Job as any other."""
    if it.own_run is None:
        return
    job, budget = it.own_run.job, it.own_run.budget_seconds
    if job.deadline_seconds is not None and (budget is None or budget < job.deadline_seconds):
        return
    lacks = job.deadline_seconds is None
    title = "This report's own Job has no deadline" if lacks else "This run may take longer than its own Job"
    detail = "A run that hangs would hang for ever." if lacks else "Kubernetes would end it without a report."
    action = "Set activeDeadlineSeconds of its CronJob" if lacks else "Set run.deadline_seconds below the Job's activeDeadlineSeconds"
    yield Finding("jobs.own-run", Severity.ADVICE, SECTION, message(title), message(detail), message(action), (job_name(job),))


def _held(jobs: Sequence[Job]) -> Message | None:
    """Say what Jobs hold together: GPUs, or else cores."""
    gpus, cpu = sum(job.held.gpu_count for job in jobs), sum(job.held.cpu_nanocores for job in jobs)
    if gpus:
        return message(f"{{gpus:count}} {plural(int(gpus), 'GPU', 'GPUs')}", gpus=gpus)
    return message("{cpu:nanocores}", cpu=cpu) if cpu else None
