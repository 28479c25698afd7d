"""The chance of an overrun by the number of pods on a node: one line a flavor, on a logarithmic scale, with the accepted chance named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, SECONDARY, WARM, canvas, even_ticks
from batch.report.charts.margin import LineLabel, name_lines
from batch.report.format import format_count, format_probability
from batch.report.model import ChanceLine, Chances

_HEIGHT_MM = 58.0
_LEFT_MM, _TOP_MM, _BOTTOM_MM = 15.0, 8.0, 12.0
_ROOMY_MM = 120
_FLOOR = 1e-6
"""Below one in a million a chance is no number to rely on, and is not drawn."""

_TICKS = (_FLOOR, 1e-4, 1e-2, 1.0)
_MUTED = ("#5b7f99", "#8a6d3b", "#6b8f71", "#7a6a8f", "#93a1ad")
"""For the lines beside the chosen one; a label at its end tells whose a line is."""

_MOST_NAMES = 3
"""Flavors of one line that are named."""

_APART_MM = 5.0
"""Numbers at crossings that are nearer than this to one already there are left out."""

_Point = tuple[float, float]


def figure(data: Chances, width_mm: float) -> Figure:
    """Draw each line from where it rises over one in a million to its last number of pods, named at its end."""
    roomy = width_mm >= _ROOMY_MM
    right = 40.0 if roomy else 32.0
    drawn, axes = canvas(width_mm, _HEIGHT_MM, left=_LEFT_MM, right=right, top=_TOP_MM, bottom=_BOTTOM_MM)
    last, across_mm = _reach(data), width_mm - _LEFT_MM - right
    axes.set_yscale("log")
    axes.set_ylim(_FLOOR, 1.0)
    axes.set_yticks(_TICKS, [format_probability(tick) for tick in _TICKS])
    axes.minorticks_off()
    axes.set_xlim(0, last)
    axes.set_xticks(even_ticks(last, 10 if roomy else 5))
    axes.set_xlabel("Pods on a node", color=SECONDARY, labelpad=3)
    axes.text(0, 1.06, "Chance of an overrun", transform=axes.transAxes, color=SECONDARY)
    _draw_planned(axes, data.planned, last)
    axes.axhline(data.accepted, color=WARM, linewidth=1.0, zorder=3)
    accepted = f"{format_probability(data.accepted)} is accepted"
    labels = [LineLabel(accepted, (1.0, _height(data.accepted)), WARM)]
    colors = iter(_MUTED)
    for line in data.lines:
        color = BLUE if line.chosen else next(colors, _MUTED[-1])
        labels += _draw_line(axes, line, color, last)
    _number_crossings(axes, data, last / across_mm)
    name_lines(axes, labels, (across_mm, _HEIGHT_MM - _TOP_MM - _BOTTOM_MM), right)
    return drawn


def _reach(data: Chances) -> float:
    """Give the number of pods up to which there is something to see: twice what is planned or accepted, as far as lines go."""
    safe = (pods for line in data.lines for pods, chance in line.points if chance <= data.accepted)
    ends = max(line.points[-1][0] for line in data.lines)
    return 1.02 * max(min(ends, max(2 * data.planned, 2 * max(safe, default=0))), data.planned)


def _height(chance: float) -> float:
    return 1 - math.log(max(chance, _FLOOR)) / math.log(_FLOOR)


def _draw_planned(axes: Axes, planned: int, last: float) -> None:
    axes.axvline(planned, color=SECONDARY, linewidth=0.7, linestyle=(0, (2, 2)), zorder=2)
    left = planned > last / 2
    text = f" planned: {format_count(planned)} "
    axes.text(planned, 0.03, text, transform=axes.get_xaxis_transform(), color=SECONDARY, ha="right" if left else "left")


def _draw_line(axes: Axes, line: ChanceLine, color: str, last: float) -> Iterator[LineLabel]:
    """Draw one line; a bar at its end says that there is no slot for more pods."""
    points = list(_visible(line.points, last))
    if points:
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, color=color, linewidth=2.0 if line.chosen else 1.2, zorder=5 if line.chosen else 4, solid_capstyle="butt")
    end_x, end_y = points[-1] if points else (line.points[-1][0], _FLOOR)
    if line.ends and line.points[-1][0] <= last:
        axes.plot([end_x], [end_y], "|", color=color, markersize=6, markeredgewidth=1.2, zorder=5, clip_on=False)
    end = (min(1.0, end_x / last), _height(end_y))
    for name in _names(line):
        yield LineLabel(name, end, color, bold=line.chosen and name == line.names[0])


def _visible(points: Sequence[tuple[int, float]], last: float) -> Iterator[_Point]:
    """Give the points that are on the axes, from where the line comes up through its floor to where it leaves it at the right."""
    before: _Point | None = None
    for pods, chance in points:
        if chance >= _FLOOR:
            if before is not None and before[1] < _FLOOR:
                yield before[0], _FLOOR
            if pods > last and before is not None:
                yield last, float(np.exp(np.interp(last, [before[0], pods], np.log([max(before[1], _FLOOR), chance]))))
                return
            yield float(pods), chance
        before = (float(pods), chance)


def _names(line: ChanceLine) -> list[str]:
    shown = list(line.names[:_MOST_NAMES])
    more = len(line.names) - len(shown)
    return [*shown[:-1], f"{shown[-1]} +{more}"] if more else shown


def _number_crossings(axes: Axes, data: Chances, pods_a_mm: float) -> None:
    """Mark and number the most pods whose chance is accepted, where a line goes on beyond it; the chosen one first."""
    numbered: list[int] = []
    colors = iter(_MUTED)
    marks = [(line, BLUE if line.chosen else next(colors, _MUTED[-1])) for line in data.lines]
    for line, color in sorted(marks, key=lambda mark: not mark[0].chosen):
        within = [pods for pods, chance in line.points if chance <= data.accepted]
        if not within or within[-1] == line.points[-1][0]:
            continue
        height = max(_FLOOR, dict(line.points)[within[-1]])
        axes.plot(
            [within[-1]],
            [height],
            "o",
            markersize=4,
            markerfacecolor="white",
            markeredgecolor=color,
            markeredgewidth=1.1,
            zorder=6,
            clip_on=False,
        )
        if all(abs(within[-1] - other) > _APART_MM * pods_a_mm for other in numbered):
            weight = "bold" if line.chosen else "normal"
            text = f" {format_count(within[-1])}"
            axes.text(within[-1], data.accepted / 1.6, text, color=color, ha="left", va="top", weight=weight, zorder=6)
            numbered.append(within[-1])
