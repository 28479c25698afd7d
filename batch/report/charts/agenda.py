"""What starts in the next hours: how much in each quarter of an hour above, the starts of single ones below on the same axis."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, QUIET, RULE, SECONDARY, canvas, ceiling
from batch.report.charts.hours import set_hours
from batch.report.format import format_count
from batch.report.measure import middle_cut, text_mm
from batch.report.model import Agenda

_ROOMY_MM = 120
_TOP_MM, _BOTTOM_MM = 9.0, 6.5
_BARS_MM, _GAP_MM = 20.0, 3.0
_RIGHT_MM = 4.5
"""Half of a label such as 12:00, which may stand at the very end."""
_MOST_NAME_MM = 46.0
_QUARTERS = 4
_STEPS = 5
"""Ticks of the number of starts: none, and four above."""


def figure(data: Agenda, width_mm: float) -> Figure:
    """Draw both parts; names of single ones at the left, or above their lines where there is little room."""
    roomy = width_mm >= _ROOMY_MM
    left = min(max((text_mm(name) for name, _ in data.rows), default=6.0) + 4, _MOST_NAME_MM) if roomy else 8.0
    step = 4.8 if roomy else 7.6
    below = step * len(data.rows)
    height = _TOP_MM + _BARS_MM + _GAP_MM + below + _BOTTOM_MM
    drawn, bars = canvas(width_mm, height, left=left, right=_RIGHT_MM, top=_TOP_MM, bottom=height - _TOP_MM - _BARS_MM)
    across = width_mm - left - _RIGHT_MM
    _draw_bars(bars, data, across)
    lines = drawn.add_axes((left / width_mm, _BOTTOM_MM / height, across / width_mm, max(below, 0.1) / height), facecolor="none")
    for name, spine in lines.spines.items():
        spine.set(visible=name == "bottom", color=SECONDARY, linewidth=0.6)
    lines.tick_params(axis="x", length=2.5, width=0.6, color=SECONDARY, labelcolor=SECONDARY, pad=3)
    lines.set_ylim(max(below, 0.1), 0)
    lines.set_yticks([])
    lines.set_axisbelow(True)
    for axes in (bars, lines):
        set_hours(axes, data.begin, 0, data.hours, 3 if roomy else 6)
    bars.tick_params(axis="x", length=0, labelbottom=False)
    bars.grid(axis="y", visible=True, color=RULE, linewidth=0.5)
    for number, (name, starts) in enumerate(data.rows):
        middle = step * number + (step / 2 if roomy else step - 1.9)
        lines.plot([0, data.hours], [middle, middle], color=QUIET, linewidth=0.5, zorder=2)
        lines.plot(starts, [middle] * len(starts), "|", markersize=6, markeredgewidth=1.1, color=BLUE, zorder=3, clip_on=False)
        place, room = (middle, left - 3) if roomy else (middle - 3.5, width_mm)
        lines.annotate(middle_cut(name, room), (0, place), xycoords=("figure fraction", "data"), va="center_baseline", color=INK)
    return drawn


def _draw_bars(axes: Axes, data: Agenda, across_mm: float) -> None:
    """Draw a bar for each quarter of an hour, and name the fullest minute above."""
    most = max(data.counts)
    top = ceiling(most) if most >= _STEPS else most + 1
    places = [quarter / _QUARTERS for quarter in range(len(data.counts))]
    axes.bar(places, data.counts, width=0.86 / _QUARTERS, align="edge", color=BLUE, linewidth=0, zorder=3)
    axes.set_ylim(0, top)
    ticks = range(0, top + 1, max(1, top // (_STEPS - 1)))
    axes.set_yticks(ticks, [format_count(tick) for tick in ticks])
    if data.peak:
        _name_peak(axes, data, *data.peak, across_mm)


def _name_peak(axes: Axes, data: Agenda, at: float, words: str, across_mm: float) -> None:
    """Put words above the quarter of an hour that has the fullest minute, as near as they fit, with a line down to its bar."""
    quarter = min(int(at * _QUARTERS), len(data.counts) - 1)
    x, top = (quarter + 0.43) / _QUARTERS, axes.get_ylim()[1]
    width = text_mm(words, "bold") * data.hours / across_mm
    start = min(max(0.0, x - width / 2), data.hours - width)
    style: Any = {"xycoords": "data", "textcoords": "offset points", "annotation_clip": False}
    axes.annotate(words, (start, top), (0, 8), va="center_baseline", weight="bold", **style)
    axes.plot([x, x], [data.counts[quarter], top * 1.02], color=SECONDARY, linewidth=0.6, clip_on=False, zorder=2)
