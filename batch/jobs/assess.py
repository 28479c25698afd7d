"""Do the cluster's Jobs finish, on time, and let go of what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from batch.findings import by_urgency
from batch.jobs.cron import zone_of
from batch.jobs.cronjobs import cronjob_of, runs_by_cronjob
from batch.jobs.crowding import starts_by_minute
from batch.jobs.deadlines import durations_by_owner, proposal_of_job
from batch.jobs.judgements import judge
from batch.jobs.model import CronJob, Job, JobAssessment, OwnRun, Pile, Runs
from batch.jobs.outcomes import job_of, true_conditions
from batch.jobs.pods import gpu_counts, held_by, pods_of_jobs, stuck_pods
from batch.jobs.schedule import Times
from batch.settings import Settings
from batch.snapshot.job_schemas import CRONJOBS, JOBS
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings) -> JobAssessment:
    """Assess every Job and CronJob at the moment of the snapshot.

    Uses the settings jobs.* and, to find this run's own Job, run.job_uid and run.deadline_seconds. Durations come from the finished Jobs that
    are still in the cluster. Without Jobs, CronJobs are assessed as far as they speak for themselves.
    """
    read = tuple(_jobs(snapshot))
    durations = durations_by_owner(read)
    jobs = tuple(replace(job, proposal=p) if (p := proposal_of_job(job, durations, settings.jobs)) else job for job in read)
    timed = list(_cronjobs(snapshot, jobs, settings))
    own = next((job for job in jobs if settings.run.job_uid and job.uid == settings.run.job_uid), None)
    found = JobAssessment(
        jobs_known=snapshot.has("jobs"),
        cronjobs_known=snapshot.has("cronjobs"),
        jobs=jobs,
        cronjobs=tuple(cronjob for cronjob, _ in timed),
        starts=starts_by_minute(timed, snapshot.taken_at),
        piles=tuple(_piles(jobs)),
        own_run=OwnRun(own, settings.run.deadline_seconds) if own else None,
        findings=(),
    )
    return replace(found, findings=by_urgency(judge(found, settings.jobs, snapshot.taken_at)))


def _jobs(snapshot: Snapshot) -> Iterator[Job]:
    conditions, pods = true_conditions(snapshot), pods_of_jobs(snapshot)
    gpus = gpu_counts(snapshot.table("job_resources"), "job")
    for row in JOBS.to_arrow(snapshot.table("jobs")).to_pylist():
        key, own = (row["namespace"], row["job"]), pods.get(row["uid"], [])
        ended = row["succeeded_pod_count"] + row["failed_pod_count"]
        held = held_by(own, ended, gpus.get(key, 0), row["template_requests_cpu_nanocores"])
        job = job_of(row, conditions.get(key), own, held, snapshot.taken_at)
        over = job.overdue or job.closing or not job.unfinished
        stuck = tuple(stuck_pods(own, snapshot.taken_at, job_is_over=over)) if held.pod_count else ()
        yield replace(job, stuck=stuck) if stuck else job


def _cronjobs(snapshot: Snapshot, jobs: Iterable[Job], settings: Settings) -> Iterator[tuple[CronJob, Times]]:
    runs, none = runs_by_cronjob(jobs), Runs(known=snapshot.has("jobs"))
    gpus = gpu_counts(snapshot.table("cronjob_resources"), "cronjob")
    zone = zone_of(settings.jobs.controller_time_zone)
    for row in CRONJOBS.to_arrow(snapshot.table("cronjobs")).to_pylist():
        key = row["namespace"], row["cronjob"]
        yield cronjob_of(row, gpus.get(key, 0), runs.get(key, none), snapshot.taken_at, zone, settings.jobs)


def _piles(jobs: Iterable[Job]) -> Iterator[Pile]:
    """Count the finished Jobs of each namespace without ttlSecondsAfterFinished, but those whose controller clears them away."""
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if not job.unfinished and job.ttl_seconds is None and not (job.owner and job.owner.controls):
            found[job.namespace].append(job)
    for namespace, group in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Pile(namespace, len(group), min((job.ended_at for job in group if job.ended_at), default=None))
