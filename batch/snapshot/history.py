"""History: what earlier nights left beside their reports, read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from batch.snapshot import sketches, summaries
from batch.snapshot.archive import BlobStore
from batch.snapshot.model import Gap
from batch.snapshot.sketches import ForeignSketchError, Night
from batch.snapshot.summaries import ForeignSummaryError, Summary, Workloads

_KEY = re.compile(r"date=(\d{4}-\d{2}-\d{2})/(|sketches/|workloads/)([^/]+\.parquet)")
_SUMMARIES, _SKETCHES, _WORKLOADS = "", "sketches/", "workloads/"

_SKETCH_EFFECT = "Advice on requests rests on fewer nights than there are."
_SUMMARY_EFFECT = "Trends and forecasts rest on fewer nights than there are."
_WORKLOADS_EFFECT = "What changed in that time is not known by workload."
_FOREIGN_EFFECT = "They are left alone and not used."

WEEK_DAYS = 7
_WEEK_MOST_DAYS = 13
"""A night a week ago is the latest of those 7 to 13 days back: a later one would be compared with another day of the week too soon."""

_Read = TypeVar("_Read", Night, Summary, Workloads)


@dataclass(frozen=True)
class Window:
    """Which nights are read: those before the date `before` (YYYY-MM-DD), as far back as each use of them reaches."""

    before: str
    sketch_seconds: float
    summary_seconds: float

    def holds(self, day: str, seconds: float) -> bool:
        """Tell whether a date is before tonight and not further back than that."""
        return (date.fromisoformat(self.before) - timedelta(seconds=seconds)).isoformat() <= day < self.before


@dataclass(frozen=True)
class History:
    """Earlier nights, oldest first, at most one for each date; and what could not be read of them.

    `nights` are sketches of usage, `summaries` figures of the whole run. `last_night` has the workloads of the newest summary, `last_week`
    those of one at least a week old.
    """

    nights: tuple[Night, ...] = ()
    gaps: tuple[Gap, ...] = ()
    summaries: tuple[Summary, ...] = ()
    last_night: Workloads | None = None
    last_week: Workloads | None = None


NO_HISTORY = History()


def load(store: BlobStore, path: str, window: Window, *, namespaces: Sequence[str] | None = None) -> History:
    """Read what the nights of the window left, by the layout of the keys alone.

    `path` is the key of the cluster's history in the store, with a slash at its end. Of the runs of one date, such as a night's, its
    repetition and an ad hoc one, one counts: of sketches the one with the most samples, of summaries a complete one, of equal ones the
    latest. Summaries of runs that read other namespaces are of something else and are left out. What cannot be read, or is of another
    version, is a Gap.
    """
    try:
        keys = store.keys(path)
    except Exception as error:  # noqa: BLE001  a store's errors are its own; the history becomes a gap whatever they are
        return History(gaps=(unreadable(f"it could not be listed: {error}"),))
    shelf = _Shelf(store, path, keys)
    nights: dict[str, Night] = {}
    for _, night in shelf.read(_SKETCHES, lambda day: window.holds(day, window.sketch_seconds), sketches.decode, _SKETCH_EFFECT):
        nights[night.date] = max(nights.get(night.date, night), night, key=lambda one: (one.sample_count, one.taken_at, one.run_id))
    figures: dict[str, tuple[str, Summary]] = {}
    wanted = None if namespaces is None else tuple(namespaces)
    for key, summary in shelf.read(
        _SUMMARIES, lambda day: window.holds(day, window.summary_seconds), summaries.decode_summary, _SUMMARY_EFFECT
    ):
        if summary.namespaces == wanted:
            figures[summary.date] = max(figures.get(summary.date, (key, summary)), (key, summary), key=_standing)
    last_night, last_week = max(figures, default=None), a_week_before(window.before, figures)
    workloads = {day: _workloads(shelf, figures, day) for day in dict.fromkeys((last_night, last_week)) if day}  # one may be both
    return History(
        nights=tuple(nights[day] for day in sorted(nights)),
        summaries=tuple(figures[day][1] for day in sorted(figures)),
        last_night=workloads.get(last_night or ""),
        last_week=workloads.get(last_week or ""),
        gaps=tuple(shelf.gaps()),
    )


def unreadable(reason: str) -> Gap:
    """Say that nothing is known of earlier nights."""
    return Gap("history", reason, f"{_SKETCH_EFFECT} {_SUMMARY_EFFECT}")


def _standing(found: tuple[str, Summary]) -> tuple[bool, object, str]:
    summary = found[1]
    return summary.complete, summary.taken_at, summary.run_id


def a_week_before(today: str, days: Iterable[str]) -> str | None:
    """Choose the latest date that is 7 to 13 days back."""
    oldest, newest = ((date.fromisoformat(today) - timedelta(days=back)).isoformat() for back in (_WEEK_MOST_DAYS, WEEK_DAYS))
    return max((day for day in days if oldest <= day <= newest), default=None)


def _workloads(shelf: _Shelf, figures: dict[str, tuple[str, Summary]], day: str) -> Workloads | None:
    """Read the workloads of the run whose summary counts for that date."""
    name = figures[day][0].rpartition("/")[2]
    return next((read for _, read in shelf.read(_WORKLOADS, day.__eq__, summaries.decode_workloads, _WORKLOADS_EFFECT, name)), None)


class _Shelf:
    """The files of a history, and what is wrong with some of them."""

    def __init__(self, store: BlobStore, path: str, keys: Sequence[str]) -> None:
        self._store = store
        known = {key: match for key in keys if (match := _KEY.fullmatch(key.removeprefix(path)))}
        self._files = [(key, *match.groups()) for key, match in known.items()]
        self._foreign = [key for key in keys if key not in known]
        self._gaps: list[Gap] = []

    def read(
        self, folder: str, wanted: Callable[[str], bool], decode: Callable[[bytes], _Read], effect: str, name: str | None = None
    ) -> Iterator[tuple[str, _Read]]:
        """Yield the files of a folder, of the dates that are wanted, with their keys; one that cannot be read becomes a gap."""
        for key, day, inside, file in self._files:
            if inside != folder or not wanted(day) or name not in (None, file):
                continue
            try:
                yield key, _of_its_date(decode(self._store.read(key)), day)
            except (ForeignSketchError, ForeignSummaryError) as error:
                self._gaps.append(Gap("history", f"{key} is left out: {error}", effect))
            except Exception as error:  # noqa: BLE001  a store's errors are its own
                self._gaps.append(Gap("history", f"{key} could not be read: {error}", effect))

    def gaps(self) -> Iterator[Gap]:
        """Say the same of many files once, with the first of them."""
        for effect in dict.fromkeys(gap.effect for gap in self._gaps):
            alike = [gap for gap in self._gaps if gap.effect == effect]
            if len(alike) == 1:
                yield alike[0]
            else:
                yield Gap("history", f"{len(alike)} of its files are left out; the first: {alike[0].reason}", effect)
        if self._foreign:
            count = f"{len(self._foreign)} files that are" if len(self._foreign) > 1 else "a file that is"
            yield Gap("history", f"it has {count} none of its own: {self._foreign[0]}", _FOREIGN_EFFECT)


def _of_its_date(read: _Read, date_of_key: str) -> _Read:
    if read.date != date_of_key:
        raise ForeignSummaryError(f"it is of {read.date} and was put elsewhere")
    return read
