"""Schema and Column: name, key, dtype, unit, meaning and nullability of a table, and the check that a frame has them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# Tables of a night are made and dropped piece by piece; Arrow's own pool keeps their memory in huge pages: 40 MiB more at 30,000 pods.
pa.set_memory_pool(pa.system_memory_pool())

INTEGER = pa.int64()
REAL = pa.float64()
"""For ratios and means alone; what is counted or added up is INTEGER."""
TEXT = pa.string()
FLAG = pa.bool_()
INSTANT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True)
class Column:
    """One column. `unit` is "" for text and flags; a column that is not nullable never holds NA."""

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    nullable: bool = False


@dataclass(frozen=True)
class Schema:
    """One table: its columns in order and the columns that identify a row."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @functools.cached_property
    def arrow(self) -> pa.Schema:
        """The pyarrow schema that the Parquet file has."""
        return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in self.columns])

    def frame(self, rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
        """Build a checked DataFrame from row tuples in column order; no rows give an empty table of the right shape."""
        by_column = list(zip(*rows, strict=True)) or [()] * len(self.columns)
        return self.from_columns({c.name: values for c, values in zip(self.columns, by_column, strict=True)})

    def builder(self) -> TableBuilder:
        """Begin a table that grows row by row."""
        return TableBuilder(self)

    def from_columns(self, values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
        """Build a checked DataFrame from one sequence a column (None is NA)."""
        arrays = [pa.array(values[c.name], type=c.type, from_pandas=True) for c in self.columns]
        return self.from_arrow(pa.Table.from_arrays(arrays, schema=self.arrow))

    def from_rows(self, table: pa.Table) -> pd.DataFrame:
        """Take over rows in the order in which they were read: sorted by key; of rows with the same key only the last one. See `unchecked`."""
        return self.unchecked(table.take(self.order(table)))

    def order(self, table: pa.Table) -> pa.Array:
        """Give the numbers of the rows by key; of rows with the same key only the last one. Only the key's columns are looked at."""
        numbered = table.select(list(self.key)).append_column("order", pa.arange(0, len(table)))
        ordered = numbered.sort_by([(name, "ascending") for name in (*self.key, "order")])
        return ordered["order"].filter(_last_of_each(ordered, self.key)).combine_chunks()

    def from_arrow(self, table: pa.Table) -> pd.DataFrame:
        """Take over and check an Arrow table, with Arrow-backed dtypes so that missing stays missing and integers stay integers."""
        frame = self.unchecked(table)
        self.check(frame)
        return frame

    def unchecked(self, table: pa.Table) -> pd.DataFrame:
        """Take over an Arrow table that is checked later: what is collected is checked once, as a Snapshot."""
        frame: pd.DataFrame = table.select([c.name for c in self.columns]).cast(self.arrow).to_pandas(types_mapper=pd.ArrowDtype)
        return frame

    def to_arrow(self, frame: pd.DataFrame) -> pa.Table:
        """Give the frame as an Arrow table without pandas' metadata, so that equal frames give equal bytes."""
        return pa.Table.from_pandas(frame, schema=self.arrow, preserve_index=False).replace_schema_metadata(None)

    def check(self, frame: pd.DataFrame) -> None:
        """Raise ValueError when the frame has other columns or types, NA where none may be, or a key twice."""
        expected = {c.name: pd.ArrowDtype(c.type) for c in self.columns}
        found = dict(frame.dtypes.items())
        if list(found) != list(expected) or found != expected:
            raise ValueError(f"table {self.name}: columns {found} are not {expected}")
        for column in self.columns:
            if not column.nullable and frame[column.name].isna().any():
                raise ValueError(f"table {self.name}: {column.name} is missing in {int(frame[column.name].isna().sum())} rows")
        if frame.duplicated(list(self.key)).any():
            twice = frame.loc[frame.duplicated(list(self.key)), list(self.key)].iloc[0].to_dict()
            raise ValueError(f"table {self.name}: {twice} stands there twice")


class TableBuilder:
    """Gathers rows into Arrow batches, so that a table of 150,000 rows is held once and compactly while it grows."""

    _BATCH = 1024
    """Rows that are held as Python's objects: some 500 KiB, which a core's cache still has when they are put into columns."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._rows: list[Sequence[Any]] = []
        self._batches: list[pa.RecordBatch] = []

    def add(self, row: Sequence[Any]) -> None:
        """Append one row in column order."""
        self._rows.append(row)
        if len(self._rows) >= self._BATCH:
            self._flush()

    def extend(self, rows: Iterable[Sequence[Any]]) -> None:
        """Append rows in column order."""
        self._rows.extend(rows)
        if len(self._rows) >= self._BATCH:
            self._flush()

    def join(self, other: TableBuilder) -> None:
        """Append all rows of another builder of the same schema."""
        self._flush()
        other._flush()
        self._batches += other._batches

    def frame(self) -> pd.DataFrame:
        """Give the rows sorted by key; of rows with the same key only the last one added."""
        return self._schema.from_rows(self.table())

    def table(self) -> pa.Table:
        """Give the rows in the order in which they were added."""
        self._flush()
        return pa.Table.from_batches(self._batches, schema=self._schema.arrow).combine_chunks()  # take is slow on many chunks

    def _flush(self) -> None:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._schema.columns)
        arrays = [pa.array(values, type=c.type) for c, values in zip(self._schema.columns, columns, strict=True)]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema.arrow))
        self._rows = []


def _last_of_each(ordered: pa.Table, key: Sequence[str]) -> pa.Array:
    """Mark the last row of each run of equal keys in a table sorted by them."""
    if len(ordered) < 2:  # noqa: PLR2004  one row has no neighbour
        return pa.array([True] * len(ordered), pa.bool_())
    differs = pa.scalar(False)  # noqa: FBT003  an Arrow scalar
    for name in key:
        column = ordered[name].combine_chunks()
        differs = pc.or_(pc.not_equal(column.slice(0, len(column) - 1), column.slice(1)), differs)
    return pa.concat_arrays([differs, pa.array([True])])
