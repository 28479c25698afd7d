"""How many nodes have how many free at once: one bar for each number of free ones."""

from __future__ import annotations

from matplotlib.figure import Figure

from batch.report.charts.canvas import INK, QUIET, SECONDARY, SKY, canvas
from batch.report.format import format_count
from batch.report.measure import text_mm
from batch.report.model import Blocks

_HEIGHT_MM = 40.0
_TOP_MM, _BOTTOM_MM, _SIDE_MM = 8.0, 11.0, 1.0
_BAR = 0.66
_WIDEST_MM = 24.0
"""A bar alone does not fill the page."""

_HEADROOM = 1.04


def figure(data: Blocks, width_mm: float) -> Figure:
    """Draw bars from 0 to the largest block, each with its number of nodes on top; nodes with none free are drawn quietly."""
    most = max((free for free, _ in data.bars), default=0)
    shown = dict(data.bars)
    places = list(range(most + 1))
    used = min(width_mm, _WIDEST_MM * len(places) + 2 * _SIDE_MM)
    drawn, axes = canvas(width_mm, _HEIGHT_MM, left=_SIDE_MM, right=width_mm - used + _SIDE_MM, top=_TOP_MM, bottom=_BOTTOM_MM)
    counts = [shown.get(place, 0) for place in places]
    axes.bar(places, counts, _BAR, color=[QUIET if place == 0 else SKY for place in places], linewidth=0)
    axes.set_xlim(-0.5, most + 0.5)
    axes.set_ylim(0, max(1, *counts) * _HEADROOM)
    axes.set_yticks([])
    axes.grid(visible=False)
    step = (used - 2 * _SIDE_MM) / len(places)
    for place, count in zip(places, counts, strict=True):
        if count and text_mm(format_count(count)) < step:
            axes.annotate(format_count(count), (place, count), (0, 2), textcoords="offset points", ha="center", color=INK)
    every = max(1, -(-len(places) * 6 // int(used)))
    axes.set_xticks(places[::every], [format_count(place) for place in places[::every]])
    axes.annotate(
        f"Nodes, by how many {data.what} are free on them",
        (0, 1),
        (0, 12),
        xycoords="axes fraction",
        textcoords="offset points",
        color=SECONDARY,
    )
    axes.set_xlabel(f"Free {data.what}", color=SECONDARY, labelpad=2, loc="left")
    return drawn
