"""Section, Table, Chart and Artifact: the document as data. Markup lives in the templates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from batch.findings import Finding


@dataclass(frozen=True)
class Artifact:
    """One file of the report. `name` is its path below the run's folder, with "/" between the parts."""

    name: str
    media_type: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Checksum of the content, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Run:
    """The run that made the report, as report.json's `run` has it. All times are aware and in UTC."""

    id: str
    date: str
    source: str
    taken_at: datetime
    started_at: datetime
    finished_at: datetime
    deadline_seconds: float | None
    complete: bool


@dataclass(frozen=True)
class Report:
    """What a run made: its files, and what to say about it on a terminal (three lines)."""

    cluster: str
    run: Run
    artifacts: tuple[Artifact, ...]
    headline: str
    missing: str
    key_figures: Mapping[str, float | int | str | None] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
