"""The tables of Jobs and CronJobs, as batch/v1 has them."""

from __future__ import annotations

from batch.snapshot.schema import FLAG, INSTANT, INTEGER, TEXT, Column, Schema


def _template() -> tuple[Column, ...]:
    """Give what the template of a Job says; a CronJob has the same in its jobTemplate."""
    filled = "what one pod of the template will hold, missing requests filled from limits"
    return (
        Column(
            "parallelism",
            INTEGER,
            "pods that may run at once: spec.parallelism, 1 where it is not set, and at most spec.completions",
            "count",
        ),
        Column("deadline_seconds", INTEGER, "spec.activeDeadlineSeconds of the Job: 0 is a deadline, NA is none", "seconds", nullable=True),
        Column(
            "pod_deadline_seconds",
            INTEGER,
            "spec.template.spec.activeDeadlineSeconds: ends a pod, which the Job then tries again",
            "seconds",
            nullable=True,
        ),
        Column(
            "ttl_seconds", INTEGER, "spec.ttlSecondsAfterFinished: when a finished Job is deleted; NA for never", "seconds", nullable=True
        ),
        Column("template_requests_cpu_nanocores", INTEGER, filled, "nanocores", nullable=True),
        Column("template_requests_memory_bytes", INTEGER, filled, "bytes", nullable=True),
    )


JOBS = Schema(
    "jobs",
    "one row for each Job object",
    ("namespace", "job"),
    (
        Column("namespace", TEXT, "namespace of the Job"),
        Column("job", TEXT, "name of the Job"),
        Column("uid", TEXT, "metadata.uid", nullable=True),
        Column("created_at", INSTANT, "metadata.creationTimestamp", nullable=True),
        Column("deleted_at", INSTANT, "metadata.deletionTimestamp: the Job is being deleted", nullable=True),
        Column(
            "owner_kind", TEXT, "kind of the owner; hand-started Jobs may name their CronJob without controlling reference", nullable=True
        ),
        Column("owner_name", TEXT, "name of the owner", nullable=True),
        Column("owner_uid", TEXT, "uid of the owner", nullable=True),
        Column("controlled", FLAG, "whether that owner controls the Job, and clears it away in time"),
        Column("manual", FLAG, "true when it was started by hand from a CronJob"),
        Column("scheduled_at", INSTANT, "when its CronJob's schedule wanted it", nullable=True),
        Column("suspended", FLAG, "spec.suspend"),
        *_template(),
        Column("completions", INTEGER, "spec.completions; NA: done as soon as one pod has succeeded", "count", nullable=True),
        Column("indexed", FLAG, "whether each pod has an index (spec.completionMode Indexed)"),
        Column("backoff_limit", INTEGER, "spec.backoffLimit; NA where the limit is one for each index", "count", nullable=True),
        Column("backoff_limit_per_index", INTEGER, "spec.backoffLimitPerIndex", "count", nullable=True),
        Column("managed_by", TEXT, "spec.managedBy, where another controller than Kubernetes' own runs it", nullable=True),
        Column("started_at", INSTANT, "status.startTime: set anew when a suspended Job is resumed", nullable=True),
        Column("completed_at", INSTANT, "status.completionTime: only of Jobs that succeeded", nullable=True),
        Column("active_pod_count", INTEGER, "status.active: pods that are neither finished nor being deleted", "count"),
        Column("ready_pod_count", INTEGER, "status.ready", "count", nullable=True),
        Column("terminating_pod_count", INTEGER, "status.terminating: pods that are being deleted", "count", nullable=True),
        Column("succeeded_pod_count", INTEGER, "status.succeeded", "count"),
        Column("failed_pod_count", INTEGER, "status.failed: pods, not Jobs", "count"),
        Column("completed_indexes", TEXT, "status.completedIndexes as it is written, e.g. 0-2,5", nullable=True),
        Column("failed_indexes", TEXT, "status.failedIndexes as it is written", nullable=True),
    ),
)

JOB_CONDITIONS = Schema(
    "job_conditions",
    "one row for each condition of a Job; one that is not True says nothing",
    ("namespace", "job", "condition"),
    (
        Column("namespace", TEXT, "namespace of the Job"),
        Column("job", TEXT, "name of the Job"),
        Column("condition", TEXT, "Complete, Failed, FailureTarget, SuccessCriteriaMet, Suspended, or what others add"),
        Column("status", TEXT, "True, False or Unknown", nullable=True),
        Column("reason", TEXT, "reason of the condition, e.g. DeadlineExceeded", nullable=True),
        Column("changed_at", INSTANT, "lastTransitionTime", nullable=True),
    ),
)

JOB_RESOURCES = Schema(
    "job_resources",
    "one row for each resource that a pod of a Job's template will request beside cpu and memory",
    ("namespace", "job", "resource"),
    (
        Column("namespace", TEXT, "namespace of the Job"),
        Column("job", TEXT, "name of the Job"),
        Column("resource", TEXT, "name of the resource"),
        Column("requests_count", INTEGER, "what one pod of the template will hold", "count"),
    ),
)

CRONJOBS = Schema(
    "cronjobs",
    "one row for each CronJob object",
    ("namespace", "cronjob"),
    (
        Column("namespace", TEXT, "namespace of the CronJob"),
        Column("cronjob", TEXT, "name of the CronJob"),
        Column("uid", TEXT, "metadata.uid", nullable=True),
        Column("created_at", INSTANT, "metadata.creationTimestamp", nullable=True),
        Column("deleted_at", INSTANT, "metadata.deletionTimestamp: the CronJob is being deleted", nullable=True),
        Column("schedule", TEXT, "spec.schedule as it is written"),
        Column("time_zone", TEXT, "spec.timeZone; NA: that of the controller manager", nullable=True),
        Column("suspended", FLAG, "spec.suspend"),
        Column("concurrency_policy", TEXT, "spec.concurrencyPolicy: Allow, Forbid or Replace"),
        Column("starting_deadline_seconds", INTEGER, "spec.startingDeadlineSeconds", "seconds", nullable=True),
        Column("last_scheduled_at", INSTANT, "status.lastScheduleTime", nullable=True),
        Column("last_succeeded_at", INSTANT, "status.lastSuccessfulTime", nullable=True),
        Column("active_job_count", INTEGER, "Jobs in status.active", "count"),
        *_template(),
    ),
)

CRONJOB_RESOURCES = Schema(
    "cronjob_resources",
    "one row for each resource that a pod of a CronJob's template will request beside cpu and memory",
    ("namespace", "cronjob", "resource"),
    (
        Column("namespace", TEXT, "namespace of the CronJob"),
        Column("cronjob", TEXT, "name of the CronJob"),
        Column("resource", TEXT, "name of the resource"),
        Column("requests_count", INTEGER, "what one pod of the template will hold", "count"),
    ),
)
