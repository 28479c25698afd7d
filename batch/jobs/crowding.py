"""How many CronJobs start in the same minute of the next day, and what their Jobs ask for together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from batch.jobs.model import CronJob, Key, Minute
from batch.jobs.schedule import Times, starts_within

DAY_SECONDS = 86_400


@dataclass(frozen=True)
class _Group:
    """CronJobs that start at the same times; most clusters have far fewer schedules than CronJobs."""

    keys: tuple[Key, ...]
    cpu_nanocores: int
    memory_bytes: int
    gpu_count: float
    unknown_count: int


def starts_by_minute(cronjobs: Iterable[tuple[CronJob, Times]], taken_at: datetime) -> tuple[Minute, ...]:
    """Give the minutes of the next 24 hours in which something starts, in order; one CronJob counts once in a minute."""
    alike: dict[Hashable, tuple[Times, list[CronJob]]] = {}
    for cronjob, times in cronjobs:
        alike.setdefault((times.schedule, times.next_at, times.due_at), (times, []))[1].append(cronjob)
    found: dict[datetime, list[_Group]] = defaultdict(list)
    for times, members in alike.values():
        group = _grouped(members)
        for minute in dict.fromkeys(start.replace(second=0) for start in starts_within(times, taken_at, DAY_SECONDS)):
            found[minute].append(group)
    return tuple(_minute(at, found[at]) for at in sorted(found))


def most_crowded(minutes: Iterable[Minute]) -> Minute | None:
    """Give the minute with the most starts, then with the most requested CPU, then the first."""
    return min(minutes, key=lambda minute: (-len(minute.cronjobs), -minute.requests_cpu_nanocores, minute.at), default=None)


def _grouped(members: Sequence[CronJob]) -> _Group:
    known = [one for one in members if one.requests_cpu_nanocores is not None and one.requests_memory_bytes is not None]
    return _Group(
        keys=tuple(one.key for one in members),
        cpu_nanocores=sum(one.requests_cpu_nanocores or 0 for one in known),
        memory_bytes=sum(one.requests_memory_bytes or 0 for one in known),
        gpu_count=sum(one.requests_gpu_count for one in members),
        unknown_count=len(members) - len(known),
    )


def _minute(at: datetime, groups: Sequence[_Group]) -> Minute:
    return Minute(
        at=at,
        cronjobs=tuple(sorted(chain.from_iterable(group.keys for group in groups))),
        requests_cpu_nanocores=sum(group.cpu_nanocores for group in groups),
        requests_memory_bytes=sum(group.memory_bytes for group in groups),
        requests_gpu_count=sum(group.gpu_count for group in groups),
        unknown_count=sum(group.unknown_count for group in groups),
    )
