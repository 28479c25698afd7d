"""Batch work: CronJobs with their history, Jobs in every state, and a pod too large for any node."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sample.builder import Builder
from sample.controllers import deployment
from sample.identity import TAKEN_AT, ago, stamp
from sample.jobs import Run, cronjob, failing_job, late_job, running_job, succeeded_job
from sample.templates import Container, Template, environment

NAMESPACE = "data"
BORN = ago(days=205)


def add_data(builder: Builder) -> None:
    """Add everything of this module."""
    _add_nightly(builder)
    _add_hourly(builder)
    _add_idle_schedules(builder)
    _add_single_jobs(builder)
    analytics = _template("analytics", {"cpu": "8", "memory": "24Gi"}, restart_policy="Always")
    deployment(builder, analytics, 1, ago(days=2, hours=15), ago(days=2, hours=15), schedulable=False)


def _add_nightly(builder: Builder) -> None:
    """Add a healthy schedule, and one run that was started by hand."""
    template = _template("nightly-backup", {"cpu": "500m", "memory": "1Gi"})
    last = datetime(2026, 11, 30, 1, 30, tzinfo=UTC)
    took = (671, 688, 724)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(seconds=took[-1]))}
    owner = cronjob(builder, template, "30 1 * * *", BORN, {"timeZone": "Etc/UTC"}, deadline=3600, **times)
    for days_before, seconds in zip((2, 1, 0), took, strict=True):
        succeeded_job(builder, Run(template, last - timedelta(days=days_before), deadline=3600, cronjob=owner), seconds)
    by_hand = Run(template, ago(days=1, hours=16, minutes=48), "backup-before-migration", 3600, cronjob=owner, manual=True)
    succeeded_job(builder, by_hand, 702)


def _add_hourly(builder: Builder) -> None:
    """Add a schedule that now and then runs into its deadline."""
    template = _template("hourly-rollup", {"cpu": "250m", "memory": "512Mi"})
    last = datetime(2026, 11, 30, 1, 15, tzinfo=UTC)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(seconds=492))}
    owner = cronjob(builder, template, "15 * * * *", BORN, {"concurrencyPolicy": "Replace"}, deadline=900, **times)
    for hours_before, seconds in ((3, 455), (2, 610), (0, 492)):
        succeeded_job(builder, Run(template, last - timedelta(hours=hours_before), deadline=900, cronjob=owner), seconds)
    late_job(builder, Run(template, last - timedelta(hours=1), deadline=900, cronjob=owner))


def _add_idle_schedules(builder: Builder) -> None:
    """Add a schedule that was suspended, and one whose Jobs have never succeeded."""
    reindex = _template("weekly-reindex", {"cpu": "1", "memory": "2Gi"})
    last = datetime(2026, 9, 27, 3, 0, tzinfo=UTC)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(minutes=41))}
    cronjob(builder, reindex, "0 3 * * 0", BORN, {"suspend": True}, deadline=7200, **times)
    export = _template("invoice-export", {"cpu": "100m", "memory": "256Mi"})
    last = datetime(2026, 11, 30, 0, 0, tzinfo=UTC)
    owner = cronjob(builder, export, "0 */6 * * *", ago(days=6, hours=9), {}, deadline=None, lastScheduleTime=stamp(last))
    failing_job(builder, Run(export, last, cronjob=owner, spec={"backoffLimit": 3}), attempts=4)


def _add_single_jobs(builder: Builder) -> None:
    """Add Jobs of no schedule: done, late, running without an end in sight, and running towards its deadline."""
    succeeded_job(builder, Run(_template("schema-migration", {"cpu": "200m", "memory": "256Mi"}), ago(days=1, hours=16, minutes=9)), 94)
    late_job(builder, Run(_template("thumbnail-backfill", {"cpu": "1", "memory": "1Gi"}), ago(days=2, hours=11), deadline=7200))
    reprocess = _template("reprocess-orders", {"cpu": "2", "memory": "4Gi"}, (1_310, 2_190), restart_policy="OnFailure")
    running_job(builder, Run(reprocess, ago(days=3, hours=4, minutes=26), parallelism=2))
    folds = _template("evaluate-folds", {"cpu": "2", "memory": "6Gi"}, (1_870, 4_420))
    spec = {"completionMode": "Indexed", "completions": 8, "backoffLimit": 2}
    run = Run(folds, TAKEN_AT - timedelta(minutes=52), deadline=3600, parallelism=2, spec=spec)
    running_job(builder, run, indexes=(4, 5), succeeded=4, completedIndexes="0-3")


def _template(app: str, requests: dict[str, str], usage: tuple[float, float] = (0, 0), restart_policy: str = "Never") -> Template:
    container = Container(
        app,
        f"registry.example/data/{app}:2026.{44 + len(app) % 5}.0",
        requests,
        {"memory": requests["memory"]},
        usage,
        more={"env": environment(STAGE="production")},
    )
    return Template(NAMESPACE, app, (container,), restart_policy=restart_policy, service_account="batch")
