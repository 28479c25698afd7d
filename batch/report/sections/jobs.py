"""Jobs and deadlines: does the batch work finish, and let go of what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Message, message
from batch.jobs.crowding import most_crowded
from batch.jobs.judgements import outlived, outlived_title
from batch.jobs.model import Job, JobAssessment, State
from batch.report.deadline_patches import command, proposed
from batch.report.model import Section
from batch.report.sections.jobs_charts import charts
from batch.report.sections.jobs_tables import rests_on, tables
from batch.report.sections.material import Material, plural

SLUG = "jobs"

_EXPLAINED = 3
"""Proposed deadlines whose command is printed; the others are in the script."""


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about Jobs; one sentence when there are none, or when they could not be read."""
    found, taken_at = material.jobs, material.snapshot.taken_at
    there = bool(found.jobs or found.cronjobs)
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Jobs and deadlines",
            title=_title(found),
            lede=tuple(_lede(found, material)) if there else (),
            how_to_read=tuple(_how_to_read(material)) if there else (),
            findings=material.findings_of(SLUG),
            tables=tables(found, material.settings.jobs, taken_at),
            charts=charts(found, taken_at),
            sentences={"patches": tuple(_patches(found))},
        ),
    )


def _title(found: JobAssessment) -> Message:
    if not found.jobs_known:
        return message("Whether Jobs finish is unknown, because they could not be read")
    if not found.jobs:
        none = "There are no Jobs and no CronJobs" if found.cronjobs_known else "There are no Jobs; CronJobs could not be read"
        return message("No Job is there at the moment" if found.cronjobs else none)
    overdue = [job for job in found.jobs if job.overdue]
    open_jobs = [job for job in found.jobs if job.unbounded]
    if overdue:
        verb = "is past its deadline and not over" if len(overdue) == 1 else "are past their deadlines and not over"
        return message(f"{{count:count}} {plural(len(overdue), 'Job')} {verb}", count=len(overdue))
    if open_jobs:
        return _open_title(open_jobs, sum(job.unfinished for job in found.jobs))
    if over := outlived(found.jobs):
        return message(outlived_title(len(over)), count=len(over))
    return _quiet_title(found.jobs)


def _quiet_title(jobs: Sequence[Job]) -> Message:
    lead = "Every unfinished Job has a deadline" if any(job.unfinished for job in jobs) else "Every Job has ended"
    failed = sum(job.state is State.FAILED for job in jobs)
    if len(jobs) == 1:
        return message(f"{lead}; it failed" if failed else lead)
    if not failed:
        return message(f"{lead}; none of {{all:count}} Jobs has failed", all=len(jobs))
    return message(f"{lead}; {{failed:count}} of {{all:count}} Jobs failed", all=len(jobs), failed=failed)


def _open_title(open_jobs: Sequence[Job], unfinished_count: int) -> Message:
    one = len(open_jobs) == 1
    text = f"{{count:count}} of {{all:count}} unfinished {plural(unfinished_count, 'Job')} {'has' if one else 'have'} no deadline"
    values: dict[str, object] = {"count": len(open_jobs), "all": unfinished_count}
    gpus = sum(job.held.gpu_count for job in open_jobs)
    if not gpus:
        return message(text, **values)
    return message(f"{text}, and {'holds' if one else 'they hold'} {{gpus:count}} {plural(gpus, 'GPU')}", gpus=gpus, **values)


def _lede(found: JobAssessment, material: Material) -> Iterator[Message]:
    if found.jobs_known:
        yield _states(found)
    if not found.cronjobs_known:
        yield message("CronJobs could not be read: when Jobs start next is unknown.")
    elif found.cronjobs:
        yield _schedules(found)
    if found.own_run:
        yield _own_run(found)
    elif material.settings.run.job_uid:
        yield message("This run's own Job is not among them.")


def _states(found: JobAssessment) -> Message:
    words = {
        State.RUNNING: "at work",
        State.PENDING: "waiting to run",
        State.SUSPENDED: "suspended",
        State.SUCCEEDED: "succeeded",
        State.FAILED: "failed",
    }
    counts = {state: sum(job.state is state for job in found.jobs) for state in words}
    parts = [f"{{{state.name}:count}} {words[state]}" for state, count in counts.items() if count]
    if not parts:
        return message("There is no Job at the moment.")
    exceeded = sum(job.exceeded for job in found.jobs)
    tail = (
        f", {{cut:count}} of {'them' if counts[State.FAILED] > 1 else 'it'} at {'their' if counts[State.FAILED] > 1 else 'its'} deadline"
        if exceeded
        else ""
    )
    text = f"{{all:count}} {plural(len(found.jobs), 'Job')}: {', '.join(parts)}{tail}."
    values = {state.name: count for state, count in counts.items() if count}
    return message(text, all=len(found.jobs), **values, **({"cut": exceeded} if exceeded else {}))


def _schedules(found: JobAssessment) -> Message:
    suspended = sum(it.suspended for it in found.cronjobs)
    wrong = sum(bool(it.problems) for it in found.cronjobs)
    text, values = f"{{all:count}} {plural(len(found.cronjobs), 'CronJob')}", {"all": len(found.cronjobs)}
    for name, count, words in (("suspended", suspended, "suspended"), ("wrong", wrong, "with something wrong")):
        if count:
            text += f", {{{name}:count}} {words}"
            values[name] = count
    peak = most_crowded(found.starts)
    if peak is None:
        return message(f"{text}; none starts in the next 24 hours.", **values)
    if len(peak.cronjobs) == 1:
        return message(f"{text}; no two start in the same minute of the next 24 hours.", **values)
    text += "; in the next 24 hours up to {count:count} start in the same minute."
    return message(text, count=len(peak.cronjobs), **values)


def _own_run(found: JobAssessment) -> Message:
    own = found.own_run
    if own is None or own.job.remaining_seconds is None:
        return message("This run's own Job has no deadline.")
    return message(
        "This run's own Job had {left:seconds} left of {deadline:seconds} when the snapshot was taken.",
        left=own.job.remaining_seconds,
        deadline=own.job.deadline_seconds,
    )


def _patches(found: JobAssessment) -> Iterator[Message]:
    for patch in [*proposed(found)][:_EXPLAINED]:
        yield message(
            "{kind:text} {name:text}: {deadline:seconds} ({basis:text}). `{command:text}`",
            kind=patch.kind,
            name=f"{patch.namespace}/{patch.name}",
            deadline=patch.proposal.deadline_seconds,
            basis=rests_on(patch.proposal),
            command=command(patch),
        )


def _how_to_read(material: Material) -> Iterator[Message]:
    settings = material.settings.jobs
    yield message(
        "A Job has ended when its condition Complete or Failed is True. Failed pods are retries, not failed Jobs; a Job that is about to fail while its pods end is still at work. Time runs from the start, or from the last resumption."
    )
    yield message(
        "A deadline is the Job's activeDeadlineSeconds. The one in the pod template ends single pods, which the Job then tries again; it does not count here. Close is {ratio:ratio} of the time or less.",
        ratio=settings.near_deadline_ratio,
    )
    yield message(
        "A proposed deadline is {factor:count} times the {quantile:quantile} of the runs that succeeded and are still in the cluster, at least {least:seconds}, rounded up to what a person would write. A run that its deadline ended counts with that deadline. From fewer than {runs:count} runs of a workload nothing is proposed; a Job that runs by itself gets twice its age once it is {old:seconds} old.",
        factor=settings.deadline_factor,
        quantile=settings.deadline_quantile,
        least=settings.deadline_min_seconds,
        runs=settings.runs_min,
        old=settings.open_seconds_max,
    )
    yield message("GPU-hours are what the Job's pods have held so far. Without the pods that are already gone they are not known.")
    yield message(
        "Starts follow the CronJob controller: its dialect of cron, in the CronJob's time zone, else {zone:text}. A time that clocks skip is no start, one that they repeat is two. Missed are starts since the last one; runs started by hand count in durations and in what is held, not in starts.",
        zone=settings.controller_time_zone,
    )
    yield message(
        "Finished Jobs stay until something deletes them: a CronJob keeps its last ones, ttlSecondsAfterFinished deletes any. Durations of deleted Jobs are not known."
    )
