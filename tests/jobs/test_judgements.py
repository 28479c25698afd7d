"""Findings about Jobs: what is urgent, in which words, and what to do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batch.findings import Finding, Severity
from batch.jobs.assess import assess
from batch.report.format import render_message
from batch.settings import Settings
from tests.builders import CORE, TAKEN_AT, JobRows, cronjob, job, node, pod, snapshot

GPU = "nvidia.com/gpu"


def findings(*jobs: JobRows, pods: Any = (), cronjobs: Any = (), **settings: Any) -> dict[str, Finding]:
    shot = snapshot(jobs=jobs, pods=pods, cronjobs=cronjobs, nodes=[node("n1")])
    return {finding.id: finding for finding in assess(shot, Settings(**settings)).findings}


def text(finding: Finding) -> str:
    return " | ".join(render_message(part) for part in (finding.title, finding.detail, finding.action)).replace("\u00a0", " ")


def holding(row: JobRows, gpus: int) -> Any:
    return pod(
        "p", owner_kind="Job", owner_uid=row.columns["uid"], cpu=CORE, resources={GPU: gpus}, started_at=TAKEN_AT - timedelta(hours=9)
    )


def test_a_healthy_cluster_has_no_findings() -> None:
    done = job("done", conditions={"Complete": None}, completed_at=TAKEN_AT, ttl_seconds=60)
    assert findings(done, job("works", deadline_seconds=9000), cronjobs=[cronjob("c")]) == {}


def test_gpus_without_an_end_come_with_what_they_cost_and_a_script() -> None:
    row = job("train", started_at=TAKEN_AT - timedelta(hours=9), resources={GPU: 8})
    found = findings(row, job("small"), pods=[holding(row, 8)])["jobs.without-deadline"]
    assert found.severity is Severity.WARNING
    assert found.objects == ("default/train", "default/small")  # what most hangs on first
    assert text(found) == (
        "2 unfinished Jobs have no deadline, and hold 8 GPUs | "
        "Nothing ends default/train: it has run for 9 h and has held 72 GPU-hours. | "
        "Set spec.activeDeadlineSeconds where they are made"
    )


def test_old_jobs_have_a_deadline_to_set() -> None:
    found = findings(job("train", started_at=TAKEN_AT - timedelta(days=2)))["jobs.without-deadline"]
    assert text(found).endswith("Read and run deadlines/kubectl.sh, which sets the proposed deadlines")


def test_a_job_whose_gone_pods_nobody_knows_is_not_behind_all_others() -> None:
    retried = job("retried", started_at=TAKEN_AT - timedelta(hours=9), resources={GPU: 8}, failed_pod_count=1)
    small = job("small", started_at=TAKEN_AT - timedelta(hours=9))
    pods = [
        holding(retried, 8),
        pod("q", owner_kind="Job", owner_uid=small.columns["uid"], resources={GPU: 1}, started_at=TAKEN_AT - timedelta(hours=9)),
    ]
    assert findings(retried, small, pods=pods)["jobs.without-deadline"].objects == ("default/retried", "default/small")


@pytest.mark.parametrize(
    "columns",
    [
        {"conditions": {"SuccessCriteriaMet": "SuccessPolicy"}},
        {"conditions": {"FailureTarget": "PodFailurePolicy"}},
        {"deleted_at": TAKEN_AT - timedelta(hours=5)},
    ],
)
def test_a_job_that_only_waits_for_a_pod_needs_that_pod_gone_and_no_deadline(columns: dict[str, Any]) -> None:
    row = job("j", started_at=TAKEN_AT - timedelta(days=3), **columns)
    kept = {"deleted_at": TAKEN_AT - timedelta(hours=2), "finalizers": "example.com/flush"}
    late, in_grace = (
        findings(row, pods=[pod("p", owner_kind="Job", owner_uid="uid-default-j", **it)])
        for it in (kept, {"deleted_at": TAKEN_AT + timedelta(seconds=9)})
    )
    assert list(late) == ["jobs.outlived"]
    assert text(late["jobs.outlived"]).startswith(
        "1 Job is over but has pods that are not gone | default/j: Pod p should be gone since 2 h; it is kept by example.com/flush."
    )
    assert in_grace == {}


@pytest.mark.parametrize(("age", "severity"), [(timedelta(hours=23), Severity.ADVICE), (timedelta(hours=25), Severity.WARNING)])
def test_a_job_without_a_deadline_is_looked_into_after_a_day(age: timedelta, severity: Severity) -> None:
    assert findings(job("j", started_at=TAKEN_AT - age))["jobs.without-deadline"].severity is severity


def test_a_job_past_its_deadline_is_urgent_when_it_holds_gpus() -> None:
    row = job("j", deadline_seconds=600, conditions={"FailureTarget": "DeadlineExceeded"})
    without, with_gpus = (findings(row, pods=pods)["jobs.past-deadline"] for pods in ([], [holding(row, 1)]))
    assert (without.severity, with_gpus.severity) == (Severity.WARNING, Severity.CRITICAL)
    assert "default/j should have ended 50 min ago." in text(with_gpus)
    assert "kubectl describe job j --namespace=default" in text(with_gpus)


def test_close_is_a_tenth_of_the_time() -> None:
    # an hour has passed
    assert "jobs.near-deadline" not in findings(job("j", deadline_seconds=4001))
    found = text(findings(job("j", deadline_seconds=4000))["jobs.near-deadline"])
    assert found.startswith("1 Job is about to run into its deadline | default/j had 6 min 40 s left of 1 h 6 min.")


def test_a_name_that_hit_its_deadline_is_taken_but_not_that_of_a_scheduled_run() -> None:
    cut: dict[str, Any] = {"conditions": {"Failed": "DeadlineExceeded"}, "deadline_seconds": 5}
    found = findings(
        job("mine", **cut), job("c-1", owner=("CronJob", "c"), **cut), job("rerun", owner=("CronJob", "c"), manual=True, **cut)
    )
    assert found["jobs.name-taken"].objects == ("default/mine", "default/rerun")
    assert "kubectl delete job mine --namespace=default" in text(found["jobs.name-taken"])


def test_a_cronjob_that_runs_into_its_deadline_again_and_again_is_looked_into() -> None:
    cut: dict[str, Any] = {"conditions": {"Failed": "DeadlineExceeded"}, "deadline_seconds": 900, "owner": ("CronJob", "c")}
    once = findings(job("a", **cut), cronjobs=[cronjob("c")])["jobs.deadline-exceeded"]
    twice = findings(job("a", **cut), job("b", **cut), cronjobs=[cronjob("c")])["jobs.deadline-exceeded"]
    assert (once.severity, twice.severity) == (Severity.ADVICE, Severity.WARNING)
    assert "default/c: 2 of 2 runs that are still there ended after 15 min." in text(twice)


def test_one_finding_for_each_kind_of_trouble_however_many_have_it() -> None:
    late: dict[str, Any] = {"last_scheduled_at": TAKEN_AT - timedelta(hours=5)}
    found = findings(cronjobs=[cronjob(f"c{n}", "0 * * * *", **late) for n in range(3)])
    assert list(found) == ["jobs.late"]
    assert text(found["jobs.late"]).startswith("3 CronJobs are late | default/c0: 5 starts passed without a Job; the latest is due now.")


def test_a_crowd_is_told_with_what_it_asks_for() -> None:
    crowd = [cronjob(f"c{n}", "0 4 * * *", cpu=2 * CORE) for n in range(10)]
    assert "At 1 March 2026, 04:00 UTC their Jobs ask for 20 cores" in text(findings(cronjobs=crowd)["jobs.crowded-start"])
    assert "jobs.crowded-start" not in findings(cronjobs=crowd[1:])


def test_cronjobs_without_a_deadline_and_jobs_that_nothing_deletes() -> None:
    done = [job(f"d{n}", conditions={"Complete": ("True", None, TAKEN_AT)}, completed_at=TAKEN_AT) for n in range(20)]
    found = findings(*done, cronjobs=[cronjob("c", deadline_seconds=None)])
    assert text(found["jobs.cronjobs-without-deadline"]).startswith("1 CronJob gives its Jobs no deadline | Too few of their runs")
    assert "20 finished Jobs are never deleted" in text(found["jobs.never-deleted"])


@pytest.mark.parametrize(
    ("deadline", "budget", "said"),
    [
        (None, 1200, "This report's own Job has no deadline"),
        (4500, 4500, "This run may take longer than its own Job"),
        (4500, 1200, None),
        (4500, None, None),
    ],
)
def test_our_own_run_is_judged_as_any_other(deadline: int | None, budget: int | None, said: str | None) -> None:
    row = job("nightcap-29538977", deadline_seconds=deadline)
    run = {"job_uid": row.columns["uid"], "job_name": "nightcap-29538977", "deadline_seconds": budget}
    found = findings(row, run=run).get("jobs.own-run")
    assert (found and render_message(found.title)) == said
