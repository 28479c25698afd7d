"""docs/schemas.md: every table of a snapshot, from the code."""

from __future__ import annotations

import sys

from batch.snapshot.schema import Schema
from batch.snapshot.schemas import FORMAT_VERSION, SCHEMAS


def page() -> str:
    """Describe every table in Markdown."""
    lines = [
        "# Tables of a snapshot",
        "",
        f"Format version {FORMAT_VERSION}. Each table is a Parquet file in the run's `snapshot/` folder. Missing is NA, never 0.",
        "",
    ]
    for schema in SCHEMAS.values():
        lines += _table(schema)
    return "\n".join(lines).rstrip() + "\n"


def _table(schema: Schema) -> list[str]:
    head = [f"## {schema.name}", "", f"{schema.meaning[0].upper()}{schema.meaning[1:]}. Key: {', '.join(schema.key)}.", ""]
    rows = [
        f"| {column.name} | {column.type} | {column.unit} | {'yes' if column.nullable else ''} | {column.meaning} |"
        for column in schema.columns
    ]
    return [*head, "| column | type | unit | may be NA | meaning |", "| --- | --- | --- | --- | --- |", *rows, ""]


if __name__ == "__main__":
    sys.stdout.write(page())
