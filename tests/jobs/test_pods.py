"""What the pods of Jobs hold, which of them outlive their time, and who has a deadline."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batch.jobs.assess import assess
from batch.jobs.model import Job
from batch.report.format import render_message
from batch.settings import Settings
from batch.snapshot.job_pods import has_deadline
from tests.builders import CORE, GIB, TAKEN_AT, JobRows, PodRows, job, node, pod, snapshot

GPU = "nvidia.com/gpu"
TRACKING = "batch.kubernetes.io/job-tracking"


def of(row: JobRows, name: str, **columns: Any) -> PodRows:
    return pod(name, owner_kind="Job", owner_name=row.columns["job"], owner_uid=row.columns["uid"], **columns)


def only(row: JobRows, *pods: PodRows, **more: Any) -> Job:
    (found,) = assess(snapshot(jobs=[row], pods=pods, **more), Settings()).jobs
    return found


def stuck(found: Job) -> str:
    return " ".join(map(render_message, found.stuck)).replace("\u00a0", " ")


def test_gpu_hours_are_what_its_pods_have_held_so_far() -> None:
    row = job("j", resources={GPU: 2})
    hours = {"started_at": TAKEN_AT - timedelta(hours=5)}
    found = only(
        row,
        of(row, "a", cpu=4 * CORE, memory=GIB, resources={GPU: 2}, **hours),
        of(row, "waits", on=None, phase="Pending", resources={GPU: 2}, started_at=None),
        pod("other", resources={GPU: 8}),
    )
    held = found.held
    assert (held.pod_count, held.gpu_count, held.cpu_nanocores, held.memory_bytes) == (1, 2, 4 * CORE, GIB)
    assert (held.gpu_seconds, held.cpu_nanocore_seconds) == (2 * 5 * 3600, 4 * CORE * 5 * 3600)


def test_a_finished_pod_held_until_its_last_container_ended() -> None:
    row = job("j", resources={GPU: 1}, conditions={"Complete": None}, succeeded_pod_count=1, completed_at=TAKEN_AT)
    end = TAKEN_AT - timedelta(hours=1)
    containers = [{"container": "a", "last_end_at": end - timedelta(hours=1)}, {"container": "b", "last_end_at": end}]
    done = of(row, "p", phase="Succeeded", resources={GPU: 1}, started_at=end - timedelta(hours=3), containers=containers)
    assert (only(row, done).held.gpu_count, only(row, done).held.gpu_seconds) == (0, 3 * 3600)


def test_what_pods_held_that_are_gone_is_unknown_and_not_zero() -> None:
    gone: dict[str, Any] = {"conditions": {"Complete": None}, "succeeded_pod_count": 1, "completed_at": TAKEN_AT}
    assert only(job("j", resources={GPU: 1}, cpu=CORE, **gone)).held.gpu_seconds is None
    without = only(job("j", cpu=CORE, **gone)).held
    assert (without.gpu_seconds, without.cpu_nanocore_seconds) == (0, None)


def test_pods_belong_to_a_job_by_label_where_nothing_owns_them() -> None:
    row = job("j")
    labels = {"batch.kubernetes.io/controller-uid": row.columns["uid"]}
    assert only(row, pod("orphan", labels=labels), pod("j-abcde")).held.pod_count == 1


@pytest.mark.parametrize(
    ("columns", "ready", "said"),
    [
        (
            {"deleted_at": TAKEN_AT - timedelta(hours=2), "finalizers": f"{TRACKING}, example.com/flush"},
            True,
            "Pod p should be gone since 2 h; it is kept by example.com/flush.",
        ),
        (
            {"deleted_at": TAKEN_AT - timedelta(hours=2), "finalizers": TRACKING},
            True,
            "Pod p should be gone since 2 h and still runs on n1.",
        ),
        (
            {"deleted_at": TAKEN_AT - timedelta(hours=2)},
            False,
            "Pod p is on n1, which is not ready: nothing can tell whether it has ended.",
        ),
        ({"deleted_at": TAKEN_AT + timedelta(seconds=20)}, True, ""),  # within its grace period it ends by itself
        ({}, True, "Pod p runs on; nobody has deleted it."),
    ],
)
def test_what_keeps_a_pod_past_its_jobs_deadline(columns: dict[str, Any], said: str, *, ready: bool) -> None:
    row = job("j", deadline_seconds=600, conditions={"FailureTarget": "DeadlineExceeded"})
    found = only(row, of(row, "p", **columns), nodes=[node("n1", ready=ready)])
    assert (found.overdue, stuck(found)) == (True, said)


def test_pods_that_outlive_an_ended_job_are_told() -> None:
    row = job("j", conditions={"Failed": "DeadlineExceeded"}, deadline_seconds=600)
    assessment = assess(snapshot(jobs=[row], pods=[of(row, "p", resources={GPU: 1})], nodes=[node("n1")]), Settings())
    assert stuck(assessment.jobs[0]) == "Pod p runs on; nobody has deleted it."
    assert "jobs.outlived" in {finding.id for finding in assessment.findings}


def test_a_pod_past_its_own_deadline_is_told() -> None:
    row = job("j")
    late = of(row, "p", started_at=TAKEN_AT - timedelta(hours=1), deadline_seconds=1800)
    assert stuck(only(row, late)) == "Pod p is 30 min past its own deadline."


def test_who_has_a_deadline() -> None:
    bounded, zero, unbounded = job("bounded", deadline_seconds=60), job("zero", deadline_seconds=0), job("open", pod_deadline_seconds=5)
    shot = snapshot(
        jobs=[bounded, zero, unbounded],
        pods=[
            of(bounded, "a"),
            of(zero, "b"),
            of(unbounded, "c"),
            of(unbounded, "d", deadline_seconds=5),
            of(job("gone"), "e"),
            pod("f"),
            pod("g", deadline_seconds=5),
        ],
    )
    found = dict(zip(shot.table("pods")["pod"], has_deadline(shot).astype(object).where(has_deadline(shot).notna(), None), strict=True))
    assert found == {"a": True, "b": True, "c": False, "d": True, "e": None, "f": False, "g": True}
