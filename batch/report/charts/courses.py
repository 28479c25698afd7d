"""A resource over the nights: what may be promised, is promised and is used, each line named at its end, and the forecast as a cone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import timedelta

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, SECONDARY, SKY, WARM, canvas
from batch.report.charts.margin import LineLabel, name_lines
from batch.report.format import scale
from batch.report.measure import text_mm
from batch.report.model import Course, Reach

_HEIGHT_MM = 52.0
_TOP_MM, _BOTTOM_MM = 6.0, 8.0
_ROOMY_MM = 120
_COLORS = (INK, BLUE, SKY)
"""Of the lines, in their order."""

_CONE = "#d3e5f2"
_MOST_AHEAD = 6.0
_LEAST_AHEAD_DAYS = 28
"""The forecast takes at most six times as long a piece of the axis as the nights, which can still be read then, and at least four weeks."""

_AXIS_TOP = 1.14
"""Leaves room above the limit for the name of the day on which it is reached."""

_NICE = (1, 2, 2.5, 5, 10)
_DAY_STEPS = (1, 2, 7, 14, 28, 56, 91, 182)


def figure(data: Course, width_mm: float) -> Figure:
    """Draw the lines from the first night to tonight, and from there the cone to where it meets the limit."""
    roomy = width_mm >= _ROOMY_MM
    right = 30.0 if roomy else 24.0
    top, last = _top(data), _last(data)
    ticks, unit, texts = _amounts(data, top)
    left = max(text_mm(text) for text in texts) + 4
    drawn, axes = canvas(width_mm, _HEIGHT_MM, left=left, right=right, top=_TOP_MM, bottom=_BOTTOM_MM)
    across, up = width_mm - left - right, _HEIGHT_MM - _TOP_MM - _BOTTOM_MM
    axes.set_ylim(0, top)
    axes.set_yticks(ticks, texts)
    axes.set_xlim(min(data.days[0], -1), last)
    axes.text(0, 1.04, unit, transform=axes.transAxes, color=SECONDARY)
    _draw_days(axes, data, last, 9 if roomy else 4)
    if data.ahead:
        _draw_ahead(axes, data.ahead, last)
        _mark_reached(axes, data, data.ahead, last)
    name_lines(axes, list(_draw_lines(axes, data, last, top)), (across, up), right)
    return drawn


def _last(data: Course) -> int:
    """Give the last day on the axis: a little after the limit is reached for sure, if that is not too far."""
    if not data.ahead:
        return 0
    most = max(_LEAST_AHEAD_DAYS, int(_MOST_AHEAD * -data.days[0]))
    _, middle, high = data.ahead.days
    wanted = high or middle or data.ahead.cone[-1][0]
    return min(most, max(_LEAST_AHEAD_DAYS, int(wanted * 1.1) + 1))


def _top(data: Course) -> float:
    values = [value for _, line in data.lines for value in line if value is not None]
    return _AXIS_TOP * max([*values, data.ahead.limit if data.ahead else 0, 1])


def _amounts(data: Course, top: float) -> tuple[list[float], str, list[str]]:
    """Give round ticks in the unit that suits the largest of them."""
    unit = scale(data.kind, [top]) if data.kind != "count" else None
    divisor = unit.divisor if unit else 1
    rough = top / divisor / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in _NICE if factor * power >= rough * (1 - 1e-9))
    step = max(step, 1.0) if data.kind == "count" else step
    amounts = [step * number for number in range(math.floor(top / divisor / step + 1e-9) + 1)]
    return [amount * divisor for amount in amounts], unit.unit if unit else "", [f"{amount:,.6g}" for amount in amounts]


def _draw_days(axes: Axes, data: Course, last: int, most: int) -> None:
    """Write dates at even distances, counted from tonight, and mark tonight."""
    first = min(data.days[0], -1)
    step = next((step for step in _DAY_STEPS if (last - first) / step <= most), 365)
    days = list(range(-(-first // step) * step, last + 1, step))
    dates = [data.tonight + timedelta(days=day) for day in days]
    axes.set_xticks(days, [f"{day.day} {day:%b}" for day in dates])
    if data.ahead:
        axes.axvline(0, color=SECONDARY, linewidth=0.7, linestyle=(0, (2, 2)), zorder=2)
        axes.text(0, 0.02, "tonight ", transform=axes.get_xaxis_transform(), color=SECONDARY, ha="right", va="bottom")


def _draw_ahead(axes: Axes, ahead: Reach, last: int) -> None:
    """Draw the cone up to the limit, its middle as a dashed line, and the days between which the limit is reached."""
    days, low, middle, high = (np.asarray(column, dtype=float) for column in zip(*ahead.cone, strict=True))
    grid = np.linspace(0, min(last, days[-1]), 120)
    low, middle, high = (np.minimum(np.interp(grid, days, path), ahead.limit) for path in (low, middle, high))
    axes.fill_between(grid, low, high, color=_CONE, linewidth=0, zorder=1)
    reached = next((place for place, value in enumerate(middle) if value >= ahead.limit), len(grid) - 1)
    axes.plot(grid[: reached + 1], middle[: reached + 1], color=BLUE, linewidth=1.2, linestyle=(0, (3, 2)), zorder=4)


def _mark_reached(axes: Axes, data: Course, ahead: Reach, last: int) -> None:
    """Show the interval as a bar on the limit, and name the expected day; one beyond the axis is named at its end."""
    first, expected, latest = ahead.days
    if first is not None and first < last:
        axes.plot([first, min(latest or last, last)], [ahead.limit] * 2, color=WARM, linewidth=2.4, solid_capstyle="butt", zorder=6)
    if expected is None:
        return
    day = data.tonight + timedelta(days=expected)
    if expected > last:
        axes.text(last, ahead.limit, f"{day.day} {day:%b %Y} →", color=WARM, ha="right", va="bottom")
        return
    axes.plot([expected], [ahead.limit], "o", markersize=4, markerfacecolor="white", markeredgecolor=WARM, markeredgewidth=1.2, zorder=7)
    axes.annotate(
        f"{day.day} {day:%b}", (expected, ahead.limit), (0, 3.5), textcoords="offset points", color=WARM, ha="center", va="bottom"
    )


def _draw_lines(axes: Axes, data: Course, last: int, top: float) -> Iterator[LineLabel]:
    """Draw the nights; what is not known is a gap in the line. The limit goes on to the end of the axis."""
    first = min(data.days[0], -1)
    for (name, values), color in zip(data.lines, _COLORS, strict=False):
        known = [math.nan if value is None else value for value in values]
        main = color == BLUE
        axes.plot(
            data.days, known, color=color, linewidth=1.8 if main else 1.2, zorder=5 if main else 3, marker=_marker(data.days), markersize=2
        )
        last_known = next((place for place in reversed(range(len(values))) if values[place] is not None), None)
        if last_known is None:
            continue
        height, end = known[last_known], float(data.days[last_known])
        if color == INK and data.ahead:
            axes.plot([0, last], [data.ahead.limit] * 2, color=INK, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=3)
            end = float(last)
        elif main and data.ahead:
            end = min(float(last), _met(data.ahead))
            height = float(np.interp(end, [point[0] for point in data.ahead.cone], [point[2] for point in data.ahead.cone]))
        elif data.ahead:
            axes.text(max(end, 0.0), height, f"  {name}", color=color, va="center")
            continue
        yield LineLabel(name, ((end - first) / (last - first), height / top), SECONDARY if color == INK else color, bold=main)


def _met(ahead: Reach) -> float:
    """Give the day on which the estimate meets the limit, or the last that is told."""
    return float(next((day for day, _, middle, _ in ahead.cone if middle >= ahead.limit), ahead.cone[-1][0]))


def _marker(days: Sequence[int]) -> str:
    """Show single nights as points where there are few."""
    return "o" if len(days) <= 14 else ""  # noqa: PLR2004  two weeks
