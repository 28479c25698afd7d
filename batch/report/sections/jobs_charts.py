"""The charts of Jobs: what ran in the last day, and what starts in the next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from batch.findings import Message, message
from batch.jobs.crowding import most_crowded
from batch.jobs.judgements import weight_of
from batch.jobs.model import CronJob, Job, JobAssessment, Key, State
from batch.report.format import format_nanocores, format_seconds
from batch.report.model import Agenda, Chart, Lane, Lanes, Piece

_HOURS = 24
_MOST_LANES, _MOST_ROWS = 16, 12
"""What a chart shows at one glance; the tables have more, and the files all."""

_KINDS = (("good", "succeeded"), ("bad", "failed"), ("open", "at work"), ("waiting", "waiting to run"))


def charts(found: JobAssessment, taken_at: datetime) -> dict[str, Chart]:
    """Draw what there is to draw."""
    made = {"lanes": _lanes(found, taken_at), "agenda": _agenda(found, taken_at)}
    return {name: chart for name, chart in made.items() if chart is not None}


def _lanes(found: JobAssessment, taken_at: datetime) -> Chart | None:
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in found.jobs:
        if job.started_at and (job.ended_at is None or _ago(job.ended_at, taken_at) < _HOURS) and job.state is not State.SUSPENDED:
            groups[f"{job.namespace}/{job.owner.name if job.owner else job.name}"].append(job)
    if not groups:
        return None
    ordered = sorted(groups.items(), key=lambda item: (_urgency(item[1]), min(map(weight_of, item[1])), item[0]))
    shown = [_lane(name, jobs, taken_at) for name, jobs in ordered[:_MOST_LANES]]
    return Chart(
        title=_lanes_title(found.jobs, taken_at),
        subtitle=_lanes_subtitle(len(groups), len(shown)),
        alt=message("One line each: {text:text}.", text="; ".join(f"{lane.name}: {lane.word}" for lane in shown)),
        drawing=Lanes(taken_at, _HOURS, tuple(shown), _KINDS),
    )


def _lanes_title(jobs: Sequence[Job], taken_at: datetime) -> Message:
    ended = [job for job in jobs if job.ended_at and _ago(job.ended_at, taken_at) < _HOURS]
    failed = sum(job.state is State.FAILED for job in ended)
    if not ended:
        return message("In the last 24 hours no Job ended")
    if not failed:
        return message("In the last 24 hours every Job that ended succeeded ({ended:count})", ended=len(ended))
    return message("In the last 24 hours {failed:count} of {ended:count} Jobs that ended failed", failed=failed, ended=len(ended))


def _lanes_subtitle(all_count: int, shown_count: int) -> Message:
    text = "Jobs that are still in the cluster, in UTC; a line for each CronJob or other owner, else for the Job. Those to look at first."
    if shown_count < all_count:
        return message(text + " {shown:count} of {all:count} are shown.", shown=shown_count, all=all_count)
    return message(text)


def _urgency(jobs: Iterable[Job]) -> int:
    """Order lanes: past the deadline or kept by a pod, working without one, failed, at work, done."""
    return min(
        0
        if job.overdue or (job.closing and job.stuck)
        else 1
        if job.unbounded
        else 2
        if job.state is State.FAILED
        else 3
        if job.unfinished
        else 4
        for job in jobs
    )


def _lane(name: str, jobs: Sequence[Job], taken_at: datetime) -> Lane:
    pieces = tuple(
        Piece(_ago(job.started_at, taken_at), 0.0 if job.ended_at is None else _ago(job.ended_at, taken_at), _kind(job))
        for job in sorted(jobs, key=lambda job: job.name)
        if job.started_at
    )
    word, strained = _word(jobs)
    return Lane(name, pieces, word, strained)


def _kind(job: Job) -> str:
    return {State.SUCCEEDED: "good", State.FAILED: "bad", State.PENDING: "waiting"}.get(job.state, "open")


def _word(jobs: Sequence[Job]) -> tuple[str, bool]:
    """Say what matters most of a lane, and whether that is bad."""
    working = [job for job in jobs if job.unfinished]
    if wrong := _wrong_at_work(working):
        return wrong, True
    exceeded, failed = sum(job.exceeded for job in jobs), sum(job.state is State.FAILED for job in jobs)
    if exceeded:
        return (f"{exceeded} of {len(jobs)} cut short" if len(jobs) > 1 else "ended by its deadline"), True
    if failed:
        return (f"{failed} of {len(jobs)} failed" if len(jobs) > 1 else "failed"), True
    left = [job.remaining_seconds for job in working if job.remaining_seconds is not None and not job.closing]
    if left:
        return f"{format_seconds(min(left))} left", False
    return "its pods are ending" if working else f"{len(jobs)} succeeded" if len(jobs) > 1 else "succeeded", False


def _wrong_at_work(working: Sequence[Job]) -> str | None:
    late = [-(job.remaining_seconds or 0) for job in working if job.overdue]
    if late:
        return f"{format_seconds(max(late))} over"
    if any(job.closing and job.stuck for job in working):
        return "kept by a pod"
    return "no deadline" if any(job.unbounded for job in working) else None


def _agenda(found: JobAssessment, taken_at: datetime) -> Chart | None:
    peak = most_crowded(found.starts)
    if peak is None:
        return None
    quarters = Counter(int(_until(minute.at, taken_at) * 4) for minute in found.starts for _ in minute.cronjobs)
    rows = _rows(found, taken_at)
    words = f"{len(peak.cronjobs)} at {peak.at:%H:%M}, asking for {format_nanocores(peak.requests_cpu_nanocores)}"
    return Chart(
        title=_agenda_title(len(peak.cronjobs), peak.at),
        subtitle=_agenda_subtitle(len(rows), min(len(rows), _MOST_ROWS)),
        alt=message(
            "Starts by quarter of an hour; the most in one minute: {words:text}. The table below has the fullest minutes.", words=words
        ),
        drawing=Agenda(
            begin=taken_at,
            hours=_HOURS,
            counts=tuple(quarters.get(number, 0) for number in range(_HOURS * 4)),
            rows=tuple(rows[:_MOST_ROWS]),
            peak=(_until(peak.at, taken_at), words) if len(peak.cronjobs) > 1 else None,
        ),
    )


def _agenda_title(count: int, at: datetime) -> Message:
    if count == 1:
        return message("In the next 24 hours no two CronJobs start in the same minute")
    return message("{count:count} CronJobs start in the same minute: {at:instant}", count=count, at=at)


def _agenda_subtitle(all_count: int, shown_count: int) -> Message:
    text = "The next 24 hours in UTC. Above, how many start in each quarter of an hour; below, who starts when."
    if shown_count < all_count:
        return message(text + " Of {all:count} lines, the {shown:count} that ask for most are shown.", all=all_count, shown=shown_count)
    return message(text)


def _rows(found: JobAssessment, taken_at: datetime) -> list[tuple[str, tuple[float, ...]]]:
    """Give a line for all CronJobs with the same starts, those that ask for most first."""
    starts: dict[Key, list[float]] = defaultdict(list)
    for minute in found.starts:
        for key in minute.cronjobs:
            starts[key].append(_until(minute.at, taken_at))
    lines: dict[tuple[float, ...], list[CronJob]] = defaultdict(list)
    for it in found.cronjobs:
        if it.key in starts:
            lines[tuple(starts[it.key])].append(it)
    ordered = sorted(lines.items(), key=lambda line: _size(line[1]))
    return [(_name(sorted(group, key=lambda it: it.key)), times) for times, group in ordered]


def _size(group: Sequence[CronJob]) -> tuple[float, int, int, Key]:
    cpu, memory = sum(it.requests_cpu_nanocores or 0 for it in group), sum(it.requests_memory_bytes or 0 for it in group)
    return (-sum(it.requests_gpu_count for it in group), -cpu, -memory, min(it.key for it in group))


def _name(group: Sequence[CronJob]) -> str:
    first = f"{group[0].namespace}/{group[0].name}"
    return f"{first} +{len(group) - 1}" if len(group) > 1 else first


def _ago(at: datetime, taken_at: datetime) -> float:
    return max(0.0, (taken_at - at).total_seconds() / 3600)


def _until(at: datetime, taken_at: datetime) -> float:
    return max(0.0, (at - taken_at).total_seconds() / 3600)
