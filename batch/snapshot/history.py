"""History: what earlier nights left beside their reports, read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from batch.snapshot import sketches
from batch.snapshot.archive import BlobStore
from batch.snapshot.model import Gap
from batch.snapshot.sketches import ForeignSketchError, Night

_SKETCH = re.compile(r"date=(\d{4}-\d{2}-\d{2})/sketches/[^/]+\.parquet")
_EFFECT = "Advice on requests rests on fewer nights than there are."


@dataclass(frozen=True)
class History:
    """Earlier nights, oldest first, at most one for each date; and what could not be read of them."""

    nights: tuple[Night, ...] = ()
    gaps: tuple[Gap, ...] = ()


NO_HISTORY = History()


def load(store: BlobStore, path: str, *, before: str, window_seconds: float) -> History:
    """Read the sketches of the nights before the date `before` (YYYY-MM-DD), as far back as the window reaches.

    `path` is the key of the cluster's history in the store, with a slash at its end. Of the runs of one date, such as a night's and
    an ad hoc one, the one with the most samples counts, of equal ones the latest. What cannot be read, or is of another version, is a Gap.
    """
    oldest = (date.fromisoformat(before) - timedelta(seconds=window_seconds)).isoformat()
    nights: dict[str, Night] = {}
    gaps: list[Gap] = []
    try:
        keys = [key for key in store.keys(path) if oldest <= _date_of(key, path) < before]
    except Exception as error:  # noqa: BLE001  a store's errors are its own; the history becomes a gap whatever they are
        return History(gaps=(unreadable(f"it could not be listed: {error}"),))
    for key in keys:
        try:
            night = _of_its_date(sketches.decode(store.read(key)), _date_of(key, path))
        except ForeignSketchError as error:
            gaps.append(Gap("history", f"{key} is left out: {error}", _EFFECT))
        except Exception as error:  # noqa: BLE001  as above
            gaps.append(Gap("history", f"{key} could not be read: {error}", _EFFECT))
        else:
            nights[night.date] = _better(nights.get(night.date), night)
    return History(tuple(nights[day] for day in sorted(nights)), tuple(_shortened(gaps)))


def unreadable(reason: str) -> Gap:
    """Say that nothing is known of earlier nights."""
    return Gap("history", reason, _EFFECT)


def _date_of(key: str, path: str) -> str:
    """Give the date of a sketch's key; that of no night for any other key."""
    match = _SKETCH.fullmatch(key.removeprefix(path))
    return match[1] if match else ""


def _of_its_date(night: Night, date_of_key: str) -> Night:
    if night.date != date_of_key:
        raise ForeignSketchError(f"it is of {night.date} and was put elsewhere")
    return night


def _better(known: Night | None, night: Night) -> Night:
    if known is None:
        return night
    return max(known, night, key=lambda one: (one.sample_count, one.taken_at, one.run_id))


def _shortened(gaps: list[Gap]) -> Iterable[Gap]:
    """Say the same of many files once, with the first of them."""
    if len(gaps) <= 1:
        return gaps
    return [Gap("history", f"{len(gaps)} of its files are left out; the first: {gaps[0].reason}", _EFFECT)]
