"""Deadlines to propose: from durations of finished runs, as a person would write them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from batch.jobs.assess import assess
from batch.jobs.deadlines import round_up
from batch.jobs.model import JobAssessment, Proposal
from batch.settings import JobSettings, Settings
from tests.builders import TAKEN_AT, JobRows, cronjob, job, snapshot

DAY, HOUR, MINUTE = 86_400, 3600, 60


@pytest.mark.parametrize(
    ("seconds", "rounded"),
    [(1, 60), (60, 60), (61, 120), (1201, 1800), (2701, HOUR), (HOUR + 1, 90 * MINUTE), (19 * HOUR, DAY), (15 * DAY, 21 * DAY)],
)
def test_rounded_up_to_what_a_person_would_write(seconds: int, rounded: int) -> None:
    assert round_up(seconds) == rounded


def ended(name: str, seconds: int, *, owner: str = "c", **columns: Any) -> JobRows:
    started = TAKEN_AT - timedelta(days=1)
    end = started + timedelta(seconds=seconds)
    done = {"conditions": {"Complete": ("True", None, end)}, "completed_at": end, **columns}
    return job(name, owner=("CronJob", owner), started_at=started, **done)


def cut(name: str, deadline: int) -> JobRows:
    return ended(
        name, deadline + 30, deadline_seconds=deadline, conditions={"Failed": ("True", "DeadlineExceeded", TAKEN_AT)}, completed_at=None
    )


def assessed(*jobs: JobRows, cronjobs: Any = (), **settings: Any) -> JobAssessment:
    return assess(snapshot(jobs=jobs, cronjobs=cronjobs), Settings(jobs=JobSettings(**settings)))


def test_twice_the_99th_percentile_of_the_runs() -> None:
    runs = [ended(f"r{n}", seconds) for n, seconds in enumerate((1000, 1100, 2000))]
    (found,) = assessed(*runs, cronjobs=[cronjob("c", deadline_seconds=None)]).cronjobs
    # p99 of three: 1100 + 0.98 * 900 = 1982 s; twice that is 3964 s, which one writes as 90 minutes
    assert found.proposal == Proposal(90 * MINUTE, 1982, run_count=3)


def test_runs_by_hand_count_and_too_few_runs_propose_nothing() -> None:
    two = [ended("a", 100), ended("b", 120, manual=True)]
    unbounded = [cronjob("c", deadline_seconds=None)]
    assert assessed(*two, cronjobs=unbounded).cronjobs[0].proposal is None
    (found,) = assessed(*two, cronjobs=unbounded, runs_min=2).cronjobs
    assert found.proposal is not None
    assert (found.proposal.run_count, found.proposal.deadline_seconds) == (2, 600)  # no shorter one is proposed


def test_a_run_that_was_cut_short_would_have_taken_longer() -> None:
    runs = [ended("a", 900), ended("b", 1000), cut("x", 1800), cut("y", 1800)]
    (found,) = assessed(*runs, cronjobs=[cronjob("c", deadline_seconds=1800)]).cronjobs
    assert found.proposal == Proposal(HOUR, 1800, run_count=4, cut_count=2)


def test_a_deadline_that_holds_is_left_alone() -> None:
    runs = [ended(f"r{n}", 100) for n in range(5)]
    assert assessed(*runs, cronjobs=[cronjob("c", deadline_seconds=HOUR)]).cronjobs[0].proposal is None


def test_an_unfinished_job_gets_what_its_owners_runs_say_else_twice_its_age() -> None:
    runs = [ended(f"r{n}", 1000) for n in range(3)]
    working, alone = job("now", owner=("CronJob", "c")), job("alone", started_at=TAKEN_AT - timedelta(days=3, hours=4))
    bounded = job("bounded", deadline_seconds=60)
    found = {one.name: one.proposal for one in assessed(*runs, working, alone, bounded).jobs}
    assert found["now"] == Proposal(45 * MINUTE, 1000, run_count=3)
    assert found["alone"] == Proposal(7 * DAY, 76 * HOUR, run_count=0)
    assert found["bounded"] is None
    assert found["r0"] is None


def test_a_young_job_without_others_gets_none_for_it_would_end_before_anybody_has_read_of_it() -> None:
    young, old = (job(name, started_at=TAKEN_AT - timedelta(hours=age)) for name, age in (("young", 23), ("old", 24)))
    assert {one.name: one.proposal for one in assessed(young, old).jobs} == {"young": None, "old": Proposal(2 * DAY, DAY, run_count=0)}


def test_a_deadline_that_was_raised_since_is_not_lowered() -> None:
    runs = [ended("a", 900), ended("b", 1000), cut("x", 1800), cut("y", 1800)]
    assert assessed(*runs, cronjobs=[cronjob("c", deadline_seconds=2 * HOUR)]).cronjobs[0].proposal is None


def test_owners_of_one_name_in_two_namespaces_or_kinds_are_two() -> None:
    runs = [ended("a", 100), ended("b", 100, namespace="other"), ended("c", 100, owner_kind="Workflow")]
    assert assessed(*runs, cronjobs=[cronjob("c", deadline_seconds=None)], runs_min=2).cronjobs[0].proposal is None


def test_finished_jobs_that_nothing_deletes_are_counted() -> None:
    old = TAKEN_AT - timedelta(days=9)
    kept = [job(f"k{n}", conditions={"Complete": ("True", None, old)}, completed_at=old) for n in range(2)]
    by_hand = ended("hand", 5, manual=True, controlled=False)
    cleared = [ended("of-cronjob", 5), job("ttl", conditions={"Complete": None}, completed_at=TAKEN_AT, ttl_seconds=60), job("works")]
    (pile,) = assessed(*kept, by_hand, *cleared).piles
    assert (pile.namespace, pile.job_count, pile.oldest_at) == ("default", 3, old)
