"""The tables of Jobs, CronJobs and starts as CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from batch.jobs.model import CronJob, Job, JobAssessment, Minute
from batch.report.document_jobs import cronjob_values, job_values, start_values, written

_PROPOSAL = ("proposed_deadline_seconds", "proposal_run_count", "proposal_basis_seconds")
JOB_COLUMNS = (
    *(
        "namespace",
        "name",
        "owner",
        "manual",
        "state",
        "reason",
        "created_at",
        "scheduled_at",
        "start_delay_seconds",
        "started_at",
        "ended_at",
    ),
    *("duration_seconds", "deadline_seconds", "pod_deadline_seconds", "deadline_remaining_seconds", "retry_count", "backoff_limit"),
    *("backoff_limit_per_index", "completed_index_count", "failed_index_count", "remaining_index_count", "ttl_seconds", "managed_by"),
    *("pod_count", "gpu_count", "gpu_hours", "requests_cpu_nanocores", "requests_memory_bytes", "core_hours", "stuck", *_PROPOSAL),
)
CRONJOB_COLUMNS = (
    *("namespace", "name", "schedule", "time_zone", "suspended", "concurrency_policy", "starting_deadline_seconds", "deadline_seconds"),
    *("pod_deadline_seconds", "last_schedule_at", "last_success_at", "next_schedule_at", "interval_seconds", "missed_count", "late"),
    *("unfinished_count", "succeeded_count", "failed_count", "deadline_exceeded_count", "manual_count", "duration_max_seconds"),
    *("requests_cpu_nanocores", "requests_memory_bytes", "requests_gpu_count", "problems", *_PROPOSAL),
)
START_COLUMNS = ("at", "cronjob_count", "requests_cpu_nanocores", "requests_memory_bytes", "requests_gpu_count", "unknown_count")
PILE_COLUMNS = ("namespace", "job_count", "oldest_at")


def job_row(job: Job) -> Mapping[str, Any]:
    """Give one row in JOB_COLUMNS."""
    values = job_values(job)
    return {**values, "requests_cpu_nanocores": job.held.cpu_nanocores, "stuck": " ".join(values["stuck"])}


def cronjob_row(it: CronJob) -> Mapping[str, Any]:
    """Give one row in CRONJOB_COLUMNS."""
    values = cronjob_values(it)
    return {**values, "requests_cpu_nanocores": it.requests_cpu_nanocores, "problems": " ".join(values["problems"])}


def start_row(minute: Minute) -> Mapping[str, Any]:
    """Give one row in START_COLUMNS."""
    return {**start_values(minute), "requests_cpu_nanocores": minute.requests_cpu_nanocores}


def pile_rows(found: JobAssessment) -> Iterator[Mapping[str, Any]]:
    """Give the rows in PILE_COLUMNS."""
    for pile in found.piles:
        yield {"namespace": pile.namespace, "job_count": pile.job_count, "oldest_at": written(pile.oldest_at)}
