"""Schedules mean what the CronJob controller's own library makes of them: robfig.tsv holds its answers (robfig/main.go made them)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from batch.jobs.cron import ScheduleError, names_its_zone, parse

ANSWERS = [line.split("\t") for line in (Path(__file__).parent / "robfig.tsv").read_text(encoding="utf-8").splitlines()]


def answer(schedule: str, after: str) -> str:
    try:
        starts = list(islice(parse(schedule, UTC).starts(datetime.fromisoformat(after)), 6))
    except ScheduleError:
        return "invalid"
    return " ".join([f"{start:%Y-%m-%dT%H:%M:%SZ}" for start in starts] + ["never"] * (len(starts) < 6))


@pytest.mark.parametrize(("schedule", "after", "expected"), ANSWERS, ids=[f"{line[0]} {line[1]}" for line in ANSWERS])
def test_the_same_starts_as_the_controllers_library(schedule: str, after: str, expected: str) -> None:
    assert answer(schedule, after) == expected


@pytest.mark.parametrize("schedule", ["@every 90m", "@hourly", "0 0 ? * *", "0 0 * * SUN", "0 0 13 * 5"])
def test_what_kubernetes_accepts(schedule: str) -> None:
    assert answer(schedule, "2026-02-01T00:00:00Z") != "invalid"


@pytest.mark.parametrize("schedule", ["0 0 * * 7", "0 0 L * *", "0 30 2 * * *", ""])
def test_what_other_cron_dialects_accept_and_kubernetes_does_not(schedule: str) -> None:
    assert answer(schedule, "2026-02-01T00:00:00Z") == "invalid"


def test_a_day_of_the_month_or_of_the_week() -> None:
    # every 13th or Friday: in February and March 2026 the 13ths are Fridays, so 8 Fridays
    starts = parse("0 0 13 * 5", UTC).starts(datetime(2026, 1, 31, 12, tzinfo=UTC))
    days = [start.day for start in starts_before(starts, datetime(2026, 4, 1, tzinfo=UTC))]
    assert days == [6, 13, 20, 27, 6, 13, 20, 27]


def starts_before(starts: object, end: datetime) -> list[datetime]:
    found: list[datetime] = []
    for start in starts:  # type: ignore[attr-defined]  # an endless iterator
        if start >= end:
            break
        found.append(start)
    return found


def test_a_time_that_the_clock_skips_does_not_start_and_one_shown_twice_starts_twice() -> None:
    # New York goes from 02:00 to 03:00 on 8 March 2026 and from 02:00 back to 01:00 on 1 November
    assert answer("TZ=America/New_York 30 2 * * *", "2026-03-07T12:00:00Z").split()[0] == "2026-03-09T06:30:00Z"
    assert answer("TZ=America/New_York 30 1 * * *", "2026-10-31T12:00:00Z").split()[:2] == ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]


@pytest.mark.parametrize(
    ("schedule", "expected"), [("TZ=Asia/Tokyo 0 9 * * *", True), ("CRON_TZ=UTC 0 9 * * *", True), ("0 9 * * *", False)]
)
def test_old_schedules_name_their_zone_themselves(schedule: str, *, expected: bool) -> None:
    assert names_its_zone(schedule) is expected


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("0 0 * * 7", "outside of 0 to 6 for the day of week"),
        ("0 0 L * *", "'L' is no day of month"),
        ("* * * *", "4 fields instead of five"),
        ("TZ=Nowhere/Else 0 9 * * *", "there is no time zone 'Nowhere/Else'"),
        ("@every soon", "'soon' is no duration"),
        ("@reboot", "there is no descriptor '@reboot'"),
    ],
)
def test_what_is_wrong_is_said(schedule: str, words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        parse(schedule, UTC)
