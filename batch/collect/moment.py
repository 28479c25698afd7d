"""The moment that a snapshot is of, and measurements that claim to be from after it: a clock was wrong there, and how old they are is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pandas as pd

_AHEAD = timedelta(minutes=10)
"""How far the clock of a node may be ahead of ours: as far behind it, a measurement would count as stale (usage.max_age_seconds)."""

_AHEAD_OF_MOST = timedelta(days=1)
"""How far a measurement may be ahead of the middle one where nothing else tells the time: a dump may hold readings of several hours."""


def latest_believed(measured_at: Sequence[pd.Series], taken_at: datetime | None, elapsed_seconds: float) -> pd.Timestamp | None:
    """Give the latest time at which anything can have been measured; None when nothing tells. `taken_at` None: the measurements tell it."""
    if taken_at is not None:
        return pd.Timestamp(taken_at + timedelta(seconds=elapsed_seconds) + _AHEAD)
    known = pd.concat(measured_at) if measured_at else pd.Series()
    return pd.Timestamp(known.sort_values().iloc[len(known) // 2] + _AHEAD_OF_MOST) if len(known) else None


def split(frame: pd.DataFrame, latest: pd.Timestamp) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the measurements that are believed, and those that are not."""
    ahead = frame["measured_at"] > latest
    return (frame, frame.iloc[:0]) if not ahead.any() else (frame.loc[~ahead].reset_index(drop=True), frame.loc[ahead])
