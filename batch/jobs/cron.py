"""Schedules in the dialect of Kubernetes' CronJob controller, and when they start Jobs.

The dialect is that of robfig/cron v3.0.1, function ParseStandard, which the API server and the controller call
(kubernetes v1.36, pkg/apis/batch/validation/validation.go and pkg/controller/cronjob). docs/adr/0014-own-cron-schedules.md says why no
library of Python's does, and how this one is proved.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTHS = {
    name: number for number, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_WEEKDAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: tuple[tuple[str, int, int, Mapping[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 6, _WEEKDAYS),
)
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_DURATION = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|[+-]?0")
_PART = re.compile(r"([0-9]*\.?[0-9]*)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST_SECONDS = 2**63 / 1e9
"""A duration of Go is a 64-bit number of nanoseconds."""

_LONGEST_NUMBER = 19
"""Digits of the largest number that Go reads."""

_SEARCHED_YEARS = 5
"""The controller's library gives up when it finds no start in the five years that follow."""


class ScheduleError(ValueError):
    """The controller does not start Jobs by this schedule."""


class Schedule(Protocol):
    """When Jobs start."""

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield the starts after a moment, in UTC, in order; they end where no further one is found."""
        ...


def zone_of(name: str) -> tzinfo:
    """Give a time zone by its IANA name. Raises ScheduleError."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ScheduleError(f"there is no time zone {name!r}") from error


@functools.lru_cache(maxsize=4096)
def parse(text: str, zone: tzinfo) -> Schedule:
    """Read a schedule that holds in `zone`, unless it names one itself (TZ=…, CRON_TZ=…). Raises ScheduleError, with what is wrong."""
    if not text:
        raise ScheduleError("the schedule is empty")
    if text.startswith(("TZ=", "CRON_TZ=")):
        prefix, _, rest = text.partition(" ")
        return parse(rest.strip(), zone_of(prefix.partition("=")[2]))
    if text.startswith(_EVERY):
        return Every(_seconds(text.removeprefix(_EVERY)))
    if text.startswith("@"):
        return parse(_DESCRIPTORS[text], zone) if text in _DESCRIPTORS else _refuse(f"there is no descriptor {text!r}")
    fields = text.split()
    if len(fields) != len(_FIELDS):
        _refuse(f"it has {len(fields)} fields instead of five")
    read = [_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)]
    (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = read
    return Calendar(tuple(sorted(minutes)), tuple(sorted(hours)), days, months, weekdays, any_day or any_weekday, zone)


def names_its_zone(text: str) -> bool:
    """Whether a schedule has its time zone in itself, which Kubernetes takes only from CronJobs that are old enough to have it."""
    return text.startswith(("TZ=", "CRON_TZ="))


@dataclass(frozen=True)
class Every:
    """A start each so many whole seconds after the one before."""

    seconds: int

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield the starts after a moment, which is taken for the start before."""
        start = after.astimezone(UTC).replace(microsecond=0)
        while True:
            start += timedelta(seconds=self.seconds)
            yield start


@dataclass(frozen=True)
class Calendar:
    """A start whenever the wall clock of `zone` shows one of the minutes and hours on a day that fits.

    So what the clock skips does not start, and what it shows twice starts twice. With `narrow` a day must fit both by its day of the month
    and by its day of the week, else either is enough.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    narrow: bool
    zone: tzinfo

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield the starts after a moment."""
        day, last_year = after.astimezone(self.zone).date(), after.year
        while day.year <= last_year + _SEARCHED_YEARS:
            if self._fits(day):
                for start in self._starts_of(day, after):
                    if start > after:
                        last_year = start.year
                        yield start
            day = self._following(day)

    def _following(self, day: date) -> date:
        """Give the next day, or in a month without starts the first day of the next."""
        return day + timedelta(days=1) if day.month in self.months else (day.replace(day=1) + timedelta(days=32)).replace(day=1)

    def _fits(self, day: date) -> bool:
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return day.month in self.months and ((by_month and by_week) if self.narrow else (by_month or by_week))

    def _starts_of(self, day: date, after: datetime) -> Iterator[datetime]:
        """Give the starts of a day, without most of those that are not after the moment."""
        begin, end = (_instant(one, 0, 0, 0, self.zone) for one in (day, day + timedelta(days=1)))
        if end - begin == timedelta(days=1):
            past = (after - begin) // timedelta(hours=1)
            hours = (hour for hour in self.hours if hour >= past)
            return (begin + timedelta(hours=hour, minutes=minute) for hour in hours for minute in self.minutes)
        shown = (
            start
            for hour in self.hours
            for minute in self.minutes
            for fold in (0, 1)
            if _is_shown(start := _instant(day, hour, minute, fold, self.zone), day, hour * 60 + minute, self.zone)
        )
        return iter(sorted(set(shown)))


def _instant(day: date, hour: int, minute: int, fold: int, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone, fold=fold).astimezone(UTC)


def _is_shown(instant: datetime, day: date, minutes: int, zone: tzinfo) -> bool:
    """Whether the wall clock shows that time at that moment; a time that it skips is none that it shows."""
    wall = instant.astimezone(zone)
    return wall.date() == day and wall.hour * 60 + wall.minute == minutes


def _field(text: str, name: str, low: int, high: int, names: Mapping[str, int]) -> tuple[frozenset[int], bool]:
    """Read one field: its values, and whether it means "any" ("*" or "?" without a step)."""
    parts = [_range(part, name, low, high, names) for part in text.split(",") if part]
    return frozenset(value for values, _ in parts for value in values), any(is_any for _, is_any in parts)


def _range(text: str, name: str, low: int, high: int, names: Mapping[str, int]) -> tuple[range, bool]:
    whole, *steps = text.split("/")
    first, *lasts = whole.split("-")
    if len(steps) > 1 or (len(lasts) > 1 and first not in ("*", "?")):
        _refuse(f"{text!r} is no range for the {name}")
    step = _number(steps[0], name, {}) if steps else 1
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, name, names)
        end = _number(lasts[0], name, names) if lasts else high if steps else start
    if not low <= start <= end <= high or step == 0:
        _refuse(f"{text!r} is outside of {low} to {high} for the {name}")
    return range(start, end + 1, step), first in ("*", "?") and step == 1


def _number(text: str, name: str, names: Mapping[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) < _LONGEST_NUMBER):
        _refuse(f"{text!r} is no {name}")
    return int(digits)


def _seconds(text: str) -> int:
    """Read a Go duration in whole seconds, at least one."""
    if not _DURATION.fullmatch(text):
        _refuse(f"{text!r} is no duration")
    amount = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text) if number != ".")
    if amount >= _LONGEST_SECONDS:
        _refuse(f"{text!r} is longer than a duration can be")
    return 1 if text.startswith("-") else max(1, int(amount + 1e-9))


def _refuse(why: str) -> Schedule:
    raise ScheduleError(why)
