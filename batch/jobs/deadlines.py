"""Deadlines to propose: from how long the finished runs of a workload took, rounded to what a person would write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from batch.jobs.model import Job, Owner, Proposal, State
from batch.settings import JobSettings

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_STEPS = (
    *(_MINUTE * minutes for minutes in (1, 2, 3, 5, 10, 15, 20, 30, 45)),
    *(_HOUR * hours for hours in (1, 1.5, 2, 3, 4, 6, 8, 12, 18)),
    *(_DAY * days for days in (1, 1.5, 2, 3, 4, 5, 7, 10, 14)),
)
"""Durations that people write; above the last, whole weeks."""

_AGE_FACTOR = 2.0
"""Without a finished run a deadline of twice the age leaves a Job as long again as it has taken: that ends nothing before somebody has
read the report, if the Job is old enough (setting jobs.open_seconds_max), and still is an end."""


@dataclass
class Durations:
    """How long the finished runs of a workload took, in seconds, and the deadlines that cut others short."""

    succeeded: list[float] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)


def durations_by_owner(jobs: Iterable[Job]) -> dict[Owner, Durations]:
    """Gather the durations of the Jobs of each owner, those started by hand included; a Job without an owner has no others like it."""
    found: dict[Owner, Durations] = defaultdict(Durations)
    for job in jobs:
        if job.owner is None or job.duration_seconds is None:
            continue
        same = Owner(job.owner.kind, job.owner.namespace, job.owner.name, controls=True)
        if job.state is State.SUCCEEDED:
            found[same].succeeded.append(job.duration_seconds)
        elif job.exceeded and job.deadline_seconds is not None:
            found[same].cut.append(float(job.deadline_seconds))
    return found


def proposal_of_runs(runs: Durations | None, settings: JobSettings) -> Proposal | None:
    """Propose a deadline from finished runs; None from too few.

    A run that its deadline cut short would have taken longer than that, nobody knows how much: the proposal starts from there at least.
    """
    if runs is None or not runs.succeeded or len(runs.succeeded) + len(runs.cut) < settings.runs_min:
        return None
    basis = max([float(np.quantile(runs.succeeded, settings.deadline_quantile)), *runs.cut])
    seconds = round_up(max(basis * settings.deadline_factor, settings.deadline_min_seconds))
    return Proposal(seconds, basis, len(runs.succeeded) + len(runs.cut), len(runs.cut))


def proposal_of_job(job: Job, runs: Mapping[Owner, Durations], settings: JobSettings) -> Proposal | None:
    """Propose a deadline for a Job that nothing ends: that of its owner's runs, else twice its age; None for a young one without others."""
    if not job.unbounded:
        return None
    same = job.owner and Owner(job.owner.kind, job.owner.namespace, job.owner.name, controls=True)
    proposal = proposal_of_runs(runs.get(same), settings) if same else None
    if proposal or job.duration_seconds is None or job.duration_seconds < settings.open_seconds_max:
        return proposal
    seconds = round_up(max(job.duration_seconds * _AGE_FACTOR, settings.deadline_min_seconds))
    return Proposal(seconds, job.duration_seconds, 0)


def round_up(seconds: float) -> int:
    """Round up to a duration that a person would write."""
    step = next((step for step in _STEPS if step >= seconds), None)
    return int(step if step is not None else -(-seconds // (7 * _DAY)) * 7 * _DAY)
