"""The tables of Jobs: what needs a deadline, what is close to one, what failed, and when CronJobs start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from batch.findings import Message, joined, message, plural
from batch.jobs.judgements import near_deadline, what_keeps, without_deadline
from batch.jobs.model import CronJob, Job, JobAssessment, Minute, Pile, Proposal, State, Trouble
from batch.report.deadline_patches import ends_now, to_propose
from batch.report.model import MOST_ROWS, Column, Row, Table
from batch.settings import JobSettings

_HOUR = 3600
_UTC = ("UTC", "Etc/UTC")
_LEAST_CROWD, _MOST_CROWDS = 2, 8
_TOLD = 2
"""Problems of a CronJob that its line tells; report.json has all."""


def tables(found: JobAssessment, settings: JobSettings, taken_at: datetime) -> dict[str, Table]:
    """Give the tables that have rows."""
    made = {
        "open": _open_table(found),
        "close": _close_table(found.jobs, settings.near_deadline_ratio),
        "failed": _failed_table(found.jobs, taken_at),
        "taken": _taken_table(found.jobs),
        "cronjobs": _cronjobs_table(found.cronjobs, taken_at),
        "crowds": _crowds_table(found.starts),
        "piles": _piles_table(found.piles if sum(pile.job_count for pile in found.piles) >= settings.pile_count else (), taken_at),
    }
    return {name: table for name, table in made.items() if table.rows}


def name_of(it: Job | CronJob) -> str:
    """Name an object with its namespace."""
    return f"{it.namespace}/{it.name}"


def rests_on(proposal: Proposal | None) -> str:
    """Say what a proposed deadline rests on, or why there is none."""
    if proposal is None:
        return "too few runs yet"
    if not proposal.run_count:
        return "twice its age"
    runs = f"{proposal.run_count} {plural(proposal.run_count, 'run', 'runs')}"
    return f"{runs}, {proposal.cut_count} cut short" if proposal.cut_count else runs


def _seconds(value: float | None) -> Message | None:
    return None if value is None else message("{value:seconds}", value=value)


def _when(at: datetime | None, taken_at: datetime) -> Message | None:
    """Write a moment by how far it is from the snapshot; the column's head says in which direction."""
    if at is None:
        return None
    seconds = (at - taken_at).total_seconds()
    return _seconds(abs(seconds))


def _open_table(found: JobAssessment) -> Table:
    jobs = without_deadline(found.jobs)
    cronjobs = to_propose(found)
    subjects: list[Job | CronJob] = [*jobs, *cronjobs]
    rows = [*map(_open_row, jobs[:MOST_ROWS]), *map(_template_row, cronjobs[:MOST_ROWS])][:MOST_ROWS]
    return Table(
        what="Jobs and CronJobs",
        title=message("What needs a deadline, those first on which most hangs"),
        columns=(
            Column("Name", "name"),
            Column("Kind"),
            Column("Has run for", "amount"),
            Column("GPUs", "count", "Holds"),
            Column("CPU", "nanocores", "Holds"),
            Column("GPU-hours", "count"),
            Column("Now", "amount", "Deadline"),
            Column("Proposed", "amount", "Deadline"),
            Column("Rests on"),
        ),
        rows=tuple(rows),
        row_count=len(jobs) + len(cronjobs),
        file="tables/jobs.csv",
        notes=(message("Every proposed deadline is a command in deadlines/kubectl.sh"),) if any(map(_has_patch, subjects)) else (),
    )


def _has_patch(it: Job | CronJob) -> bool:
    return it.proposal is not None and not (isinstance(it, Job) and ends_now(it))


def _open_row(job: Job) -> Row:
    held, proposal = job.held, job.proposal
    basis = f"{rests_on(proposal)}: over already" if ends_now(job) else rests_on(proposal)
    cells = (
        name_of(job),
        "Job" if job.state is not State.SUSPENDED else "Job, suspended",
        _seconds(job.duration_seconds) or "",
        held.gpu_count,
        held.cpu_nanocores,
        None if held.gpu_seconds is None else held.gpu_seconds / _HOUR,
        "none",
        _seconds(proposal.deadline_seconds if proposal else None),
        basis,
    )
    return Row(cells, strained=frozenset({3} if held.gpu_count else ()))


def _template_row(it: CronJob) -> Row:
    proposal = it.proposal
    now = _seconds(it.deadline_seconds) or "none"
    proposed = _seconds(proposal.deadline_seconds if proposal else None)
    return Row((name_of(it), "CronJob", "", "", "", "", now, proposed, rests_on(proposal)))


def _close_table(jobs: Sequence[Job], ratio: float) -> Table:
    late = sorted(
        (job for job in jobs if job.overdue or job.stuck),
        key=lambda job: (job.remaining_seconds or 0, job.key),
    )
    every = [*late, *near_deadline(jobs, ratio)]
    return Table(
        what="Jobs",
        title=message("Past a deadline, or close to it"),
        columns=(
            Column("Job", "name"),
            Column("Has run for", "amount"),
            Column("Deadline", "amount"),
            Column("Left", "amount"),
            Column("GPUs held", "count"),
            Column("What keeps it"),
        ),
        rows=tuple(_close_row(job) for job in every[:MOST_ROWS]),
        row_count=len(every),
        file="tables/jobs.csv",
    )


def _close_row(job: Job) -> Row:
    left = job.remaining_seconds
    over = left is not None and left <= 0
    shown = message("{over:seconds} over", over=abs(left)) if left is not None and over else _seconds(left) if left is not None else ""
    kept: object = what_keeps(job) if over or job.stuck else ""
    deadline = "" if job.deadline_seconds is None else _seconds(job.deadline_seconds)
    return Row(
        (name_of(job), _seconds(job.duration_seconds), deadline, shown, job.held.gpu_count, kept), strained=frozenset({3} if over else ())
    )


def _failed_table(jobs: Sequence[Job], taken_at: datetime) -> Table:
    failed = sorted(
        (job for job in jobs if job.state is State.FAILED),
        key=lambda job: (job.ended_at is None, job.ended_at and -job.ended_at.timestamp(), job.key),
    )
    return Table(
        what="failed Jobs",
        title=message("Jobs that failed"),
        order="newest",
        columns=(
            Column("Job", "name"),
            Column("Belongs to", "name"),
            Column("Why"),
            Column("Retries", "count"),
            Column("Limit", "amount"),
            Column("Ran for", "amount"),
            Column("Ended, ago", "amount"),
        ),
        rows=tuple(_failed_row(job, taken_at) for job in failed[:MOST_ROWS]),
        row_count=len(failed),
        file="tables/jobs.csv",
    )


def _failed_row(job: Job, taken_at: datetime) -> Row:
    limit = "per index" if job.backoff_limit_per_index is not None else "" if job.backoff_limit is None else str(job.backoff_limit)
    owner = (f"{job.owner.name}, by hand" if job.manual else job.owner.name) if job.owner else ""
    cells = (name_of(job), owner, job.reason, job.retry_count, limit, _seconds(job.duration_seconds), _when(job.ended_at, taken_at))
    return Row(cells, strained=frozenset({2} if job.exceeded else ()))


def _taken_table(jobs: Sequence[Job]) -> Table:
    taken = sorted((job for job in jobs if job.exceeded and (job.cronjob is None or job.manual)), key=lambda job: job.key)
    return Table(
        what="names",
        title=message("Names that are taken: delete the Job, or use another name, to run it again"),
        columns=(Column("Namespace", "name"), Column("Job", "name"), Column("Deadline", "amount"), Column("Deleted by itself")),
        rows=tuple(
            Row(
                (
                    job.namespace,
                    job.name,
                    _seconds(job.deadline_seconds),
                    "never" if job.ttl_seconds is None else message("{ttl:seconds} after its end", ttl=job.ttl_seconds),
                )
            )
            for job in taken[:MOST_ROWS]
        ),
        row_count=len(taken),
        file="tables/jobs.csv",
    )


def _cronjobs_table(cronjobs: Sequence[CronJob], taken_at: datetime) -> Table:
    ordered = sorted(cronjobs, key=lambda it: (not it.problems, it.late is not True, -(it.missed_count or 0), it.key))
    return Table(
        what="CronJobs",
        title=message("CronJobs: starts, runs and what is wrong"),
        order="those with something wrong",
        columns=(
            Column("CronJob", "name"),
            Column("Schedule", "name"),
            Column("Next start in", "amount"),
            Column("Missed", "count"),
            Column("Ended well", "count", "Runs still there"),
            Column("Failed", "count", "Runs still there"),
            Column("Last success, ago", "amount"),
            Column("What is wrong"),
        ),
        rows=tuple(_cronjob_row(it, taken_at) for it in ordered[:MOST_ROWS]),
        row_count=len(cronjobs),
        file="tables/cronjobs.csv",
    )


def _cronjob_row(it: CronJob, taken_at: datetime) -> Row:
    runs = it.runs
    following: object = "suspended" if it.suspended else _when(it.next_at, taken_at) or "never"
    if it.next_at is not None and it.next_at <= taken_at:
        held = any(problem.trouble is Trouble.HELD_BACK for problem in it.problems)
        following = "its run ends" if held else "due now"
    success = _when(it.last_succeeded_at, taken_at) or ("never" if it.last_scheduled_at else "")
    cells = (
        name_of(it),
        f"{it.schedule} ({it.time_zone})" if it.time_zone and it.time_zone not in _UTC else it.schedule,
        following,
        it.missed_count,
        runs.counts["succeeded_count"],
        runs.counts["failed_count"],
        success,
        joined(problem.text for problem in it.problems[:_TOLD]) if it.problems else "",
    )
    return Row(cells, strained=frozenset({3} if it.late else ()))


def _crowds_table(starts: Iterable[Minute]) -> Table:
    crowds = sorted((one for one in starts if len(one.cronjobs) >= _LEAST_CROWD), key=lambda one: (-len(one.cronjobs), one.at))
    return Table(
        what="minutes in which more than one CronJob starts",
        title=message("Minutes in which most starts"),
        order="fullest",
        columns=(
            Column("Minute (UTC)"),
            Column("CronJobs", "count"),
            Column("CPU", "nanocores", "Their Jobs ask for"),
            Column("Memory", "bytes", "Their Jobs ask for"),
            Column("GPUs", "count", "Their Jobs ask for"),
            Column("Among them", "name"),
        ),
        rows=tuple(_crowd_row(one) for one in crowds[:_MOST_CROWDS]),
        row_count=len(crowds),
        file="tables/starts.csv",
    )


def _crowd_row(one: Minute) -> Row:
    names = ", ".join(f"{namespace}/{name}" for namespace, name in one.cronjobs[:3]) + (", …" if len(one.cronjobs) > 3 else "")  # noqa: PLR2004  three fit
    return Row(
        (f"{one.at:%a %H:%M}", len(one.cronjobs), one.requests_cpu_nanocores, one.requests_memory_bytes, one.requests_gpu_count, names)
    )


def _piles_table(piles: Sequence[Pile], taken_at: datetime) -> Table:
    rows = tuple(Row((pile.namespace, pile.job_count, _when(pile.oldest_at, taken_at))) for pile in piles[:MOST_ROWS])
    return Table(
        what="namespaces",
        title=message("Finished Jobs that nothing ever deletes"),
        columns=(Column("Namespace", "name"), Column("Jobs", "count"), Column("The oldest ended, ago", "amount")),
        rows=rows,
        row_count=len(piles),
        file="tables/never-deleted-jobs.csv",
        total=Row(("All", sum(pile.job_count for pile in piles), "")) if len(piles) > 1 else None,
    )
