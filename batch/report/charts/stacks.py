"""Bars that each are a whole, split by what becomes of it."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, QUIET, SECONDARY, SKY, WARM, canvas
from batch.report.format import format_count
from batch.report.measure import clipped, text_mm
from batch.report.model import Stacks

_ROOMY_MM = 120
_TOP_MM, _BOTTOM_MM = 7.0, 1.0
_FILLS = (BLUE, SKY, WARM, QUIET)
_TEXTS = ("white", INK, "white", INK)
_BAR_MM = 4.6
_MOST_NAME_MM = 56.0


def figure(data: Stacks, width_mm: float) -> Figure:
    """Draw one bar a line, its name at its left (above it where there is little room) and its sum at its right."""
    roomy = width_mm >= _ROOMY_MM
    names = max((text_mm(name) for name, _ in data.bars), default=0.0)
    left, right, step = (min(names + 4, _MOST_NAME_MM), 16.0, 7.4) if roomy else (0.0, 14.0, 10.4)
    height = _TOP_MM + _BOTTOM_MM + step * len(data.bars)
    drawn, axes = canvas(width_mm, height, left=left, right=right, top=_TOP_MM, bottom=_BOTTOM_MM)
    across = width_mm - left - right
    axes.set_axis_off()
    axes.set_xlim(0, across)
    axes.set_ylim(step * len(data.bars), 0)
    for number, (name, sizes) in enumerate(data.bars):
        middle = step * number + (step / 2 if roomy else step - _BAR_MM / 2 - 0.6)
        _draw_bar(axes, sizes, middle, across)
        axes.text(across + 2, middle, format_count(sum(sizes)), va="center_baseline", color=INK, weight="bold")
        if roomy:
            axes.text(-left, middle, clipped(name, left - 3), va="center_baseline")
        else:
            axes.text(0, middle - _BAR_MM / 2 - 1.0, clipped(name, width_mm))
    _draw_key(axes, data.parts, left)
    return drawn


def _draw_bar(axes: Axes, sizes: tuple[int, ...], middle: float, across: float) -> None:
    """Draw the pieces side by side; a number goes into its piece where it fits."""
    start, whole = 0.0, max(1, sum(sizes))
    for size, fill, color in zip(sizes, _FILLS, _TEXTS, strict=True):
        length = across * size / whole
        if not size:
            continue
        axes.barh(middle, length, _BAR_MM, left=start, color=fill, linewidth=0)
        text = format_count(size)
        if text_mm(text) + 1.5 <= length:
            axes.text(start + length / 2, middle, text, ha="center", va="center_baseline", color=color)
        start += length


def _draw_key(axes: Axes, parts: tuple[str, ...], left: float) -> None:
    """Name the fills in a line above the bars, in their order."""
    place, line = -left if left else 0.0, -3.6
    for part, fill in zip(parts, _FILLS, strict=True):
        axes.barh(line, 3.0, 2.0, left=place, color=fill, linewidth=0, clip_on=False)
        axes.text(place + 4.2, line, part, va="center_baseline", color=SECONDARY)
        place += 4.2 + text_mm(part) + 4
