"""What a mail tells of a report: its first page, and the two pictures that say most."""

from __future__ import annotations

from collections.abc import Sequence

from batch.report.charts.draw import draw_png
from batch.report.model import Chart, Letter, Picture, Section

PICTURE_MM = 142.0
"""Width of a picture: 536 CSS pixels, which is what a mail of 600 leaves between its margins."""

_MOST_PICTURES = 2
_FIRST = ("trends",)
"""Sections whose pictures come first, when they have some."""


def letter(sections: Sequence[Section]) -> Letter:
    """Take the first page and the first pictures of a report; the first section is the summary."""
    ordered = sorted(sections, key=lambda section: section.slug not in _FIRST)
    charts = [chart for section in ordered for chart in section.charts.values()]
    return Letter(sections[0], tuple(map(_picture, charts[:_MOST_PICTURES])))


def _picture(chart: Chart) -> Picture:
    return Picture(chart.title, chart.subtitle, chart.alt, draw_png(chart.drawing, PICTURE_MM))
