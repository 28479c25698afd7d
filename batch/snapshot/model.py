"""Snapshot and Gap: everything that was collected, and what could not be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

import pandas as pd

from batch.snapshot.schemas import SCHEMAS


@dataclass(frozen=True)
class Gap:
    """Something that is not known: which source, why, and what it means for the report."""

    source: str
    reason: str
    effect: str


@dataclass(frozen=True)
class Snapshot:
    """What was true at `taken_at` (aware, UTC).

    `tables` has one checked DataFrame for every schema in schemas.SCHEMAS. `source` says what was read ("cluster", "sample",
    "dump:NAME"); `run_id` and `date` (YYYY-MM-DD, UTC) fix where the run is filed. `namespaces` is None when all were read.
    `complete` is False when the run had to stop early.
    """

    taken_at: datetime
    cluster: str
    kubernetes_version: str | None
    source: str
    run_id: str
    date: str
    tables: Mapping[str, pd.DataFrame]
    gaps: tuple[Gap, ...] = ()
    namespaces: tuple[str, ...] | None = None
    complete: bool = True
    unread: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        """Check that time and tables are what every reader relies on."""
        if self.taken_at.tzinfo is None or self.taken_at.utcoffset():
            raise ValueError(f"taken_at {self.taken_at} is not in UTC")
        missing = {name: schema.frame(()) for name, schema in SCHEMAS.items() if name not in self.tables}
        if unknown := set(self.tables) - set(SCHEMAS):
            raise ValueError(f"unknown tables {sorted(unknown)}")
        for name, frame in self.tables.items():
            SCHEMAS[name].check(frame)
        object.__setattr__(self, "tables", MappingProxyType({**self.tables, **missing}))

    def table(self, name: str) -> pd.DataFrame:
        """Return the table of that name; empty, never absent, when there is nothing in it."""
        return self.tables[name]

    def has(self, source: str) -> bool:
        """Whether that source was read: an empty table of a source that was read means none, otherwise it means unknown."""
        return source not in self.unread
