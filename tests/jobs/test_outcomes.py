"""How Jobs stand: conditions decide, pods are not Jobs, and a deadline of 0 is one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batch.jobs.assess import assess
from batch.jobs.model import Indexes, Job, JobAssessment, State
from batch.jobs.outcomes import count_indexes
from batch.settings import Settings
from tests.builders import TAKEN_AT, JobRows, job, pod, snapshot

AN_HOUR_AGO = TAKEN_AT - timedelta(hours=1)


def assessed(*jobs: JobRows, pods: Any = (), **more: Any) -> JobAssessment:
    return assess(snapshot(jobs=jobs, pods=pods, **more), Settings())


def only(row: JobRows, *pods: Any) -> Job:
    (found,) = assessed(row, pods=pods).jobs
    return found


def test_failed_pods_are_not_a_failed_job() -> None:
    retried = only(job("j1", conditions={"Complete": None}, failed_pod_count=2, succeeded_pod_count=1, completed_at=TAKEN_AT))
    killed = only(job("j2", conditions={"Failed": "DeadlineExceeded"}))
    trying = only(job("j3", failed_pod_count=1, active_pod_count=1))
    assert (retried.state, retried.retry_count) == (State.SUCCEEDED, 2)
    assert (killed.state, killed.reason) == (State.FAILED, "DeadlineExceeded")
    assert trying.state is State.RUNNING


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_condition_that_is_not_true_says_nothing(condition: str, status: str) -> None:
    found = only(job("j", conditions={condition: (status, "x", TAKEN_AT)}, active_pod_count=1))
    assert (found.state, found.reason) == (State.RUNNING, None)


def test_a_job_that_is_about_to_end_has_not_ended() -> None:
    failing = only(job("j", conditions={"FailureTarget": "DeadlineExceeded"}, deadline_seconds=600))
    done = only(job("j", conditions={"SuccessCriteriaMet": "CompletionsReached"}))
    assert (failing.state, failing.reason, failing.ending, failing.overdue) == (State.RUNNING, "DeadlineExceeded", "DeadlineExceeded", True)
    assert (done.state, done.reason, done.closing) == (State.RUNNING, "CompletionsReached", True)


@pytest.mark.parametrize("condition", ["Suspended", "example.com/QuotaReserved"])
def test_what_others_say_of_a_job_does_not_make_it_run(condition: str) -> None:
    """One that was resumed a moment ago has its condition Suspended until the controller has looked."""
    assert only(job("j", started_at=None, conditions={condition: "x"})).state is State.PENDING


def test_a_start_by_a_clock_that_is_ahead_leaves_the_whole_time_and_no_more() -> None:
    assert only(job("j", started_at=TAKEN_AT + timedelta(seconds=5), deadline_seconds=600)).remaining_seconds == 600


def test_a_failed_job_has_no_completion_time_and_still_a_duration() -> None:
    failed = {
        "FailureTarget": ("True", "DeadlineExceeded", TAKEN_AT - timedelta(seconds=120)),
        "Failed": ("True", "DeadlineExceeded", TAKEN_AT - timedelta(seconds=90)),
    }
    found = only(job("j", conditions=failed, deadline_seconds=3480))
    # from an hour before the snapshot to 90 s before it
    assert (found.duration_seconds, found.remaining_seconds, found.exceeded) == (3510, None, True)


def test_a_suspended_job_stands_still_and_a_resumed_one_begins_anew() -> None:
    suspended = only(
        job("j", suspended=True, started_at=None, active_pod_count=0, deadline_seconds=60, conditions={"Suspended": "JobSuspended"})
    )
    resumed = only(
        job(
            "j",
            created_at=TAKEN_AT - timedelta(days=3),
            deadline_seconds=7200,
            conditions={"Suspended": ("False", "JobResumed", AN_HOUR_AGO)},
        )
    )
    assert (suspended.state, suspended.reason) == (State.SUSPENDED, "JobSuspended")
    assert (suspended.duration_seconds, suspended.remaining_seconds) == (None, None)
    assert (resumed.state, resumed.duration_seconds, resumed.remaining_seconds) == (State.PENDING, 3600, 3600)


@pytest.mark.parametrize(
    ("columns", "phase", "state", "reason"),
    [
        ({"started_at": None, "active_pod_count": 0, "ready_pod_count": 0}, None, State.PENDING, None),
        ({"ready_pod_count": 0}, "Pending", State.PENDING, "Unschedulable"),
        ({"ready_pod_count": 0}, "Running", State.RUNNING, None),
        ({"ready_pod_count": 0, "failed_pod_count": 1}, "Pending", State.RUNNING, None),
        ({"ready_pod_count": 0, "active_pod_count": 0, "failed_pod_count": 2}, None, State.RUNNING, None),  # waits before it tries again
    ],
)
def test_a_job_is_pending_until_a_pod_of_it_has_run(columns: dict[str, Any], phase: str | None, state: State, reason: str | None) -> None:
    row = job("j", **columns)
    waits: dict[str, Any] = {"on": None, "unschedulable_reason": "0/3 nodes are available"} if phase == "Pending" else {}
    pods = [pod("p", phase=phase, owner_kind="Job", owner_uid=row.columns["uid"], **waits)] if phase else []
    assert (only(row, *pods).state, only(row, *pods).reason) == (state, reason)


@pytest.mark.parametrize(
    ("columns", "retries"),
    [
        ({"conditions": {"Failed": "BackoffLimitExceeded"}, "failed_pod_count": 4}, 3),  # the first pod and three more
        ({"conditions": {"Failed": "BackoffLimitExceeded"}, "failed_pod_count": 8, "parallelism": 2}, 6),
        ({"conditions": {"Failed": "DeadlineExceeded"}, "failed_pod_count": 1}, 0),
        ({"failed_pod_count": 1}, 1),
        # each of ten indexes failed twice, four pods at a time: ten were tried again
        (
            {"conditions": {"Failed": "FailedIndexes"}, "failed_pod_count": 20, "failed_indexes": "90-99", "parallelism": 4},
            10,
        ),
        ({"failed_pod_count": 3, "failed_indexes": "7", "parallelism": 4}, 2),  # still at work, and one index has no more tries
    ],
)
def test_retries_are_the_pods_that_took_the_place_of_others(columns: dict[str, Any], retries: int) -> None:
    assert only(job("j", **columns)).retry_count == retries


def test_containers_that_start_again_are_retries_too() -> None:
    row = job("j")
    containers = [{"container": "main", "restart_count": 3}, {"container": "mesh", "kind": "sidecar", "restart_count": 9}]
    assert only(row, pod("p", owner_kind="Job", owner_uid=row.columns["uid"], containers=containers)).retry_count == 3


@pytest.mark.parametrize(("text", "count"), [("0-2,5,7-9,12,14", 9), ("3,4,10-11", 4), ("", 0), (None, 0), ("2-1", None), ("a", None)])
def test_index_lists_are_compressed(text: str | None, count: int | None) -> None:
    assert count_indexes(text) == count


def test_an_indexed_job_counts_its_indexes() -> None:
    found = only(
        job(
            "j",
            indexed=True,
            completions=16,
            completed_indexes="0-2,5,7-9,12,14",
            failed_indexes="3,4,10-11",
            backoff_limit_per_index=1,
            backoff_limit=None,
        )
    )
    assert found.indexes == Indexes(completed_count=9, failed_count=4, remaining_count=3)  # 6, 13 and 15 are to go
    assert (found.backoff_limit, found.backoff_limit_per_index) == (None, 1)


def test_a_success_policy_ends_a_job_with_indexes_left() -> None:
    found = only(
        job("j", indexed=True, completions=8, completed_indexes="0", conditions={"Complete": "SuccessPolicy"}, completed_at=TAKEN_AT)
    )
    assert (found.state, found.reason, found.indexes) == (State.SUCCEEDED, "SuccessPolicy", Indexes(1, 0, 7))


def test_two_fields_are_called_active_deadline_seconds() -> None:
    started = TAKEN_AT - timedelta(minutes=45)
    found = only(job("j", started_at=started, deadline_seconds=3600, pod_deadline_seconds=600))
    at_once = only(job("j", started_at=TAKEN_AT, deadline_seconds=0))
    assert (found.remaining_seconds, found.pod_deadline_seconds, found.overdue) == (900, 600, False)
    assert (at_once.deadline_seconds, at_once.remaining_seconds, at_once.overdue) == (0, 0, True)


def test_counts_tell_absent_from_zero_and_unread_from_none() -> None:
    rows = [
        job("none"),
        job("zero", deadline_seconds=0),
        job("pod-only", pod_deadline_seconds=60),
        job("held", suspended=True, started_at=None),
        job("done", conditions={"Complete": None}),
        job("cut", conditions={"Failed": "DeadlineExceeded"}, deadline_seconds=5),
    ]
    assert dict(assessed(*rows).counts) == {
        "job_count": 6,
        "active_job_count": 3,
        "without_deadline_count": 3,
        "past_deadline_count": 1,
        "deadline_exceeded_count": 1,
    }
    assert set(assessed(unread=["jobs"]).counts.values()) == {None}
    assert set(assessed().counts.values()) == {0}
