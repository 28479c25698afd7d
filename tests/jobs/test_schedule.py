"""Coming and missed starts, as the CronJob controller reckons them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batch.jobs.assess import assess
from batch.jobs.model import CronJob, JobAssessment, Trouble
from batch.report.format import render_message
from batch.settings import JobSettings, Settings
from tests.builders import CORE, GIB, TAKEN_AT, JobRows, cronjob, job, snapshot


def assessed(*cronjobs: JobRows, jobs: Any = (), taken_at: datetime = TAKEN_AT, **settings: Any) -> JobAssessment:
    shot = snapshot(cronjobs=cronjobs, jobs=jobs)
    object.__setattr__(shot, "taken_at", taken_at)
    return assess(shot, Settings(jobs=JobSettings(**settings)))


def only(row: JobRows, **more: Any) -> CronJob:
    (found,) = assessed(row, **more).cronjobs
    return found


def troubles(found: CronJob) -> list[Trouble]:
    return [problem.trouble for problem in found.problems]


def words(found: CronJob) -> str:
    return " ".join(render_message(problem.text) for problem in found.problems).replace("\u00a0", " ")


TEN, NOON = datetime(2026, 3, 1, 10, 0, tzinfo=UTC), datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


def test_many_missed_starts_do_not_stop_a_cronjob() -> None:
    found = only(cronjob("c", "* * * * *", last_scheduled_at=TEN), taken_at=NOON)
    # the controller's own estimate: 7170 s after 10:01, divided by 60, and one
    assert (found.missed_count, found.late) == (120, True)
    assert found.next_at == NOON.replace(second=0)  # the latest one is made up for now


def test_a_suspended_cronjob_misses_nothing() -> None:
    found = only(cronjob("c", "* * * * *", last_scheduled_at=TEN, suspended=True), taken_at=NOON)
    assert (found.missed_count, found.late, found.next_at, found.problems) == (0, False, None, ())


def test_up_to_a_hundred_missed_starts_are_counted_one_by_one() -> None:
    # weekdays at nine: Thursday, Friday and Monday since Wednesday 4 March; two starts a day apart would make it five
    found = only(
        cronjob("c", "0 9 * * 1-5", last_scheduled_at=datetime(2026, 3, 4, 9, tzinfo=UTC)), taken_at=datetime(2026, 3, 9, 10, tzinfo=UTC)
    )
    assert found.missed_count == 3


def test_a_starting_deadline_that_can_never_be_met_is_told() -> None:
    row = cronjob("c", "*/5 * * * *", starting_deadline_seconds=0, last_scheduled_at=TAKEN_AT - timedelta(days=2))
    found = only(row, taken_at=TAKEN_AT + timedelta(seconds=30))
    assert found.missed_count == 576
    assert found.next_at == TAKEN_AT + timedelta(minutes=5)  # none of those missed is due now
    assert troubles(found) == [Trouble.STARTING_DEADLINE]
    assert words(found) == "It may start only within 0 s, and the controller looks every 10 s: nothing has run for 576 starts."


@pytest.mark.parametrize(("allowed", "starts"), [(300, False), (5399, False), (5400, True), (None, True)])
def test_an_interval_longer_than_the_starting_deadline_never_starts(allowed: int | None, *, starts: bool) -> None:
    # the controller counts 90 minutes from `allowed` seconds ago: that moment has always yet to come
    row = cronjob("c", "@every 90m", starting_deadline_seconds=allowed, last_scheduled_at=TAKEN_AT - timedelta(minutes=90))
    assessment = assessed(row)
    (found,) = assessment.cronjobs
    assert (Trouble.STARTING_DEADLINE in troubles(found), found.next_at is None, assessment.starts == ()) == (not starts,) * 3
    assert Trouble.NO_START not in troubles(found)


def test_missed_starts_are_made_up_for_only_within_the_starting_deadline() -> None:
    row: dict[str, Any] = {"last_scheduled_at": TAKEN_AT - timedelta(hours=3)}
    taken = TAKEN_AT + timedelta(minutes=10)
    within = only(cronjob("c", "0 * * * *", starting_deadline_seconds=900, **row), taken_at=taken)
    beyond = only(cronjob("c", "0 * * * *", starting_deadline_seconds=300, **row), taken_at=taken)
    assert (within.missed_count, within.next_at) == (3, TAKEN_AT)
    assert (beyond.missed_count, beyond.next_at) == (3, TAKEN_AT + timedelta(hours=1))
    assert "the latest is due now" in words(within)
    assert "none will be made up for" in words(beyond)


def test_an_interval_counts_from_the_last_run_and_not_from_the_clock() -> None:
    last = TAKEN_AT - timedelta(minutes=47)
    found = only(cronjob("c", "@every 90m", last_scheduled_at=last))
    assert (found.next_at, found.interval_seconds) == (last + timedelta(minutes=90), 5400)


def test_a_cronjob_that_never_started_counts_from_its_creation() -> None:
    found = only(cronjob("c", "30 * * * *", created_at=TAKEN_AT - timedelta(hours=2), last_scheduled_at=None, last_succeeded_at=None))
    assert (found.missed_count, found.late) == (2, True)


def test_a_start_of_seconds_ago_is_not_late() -> None:
    found = only(cronjob("c", "* * * * *"), taken_at=TAKEN_AT + timedelta(seconds=75))
    assert (found.missed_count, found.late) == (1, False)


def test_time_zones_and_clock_changes() -> None:
    # Berlin goes from 02:00 to 03:00 on 29 March 2026: that day has no half past two
    found = only(
        cronjob("c", "30 2 * * *", time_zone="Europe/Berlin", last_scheduled_at=datetime(2026, 3, 28, 1, 30, tzinfo=UTC)),
        taken_at=datetime(2026, 3, 29, 12, tzinfo=UTC),
    )
    assert (found.missed_count, found.next_at) == (0, datetime(2026, 3, 30, 0, 30, tzinfo=UTC))


def test_a_schedule_without_a_time_zone_holds_in_that_of_the_controller_manager() -> None:
    assert only(cronjob("c", "0 9 * * *"), controller_time_zone="Asia/Tokyo").next_at == datetime(2026, 3, 2, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "columns", "trouble", "said"),
    [
        ("0 0 * * 7", {}, Trouble.SCHEDULE, "outside of 0 to 6 for the day of week"),
        ("0 9 * * *", {"time_zone": "Europe/Atlantis"}, Trouble.SCHEDULE, "there is no time zone 'Europe/Atlantis'"),
        ("0 0 30 2 *", {"last_scheduled_at": None, "last_succeeded_at": None}, Trouble.NO_START, "no start in the next five years"),
        ("TZ=America/New_York 0 9 * * *", {}, Trouble.ZONE_INSIDE, "timeZone is the place for it"),
    ],
)
def test_schedules_that_do_not_start(schedule: str, columns: dict[str, Any], trouble: Trouble, said: str) -> None:
    found = only(cronjob("c", schedule, **columns))
    assert troubles(found) == [trouble]
    assert said in words(found)


def test_what_cannot_be_read_is_unknown_and_not_healthy() -> None:
    found = only(cronjob("c", "0 0 L * *"))
    assert (found.next_at, found.missed_count, found.late) == (None, None, None)


def test_a_zone_inside_the_schedule_still_works() -> None:
    assert only(cronjob("c", "TZ=America/New_York 0 9 * * *")).next_at == datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


def test_a_run_that_holds_back_the_next_ones_is_not_lateness() -> None:
    row: dict[str, Any] = {"last_scheduled_at": TAKEN_AT - timedelta(hours=3), "active_job_count": 1, "concurrency_policy": "Forbid"}
    found = only(cronjob("c", "0 * * * *", **row))
    assert (found.missed_count, found.late, troubles(found)) == (3, False, [Trouble.HELD_BACK])


@pytest.mark.parametrize("policy", ["Allow", "Replace"])
def test_only_forbid_holds_back_a_start(policy: str) -> None:
    row: dict[str, Any] = {"last_scheduled_at": TAKEN_AT - timedelta(hours=3), "active_job_count": 1, "concurrency_policy": policy}
    found = only(cronjob("c", "0 * * * *", **row))
    assert (found.late, troubles(found)) == (True, [Trouble.LATE])


def run_of(name: str, minutes: int, *, ago: timedelta = timedelta(hours=5), **columns: Any) -> JobRows:
    started = TAKEN_AT - ago
    ended = started + timedelta(minutes=minutes)
    done = {"conditions": {"Complete": ("True", None, ended)}, "completed_at": ended}
    return job(name, owner=("CronJob", "c"), **{"started_at": started, "created_at": started, **done, **columns})


def test_runs_started_by_hand_stand_apart() -> None:
    scheduled = run_of("c-29538870", 10, scheduled_at=TAKEN_AT - timedelta(hours=5, minutes=1))
    by_hand = run_of("rerun-1", 20, manual=True, controlled=False)
    assessment = assessed(cronjob("c"), jobs=[scheduled, by_hand])
    (found,) = assessment.cronjobs
    jobs = {one.name: one for one in assessment.jobs}
    assert {one.cronjob for one in jobs.values()} == {("default", "c")}
    assert [one.name for one in found.runs.manual] == ["rerun-1"]
    assert [one.name for one in found.runs.succeeded] == ["c-29538870"]
    assert found.runs.durations == (600, 1200)
    assert (jobs["c-29538870"].start_delay_seconds, jobs["rerun-1"].start_delay_seconds) == (60, None)


@pytest.mark.parametrize(
    ("policy", "said"), [("Forbid", "starts are skipped"), ("Replace", "the next start ends it"), ("Allow", "runs pile up")]
)
def test_a_run_longer_than_the_interval(policy: str, said: str) -> None:
    found = only(cronjob("c", "*/30 * * * *", concurrency_policy=policy), jobs=[run_of("r", 41)])
    assert Trouble.LONGER_THAN_INTERVAL in troubles(found)
    assert f"A run took 41 min, and the next start comes after 30 min: {said}." in words(found)


def test_runs_at_the_same_time() -> None:
    working = [job(name, owner=("CronJob", "c"), deadline_seconds=9000) for name in ("a", "b")]
    assert Trouble.OVERLAP in troubles(only(cronjob("c", "0 0 * * *", last_scheduled_at=TAKEN_AT), jobs=working))


def test_a_cronjob_that_never_succeeded() -> None:
    failed = [job("r", owner=("CronJob", "c"), conditions={"Failed": "BackoffLimitExceeded"})]
    never = only(cronjob("c", last_succeeded_at=None), jobs=failed)
    first_run = only(cronjob("c", last_succeeded_at=None), jobs=[job("r", owner=("CronJob", "c"))])
    assert troubles(never) == [Trouble.NEVER_SUCCEEDED]
    not_listed = only(cronjob("c", last_succeeded_at=None, active_job_count=1))  # it was made between two lists, or Jobs may not be read
    assert first_run.problems == not_listed.problems == ()


@pytest.mark.parametrize(("deadline", "said"), [(0, "every Job fails at once"), (300, "the fastest run took 10 min")])
def test_a_deadline_that_no_run_can_meet(deadline: int, said: str) -> None:
    runs = [run_of("r", 10)] if deadline else []
    found = only(cronjob("c", deadline_seconds=deadline), jobs=runs)
    assert Trouble.DEADLINE_TOO_SHORT in troubles(found)
    assert said in words(found)


def test_starts_in_the_same_minute_are_added_up() -> None:
    assessment = assessed(
        cronjob("a", "0 4 * * *", cpu=CORE, memory=GIB, parallelism=3),
        cronjob("b", "0 */4 * * *", cpu=CORE // 2, memory=GIB, resources={"nvidia.com/gpu": 2}),
        cronjob("unknown", "0 4 * * *", cpu=None),
        cronjob("c", "0 4 * * *", suspended=True, cpu=CORE),
    )
    (four, *others) = assessment.starts
    assert (four.at, len(four.cronjobs), four.unknown_count) == (TAKEN_AT + timedelta(hours=1), 3, 1)
    assert (four.requests_cpu_nanocores, four.requests_memory_bytes, four.requests_gpu_count) == (3 * CORE + CORE // 2, 4 * GIB, 2)
    assert [one.at.hour for one in others] == [8, 12, 16, 20, 0]


def test_a_start_that_is_due_now_is_the_first_of_the_next_day() -> None:
    assessment = assessed(cronjob("a", "0 * * * *", last_scheduled_at=TAKEN_AT - timedelta(hours=1)))
    assert [one.at for one in assessment.starts][:2] == [TAKEN_AT, TAKEN_AT + timedelta(hours=1)]
    assert len(assessment.starts) == 24
