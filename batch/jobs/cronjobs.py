"""Each CronJob with its coming starts, its runs, and what is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from batch.findings import Message, message, plural
from batch.jobs.cron import names_its_zone
from batch.jobs.deadlines import Durations, proposal_of_runs
from batch.jobs.model import CronJob, Job, Key, Owner, Problem, Proposal, Runs, State, Trouble
from batch.jobs.schedule import Times, times_of
from batch.settings import JobSettings

Row = Mapping[str, Any]
"""A row of table `cronjobs`."""

_LOOK_SECONDS = 10
"""With a smaller startingDeadlineSeconds a CronJob may never start, for the controller looks at it every ten seconds (Kubernetes
documentation, CronJob, Deadline for delayed Job start)."""


_ORDER = {trouble: place for place, trouble in enumerate(Trouble)}


def runs_by_cronjob(jobs: Iterable[Job]) -> dict[Key, Runs]:
    """Gather the Jobs of each CronJob; those started by hand stand apart, and count only in the durations."""
    groups: dict[Key, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.cronjob:
            groups[job.cronjob].append(job)
    return {key: _runs(group) for key, group in groups.items()}


def cronjob_of(row: Row, gpu_count: float, runs: Runs, taken_at: datetime, zone: tzinfo, settings: JobSettings) -> tuple[CronJob, Times]:
    """Read one row of table `cronjobs`; `gpu_count` is what one pod of its template asks for. Give it with its starts."""
    times = times_of(row, taken_at, zone)
    parallelism = row["parallelism"]
    owner = Owner("CronJob", row["namespace"], row["cronjob"], controls=True)
    cut = [float(job.deadline_seconds) for job in (*runs.exceeded, *runs.manual) if job.exceeded and job.deadline_seconds is not None]
    proposal = proposal_of_runs(Durations(list(runs.durations), cut), settings)
    made = CronJob(
        namespace=row["namespace"],
        name=owner.name,
        schedule=row["schedule"],
        time_zone=row["time_zone"],
        suspended=row["suspended"],
        concurrency_policy=row["concurrency_policy"],
        starting_deadline_seconds=row["starting_deadline_seconds"],
        deadline_seconds=row["deadline_seconds"],
        pod_deadline_seconds=row["pod_deadline_seconds"],
        last_scheduled_at=row["last_scheduled_at"],
        last_succeeded_at=row["last_succeeded_at"],
        next_at=times.due_at or times.next_at,
        missed_count=times.missed_count,
        late=None,
        interval_seconds=times.interval_seconds,
        requests_cpu_nanocores=_times(row["template_requests_cpu_nanocores"], parallelism),
        requests_memory_bytes=_times(row["template_requests_memory_bytes"], parallelism),
        requests_gpu_count=gpu_count * parallelism,
        runs=runs,
        proposal=proposal if _helps(proposal, row["deadline_seconds"], cut) else None,
    )
    made = replace(made, late=_late(made, row, times, taken_at, settings))
    return replace(made, problems=tuple(sorted(_problems(made, row, times), key=lambda problem: _ORDER[problem.trouble]))), times


def _helps(proposal: Proposal | None, deadline_seconds: int | None, cut: Sequence[float]) -> bool:
    """Whether to propose: a deadline where there is none, or a longer one where runs were cut short. It may have been raised since."""
    return proposal is not None and (deadline_seconds is None or (bool(cut) and proposal.deadline_seconds > deadline_seconds))


def _times(amount: int | None, count: int) -> int | None:
    return None if amount is None else amount * count


def _runs(jobs: Iterable[Job]) -> Runs:
    ordered = sorted(jobs, key=lambda job: (job.started_at is None, job.started_at, job.name))
    scheduled = [job for job in ordered if not job.manual]
    return Runs(
        unfinished=tuple(job for job in scheduled if job.unfinished),
        succeeded=tuple(job for job in scheduled if job.state is State.SUCCEEDED),
        failed=tuple(job for job in scheduled if job.state is State.FAILED),
        manual=tuple(job for job in ordered if job.manual),
        durations=tuple(job.duration_seconds for job in ordered if job.state is State.SUCCEEDED and job.duration_seconds is not None),
    )


def _held_back(row: Row) -> bool:
    return bool(row["concurrency_policy"] == "Forbid" and row["active_job_count"] > 0)


def _late(it: CronJob, row: Row, times: Times, taken_at: datetime, settings: JobSettings) -> bool | None:
    """Whether a start is due for too long, without a run before it that rightly holds it back."""
    if it.missed_count is None:
        return None
    if times.first_missed_at is None or _held_back(row):
        return False
    return (taken_at - times.first_missed_at).total_seconds() > settings.late_seconds


def _problems(it: CronJob, row: Row, times: Times) -> Iterator[Problem]:
    if times.refused is not None:
        yield Problem(Trouble.SCHEDULE, message("The controller cannot read its schedule: {why:text}.", why=times.refused))
        return
    if names_its_zone(it.schedule):
        text = "Its time zone stands in the schedule, which Kubernetes takes from old CronJobs only; timeZone is the place for it."
        yield Problem(Trouble.ZONE_INSIDE, message(text))
    if not it.suspended and row["deleted_at"] is None:
        yield from _problems_of_starts(it, row, times)
    yield from _problems_of_runs(it, row)


def _problems_of_starts(it: CronJob, row: Row, times: Times) -> Iterator[Problem]:
    if it.next_at is None and not times.never_looks_back:
        yield Problem(Trouble.NO_START, message("Its schedule has no start in the next five years."))
    missed = it.missed_count or 0
    allowed = it.starting_deadline_seconds
    if times.never_looks_back:
        text = "It may start only within {allowed:seconds}, less than its interval of {interval:seconds}: the controller counts @every from that long ago, and so never comes to a start."
        yield Problem(Trouble.STARTING_DEADLINE, message(text, allowed=allowed, interval=it.interval_seconds))
    elif allowed is not None and allowed < _LOOK_SECONDS:
        text = f"It may start only within {{allowed:seconds}}, and the controller looks every {_LOOK_SECONDS} s"
        if missed:
            text += f": nothing has run for {{missed:count}} {plural(missed, 'start', 'starts')}"
        yield Problem(Trouble.STARTING_DEADLINE, _message(f"{text}.", allowed=allowed, missed=missed or None))
    elif it.late:
        made_up = "the latest is due now" if times.due_at else "none will be made up for"
        text = f"{{missed:count}} {plural(missed, 'start', 'starts')} passed without a Job; {made_up}."
        yield Problem(Trouble.LATE, message(text, missed=missed))
    if missed and _held_back(row):
        text = f"{{missed:count}} {plural(missed, 'start', 'starts')} passed because a run still works."
        yield Problem(Trouble.HELD_BACK, message(text, missed=missed))


def _problems_of_runs(it: CronJob, row: Row) -> Iterator[Problem]:
    runs = it.runs
    ended = len(runs.succeeded) + len(runs.failed)
    first = not runs.failed and (runs.unfinished or row["active_job_count"])
    if it.last_scheduled_at and it.last_succeeded_at is None and not runs.succeeded and not first:
        yield Problem(Trouble.NEVER_SUCCEEDED, message("No run has ever succeeded."))
    elif runs.failed and _ends_with(runs):
        last = runs.failed[-1]
        yield Problem(Trouble.FAILED_LAST, message("Its last run failed: {reason:text}.", reason=last.reason))
    if runs.exceeded:
        text = "{cut:count} of the {ended:count} runs that are still there ran into their deadline."
        yield Problem(Trouble.DEADLINE_EXCEEDED, message(text, cut=len(runs.exceeded), ended=ended))
    yield from _problems_of_durations(it)


def _ends_with(runs: Runs) -> bool:
    """Whether the last run that ended is a failed one."""
    last = runs.failed[-1].started_at
    return last is not None and all(job.started_at is None or job.started_at < last for job in runs.succeeded)


def _problems_of_durations(it: CronJob) -> Iterator[Problem]:
    running = [job.duration_seconds for job in it.runs.unfinished if job.duration_seconds is not None]
    longest = max((*it.runs.durations, *running), default=None)
    if it.interval_seconds and longest is not None and longest > it.interval_seconds:
        what = {"Forbid": "starts are skipped", "Replace": "the next start ends it"}.get(it.concurrency_policy, "runs pile up")
        text = f"A run took {{longest:seconds}}, and the next start comes after {{interval:seconds}}: {what}."
        yield Problem(Trouble.LONGER_THAN_INTERVAL, message(text, longest=longest, interval=it.interval_seconds))
    if len(it.runs.unfinished) > 1:
        yield Problem(Trouble.OVERLAP, message("{count:count} of its runs work at the same time.", count=len(it.runs.unfinished)))
    shortest = min(it.runs.durations, default=None)
    if it.deadline_seconds is not None and (it.deadline_seconds == 0 or (shortest is not None and shortest > it.deadline_seconds)):
        text = "Its deadline of {deadline:seconds} cannot be met"
        text += ": the fastest run took {shortest:seconds}." if shortest is not None else ": every Job fails at once."
        yield Problem(Trouble.DEADLINE_TOO_SHORT, _message(text, deadline=it.deadline_seconds, shortest=shortest))


def _message(text: str, **values: object) -> Message:
    """Build a sentence without the values that are None, which it then does not name."""
    return message(text, **{name: value for name, value in values.items() if value is not None})
