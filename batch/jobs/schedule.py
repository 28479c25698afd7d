"""When CronJobs start next, and which starts they missed, as the CronJob controller reckons it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, islice, pairwise, takewhile
from typing import Any

from batch.jobs.cron import Calendar, Every, Schedule, ScheduleError, parse, zone_of

Row = Mapping[str, Any]
"""A row of table `cronjobs`."""

MANY_MISSED = 100
"""Beyond so many missed starts the controller no longer counts them one by one (pkg/controller/cronjob/utils.go, v1.36)."""

_LOOKED_AT = 12
"""Coming starts in which the shortest interval is looked for: schedules with uneven ones repeat them within a day or a week."""


@dataclass(frozen=True, slots=True)
class Times:
    """Coming and missed starts of one CronJob. `due_at` is the missed start that the controller will still make up for, the latest one.

    `never_looks_back`: it starts by an interval that is longer than its startingDeadlineSeconds. The controller then takes the moment so
    many seconds ago for the last start, from which the next one is always yet to come (mostRecentScheduleTime in
    pkg/controller/cronjob/utils.go, v1.36).
    """

    next_at: datetime | None = None
    due_at: datetime | None = None
    first_missed_at: datetime | None = None
    missed_count: int | None = None
    interval_seconds: float | None = None
    schedule: Schedule | None = None
    refused: str | None = None
    never_looks_back: bool = False


def times_of(row: Row, taken_at: datetime, controller_zone: tzinfo) -> Times:
    """Work out the starts of a CronJob around the snapshot. A suspended one, and one that is being deleted, has none and misses none."""
    try:
        zone = zone_of(row["time_zone"]) if row["time_zone"] else controller_zone
        schedule = parse(row["schedule"], zone)
    except ScheduleError as error:
        return Times(refused=str(error))
    base = row["last_scheduled_at"] or row["created_at"] or taken_at
    if row["suspended"] or row["deleted_at"] is not None:
        return Times(missed_count=0, interval_seconds=_interval(schedule, taken_at), schedule=schedule)
    missed_count, first, latest = _missed(schedule, base, taken_at)
    allowed = row["starting_deadline_seconds"]
    if isinstance(schedule, Every) and allowed is not None and allowed < schedule.seconds:
        return Times(
            first_missed_at=first, missed_count=missed_count, interval_seconds=schedule.seconds, schedule=schedule, never_looks_back=True
        )
    makes_up = latest is not None and (allowed is None or latest + timedelta(seconds=allowed) >= taken_at)
    return Times(
        next_at=_next(schedule, latest or base, taken_at),
        due_at=latest if makes_up else None,
        first_missed_at=first,
        missed_count=missed_count,
        interval_seconds=_interval(schedule, taken_at),
        schedule=schedule,
    )


def _missed(schedule: Schedule, base: datetime, taken_at: datetime) -> tuple[int, datetime | None, datetime | None]:
    """Count the starts after `base` up to the snapshot; give the first and the latest of them.

    Beyond MANY_MISSED as the controller does: by the time between the first two.
    """
    first: datetime | None = None
    latest: datetime | None = None
    for count, start in enumerate(schedule.starts(base)):
        if start > taken_at:
            return count, first, latest
        if count == MANY_MISSED:
            return _estimate(schedule, base, taken_at)
        first, latest = first or start, start
    return 0, None, None


def _estimate(schedule: Schedule, base: datetime, taken_at: datetime) -> tuple[int, datetime, datetime]:
    first, second = islice(schedule.starts(base), 2)
    between = second - first
    count = (taken_at - first) // between + 1
    latest = first
    for start in schedule.starts(first + (count - 2) * between):
        if start > taken_at:
            break
        latest = start
    return count, first, latest


def _next(schedule: Schedule, base: datetime, taken_at: datetime) -> datetime | None:
    """Give the next start after the snapshot. One by the calendar does not depend on the one before; one by an interval does."""
    after = taken_at if isinstance(schedule, Calendar) else base
    return next((start for start in schedule.starts(after) if start > taken_at), None)


def _interval(schedule: Schedule, taken_at: datetime) -> float | None:
    starts = list(islice(schedule.starts(taken_at), _LOOKED_AT))
    return min(((later - start).total_seconds() for start, later in pairwise(starts)), default=None)


def starts_within(times: Times, taken_at: datetime, seconds: float) -> list[datetime]:
    """Work out the coming starts within so many seconds, in UTC: what is due now counts as a start of this minute."""
    if times.schedule is None or times.next_at is None:
        return []
    end = taken_at + timedelta(seconds=seconds)
    due = [taken_at.astimezone(UTC).replace(second=0, microsecond=0)] if times.due_at else []
    return [*due, *takewhile(lambda start: start < end, chain([times.next_at], times.schedule.starts(times.next_at)))]
