"""Figures of true size in the report's colours and font, and the small choices that every chart makes."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.measure import CHART_POINTS, FAMILY

INK, SECONDARY, RULE = "#16222e", "#51606e", "#dbe2e8"
BLUE, SKY, WARM, QUIET = "#0072b2", "#9dcbe8", "#d55e00", "#d2dae1"
MIDDLE, SAND = "#4f97c4", "#f0d9a8"

STYLE: Any = {
    "font.family": [FAMILY, "DejaVu Sans"],
    "font.size": CHART_POINTS,
    "svg.fonttype": "none",
    "svg.hashsalt": "nightcap",
    "text.parse_math": False,
    "text.color": INK,
}
"""Text stays text in the font that the page embeds; names with a dollar sign are no formulas; equal charts have equal ids."""


def canvas(width_mm: float, height_mm: float, *, left: float, right: float, top: float, bottom: float) -> tuple[Figure, Axes]:
    """Give a figure and its axes with margins in mm: a line below, faint lines across, nothing else."""
    figure = Figure(figsize=(width_mm / 25.4, height_mm / 25.4), facecolor="none")
    across, up = (width_mm - left - right) / width_mm, (height_mm - top - bottom) / height_mm
    axes = figure.add_axes((left / width_mm, bottom / height_mm, across, up), facecolor="none")
    for name, spine in axes.spines.items():
        spine.set(visible=name == "bottom", color=SECONDARY, linewidth=0.6)
    axes.tick_params(axis="y", length=0, labelcolor=SECONDARY, pad=3)
    axes.tick_params(axis="x", length=2.5, width=0.6, color=SECONDARY, labelcolor=SECONDARY, pad=3)
    axes.grid(axis="y", color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    return figure, axes


def ceiling(count: int) -> int:
    """Round up to four even steps of whole numbers."""
    step = max(1.0, count / 4)
    power = 10 ** math.floor(math.log10(step))
    steps = (int(factor * power) for factor in (1, 2, 3, 4, 5, 6, 8, 10) if factor * power >= step)
    return 4 * next(steps)


def even_ticks(top: float, most: int) -> list[float]:
    """Give ticks from 0 to at most `top` in steps of 1, 2 or 5 times a power of ten, no more than `most` of them."""
    rough = top / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return [step * number for number in range(math.floor(top / step + 1e-9) + 1)]
