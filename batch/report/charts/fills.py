"""How full nodes would be: a line for each fleet, from its share of CPU to its share of memory."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, QUIET, RULE, SECONDARY, SKY, canvas
from batch.report.format import format_count, format_ratio
from batch.report.measure import clipped, text_mm
from batch.report.model import Fill, Fills

_ROOMY_MM = 120
_TOP_MM, _BOTTOM_MM = 7.0, 6.0
_RIGHT_MM = 21.0
_MOST_NAME_MM = 46.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_BEYOND = 1.02
"""Where the axis ends: a mark at 100 % is whole."""


def figure(data: Fills, width_mm: float) -> Figure:
    """Draw names at the left (above the lines where there is little room) and the number of nodes at the right."""
    roomy = width_mm >= _ROOMY_MM
    left = min(max(text_mm(row.name, "bold") for row in data.rows) + 5, _MOST_NAME_MM) if roomy else 2.0
    step = 5.6 if roomy else 9.2
    height = _TOP_MM + _BOTTOM_MM + step * len(data.rows)
    drawn, axes = canvas(width_mm, height, left=left, right=_RIGHT_MM, top=_TOP_MM, bottom=_BOTTOM_MM)
    most = max([1.0, *(share for row in data.rows for share in (row.cpu, row.memory) if share is not None)])
    axes.set_xlim(0, most * _BEYOND)
    axes.set_ylim(step * len(data.rows), 0)
    axes.set_yticks([])
    axes.set_xticks(_TICKS, [format_ratio(tick) for tick in _TICKS])
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=RULE, linewidth=0.5)
    for number, row in enumerate(data.rows):
        middle = step * number + (step / 2 if roomy else step - 2.4)
        _draw_line(axes, row, middle)
        weight = "bold" if row.chosen else "normal"
        name, place = (clipped(row.name, left - 4, weight), middle) if roomy else (clipped(row.name, width_mm, weight), middle - 3.8)
        axes.annotate(name, (0, place), xycoords=("figure fraction", "data"), va="center_baseline", weight=weight)
        nodes = f"{format_count(row.node_count)} {'node' if row.node_count == 1 else 'nodes'}"
        axes.annotate(nodes, (1, middle), xycoords=("figure fraction", "data"), ha="right", va="center_baseline", weight=weight)
    _draw_key(drawn, axes, (width_mm, height))
    return drawn


def _draw_line(axes: Axes, row: Fill, middle: float) -> None:
    if row.cpu is not None and row.memory is not None:
        axes.plot([row.cpu, row.memory], [middle, middle], color=QUIET, linewidth=2.2, solid_capstyle="butt", zorder=2)
    for share, (marker, fill) in ((row.memory, _MARKS["memory"]), (row.cpu, _MARKS["CPU"])):
        if share is not None:
            axes.plot(
                [share], [middle], marker, markersize=4.6, color=fill, markeredgecolor=BLUE, markeredgewidth=0.7, zorder=3, clip_on=False
            )


_MARKS = {"CPU": ("o", BLUE), "memory": ("s", SKY)}


def _draw_key(drawn: Figure, axes: Axes, size_mm: tuple[float, float]) -> None:
    """Name the marks in a line at the top, from the left edge."""
    width, height = size_mm
    place, line = 0.0, 1 - 2.0 / height
    for text, (marker, fill) in _MARKS.items():
        axes.plot(
            [(place + 1.5) / width],
            [line],
            marker,
            markersize=4.6,
            color=fill,
            markeredgecolor=BLUE,
            markeredgewidth=0.7,
            transform=drawn.transFigure,
            clip_on=False,
        )
        axes.annotate(text, ((place + 3.8) / width, line), xycoords="figure fraction", va="center_baseline", color=SECONDARY)
        place += 3.8 + text_mm(text) + 4
    axes.annotate("nodes needed", (1, line), xycoords="figure fraction", ha="right", va="center_baseline", color=SECONDARY)
