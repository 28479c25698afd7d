"""What a node needs by the number of its pods at their limit, against what flavors have."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, SECONDARY, canvas, even_ticks
from batch.report.charts.labels import spread
from batch.report.format import format_bytes, scale
from batch.report.measure import clipped, text_mm
from batch.report.model import Level, Needs

_HEIGHT_MM = 66.0
_LEFT_MM, _TOP_MM, _BOTTOM_MM = 11.0, 8.0, 12.0
_ROOMY_MM = 120
_QUIET_LINE = "#93a1ad"
_LINE_MM = 3.7
"""Height of a line of labels."""


def figure(data: Needs, width_mm: float) -> Figure:
    """Draw the needs as a line, and each flavor's memory as a level with its name in the right margin."""
    right = (46.0 if width_mm >= _ROOMY_MM else 36.0) if data.levels else _LEFT_MM
    drawn, axes = canvas(width_mm, _HEIGHT_MM, left=_LEFT_MM, right=right, top=_TOP_MM, bottom=_BOTTOM_MM)
    top = 1.04 * max((*data.memory_bytes, *(level.memory_bytes for level in data.levels)))
    last = len(data.memory_bytes) - 1
    scaled = scale("bytes", [top / 2])
    ticks = even_ticks(top / scaled.divisor, 5)
    axes.set_ylim(0, top)
    axes.set_yticks([tick * scaled.divisor for tick in ticks], [f"{tick:,.10g}" for tick in ticks])
    axes.set_xlim(0, max(last, 1))
    axes.set_xticks(even_ticks(last, min(last, 10 if width_mm >= _ROOMY_MM else 5)) if last else [0])
    axes.set_xlabel("Outliers among the pods", color=SECONDARY, labelpad=3)
    axes.text(0, 1.045, f"{scaled.unit} needed on a node", transform=axes.transAxes, color=BLUE)
    axes.plot(range(last + 1), data.memory_bytes, color=BLUE, linewidth=1.5, marker="o", markersize=2.2, zorder=4, clip_on=False)
    _draw_levels(axes, data, width_mm - _LEFT_MM - right, right)
    return drawn


def _draw_levels(axes: Axes, data: Needs, across_mm: float, right_mm: float) -> None:
    up_mm = _HEIGHT_MM - _TOP_MM - _BOTTOM_MM
    if data.levels:
        axes.text(1, 1.045, "flavors with", transform=axes.transAxes, color=SECONDARY)
    heights = [level.memory_bytes / axes.get_ylim()[1] for level in data.levels]
    for level, height, place in zip(data.levels, heights, spread(heights, _LINE_MM / up_mm), strict=True):
        _draw_level(axes, data, level, (height, place), across_mm, right_mm)


def _draw_level(axes: Axes, data: Needs, level: Level, heights: tuple[float, float], across_mm: float, right_mm: float) -> None:
    """Draw a level, a short leader from it to its label, and for the chosen one the last need that it meets."""
    color, width = (INK, 1.0) if level.chosen else (_QUIET_LINE, 0.6)
    height, place = heights
    elbow, start = 1 + 2.5 / across_mm, 1 + 4.0 / across_mm
    axes.plot([0, 1], [height, height], transform=axes.transAxes, color=color, linewidth=width, zorder=3)
    axes.plot([1, elbow, start], [height, place, place], transform=axes.transAxes, color=color, linewidth=0.5, clip_on=False)
    text = _name(level, right_mm - 5)
    axes.text(
        start + 1 / across_mm,
        place,
        text,
        transform=axes.transAxes,
        va="center",
        color=INK if level.chosen else SECONDARY,
        weight="bold" if level.chosen else "normal",
    )
    met = [number for number, need in enumerate(data.memory_bytes) if need <= level.memory_bytes]
    if level.chosen and met:
        axes.plot(
            [met[-1]],
            [data.memory_bytes[met[-1]]],
            "o",
            markersize=4.5,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=1,
            zorder=5,
            clip_on=False,
        )


def _name(level: Level, room_mm: float) -> str:
    """Write the amount, the first flavor that has it, and how many more have."""
    amount = f"{format_bytes(level.memory_bytes)} "
    more = f" +{len(level.names) - 1}" if len(level.names) > 1 else ""
    weight = "bold" if level.chosen else "normal"
    return amount + clipped(level.names[0], room_mm - text_mm(amount + more, weight), weight) + more
