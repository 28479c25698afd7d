from typing import Any

from batch.findings import message
from batch.report.format import render_message
from batch.report.model import Bar, Column, Row, Table
from batch.report.tables import display

GIB = 1024**3


def table(rows: tuple[Row, ...], **more: Any) -> Table:
    columns = (Column("Node", "name"), Column("Memory", "bytes"), Column("", "bar"), Column("Share", "ratio"))
    return Table("nodes", columns, rows, row_count=len(rows), **more)


def row(name: str, memory: int | None = GIB) -> Row:
    return Row((name, memory, Bar(0.5, None), 0.5))


def test_units_stand_in_the_head_and_numbers_alone_in_the_cells() -> None:
    shown = display(table((row("a", 64 * GIB), row("b", None))), limit=10)
    assert [(head.title, head.unit, head.style) for head in shown.heads] == [
        ("Node", "", "name"),
        ("Memory", "GiB", "number"),
        ("", "", "bars"),
        ("Share", "%", "number"),
    ]
    assert [[cell.text for cell in line.cells] for line in shown.lines] == [["a", "64", "", "50"], ["b", "–", "", "50"]]  # noqa: RUF001  an en dash is meant
    assert shown.has_unknown


def test_a_bar_of_nothing_known_is_not_drawn() -> None:
    shown = display(table((Row(("a", None, Bar(None, None), None)),)), limit=10)
    assert shown.lines[0].cells[2].bar is None


def test_only_the_first_rows_are_shown_and_the_rest_is_named() -> None:
    many = table(tuple(row(f"n{i}") for i in range(30)), order="fullest", file="tables/nodes.csv")
    shown = display(many, limit=20)
    assert len(shown.lines) == 20
    assert shown.caption
    assert render_message(shown.caption) == "The first 20 of 30 nodes, fullest first."
    assert (shown.where, shown.file) == ("All are in", "tables/nodes.csv")


def test_widths_add_up_and_names_give_way_to_numbers() -> None:
    long, short = display(table((row("n" * 253),)), limit=10), display(table((row("n"),)), limit=10)
    assert abs(sum(head.width for head in long.heads) - 1) < 1e-9
    assert long.heads[0].width < 0.7
    assert short.heads[0].width < long.heads[0].width


def test_a_message_in_a_cell_and_a_common_head_of_columns() -> None:
    columns = (Column("", "message"), Column("CPU", "nanocores", "Room"), Column("Memory", "bytes", "Room"))
    shown = display(Table("rows", columns, (Row((message("{q:quantile}", q=0.9), 10**9, GIB)),)), limit=10)
    assert shown.groups == (("", 1), ("Room", 2))
    assert shown.lines[0].cells[0].text == "p90"
