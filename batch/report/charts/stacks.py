"""Bars that each are a whole, split by what becomes of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batch.report.charts.canvas import BLUE, INK, MIDDLE, QUIET, SAND, SECONDARY, SKY, WARM, canvas
from batch.report.format import format_count
from batch.report.measure import clipped, text_mm
from batch.report.model import Stacks

_ROOMY_MM = 120
_LINE_MM, _TOP_MM, _BOTTOM_MM = 4.4, 2.6, 1.0
_TONES = {
    "use": (BLUE, "white"),
    "other use": (MIDDLE, "white"),
    "doubt": (SAND, INK),
    "room": (SKY, INK),
    "trouble": (WARM, "white"),
    "quiet": (QUIET, INK),
}
"""Fill of a tone, and the colour of a number in it. They differ in lightness, so that grey print tells them apart."""

_BAR_MM = 4.6
_MOST_NAME_MM = 56.0
_KEY_MM, _KEY_GAP_MM = 4.2, 4.0


def figure(data: Stacks, width_mm: float) -> Figure:
    """Draw one bar a line, its name at its left (above it where there is little room) and its sum at its right."""
    roomy = width_mm >= _ROOMY_MM
    names = max((text_mm(name) for name, _ in data.bars), default=0.0)
    left, right, step = (min(names + 4, _MOST_NAME_MM), 16.0, 7.4) if roomy else (0.0, 14.0, 10.4)
    keys = list(_key_lines(data.parts, width_mm))
    top = _TOP_MM + _LINE_MM * len(keys)
    drawn, axes = canvas(width_mm, top + _BOTTOM_MM + step * len(data.bars), left=left, right=right, top=top, bottom=_BOTTOM_MM)
    across = width_mm - left - right
    most = max((sum(sizes) for _, sizes in data.bars), default=0.0)
    axes.set_axis_off()
    axes.set_xlim(0, across)
    axes.set_ylim(step * len(data.bars), 0)
    for number, (name, sizes) in enumerate(data.bars):
        middle = step * number + (step / 2 if roomy else step - _BAR_MM / 2 - 0.6)
        whole = most if data.alike else sum(sizes)
        end = _draw_bar(axes, data, sizes, middle, across / whole if whole else 0.0)
        place = end if data.alike else across
        axes.text(place + 2, middle, format_count(_rounded(sum(sizes))), va="center_baseline", color=INK, weight="bold")
        if roomy:
            axes.text(-left, middle, clipped(name, left - 3), va="center_baseline")
        else:
            axes.text(0, middle - _BAR_MM / 2 - 1.0, clipped(name, width_mm))
    _draw_keys(axes, keys, left, top)
    return drawn


def _draw_bar(axes: Axes, data: Stacks, sizes: tuple[float, ...], middle: float, scale: float) -> float:
    """Draw the pieces side by side, a number in each where it fits; give where they end."""
    start = 0.0
    for size, (_, tone) in zip(sizes, data.parts, strict=True):
        length = scale * size
        if not size:
            continue
        fill, color = _TONES[tone]
        axes.barh(middle, length, _BAR_MM, left=start, color=fill, linewidth=0)
        text = format_count(_rounded(size))
        if text_mm(text) + 1.5 <= length:
            axes.text(start + length / 2, middle, text, ha="center", va="center_baseline", color=color)
        start += length
    return start


def _rounded(size: float) -> float:
    """Leave one decimal below ten, none above: hours need no more."""
    return round(size, 1) if size < 10 else round(size)  # noqa: PLR2004


Keys = list[tuple[float, str, str]]
"""Place in mm, name and tone."""


def _key_lines(parts: Sequence[tuple[str, str]], width_mm: float) -> Iterator[Keys]:
    """Lay the names of the pieces out in lines, in their order."""
    line: Keys = []
    place = 0.0
    for name, tone in parts:
        needed = _KEY_MM + text_mm(name)
        if line and place + needed > width_mm:
            yield line
            line, place = [], 0.0
        line.append((place, name, tone))
        place += needed + _KEY_GAP_MM
    yield line


def _draw_keys(axes: Axes, keys: Sequence[Keys], left: float, top: float) -> None:
    """Name the fills in lines above the bars."""
    for number, (place, name, tone) in itertools.chain.from_iterable(((n, one) for one in line) for n, line in enumerate(keys)):
        middle = -top + _LINE_MM * number + 2.0
        axes.barh(middle, 3.0, 2.0, left=place - left, color=_TONES[tone][0], linewidth=0, clip_on=False)
        axes.text(place - left + _KEY_MM, middle, name, va="center_baseline", color=SECONDARY)
