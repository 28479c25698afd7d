"""Names lines in the right margin of a chart, each with a leader from its end, so that no legend is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from batch.report.charts.canvas import INK, SECONDARY, WARM
from batch.report.charts.labels import spread
from batch.report.measure import clipped

_LINE_MM = 3.7
"""Height of a line of labels."""


@dataclass(frozen=True)
class LineLabel:
    """A name in the right margin, and the end of its line, in shares of the axes."""

    text: str
    end: tuple[float, float]
    color: str
    bold: bool = False


def name_lines(axes: Axes, labels: Sequence[LineLabel], axes_mm: tuple[float, float], right_mm: float) -> None:
    """Write the names; `axes_mm` is the size of the axes, `right_mm` the width of the margin."""
    ordered = sorted(labels, key=lambda label: label.end[1])
    across_mm, up_mm = axes_mm
    places = spread([label.end[1] for label in ordered], _LINE_MM / up_mm)
    elbow, start = 1 + 2.0 / across_mm, 1 + 3.5 / across_mm
    for label, place in zip(ordered, places, strict=True):
        x, height = label.end
        style: Any = {"color": label.color, "linewidth": 0.5, "clip_on": False, "zorder": 3, "transform": axes.transAxes}
        if x < 1:
            axes.plot([x, 1], [height, height], linestyle=":", **style)
        axes.plot([1, elbow, start], [height, place, place], **style)
        weight = "bold" if label.bold else "normal"
        color = WARM if label.color == WARM else INK if label.bold else SECONDARY
        text = clipped(label.text, right_mm - 5, weight)
        axes.text(start + 1 / across_mm, place, text, transform=axes.transAxes, va="center", color=color, weight=weight)
