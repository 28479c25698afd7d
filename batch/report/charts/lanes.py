"""What was at work in the last hours: a lane for each workload, its runs as bars by how they ended, a word on each at the right."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, QUIET, SECONDARY, SKY, WARM, canvas
from batch.report.charts.hours import set_hours
from batch.report.measure import clipped, middle_cut, text_mm
from batch.report.model import Lane, Lanes, Piece

_ROOMY_MM = 120
_TOP_MM, _BOTTOM_MM = 7.0, 6.5
_MOST_NAME_MM, _MOST_WORD_MM = 46.0, 34.0
_THIN_MM = 0.9
"""The shortest run is drawn that wide, so that it is seen."""

_BAR_MM = 3.0
_TIP_MM = 2.2
_FILLS = {"good": SKY, "bad": WARM, "open": BLUE, "waiting": QUIET}
_RED_TEXT = "#b84a00"


def figure(data: Lanes, width_mm: float) -> Figure:
    """Draw names at the left (above the lanes where there is little room) and words at the right."""
    roomy = width_mm >= _ROOMY_MM
    left = min(max(text_mm(lane.name) for lane in data.lanes) + 6, _MOST_NAME_MM) if roomy else 3.0
    right = min(max(text_mm(lane.word, "bold") for lane in data.lanes) + 3, _MOST_WORD_MM) if roomy else 1.0
    step = 5.6 if roomy else 8.8
    height = _TOP_MM + _BOTTOM_MM + step * len(data.lanes)
    drawn, axes = canvas(width_mm, height, left=left, right=right, top=_TOP_MM, bottom=_BOTTOM_MM)
    axes.set_ylim(step * len(data.lanes), 0)
    axes.set_yticks([])
    set_hours(axes, data.end, -data.hours, 0, 3 if roomy else 6)
    hours_a_mm = data.hours / (width_mm - left - right)
    for number, lane in enumerate(data.lanes):
        middle = step * number + (step / 2 if roomy else step - 2.2)
        for piece in _distinct(lane.pieces, hours_a_mm):
            _draw_piece(axes, piece, middle, hours_a_mm, data.hours)
        _name(axes, lane, middle, (width_mm, left, right), roomy=roomy)
    _draw_key(drawn, axes, data, (width_mm, height))
    return drawn


def _distinct(pieces: Iterable[Piece], hours_a_mm: float) -> Iterable[Piece]:
    """Leave out bars that begin where a longer one of their kind does: a thousand short runs draw no more than there is to see.

    The longest come first, so that those drawn over them are seen.
    """
    grain = hours_a_mm * _THIN_MM / 2
    longest_last = sorted(pieces, key=lambda piece: piece.begin - piece.end)
    seen = {(piece.kind, round(piece.begin / grain)): piece for piece in longest_last}
    return sorted(seen.values(), key=lambda piece: piece.end - piece.begin)


def _draw_piece(axes: Axes, piece: Piece, middle: float, hours_a_mm: float, hours: int) -> None:
    """Draw one run; a tip at its left says that it began before the chart does."""
    begin, end = max(-piece.begin, -hours), -piece.end
    if end - begin < _THIN_MM * hours_a_mm:
        begin, end = (end - _THIN_MM * hours_a_mm, end) if end > -hours + _THIN_MM * hours_a_mm else (begin, begin + _THIN_MM * hours_a_mm)
    axes.barh(middle, end - begin, _BAR_MM, left=begin, color=_FILLS[piece.kind], linewidth=0, zorder=3 if piece.kind == "bad" else 2)
    if piece.begin > hours:
        back = -hours - _TIP_MM / 2 * hours_a_mm
        axes.plot(
            [back], [middle], "<", markersize=_TIP_MM * 72 / 25.4, color=_FILLS[piece.kind], markeredgewidth=0, clip_on=False, zorder=4
        )


def _name(axes: Axes, lane: Lane, middle: float, widths: tuple[float, float, float], *, roomy: bool) -> None:
    width, left, right = widths
    color = _RED_TEXT if lane.strained else SECONDARY
    weight = "bold" if lane.strained else "normal"
    word = clipped(lane.word, (right - 3) if roomy else width / 2, weight)
    name = middle_cut(lane.name, (left - 5) if roomy else width - text_mm(word, weight) - 4)
    place = middle if roomy else middle - 3.9
    axes.annotate(name, (0, place), xycoords=("figure fraction", "data"), va="center_baseline", color=INK)
    if roomy:
        axes.annotate(
            word,
            (1, place),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center_baseline",
            color=color,
            weight=weight,
        )
    else:
        axes.annotate(word, (1, place), xycoords=("figure fraction", "data"), ha="right", va="center_baseline", color=color, weight=weight)


def _draw_key(drawn: Figure, axes: Axes, data: Lanes, size_mm: tuple[float, float]) -> None:
    """Name the fills that occur in a line at the top, from the left edge."""
    width, height = size_mm
    used = {piece.kind for lane in data.lanes for piece in lane.pieces}
    place, line = 0.0, 1 - 2.0 / height
    for kind, text in data.kinds:
        if kind not in used:
            continue
        bar = ((place + 0.2) / width, (place + 3.4) / width)
        axes.plot(bar, [line, line], color=_FILLS[kind], linewidth=5, solid_capstyle="butt", transform=drawn.transFigure, clip_on=False)
        axes.annotate(text, ((place + 4.6) / width, line), xycoords="figure fraction", va="center_baseline", color=SECONDARY)
        place += 4.6 + text_mm(text) + 4.5
