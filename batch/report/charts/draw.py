"""The door to the charts: a drawing in, its SVG out."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from batch.report.charts import agenda, chances, courses, fills, lanes, needs, spans, stacks, usage
from batch.report.charts.canvas import STYLE
from batch.report.measure import register_fonts
from batch.report.model import Agenda, Chances, Course, Fills, Histogram, Lanes, Needs, Spans, Stacks

WIDE_MM, NARROW_MM = 174.0, 92.0
"""The text width of an A4 page, and about that of a phone on which letters have the same size."""

_PNG_DPI = 192
"""Twice the 96 of a CSS pixel."""

Drawing = Histogram | Needs | Stacks | Spans | Chances | Fills | Lanes | Agenda | Course


def draw(drawing: Drawing, width_mm: float) -> str:
    """Draw at true size; equal drawings give equal SVG."""
    register_fonts()
    with rc_context(STYLE), warnings.catch_warnings():
        # text stays text in the SVG: whoever shows it chooses a font for each character, and the PDF's maker tells what none has
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        out = io.StringIO()
        _figure(drawing, width_mm).savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def draw_png(drawing: Drawing, width_mm: float) -> bytes:
    """Draw as a PNG of twice the pixels that a screen has for that width, on white: mail programs know no SVG."""
    register_fonts()
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        out = io.BytesIO()
        figure = _figure(drawing, width_mm)
        figure.savefig(out, format="png", dpi=_PNG_DPI, facecolor="white", metadata={"Software": None})
    return out.getvalue()


def embedded(svg: str, prefix: str) -> str:
    """Give an SVG to stand inside an HTML page: without XML head, as wide as there is room, its ids unlike those of other pictures."""
    body = re.sub(r'\bid="', f'id="{prefix}-', svg[svg.index("<svg") :])
    body = re.sub(r'(href="|url\()#', rf"\g<1>#{prefix}-", body)
    return re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", body, count=1), count=1)


def _figure(drawing: Drawing, width_mm: float) -> Figure:
    make: Callable[[Any, float], Figure] = _FIGURES[type(drawing)]
    return make(drawing, width_mm)


_FIGURES: dict[type[Drawing], Callable[[Any, float], Figure]] = {
    Histogram: usage.figure,
    Needs: needs.figure,
    Chances: chances.figure,
    Fills: fills.figure,
    Spans: spans.figure,
    Stacks: stacks.figure,
    Lanes: lanes.figure,
    Agenda: agenda.figure,
    Course: courses.figure,
}
"""One function for each kind of Drawing."""
