"""How many CronJobs start in the same minute of the next day, and what their Jobs ask for together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from batch.jobs.model import CronJob, Minute
from batch.jobs.schedule import Times, starts_within

DAY_SECONDS = 86_400


def starts_by_minute(cronjobs: Iterable[tuple[CronJob, Times]], taken_at: datetime) -> tuple[Minute, ...]:
    """Give the minutes of the next 24 hours in which something starts, in order; one CronJob counts once in a minute."""
    found: dict[datetime, list[CronJob]] = defaultdict(list)
    for cronjob, times in cronjobs:
        for minute in dict.fromkeys(start.replace(second=0) for start in starts_within(times, taken_at, DAY_SECONDS)):
            found[minute].append(cronjob)
    return tuple(_minute(at, found[at]) for at in sorted(found))


def most_crowded(minutes: Iterable[Minute]) -> Minute | None:
    """Give the minute with the most starts, then with the most requested CPU, then the first."""
    return min(minutes, key=lambda minute: (-len(minute.cronjobs), -minute.requests_cpu_nanocores, minute.at), default=None)


def _minute(at: datetime, cronjobs: list[CronJob]) -> Minute:
    known = [one for one in cronjobs if one.requests_cpu_nanocores is not None and one.requests_memory_bytes is not None]
    return Minute(
        at=at,
        cronjobs=tuple(one.key for one in cronjobs),
        requests_cpu_nanocores=sum(one.requests_cpu_nanocores or 0 for one in known),
        requests_memory_bytes=sum(one.requests_memory_bytes or 0 for one in known),
        requests_gpu_count=sum(one.requests_gpu_count for one in cronjobs),
        unknown_count=len(cronjobs) - len(known),
    )
