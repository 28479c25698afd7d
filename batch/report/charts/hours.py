"""The axis of time that charts of a day share: hours of the clock in UTC, and the day at midnight."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from matplotlib.axes import Axes

from batch.report.charts.canvas import RULE

_DAY = 24


def set_hours(axes: Axes, origin: datetime, first: float, last: float, step: int) -> None:
    """Put ticks at every `step` hours of the clock; the axis counts hours from `origin`, from `first` to `last`."""
    ticks, labels = [], []
    into = origin.hour + origin.minute / 60 + origin.second / 3600
    for number in range(math.ceil((first + into) / step), math.floor((last + into) / step) + 1):
        place = number * step - into
        at = origin + timedelta(hours=place, seconds=30)
        ticks.append(place)
        labels.append(f"{at.day} {at:%b}" if number * step % _DAY == 0 else f"{at:%H}:00")
    axes.set_xlim(first, last)
    axes.set_xticks(ticks, labels)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=RULE, linewidth=0.5)
