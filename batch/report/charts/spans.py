"""What containers ask for against what was seen: a line for each, CPU and memory side by side on logarithmic scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, QUIET, RULE, SECONDARY, SKY, WARM, canvas
from batch.report.format import format_value
from batch.report.measure import clipped, text_mm
from batch.report.model import Spans

_ROOMY_MM = 120
_TOP_MM, _BOTTOM_MM = 13.0, 7.0
_GAP_MM = 7.0
_MOST_NAME_MM = 52.0
_FACTORS = {"nanocores": (10.0**6, 10), "bytes": (1024.0**2, 16)}
"""A round amount of each kind, and the step from one tick to the next."""

_FLOORS = {"nanocores": 10**5, "bytes": 2**18}
"""What is less stands at the edge: a logarithmic axis has no zero."""

_TICK_GAP_MM = 3.0
_TITLES = {"nanocores": "CPU", "bytes": "Memory"}
Points = tuple[int | None, int | None, tuple[int, ...], int | None]


def figure(data: Spans, width_mm: float) -> Figure:
    """Draw the names at the left (above the lines where there is little room), and a panel for each resource."""
    roomy = width_mm >= _ROOMY_MM
    left = min(max(text_mm(row.name) for row in data.rows) + 4, _MOST_NAME_MM) if roomy else 0.0
    step = 6.2 if roomy else 9.6
    height = _TOP_MM + _BOTTOM_MM + step * len(data.rows)
    across = (width_mm - left - _GAP_MM) / 2
    drawn, cpu = canvas(width_mm, height, left=left, right=across + _GAP_MM, top=_TOP_MM, bottom=_BOTTOM_MM)
    memory = drawn.add_axes(
        ((left + across + _GAP_MM) / width_mm, _BOTTOM_MM / height, across / width_mm, 1 - (_TOP_MM + _BOTTOM_MM) / height)
    )
    middles = [step * number + (step / 2 if roomy else step - 2.6) for number in range(len(data.rows))]
    for axes, kind, points in ((cpu, "nanocores", [row.cpu for row in data.rows]), (memory, "bytes", [row.memory for row in data.rows])):
        _set_axes(axes, kind, points, step * len(data.rows), across)
        for middle, one in zip(middles, points, strict=True):
            _draw_line(axes, one, middle, _FLOORS[kind])
    for middle, row in zip(middles, data.rows, strict=True):
        if roomy:
            cpu.annotate(clipped(row.name, left - 3), (0, middle), xycoords=("figure fraction", "data"), va="center_baseline")
        else:
            cpu.annotate(clipped(row.name, width_mm), (0, middle - 3.6), xycoords=("figure fraction", "data"), va="center_baseline")
    _draw_key(drawn, cpu, (width_mm, height), _marks([one for row in data.rows for one in (row.cpu, row.memory)]))
    return drawn


def _set_axes(axes: Axes, kind: str, points: Sequence[Points], height: float, across_mm: float) -> None:
    values = [max(value, _FLOORS[kind]) for one in points for value in _values(one)] or [_FLOORS[kind]]
    low, high = min(values) / 1.5, max(values) * 1.5
    axes.set_facecolor("none")
    for name, spine in axes.spines.items():
        spine.set(visible=name == "bottom", color=SECONDARY, linewidth=0.6)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    ticks = _ticks(low, high, kind, across_mm)
    axes.set_xticks(ticks, [format_value(tick, kind) for tick in ticks])
    axes.minorticks_off()
    axes.tick_params(axis="x", length=2.5, width=0.6, color=SECONDARY, labelcolor=SECONDARY, pad=3)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.annotate(_TITLES[kind], (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", weight="bold")


def _values(one: Points) -> Iterable[int]:
    seen, asked, candidates, advised = one
    return (value for value in (seen, asked, *candidates, advised) if value)


def _ticks(low: float, high: float, kind: str, across_mm: float) -> list[float]:
    """Give round amounts within the axis, as many as have room beside each other."""
    base, factor = _FACTORS[kind]
    first, last = math.ceil(math.log(low / base, factor) - 1e-9), math.floor(math.log(high / base, factor) + 1e-9)
    every = [base * float(factor) ** power for power in range(first, last + 1)]
    width = max((text_mm(format_value(tick, kind)) for tick in every), default=0.0) + _TICK_GAP_MM
    between = across_mm * math.log(factor) / math.log(high / low)
    return every[:: max(1, math.ceil(width / between))]


def _draw_line(axes: Axes, one: Points, middle: float, floor: int) -> None:
    """Draw from what was seen to what is asked for: warm where more was seen than is asked for."""
    seen, asked, candidates, advised = one
    if seen is not None and asked:
        axes.plot(
            [max(seen, floor), asked],
            [middle, middle],
            color=WARM if seen > asked else QUIET,
            linewidth=2.2,
            solid_capstyle="butt",
            zorder=2,
        )
    if asked:
        axes.plot([asked], [middle], "o", markersize=5, color=SKY, markeredgecolor=BLUE, markeredgewidth=0.6, zorder=3)
    for candidate in candidates:
        axes.plot([candidate, candidate], [middle - 1.4, middle + 1.4], color=INK, linewidth=0.8, zorder=4)
    if seen is not None:
        axes.plot([max(seen, floor)], [middle], "o", markersize=3.6, color=WARM if asked and seen > asked else BLUE, zorder=5)
    if advised is not None:
        axes.plot([advised], [middle], "D", markersize=4.2, color="white", markeredgecolor=INK, markeredgewidth=1.0, zorder=6)


def _marks(points: Sequence[Points]) -> list[tuple[str, str, str, str]]:
    """Give the marks that occur: shape, fill, edge and name."""
    over = any(seen is not None and asked and seen > asked for seen, asked, _, _ in points)
    return [
        ("o", BLUE, BLUE, "seen"),
        ("o", SKY, BLUE, "asked for"),
        *([("o", WARM, WARM, "more seen than asked for")] if over else []),
        *([("|", INK, INK, "candidates")] if any(candidates for _, _, candidates, _ in points) else []),
        *([("D", "white", INK, "advised")] if any(advised is not None for *_, advised in points) else []),
    ]


def _draw_key(drawn: Figure, axes: Axes, size_mm: tuple[float, float], marks: Sequence[tuple[str, str, str, str]]) -> None:
    """Name the marks at the top, from the left edge, in a second line where one does not hold them."""
    width, height = size_mm
    place, line = 0.0, height - 2.0
    for marker, fill, edge, text in marks:
        if place + 3.6 + text_mm(text) > width:
            place, line = 0.0, line - 3.8
        axes.plot(
            [(place + 1.5) / width],
            [line / height],
            marker,
            markersize=4.2,
            color=fill,
            markeredgecolor=edge,
            markeredgewidth=0.8,
            transform=drawn.transFigure,
            clip_on=False,
        )
        axes.annotate(text, ((place + 3.6) / width, line / height), xycoords="figure fraction", va="center_baseline", color=SECONDARY)
        place += 3.6 + text_mm(text) + 4
