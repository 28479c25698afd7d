"""Findings about CronJobs: one for each kind of trouble, with all CronJobs that have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from batch.findings import Finding, Message, Severity, joined, message, plural
from batch.jobs.model import CronJob, Trouble


@dataclass(frozen=True)
class _Words:
    """How a trouble is told: its urgency, what one and what many do, and what to do about it."""

    severity: Severity
    one: str
    many: str
    action: str


_WORDS = {
    Trouble.LATE: _Words(
        Severity.WARNING,
        "CronJob is late",
        "CronJobs are late",
        "See the events of `kubectl describe cronjob`, the namespace's quota and the controller manager",
    ),
    Trouble.STARTING_DEADLINE: _Words(
        Severity.WARNING,
        "CronJob has too little time to start",
        "CronJobs have too little time to start",
        "Raise startingDeadlineSeconds to 60 or more (@every: above the interval)",
    ),
    Trouble.SCHEDULE: _Words(
        Severity.WARNING,
        "CronJob never starts: its schedule cannot be read",
        "CronJobs never start: their schedules cannot be read",
        "Correct schedule or timeZone",
    ),
    Trouble.NO_START: _Words(
        Severity.WARNING, "CronJob never starts", "CronJobs never start", "Correct the day of the month in its schedule"
    ),
    Trouble.NEVER_SUCCEEDED: _Words(
        Severity.WARNING,
        "CronJob has never succeeded",
        "CronJobs have never succeeded",
        "Read the log of its last pod; suspend it if nobody needs it",
    ),
    Trouble.DEADLINE_TOO_SHORT: _Words(
        Severity.WARNING,
        "CronJob has a deadline that cannot be met",
        "CronJobs have deadlines that cannot be met",
        "Raise activeDeadlineSeconds in jobTemplate",
    ),
    Trouble.LONGER_THAN_INTERVAL: _Words(
        Severity.WARNING,
        "CronJob runs for longer than until its next start",
        "CronJobs run for longer than until their next start",
        "Start it less often, or make it faster; concurrencyPolicy decides what happens until then",
    ),
    Trouble.FAILED_LAST: _Words(
        Severity.ADVICE, "CronJob failed in its last run", "CronJobs failed in their last run", "Read the log of its last pod"
    ),
    Trouble.OVERLAP: _Words(
        Severity.ADVICE,
        "CronJob runs more than once at a time",
        "CronJobs run more than once at a time",
        "If it must not, set concurrencyPolicy: Forbid",
    ),
    Trouble.HELD_BACK: _Words(
        Severity.ADVICE,
        "CronJob skips starts, because a run still works",
        "CronJobs skip starts, because a run still works",
        "See what its run waits for",
    ),
    Trouble.ZONE_INSIDE: _Words(
        Severity.ADVICE,
        "CronJob has its time zone inside its schedule",
        "CronJobs have their time zone inside their schedule",
        "Move it to timeZone",
    ),
}
_REPEATEDLY = 2


def judge_cronjobs(cronjobs: Sequence[CronJob], section: str, script: str) -> Iterator[Finding]:
    """Give the findings about CronJobs; `script` is where their proposed deadlines are."""
    found: dict[Trouble, list[tuple[CronJob, Message]]] = defaultdict(list)
    for cronjob in cronjobs:
        for problem in cronjob.problems:
            found[problem.trouble].append((cronjob, problem.text))
    for trouble, words in _WORDS.items():
        if found[trouble]:
            yield _finding(f"jobs.{trouble}", words, found[trouble], section)
    yield from _cut_short([cronjob for cronjob, _ in found[Trouble.DEADLINE_EXCEEDED]], section, script)
    yield from _unbounded(cronjobs, section, script)


def cronjob_name(cronjob: CronJob) -> str:
    """Name a CronJob as kubectl shows it with all namespaces."""
    return f"{cronjob.namespace}/{cronjob.name}"


def _finding(slug: str, words: _Words, troubled: Sequence[tuple[CronJob, Message]], section: str) -> Finding:
    cronjob, text = troubled[0]
    return Finding(
        id=slug,
        severity=words.severity,
        section=section,
        title=message(f"{{count:count}} {plural(len(troubled), words.one, words.many)}", count=len(troubled)),
        detail=joined((message("{cronjob:text}:", cronjob=cronjob_name(cronjob)), text)),
        action=message(words.action),
        objects=tuple(cronjob_name(one) for one, _ in troubled),
        weight=len(troubled),
    )


def _cut_short(cronjobs: Sequence[CronJob], section: str, script: str) -> Iterator[Finding]:
    """Tell of runs that their deadline ended, of those first in which it happened more than once."""
    if not cronjobs:
        return
    ordered = sorted(cronjobs, key=lambda one: (-len(one.runs.exceeded), one.key))
    first = ordered[0]
    again = len(first.runs.exceeded) >= _REPEATEDLY
    detail = "{cronjob:text}: {cut:count} of {all:count} runs that are still there ended after {deadline:seconds}."
    yield Finding(
        id="jobs.deadline-exceeded",
        severity=Severity.WARNING if again else Severity.ADVICE,
        section=section,
        title=message(
            f"Runs of {{count:count}} {plural(len(cronjobs), 'CronJob', 'CronJobs')} ran into their deadline", count=len(cronjobs)
        ),
        detail=message(
            detail,
            cronjob=cronjob_name(first),
            cut=len(first.runs.exceeded),
            all=len(first.runs.succeeded) + len(first.runs.failed),
            deadline=first.runs.exceeded[-1].deadline_seconds,
        ),
        action=message("Find out what was slow; if it was right, {script:text} has a longer deadline", script=script)
        if any(one.proposal for one in cronjobs)
        else message("Find out what was slow; if it was right, raise activeDeadlineSeconds in jobTemplate"),
        objects=tuple(map(cronjob_name, ordered)),
        worth=message("{cut:count} runs", cut=sum(len(one.runs.exceeded) for one in cronjobs)),
        worth_of="cut short",
        weight=len(cronjobs),
    )


def _unbounded(cronjobs: Sequence[CronJob], section: str, script: str) -> Iterator[Finding]:
    unbounded = [one for one in cronjobs if one.deadline_seconds is None]
    if not unbounded:
        return
    known = sum(one.proposal is not None for one in unbounded)
    detail = (
        "For {known:count} of them there are enough finished runs to propose one."
        if known
        else "Too few of their runs have finished to propose one."
        if all(one.runs.known for one in unbounded)
        else "How long their runs took is not known, because Jobs could not be read."
    )
    yield Finding(
        id="jobs.cronjobs-without-deadline",
        severity=Severity.ADVICE,
        section=section,
        title=message(
            f"{{count:count}} {plural(len(unbounded), 'CronJob gives its', 'CronJobs give their')} Jobs no deadline", count=len(unbounded)
        ),
        detail=message(detail, **({"known": known} if known else {})),
        action=message("Read and run {script:text}", script=script) if known else message("Set activeDeadlineSeconds in jobTemplate"),
        objects=tuple(map(cronjob_name, unbounded)),
        weight=len(unbounded),
    )
