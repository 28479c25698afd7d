"""How many pods use how much: quiet bars, and the line that adds them up, with its telling points named."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, QUIET, SECONDARY, canvas, ceiling, even_ticks
from batch.report.charts.labels import Point, place
from batch.report.format import format_count, format_ratio, format_value, scale
from batch.report.measure import text_mm
from batch.report.model import Histogram

_HEIGHT_MM = 54.0
_LEFT_MM, _RIGHT_MM, _TOP_MM, _BOTTOM_MM = 11.0, 11.0, 8.0, 12.0
_LABEL_MM = 3.6
_TICK_GAP_MM = 3.0
_ROOMY_MM = 110
"""From this width on there is room for sentences."""

_NAMES = {0.5: "half use less than", 0.9: "nine in ten use less than", 0.99: "99 in 100 use less than"}
_SHORT_NAMES = {0.5: "half:", 0.9: "nine in ten:", 0.99: "99 in 100:"}
_FACTORS = {"bytes": (1024.0**2, (2, 4, 16, 64)), "nanocores": (10.0**6, (10, 100, 1000))}
"""A round amount, and the steps that a logarithmic axis may take from it."""

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_CEILING = 1.03
"""Room above the highest grid line, so that a line along it keeps its full width."""


def figure(data: Histogram, width_mm: float) -> Figure:
    """Draw the bars against the left axis and the line against the right one; the grid serves both."""
    drawn, axes = canvas(width_mm, _HEIGHT_MM, left=_LEFT_MM, right=_RIGHT_MM, top=_TOP_MM, bottom=_BOTTOM_MM)
    edges, counts = _with_bin_below(data)
    axes.stairs(counts, edges, fill=True, color=QUIET, linewidth=0)
    top = ceiling(max(counts))
    axes.set_ylim(0, top * _CEILING)
    axes.set_yticks([top * quarter for quarter in _QUARTERS], [format_count(top * quarter) for quarter in _QUARTERS])
    unit = _set_x_axis(axes, data, edges, width_mm - _LEFT_MM - _RIGHT_MM)
    axes.set_xlabel(f"{data.what}, {unit}" if unit else data.what, color=SECONDARY, labelpad=3)
    axes.text(0, 1.06, "Pods", transform=axes.transAxes, color=SECONDARY)
    axes.text(1, 1.06, "Share of pods at or below", transform=axes.transAxes, color=BLUE, ha="right")
    shares = _share_axes(axes)
    xs, ys = _curve(data, edges)
    shares.step(xs, ys, where="post", color=BLUE, linewidth=1.5)
    _name_marks(shares, data, edges, (xs, ys), width_mm)
    return drawn


def _with_bin_below(data: Histogram) -> tuple[list[float], list[int]]:
    """Put a bin in front for the pods below a logarithmic axis."""
    if not data.zero_count:
        return list(data.edges), list(data.counts)
    width = max((data.edges[-1] / data.edges[0]) ** 0.06, data.edges[1] / data.edges[0])
    return [data.edges[0] / width, *data.edges], [data.zero_count, *data.counts]


def _curve(data: Histogram, edges: Sequence[float]) -> tuple[list[float], list[float]]:
    below = data.zero_count / (data.zero_count + sum(data.counts))
    inside = [(value, share) for value, share in data.curve if value >= data.edges[0]]
    points = [(edges[0], below), *inside, (edges[-1], 1.0)]
    return [value for value, _ in points], [share for _, share in points]


def _set_x_axis(axes: Axes, data: Histogram, edges: Sequence[float], across_mm: float) -> str:
    """Set limits and ticks; give the unit that all ticks share, "" where each names its own."""
    few = across_mm < _ROOMY_MM
    if not data.logarithmic:
        scaled = scale(data.kind, [edges[-1] / 2])
        ticks = even_ticks(edges[-1] / scaled.divisor, 5 if few else 10)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xticks([tick * scaled.divisor for tick in ticks], [f"{tick:,.10g}" for tick in ticks])
        return scaled.unit
    axes.set_xscale("log")
    axes.set_xlim(edges[0], edges[-1])
    places = _log_ticks(data, 4 if few else 9)
    labels = [format_value(place, data.kind) for place in places]
    if data.zero_count:
        places, labels = [math.sqrt(edges[0] * edges[1]), *places], [f"< {format_value(edges[1], data.kind)}", *labels]
    shown = _apart([(_position(place, edges, logarithmic=True), label) for place, label in zip(places, labels, strict=True)], across_mm)
    axes.set_xticks([places[number] for number in shown], [labels[number] for number in shown])
    axes.minorticks_off()
    return ""


def _apart(labels: Sequence[tuple[float, str]], across_mm: float) -> list[int]:
    """Choose labels (place, text), the first one always, that leave a gap to the one before them."""
    chosen: list[int] = []
    end = -math.inf
    for number, (middle, text) in enumerate(labels):
        half = text_mm(text) / 2
        if middle * across_mm - half > end:
            chosen.append(number)
            end = middle * across_mm + half + _TICK_GAP_MM
    return chosen


def _log_ticks(data: Histogram, most: int) -> list[float]:
    """Give ticks at round amounts within the axis, as many as fit."""
    base, factors = _FACTORS[data.kind]
    for factor in factors:
        low = math.ceil(math.log(data.edges[0] / base, factor) - 1e-9)
        high = math.floor(math.log(data.edges[-1] / base, factor) + 1e-9)
        if high - low < most:
            break
    return [base * float(factor) ** power for power in range(low, high + 1)]


def _share_axes(axes: Axes) -> Axes:
    shares: Axes = axes.twinx()
    shares.set_ylim(0, _CEILING)
    shares.set_yticks(_QUARTERS, [format_ratio(share) for share in _QUARTERS])
    shares.tick_params(axis="y", length=0, labelcolor=BLUE, pad=3)
    for spine in shares.spines.values():
        spine.set_visible(False)
    return shares


def _name_marks(
    shares: Axes, data: Histogram, edges: Sequence[float], curve: tuple[Sequence[float], Sequence[float]], width_mm: float
) -> None:
    """Put a dot and a label at each mark that the axis shows."""
    across_mm, up_mm = width_mm - _LEFT_MM - _RIGHT_MM, _HEIGHT_MM - _TOP_MM - _BOTTOM_MM
    names = _NAMES if across_mm >= _ROOMY_MM else _SHORT_NAMES
    xs = [_position(x, edges, logarithmic=data.logarithmic) for x in curve[0]]
    points = []
    for share, value in data.marks:
        if value >= data.edges[0]:
            text = f"{names[share]} {format_value(value, data.kind)}"
            x = _position(value, edges, logarithmic=data.logarithmic)
            points.append(Point(x, share / _CEILING, text, text_mm(text, "bold") / across_mm))
            shares.plot([value], [share], "o", markersize=4, markerfacecolor="white", markeredgecolor=INK, markeredgewidth=1, zorder=5)
    for label in place(points, lambda x: float(np.interp(x, xs, curve[1])) / _CEILING, _LABEL_MM / up_mm):
        shares.text(label.x, label.y, label.text, transform=shares.transAxes, weight="bold", zorder=6)


def _position(value: float, edges: Sequence[float], *, logarithmic: bool) -> float:
    """Give the place of a value along the axis, from 0 to 1."""
    if logarithmic:
        return math.log(value / edges[0]) / math.log(edges[-1] / edges[0])
    return (value - edges[0]) / (edges[-1] - edges[0])
