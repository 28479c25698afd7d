"""Jobs and CronJobs as Kubernetes 1.36 writes them become rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from batch.collect.jobs import CronJobCollector, JobCollector
from batch.collect.rejects import Rejects
from batch.collect.source import CRON_JOBS, SourceError
from batch.jobs.assess import assess
from batch.settings import Settings
from tests.collect.objects_json import container, page, pod
from tests.collect.test_assemble import Fake, snapshot_of

CRONJOB_NAME = "c" * 52
"""The longest name that a CronJob can have: eleven characters are left for its Jobs."""

SCHEDULED = "2026-03-01T02:30:00Z"
UID = {"cronjob": "0d6c0b9e-3f0f-4a54-8d1c-6b3e0f4c9a11", "job": "7a1f3a52-9c1d-4c39-9a53-2f0f9be2d4e0"}


def a_job(name: str, *, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "data",
            "uid": UID["job"],
            "generation": 1,
            "creationTimestamp": "2026-03-01T02:30:00Z",
            "labels": {"app": "export"},
            **metadata,
        },
        "spec": {
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "completions": 1,
            "manualSelector": False,
            "parallelism": 1,
            "podReplacementPolicy": "TerminatingOrFailed",
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID["job"]}},
            "suspend": False,
            "template": {"spec": {"activeDeadlineSeconds": 600, "containers": [container()], "restartPolicy": "Never"}},
            **(spec or {}),
        },
        "status": status or {"active": 1, "ready": 1, "startTime": "2026-03-01T02:30:00Z", "terminating": 0, "uncountedTerminatedPods": {}},
    }


def of_cronjob(*, controller: bool = True, **more: Any) -> dict[str, Any]:
    flags = {"blockOwnerDeletion": True, "controller": True} if controller else {}
    reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": CRONJOB_NAME, "uid": UID["cronjob"], **flags}
    return {"ownerReferences": [reference], **more}


def condition(kind: str, at: str, reason: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "lastProbeTime": at, "lastTransitionTime": at, "reason": reason, "message": "…"}


def tables(*items: dict[str, Any]) -> dict[str, pd.DataFrame]:
    collector = JobCollector(Rejects())
    assert collector.take(page(*items)) == len(items)
    return collector.tables()


def test_a_job_that_its_deadline_ended() -> None:
    status = {
        "conditions": [
            condition("FailureTarget", "2026-03-01T02:40:00Z", "DeadlineExceeded"),
            condition("Failed", "2026-03-01T02:40:32Z", "DeadlineExceeded"),
        ],
        "failed": 1,
        "ready": 0,
        "startTime": "2026-03-01T02:30:00Z",
        "terminating": 0,
        "uncountedTerminatedPods": {},
    }
    scheduled: dict[str, Any] = {"annotations": {"batch.kubernetes.io/cronjob-scheduled-timestamp": SCHEDULED}}
    read = tables(
        a_job("late", spec={"activeDeadlineSeconds": 600, "ttlSecondsAfterFinished": 0}, status=status, **of_cronjob(**scheduled))
    )
    (row,) = read["jobs"].to_dict("records")
    assert (row["deadline_seconds"], row["pod_deadline_seconds"], row["ttl_seconds"]) == (600, 600, 0)
    assert (row["owner_kind"], row["owner_name"], row["owner_uid"], row["controlled"]) == ("CronJob", CRONJOB_NAME, UID["cronjob"], True)
    assert row["scheduled_at"] == pd.Timestamp(SCHEDULED)
    assert pd.isna(row["completed_at"])
    assert read["job_conditions"][["condition", "status", "reason"]].to_numpy().tolist() == [
        ["Failed", "True", "DeadlineExceeded"],
        ["FailureTarget", "True", "DeadlineExceeded"],
    ]


def test_absent_fields_are_na_and_zeros_are_zeros() -> None:
    read = tables(
        a_job("zero", spec={"activeDeadlineSeconds": 0, "completions": None}),
        a_job("per-index", spec={"backoffLimit": 2147483647, "backoffLimitPerIndex": 0, "completionMode": "Indexed"}),
        a_job("other", spec={"managedBy": "kueue.x-k8s.io/multikueue"}),
        a_job("own", spec={"managedBy": "kubernetes.io/job-controller", "template": {"spec": {"containers": []}}}),
    )["jobs"]
    known = {row["job"]: {name for name, value in row.items() if pd.notna(value)} for row in read.to_dict("records")}
    rows = {row["job"]: row for row in read.to_dict("records")}
    assert rows["zero"]["deadline_seconds"] == 0
    assert "completions" not in known["zero"]
    assert not {"deadline_seconds", "backoff_limit"} & known["per-index"]
    assert (rows["per-index"]["backoff_limit_per_index"], rows["per-index"]["indexed"]) == (0, True)
    assert rows["other"]["managed_by"] == "kueue.x-k8s.io/multikueue"
    assert not {"managed_by", "pod_deadline_seconds"} & known["own"]


@pytest.mark.parametrize(("value", "manual"), [("manual", True), ("scheduled", False), (None, False), (1, False)])
def test_a_job_is_started_by_hand_when_kubectl_says_so(value: object, *, manual: bool) -> None:
    """Whether the reference controls tells nothing: kubectl 1.37.1 makes it so, earlier ones did not."""
    for controls in (False, True):
        made = a_job("rerun", **of_cronjob(controller=controls, annotations={"cronjob.kubernetes.io/instantiate": value}))
        (row,) = tables(made)["jobs"].to_dict("records")
        assert (row["manual"], row["controlled"], row["owner_kind"], row["owner_name"]) == (manual, controls, "CronJob", CRONJOB_NAME)


def test_the_owner_is_the_one_that_controls_wherever_it_stands() -> None:
    others = [{"kind": "Workflow", "name": "w", "uid": "w"}, {"kind": "JobSet", "name": "set", "uid": "s", "controller": True}]
    for references in (others, others[::-1]):
        (row,) = tables(a_job("j", ownerReferences=references))["jobs"].to_dict("records")
        assert (row["owner_kind"], row["owner_name"], row["controlled"]) == ("JobSet", "set", True)


def a_cronjob(name: str = CRONJOB_NAME, **spec: Any) -> dict[str, Any]:
    template = {
        "spec": {"activeDeadlineSeconds": 900, "parallelism": 2, "template": {"spec": {"containers": [container(limits={"cpu": "2"})]}}}
    }
    active = {"apiVersion": "batch/v1", "kind": "Job", "name": f"{name}-29538870", "namespace": "data", "uid": UID["job"]}
    return {
        "metadata": {"name": name, "namespace": "data", "uid": UID["cronjob"], "creationTimestamp": "2025-03-01T02:30:00Z"},
        "spec": {
            "schedule": "30 2 * * *",
            "timeZone": "Etc/UTC",
            "concurrencyPolicy": "Forbid",
            "suspend": False,
            "jobTemplate": template,
            **spec,
        },
        "status": {"active": [active], "lastScheduleTime": SCHEDULED, "lastSuccessfulTime": "2026-02-28T02:41:07Z"},
    }


def test_a_cronjob_with_its_template() -> None:
    collector = CronJobCollector(Rejects())
    collector.take(page(a_cronjob(startingDeadlineSeconds=0)))
    (row,) = collector.tables()["cronjobs"].to_dict("records")
    assert (row["schedule"], row["time_zone"], row["concurrency_policy"]) == ("30 2 * * *", "Etc/UTC", "Forbid")
    assert (row["starting_deadline_seconds"], row["deadline_seconds"], row["active_job_count"]) == (0, 900, 1)
    assert (row["parallelism"], row["template_requests_cpu_nanocores"]) == (2, 2 * 10**9)  # filled from the limit
    assert row["last_succeeded_at"] == pd.Timestamp("2026-02-28T02:41:07Z")


def test_one_broken_object_costs_itself() -> None:
    rejects = Rejects()
    collector = CronJobCollector(rejects)
    assert collector.take(page(a_cronjob(startingDeadlineSeconds="1h"), a_cronjob("well"))) == 2
    assert collector.tables()["cronjobs"]["cronjob"].tolist() == ["well"]
    assert [thing for thing, *_ in rejects.entries()] == [f"cronjob data/{CRONJOB_NAME}"]


def test_cronjobs_that_cannot_be_read_are_a_gap_and_jobs_stay() -> None:
    source = Fake(jobs=[page(a_job("j"))])
    source.serve(CRON_JOBS, [SourceError(CRON_JOBS, "forbidden", forbidden=True)])
    taken = snapshot_of(source)
    assert (taken.has("jobs"), taken.has("cronjobs")) == (True, False)
    assert {gap.source for gap in taken.gaps} >= {"cronjobs"}


def test_objects_are_put_together_by_references_whatever_their_names_are() -> None:
    job_name = f"{CRONJOB_NAME}-29538870"
    assert datetime.fromtimestamp(29538870 * 60, UTC) == datetime.fromisoformat(SCHEDULED)
    controller = {"kind": "Job", "name": job_name, "uid": UID["job"], "controller": True}
    pod_name = f"{job_name[:58]}abcde"  # a generated name is cut to 58 characters and gets five more
    running = pod(pod_name, namespace="data", ownerReferences=[controller])
    # a CronJob whose name ends like that of a Job, with a Job of its own
    backup = {"kind": "CronJob", "name": "backup-2024", "uid": "b", "controller": True}
    other = a_job("backup-2024-29538870", ownerReferences=[backup]) | {}
    other["metadata"]["uid"] = "other"
    taken = snapshot_of(Fake(pods=[page(running)], jobs=[page(a_job(job_name, **of_cronjob()), other)], cronjobs=[page(a_cronjob())]))
    jobs = {one.name: one for one in assess(taken, Settings()).jobs}
    assert {name: one.cronjob for name, one in jobs.items()} == {
        job_name: ("data", CRONJOB_NAME),
        "backup-2024-29538870": ("data", "backup-2024"),
    }
    assert (jobs[job_name].held.pod_count, jobs["backup-2024-29538870"].held.pod_count) == (1, 0)
    assert taken.table("pods")["workload"].tolist() == [CRONJOB_NAME]


def test_a_pod_has_its_own_deadline_and_its_finalizers() -> None:
    kept = pod("p", spec={"activeDeadlineSeconds": 30}, finalizers=["batch.kubernetes.io/job-tracking", "example.com/flush"])
    (row,) = snapshot_of(Fake(pods=[page(kept)])).table("pods").to_dict("records")
    assert (row["deadline_seconds"], row["finalizers"]) == (30, "batch.kubernetes.io/job-tracking, example.com/flush")


def test_what_is_written_by_hand_with_null_lists_is_read() -> None:
    bare = {"metadata": {"name": "j", "annotations": None, "ownerReferences": None}, "spec": None, "status": {"conditions": None}}
    assert json.loads(page(bare))["items"]
    assert tables(bare)["jobs"]["parallelism"].tolist() == [1]
