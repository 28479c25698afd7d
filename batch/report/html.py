"""Puts sections into a page: one for the screen, one to make the PDF from."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from batch import __version__
from batch.findings import Finding, Severity
from batch.report.charts.draw import NARROW_MM, WIDE_MM, Drawing, draw, embedded
from batch.report.format import clean, figure, format_count, format_date, format_instant, render_html, render_message
from batch.report.model import MOST_ROWS, Chart, Run, Section
from batch.report.paths import FONTS, TEMPLATES
from batch.report.tables import display
from batch.snapshot.model import Snapshot

Filters = dict[str, Callable[..., object]]

_WEIGHTS = {"Regular": 400, "Medium": 500, "SemiBold": 600, "Bold": 700}
_URGENCY = {Severity.CRITICAL: "Act now", Severity.WARNING: "Look into", Severity.ADVICE: "Consider"}
_LONGEST_IN_HEADER = 60
_NAMED_ON_PAPER, _NOTED_ON_PAPER = 3, 5
"""Objects of a finding, and findings of a section, that paper has room for; the screen shows them all."""


class Pictures:
    """Draws every chart once for each width, however many pages show it."""

    def __init__(self) -> None:
        self._drawn: dict[tuple[Drawing, float], str] = {}

    def svg(self, drawing: Drawing, width_mm: float) -> str:
        """Give a drawing as SVG."""
        if (drawing, width_mm) not in self._drawn:
            self._drawn[drawing, width_mm] = draw(drawing, width_mm)
        return self._drawn[drawing, width_mm]


def screen_page(sections: Sequence[Section], run: Run, snapshot: Snapshot, pictures: Pictures) -> str:
    """Make the page for browsers, which holds its fonts and pictures and needs neither network nor script."""
    fonts = {name: f"data:font/woff2;base64,{_base64(FONTS / f'Inter-{name}.woff2')}" for name in _WEIGHTS}
    filters: Filters = {"display": partial(display, limit=MOST_ROWS), "picture": partial(_embedded_picture, pictures)}
    return _render(sections, run, snapshot, fonts, filters, paged=False)


def print_page(sections: Sequence[Section], run: Run, snapshot: Snapshot, pictures: Pictures, top_rows: int) -> str:
    """Make the page that the PDF is made from; its fonts are called asset:FILE."""
    fonts = {name: f"asset:Inter-{name}.ttf" for name in _WEIGHTS}
    filters: Filters = {"display": partial(display, limit=top_rows), "picture": partial(_image, pictures)}
    return _render(sections, run, snapshot, fonts, filters, paged=True)


def _render(
    sections: Sequence[Section],
    run: Run,
    snapshot: Snapshot,
    fonts: Mapping[str, str],
    filters: Filters,
    *,
    paged: bool,
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,  # by force: select_autoescape looks at the file's ending, and .j2 would switch it off
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS | filters)
    styles = ("common.css", "print.css" if paged else "screen.css")
    return environment.get_template("report.html.j2").render(
        paged=paged,
        sections=sections,
        run=run,
        cluster=clean(snapshot.cluster),
        header=clean(snapshot.cluster, _LONGEST_IN_HEADER),
        version=__version__,
        fonts=[(Markup(source), _WEIGHTS[name]) for name, source in fonts.items()],  # noqa: S704  paths and data of this program
        styles=[Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in styles],  # noqa: S704  files of this program
        urgency=_URGENCY,
        noted_count=_NOTED_ON_PAPER if paged else None,
    )


def _image(pictures: Pictures, chart: Chart, _name: str) -> Markup:
    """Give a chart as an image in a data URI: WeasyPrint then uses the page's fonts in it, and its log stays quiet."""
    data = base64.b64encode(pictures.svg(chart.drawing, WIDE_MM).encode()).decode("ascii")
    return Markup('<img class="chart" alt="{}" src="data:image/svg+xml;base64,{}">').format(render_message(chart.alt), data)


def _embedded_picture(pictures: Pictures, chart: Chart, name: str) -> Markup:
    """Give a chart as part of the page, for wide and for narrow screens: browsers use the page's fonts only so."""
    figures = (
        Markup('<div class="chart {}" role="img" aria-label="{}">{}</div>').format(
            size,
            render_message(chart.alt),
            Markup(embedded(pictures.svg(chart.drawing, width), f"{_anchor(name)}-{size}")),  # noqa: S704  drawn here; matplotlib escapes its texts
        )
        for size, width in (("wide", WIDE_MM), ("narrow", NARROW_MM))
    )
    return Markup().join(figures)


def _objects(finding: Finding) -> str:
    """Name the first objects that the sentences of a finding do not name already."""
    sentences = " ".join(render_message(sentence) for sentence in (finding.title, finding.action, finding.detail))
    names = [name for name in map(clean, finding.objects) if name not in sentences]
    return ", ".join(names[:_NAMED_ON_PAPER]) + (", …" if len(names) > _NAMED_ON_PAPER else "")


def _width(ratio: float | None) -> str:
    """Write a ratio as a CSS length; the only way by which a number gets into a style."""
    return f"{100 * min(max(float(ratio or 0), 0), 1):.2f}%"


def _anchor(slug: str) -> str:
    """Write a slug so that it can be an id and the end of a link, whatever a profile is called."""
    return re.sub(r"[^A-Za-z0-9-]", lambda character: f"_{ord(character[0]):x}", slug)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")


_FILTERS: Filters = {
    "say": render_html,
    "tell": lambda sentences: Markup(" ").join(map(render_html, sentences)),
    "plain": render_message,
    "figure": figure,
    "count": format_count,
    "date": format_date,
    "instant": format_instant,
    "width": _width,
    "em": lambda number: f"{float(number):.1f}em",
    "clean": clean,
    "path": lambda name: quote(name, safe="/"),
    "anchor": _anchor,
    "objects": _objects,
}
