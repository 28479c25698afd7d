"""The sample's Jobs and CronJobs, which have the shape that Kubernetes 1.36 writes, are read as what they are."""

from __future__ import annotations

import pytest

from batch.jobs.assess import assess
from batch.jobs.model import CronJob, Indexes, Job, JobAssessment, State, Trouble
from batch.pipeline import take_snapshot
from batch.settings import load
from tests.worlds import world


@pytest.fixture(scope="module")
def found() -> JobAssessment:
    settings = load({"source": "sample"}, {}, None)
    return assess(take_snapshot(settings, world()), settings)


@pytest.fixture(scope="module")
def jobs(found: JobAssessment) -> dict[str, Job]:
    return {job.name: job for job in found.jobs}


@pytest.fixture(scope="module")
def cronjobs(found: JobAssessment) -> dict[str, CronJob]:
    return {cronjob.name: cronjob for cronjob in found.cronjobs}


def test_counts(found: JobAssessment) -> None:
    assert dict(found.counts) == {
        "job_count": 89,
        "active_job_count": 6,
        "without_deadline_count": 3,
        "past_deadline_count": 1,
        "deadline_exceeded_count": 5,
    }
    states = [job.state for job in found.jobs]
    assert (states.count(State.SUCCEEDED), states.count(State.FAILED), states.count(State.SUSPENDED)) == (75, 7, 1)


def test_a_training_job_holds_two_gpus_for_four_days_without_an_end(jobs: dict[str, Job]) -> None:
    train = jobs["train-ranker"]
    assert (train.held.gpu_count, train.deadline_seconds) == (2, None)
    assert train.held.gpu_seconds == pytest.approx(2 * (4 * 24 + 6.2) * 3600, rel=0.001)


def test_a_pod_outlives_its_jobs_deadline_because_of_a_finalizer(jobs: dict[str, Job]) -> None:
    stuck = jobs["upload-archive"]
    assert (stuck.state, stuck.ending, stuck.overdue, stuck.held.pod_count) == (State.RUNNING, "DeadlineExceeded", True, 1)
    assert stuck.stuck[0].values["finalizers"] == "archive.example/flush-logs"


def test_indexes(jobs: dict[str, Job]) -> None:
    assert jobs["evaluate-folds"].indexes == Indexes(4, 0, 4)
    assert (jobs["render-tiles"].indexes, jobs["render-tiles"].reason) == (Indexes(12, 4, 0), "FailedIndexes")


def test_what_is_wrong_with_the_schedules(cronjobs: dict[str, CronJob]) -> None:
    wrong = {name: {problem.trouble for problem in one.problems} for name, one in cronjobs.items() if one.problems}
    assert wrong == {
        "cache-warmup": {Trouble.LATE},
        "hourly-rollup": {Trouble.DEADLINE_EXCEEDED},
        "invoice-export": {Trouble.NEVER_SUCCEEDED},
        "leap-audit": {Trouble.NO_START},
        "price-import": {Trouble.DEADLINE_EXCEEDED, Trouble.FAILED_LAST},
        "search-sync": {Trouble.LONGER_THAN_INTERVAL, Trouble.HELD_BACK},
        "session-cleanup": {Trouble.STARTING_DEADLINE},
    }
    assert cronjobs["session-cleanup"].missed_count == 575  # 576 starts of five minutes in two days, the last is 20 s away
    assert [job.name for job in cronjobs["nightly-backup"].runs.manual] == ["backup-before-migration"]
    assert cronjobs["weekly-reindex"].next_at is None


def test_fifteen_start_at_three_and_twelve_of_them_have_no_deadline(found: JobAssessment, cronjobs: dict[str, CronJob]) -> None:
    assert max(len(minute.cronjobs) for minute in found.starts) == 15
    unbounded = [one for one in cronjobs.values() if one.deadline_seconds is None]
    assert {one.name for one in unbounded if one.proposal} == {name for name in cronjobs if name.startswith("export-")}
