"""Batch work: CronJobs with their history, Jobs in every state, and a pod too large for any node."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sample.builder import Builder
from sample.controllers import deployment
from sample.identity import TAKEN_AT, ago, stamp
from sample.jobs import Run, broken_indexes_job, cronjob, failing_job, late_job, mark_active, running_job, stuck_job, succeeded_job
from sample.templates import Container, Template, environment

NAMESPACE = "data"
BORN = ago(days=205)


def add_data(builder: Builder) -> None:
    """Add everything of this module."""
    _add_nightly(builder)
    _add_hourly(builder)
    _add_idle_schedules(builder)
    _add_single_jobs(builder)
    _add_troubled_schedules(builder)
    _add_crowd(builder)
    _add_pile(builder)
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
    train = _template("upload-archive", {"cpu": "200m", "memory": "512Mi"}, (3, 140))
    stuck_job(builder, Run(train, ago(hours=5, minutes=40), deadline=7200), ["archive.example/flush-logs"])
    tiles = {"completionMode": "Indexed", "completions": 16, "backoffLimit": 2_147_483_647, "backoffLimitPerIndex": 1}
    run = Run(
        _template("render-tiles", {"cpu": "1", "memory": "1Gi"}), ago(hours=20, minutes=13), deadline=14_400, parallelism=4, spec=tiles
    )
    broken_indexes_job(builder, run, "0-2,5-9,12-15", "3,4,10,11", (12, 8), 2_914)
    late_job(builder, Run(_template("thumbnail-backfill", {"cpu": "1", "memory": "1Gi"}), ago(days=2, hours=11), deadline=7200))
    reprocess = _template("reprocess-orders", {"cpu": "2", "memory": "4Gi"}, (1_310, 2_190), restart_policy="OnFailure")
    running_job(builder, Run(reprocess, ago(days=3, hours=4, minutes=26), parallelism=2))
    folds = _template("evaluate-folds", {"cpu": "2", "memory": "6Gi"}, (1_870, 4_420))
    spec = {"completionMode": "Indexed", "completions": 8, "backoffLimit": 2}
    run = Run(folds, TAKEN_AT - timedelta(minutes=55), deadline=3600, parallelism=2, spec=spec)
    running_job(builder, run, indexes=(4, 5), succeeded=4, completedIndexes="0-3")


def _add_troubled_schedules(builder: Builder) -> None:
    """Add schedules that are late, cannot start, never start, take longer than their interval, and run into their deadline again and again."""
    small = {"cpu": "100m", "memory": "128Mi"}
    last = datetime(2026, 11, 29, 22, 40, tzinfo=UTC)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(seconds=48))}
    cronjob(builder, _template("cache-warmup", small), "*/20 * * * *", BORN, {}, deadline=600, **times)
    last = datetime(2026, 11, 28, 2, 0, tzinfo=UTC)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(seconds=9))}
    cronjob(builder, _template("session-cleanup", small), "*/5 * * * *", BORN, {"startingDeadlineSeconds": 0}, deadline=300, **times)
    cronjob(builder, _template("leap-audit", small), "0 0 30 2 *", ago(days=120), {}, deadline=3600)
    _add_slow_schedules(builder)


def _add_slow_schedules(builder: Builder) -> None:
    sync = _template("search-sync", {"cpu": "750m", "memory": "1Gi"}, (610, 720))
    last = datetime(2026, 11, 30, 1, 0, tzinfo=UTC)
    begun = [last + timedelta(minutes=minutes) for minutes in (-47, -13, 24)]
    took = (2_040, 2_215)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(begun[1] + timedelta(seconds=took[1]))}
    owner = cronjob(builder, sync, "*/30 * * * *", BORN, {}, deadline=7200, **times)
    for place, seconds in enumerate(took):
        due = last - timedelta(minutes=60 - 30 * place)
        succeeded_job(builder, Run(sync, begun[place], deadline=7200, cronjob=owner, scheduled=due), seconds, swept=True)
    mark_active(owner, running_job(builder, Run(sync, begun[2], deadline=7200, cronjob=owner, scheduled=last)))
    prices = _template("price-import", {"cpu": "500m", "memory": "512Mi"})
    last = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
    times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last - timedelta(hours=4) + timedelta(seconds=1_702))}
    spec = {"failedJobsHistoryLimit": 3, "timeZone": "Europe/Berlin"}
    owner = cronjob(builder, prices, "5 1-23/4 * * *", BORN, spec, deadline=1800, **times)
    for hours_before, seconds in ((20, 1_544), (12, 1_688), (4, 1_702)):
        succeeded_job(builder, Run(prices, last - timedelta(hours=hours_before), deadline=1800, cronjob=owner), seconds, swept=True)
    for hours_before in (16, 8, 0):
        late_job(builder, Run(prices, last - timedelta(hours=hours_before), deadline=1800, cronjob=owner))


def _add_crowd(builder: Builder) -> None:
    """Add exports that all start at three o'clock, none of them with a deadline."""
    last = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
    for number, country in enumerate(("at", "be", "ch", "cz", "de", "dk", "es", "fr", "it", "nl", "pl", "se")):
        template = _template(f"export-{country}", {"cpu": "1", "memory": "2Gi"})
        took = [402 + 37 * number + 11 * day for day in range(3)]
        times = {"lastScheduleTime": stamp(last), "lastSuccessfulTime": stamp(last + timedelta(seconds=took[0]))}
        owner = cronjob(builder, template, "0 3 * * *", BORN, {}, deadline=None, **times)
        for days_before, seconds in enumerate(took):
            succeeded_job(builder, Run(template, last - timedelta(days=days_before), cronjob=owner), seconds, swept=True)


def _add_pile(builder: Builder) -> None:
    """Add Jobs that a pipeline made, done long ago, which nothing deletes."""
    template = _template("import-batch", {"cpu": "500m", "memory": "1Gi"})
    for number in range(26):
        run = Run(template, ago(days=31 - number, hours=7, minutes=3 * number), f"import-batch-{number + 1:03d}", deadline=3600)
        succeeded_job(builder, run, 230 + 17 * (number % 7), swept=True)


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
