"""Rows that all members of a group have in common, such as pods of one template: held once, and given to each in the end."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from batch.snapshot.schema import INTEGER, Column, Schema

GROUP = Column("group", INTEGER, "number of the group, from 0")


class SharedRows:
    """Rows of one table by group. The columns `own` differ from member to member, and are not in them."""

    def __init__(self, schema: Schema, own: Collection[str]) -> None:
        self._schema = schema
        columns = (GROUP, *(column for column in schema.columns if column.name not in own))
        self._rows = Schema(schema.name, schema.meaning, (GROUP.name,), columns).builder()

    def add(self, group: int, row: Sequence[Any]) -> None:
        """Append a row of a group, without the member's own columns. Groups come in ascending order; a group may have none, or many."""
        self._rows.add((group, *row))

    def frame(self, members: pa.Table, own: pa.Table | None = None) -> pd.DataFrame:
        """Give every member the rows of its group, by key, as Schema.unchecked does.

        `members` has their groups and own columns, in the order in which they were read. `own` has further columns that differ from row to row, in the order
        of the rows: those of the first member first.
        """
        rows = self._rows.table()
        of_member, of_row = _pairs(members[GROUP.name].to_numpy(), rows[GROUP.name].to_numpy())
        parts = [(rows, of_row), (members, of_member)]
        if own is not None:
            parts.append((own, pa.arange(0, len(own))))
        order = self._schema.order(_gather(parts, self._schema.key))
        ordered = [(table, numbers.take(order)) for table, numbers in parts]
        return self._schema.unchecked(_gather(ordered, [c.name for c in self._schema.columns]))


def _gather(parts: Sequence[tuple[pa.Table, pa.Array]], names: Collection[str]) -> pa.Table:
    """Put a table together from columns of others, each with the numbers of its rows."""
    return pa.table({name: table[name].take(numbers) for table, numbers in parts for name in table.column_names if name in names})


def _pairs(group_of_member: np.ndarray, group_of_row: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Pair every member with every row of its group; give the numbers of the members and of the rows."""
    group_count = int(max(group_of_member.max(initial=-1), group_of_row.max(initial=-1))) + 1
    count = np.bincount(group_of_row, minlength=group_count)
    first = np.cumsum(count) - count
    count_of_member = count[group_of_member]
    of_member = np.repeat(np.arange(len(group_of_member)), count_of_member)
    before = np.cumsum(count_of_member) - count_of_member
    of_row = np.repeat(first[group_of_member] - before, count_of_member) + np.arange(len(of_member))
    return pa.array(of_member), pa.array(of_row)
