"""Turns a Table of values in base units into what a page shows: text, units, widths, and how much of it there is."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from batch.findings import Message, message
from batch.report.format import NO_VALUE, Scale, clean, render_message, scale
from batch.report.measure import text_mm
from batch.report.model import Bar, Column, Row, Table

_SCALED = ("bytes", "nanocores", "count", "ratio", "probability")

_DIGITS = re.compile(r"\d")
_PAPER_MM = 174.0
_BAR_MM = 15.0
_PADDING_MM = 2.2
_POINTS, _HEAD_POINTS = 8.0, 7.4
"""Sizes of letters in print.css."""

_EM_MM = _POINTS * 25.4 / 72
_SCREEN = 1.08
"""Cells have a little more room on the screen."""

_LEAST_MM, _MOST_MM = 18.0, 84.0
"""A column of names or words shrinks and grows between these."""

_MARK_MM = 4.0
"""Room for the mark before the status of a check."""

_MEASURED = 3
"""Texts of a column, the ones with most characters, that are measured: one of them is the widest, or nearly."""

_SHORT = 8
"""Rows up to which a table is kept on one page."""

_STICKING_MM = 40.0
"""Width up to which the first column stays in sight while a phone scrolls the others: wider, it would hide them."""


@dataclass(frozen=True)
class Head:
    """The head of a column: its words, its unit, its share of the width, and how it is set ("name", "text", "number", "bars")."""

    title: str
    unit: str
    width: float
    style: str


@dataclass(frozen=True)
class Cell:
    """One cell: its text, or its bar, and how it stands out."""

    text: str
    bar: Bar | None
    style: str


@dataclass(frozen=True)
class Line:
    """One row of cells."""

    cells: tuple[Cell, ...]
    chosen: bool


@dataclass(frozen=True)
class Display:
    """A table as it is shown.

    `groups` are common heads (name, columns); `em` is a width in which no number has to wrap; `is_short` keeps it on one page; `sticks`
    keeps its first column in sight.
    """

    title: Message | None
    groups: tuple[tuple[str, int], ...]
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    total: Line | None
    caption: Message | None
    where: str
    file: str
    bars: tuple[str, ...]
    notes: tuple[Message, ...]
    has_unknown: bool
    is_short: bool
    sticks: bool
    em: float


def display(table: Table, limit: int) -> Display:
    """Show at most `limit` rows of a table."""
    rows = table.rows if table.whole else table.rows[:limit]
    scales = [_scale(column, place, table.columns, rows) for place, column in enumerate(table.columns)]
    lines = tuple(_line(table.columns, scales, row) for row in rows)
    total = _line(table.columns, scales, table.total) if table.total else None
    heads = [
        Head(column.title, scaled.unit if scaled else "", 0, _style(column)) for column, scaled in zip(table.columns, scales, strict=True)
    ]
    widths = _widths(heads, (*lines, total) if total else lines)
    return Display(
        title=table.title,
        groups=_groups(table.columns),
        heads=tuple(replace(head, width=width / sum(widths)) for head, width in zip(heads, widths, strict=True)),
        lines=lines,
        total=total,
        caption=_caption(table, len(rows)),
        where="All are in" if len(rows) < table.row_count else "Also in",
        file=table.file,
        bars=table.bars,
        notes=table.notes,
        has_unknown=any(cell.text == NO_VALUE for line in lines for cell in line.cells),
        is_short=len(lines) <= _SHORT,
        sticks=widths[0] <= _STICKING_MM,
        em=_SCREEN * sum(widths) / _EM_MM,
    )


def _groups(columns: Sequence[Column]) -> tuple[tuple[str, int], ...]:
    """Give runs of columns with a common head; nothing when no column has one."""
    runs = [(name, len(list(members))) for name, members in itertools.groupby(columns, key=lambda column: column.group)]
    return tuple(runs) if any(name for name, _ in runs) else ()


def _caption(table: Table, shown: int) -> Message | None:
    """Say how many rows there are, how many of them are shown, and in which order."""
    order = f", {table.order} first" if table.order else ""
    if shown < table.row_count:
        return message(f"The first {{shown:count}} of {{all:count}} {table.what}{order}.", shown=shown, all=table.row_count)
    if not table.file or table.row_count == 1:
        return None
    return message(f"{{all:count}} {table.what}{order}.", all=table.row_count)


def _scale(column: Column, place: int, columns: Sequence[Column], rows: Sequence[Row]) -> Scale | None:
    """Choose a scale for a column, and for those that share its `scale`, so that they can be compared."""
    if column.kind not in _SCALED:
        return None
    places = [other for other, one in enumerate(columns) if column.scale and one.scale == column.scale] or [place]
    return scale(column.kind, [cell for row in rows for other in places if not isinstance(cell := row.cells[other], str | Message)])


def _line(columns: Sequence[Column], scales: Sequence[Scale | None], row: Row) -> Line:
    return Line(
        tuple(
            _cell(column, scaled, value, _emphasis(row, place))
            for place, (column, scaled, value) in enumerate(zip(columns, scales, row.cells, strict=True))
        ),
        row.chosen,
    )


def _emphasis(row: Row, place: int) -> str:
    words = [word for word, places in (("strained", row.strained), ("strong", row.strong)) if place in places]
    return " ".join(words)


def _cell(column: Column, scaled: Scale | None, value: object, emphasis: str) -> Cell:
    style = f"{_style(column)} {value if column.kind == 'status' else emphasis}".strip()
    if isinstance(value, Bar):
        return Cell("", None if value.inner is value.outer is None else value, style)
    if value == "":
        return Cell("", None, style)
    if value is None:
        return Cell(NO_VALUE, None, style)
    if isinstance(value, Message):
        return Cell(render_message(value), None, style)
    return Cell(scaled.show(value) if scaled else clean(value), None, style)


def _style(column: Column) -> str:
    if column.kind in _SCALED or column.kind == "amount":
        return "number"
    return {"bar": "bars", "name": "name", "status": "status"}.get(column.kind, "text")


def _widths(heads: Sequence[Head], lines: Sequence[Line]) -> list[float]:
    """Give each column the mm that its widest text needs; where the paper has less, names and words wrap, numbers never."""
    widths = [_width(head, [line.cells[place] for line in lines]) for place, head in enumerate(heads)]
    wrapping = [place for place, head in enumerate(heads) if head.style in ("name", "text")]
    while sum(widths) > _PAPER_MM and wrapping:
        widest = max(wrapping, key=lambda place: widths[place])
        if widths[widest] <= _LEAST_MM:
            break
        widths[widest] -= 1
    return widths


def _width(head: Head, cells: Sequence[Cell]) -> float:
    if head.style == "bars":
        return _BAR_MM
    words = [*head.title.split(), head.unit]
    longest = sorted({cell.text for cell in cells}, key=lambda text: (-len(text), text))[:_MEASURED]
    texts = [_DIGITS.sub("0", text) for text in longest] if head.style == "number" else longest
    widest = max((text_mm(text, _weight(head), _POINTS) for text in texts), default=0.0) + (_MARK_MM if head.style == "status" else 0)
    return max(min(widest, _MOST_MM), *(text_mm(word, "medium", _HEAD_POINTS) for word in words)) + _PADDING_MM


def _weight(head: Head) -> str:
    """Names are set a little bolder, and any of the others may be."""
    return "medium" if head.style == "name" else "semibold" if head.style in ("number", "status") else "normal"
