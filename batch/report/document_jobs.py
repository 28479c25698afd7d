"""The part of report.json about Jobs and CronJobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from batch.jobs.model import CronJob, Job, JobAssessment, Minute, OwnRun, Proposal
from batch.report.deadline_patches import file_name
from batch.report.document_profiles import NANO
from batch.report.format import render_message

_HOUR = 3600


def jobs_document(found: JobAssessment, files: frozenset[str]) -> dict[str, Any]:
    """Give `jobs`; `files` are the names of the run's files, among them the patches that were made."""
    return {
        **found.counts,
        "jobs": [{**job_values(job), "patch": _patch("Job", job, files)} for job in found.jobs],
        "cronjobs": [{**cronjob_values(cronjob), "patch": _patch("CronJob", cronjob, files)} for cronjob in found.cronjobs],
        "starts": [start_values(minute) for minute in found.starts],
        "never_deleted": [
            {"namespace": pile.namespace, "job_count": pile.job_count, "oldest_at": written(pile.oldest_at)} for pile in found.piles
        ],
        "own_run": _own_run(found.own_run),
    }


def written(instant: datetime | None) -> str | None:
    """Write a moment as RFC 3339 in UTC."""
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")


def job_values(job: Job) -> dict[str, Any]:
    """Give everything about a Job but its patch, for programs."""
    held = job.held
    return {
        "namespace": job.namespace,
        "name": job.name,
        "owner": f"{job.owner.kind}/{job.owner.name}" if job.owner else None,
        "state": job.state.value,
        "reason": job.reason,
        "duration_seconds": job.duration_seconds,
        "deadline_seconds": job.deadline_seconds,
        "pod_deadline_seconds": job.pod_deadline_seconds,
        "deadline_remaining_seconds": job.remaining_seconds,
        "retry_count": job.retry_count,
        "backoff_limit": job.backoff_limit,
        "backoff_limit_per_index": job.backoff_limit_per_index,
        "completed_index_count": job.indexes and job.indexes.completed_count,
        "failed_index_count": job.indexes and job.indexes.failed_count,
        "remaining_index_count": job.indexes and job.indexes.remaining_count,
        "manual": job.manual,
        "managed_by": job.managed_by,
        "created_at": written(job.created_at),
        "scheduled_at": written(job.scheduled_at),
        "start_delay_seconds": job.start_delay_seconds,
        "started_at": written(job.started_at),
        "ended_at": written(job.ended_at),
        "ttl_seconds": job.ttl_seconds,
        "pod_count": held.pod_count,
        "gpu_count": _count(held.gpu_count),
        "gpu_hours": _hours(held.gpu_seconds),
        "requests_cpu_cores": held.cpu_nanocores / NANO,
        "requests_memory_bytes": held.memory_bytes,
        "core_hours": _hours(None if held.cpu_nanocore_seconds is None else held.cpu_nanocore_seconds / NANO),
        "stuck": [render_message(sentence) for sentence in job.stuck],
        **_proposal(job.proposal),
    }


def cronjob_values(it: CronJob) -> dict[str, Any]:
    """Give everything about a CronJob but its patch, for programs."""
    runs = it.runs
    return {
        "namespace": it.namespace,
        "name": it.name,
        "schedule": it.schedule,
        "time_zone": it.time_zone,
        "suspended": it.suspended,
        "concurrency_policy": it.concurrency_policy,
        "starting_deadline_seconds": it.starting_deadline_seconds,
        "deadline_seconds": it.deadline_seconds,
        "pod_deadline_seconds": it.pod_deadline_seconds,
        "last_schedule_at": written(it.last_scheduled_at),
        "last_success_at": written(it.last_succeeded_at),
        "next_schedule_at": written(it.next_at),
        "interval_seconds": it.interval_seconds,
        "missed_count": it.missed_count,
        "late": it.late,
        **runs.counts,
        "duration_max_seconds": max(runs.durations, default=None),
        "requests_cpu_cores": None if it.requests_cpu_nanocores is None else it.requests_cpu_nanocores / NANO,
        "requests_memory_bytes": it.requests_memory_bytes,
        "requests_gpu_count": _count(it.requests_gpu_count),
        "problems": [render_message(problem.text) for problem in it.problems],
        **_proposal(it.proposal),
    }


def start_values(minute: Minute) -> dict[str, Any]:
    """Give how much starts in a minute, for programs."""
    return {
        "at": written(minute.at),
        "cronjob_count": len(minute.cronjobs),
        "requests_cpu_cores": minute.requests_cpu_nanocores / NANO,
        "requests_memory_bytes": minute.requests_memory_bytes,
        "requests_gpu_count": _count(minute.requests_gpu_count),
        "unknown_count": minute.unknown_count,
    }


def _proposal(proposal: Proposal | None) -> Mapping[str, Any]:
    return {
        "proposed_deadline_seconds": proposal and proposal.deadline_seconds,
        "proposal_run_count": proposal and proposal.run_count,
        "proposal_basis_seconds": proposal and proposal.basis_seconds,
    }


def _patch(kind: str, it: Job | CronJob, files: frozenset[str]) -> str | None:
    name = file_name(kind, it.namespace, it.name)
    return name if name in files else None


def _own_run(own: OwnRun | None) -> dict[str, Any] | None:
    if own is None:
        return None
    return {
        "namespace": own.job.namespace,
        "name": own.job.name,
        "deadline_seconds": own.job.deadline_seconds,
        "deadline_remaining_seconds": own.job.remaining_seconds,
        "budget_seconds": own.budget_seconds,
    }


def _count(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / _HOUR, 6)
