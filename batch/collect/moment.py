"""Measurements that claim to be from after the others: a clock was wrong there, and how old they are is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa

_AHEAD = timedelta(minutes=10)
"""How far the clock of a node may be ahead: as far behind, its measurement would count as stale (usage.max_age_seconds)."""

_AHEAD_OF_MOST = timedelta(days=1)
"""How far a measurement may be ahead of the middle one where no clock tells the time: a dump may hold readings of several hours."""


def latest_believed(measured_at: Sequence[pd.Series], taken_at: datetime | None, elapsed_seconds: float) -> datetime | None:
    """Give the latest time at which anything can have been measured; None without measurements.

    `taken_at` is our clock at the start, None when there is none to go by. Where most measurements are ahead of it, it is our clock that is
    behind, or was set so: then they are believed.
    """
    microseconds = np.concatenate([np.empty(0, np.int64), *(pa.array(times).cast(pa.int64()).to_numpy() for times in measured_at)])
    if not microseconds.size:
        return None
    place = microseconds.size // 2
    middle = pd.Timestamp(int(np.partition(microseconds, place)[place]), unit="us", tz="UTC").to_pydatetime()
    if taken_at is None:
        return middle + _AHEAD_OF_MOST
    return max(middle, taken_at + timedelta(seconds=elapsed_seconds)) + _AHEAD


def split(frame: pd.DataFrame, latest: datetime) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give the measurements that are believed, and those that are not."""
    ahead = frame["measured_at"] > pd.Timestamp(latest)
    return (frame, frame.iloc[:0]) if not ahead.any() else (frame.loc[~ahead].reset_index(drop=True), frame.loc[ahead])
