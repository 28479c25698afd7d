"""Builds reports by hand, and a store that can be told to fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from batch.deliver.model import Link, StorageError
from batch.report.model import Artifact, Report, Run

TAKEN_AT = datetime(2026, 11, 30, 2, 5, tzinfo=UTC)
FILES = (
    Artifact("report.pdf", "application/pdf", b"%PDF-1.7 pages"),
    Artifact("report.html", "text/html; charset=utf-8", b"<!doctype html><title>r</title>"),
    Artifact("report.json", "application/json", b"{}"),
    Artifact("tables/pods.csv", "text/csv; charset=utf-8", b"pod\r\n"),
    Artifact("snapshot/pods.parquet", "application/vnd.apache.parquet", b"PAR1"),
    Artifact("snapshot/manifest.json", "application/json", b"{}"),
)

FIGURES: dict[str, float | int | str | None] = {
    "node_count": 3,
    "requests_cpu_ratio": 0.5,
    "critical_count": 1,
    "warning_count": 0,
    "first_finding": "Full",
}


def report(
    cluster: str = "prod-1",
    run_id: str = "20261130T020500Z",
    *,
    date: str = "2026-11-30",
    taken_at: datetime = TAKEN_AT,
    complete: bool = True,
    artifacts: tuple[Artifact, ...] = FILES,
    history: tuple[Artifact, ...] = (),
) -> Report:
    run = Run(run_id, date, "cluster", taken_at, taken_at, taken_at, deadline_seconds=None, complete=complete)
    return Report(cluster, run, artifacts, headline="3 nodes are full", missing="nothing", key_figures=FIGURES, history=history)


@dataclass
class MemoryStore:
    """A BlobStore in memory that keeps the order of writes, and fails at the write with the number `fails_at` (from 0)."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    makes_links: bool = False
    fails_at: int | None = None
    failure: BaseException = field(default_factory=lambda: StorageError("could not write: the disk is full", "Make room."))

    def read(self, key: str) -> bytes:
        self.reads.append(key)
        return self.blobs[key]

    def write(self, key: str, data: bytes, media_type: str) -> None:
        assert media_type
        if len(self.writes) == self.fails_at:
            raise self.failure
        self.writes.append(key)
        self.blobs[key] = data

    def keys(self, prefix: str = "") -> list[str]:
        return sorted(key for key in self.blobs if key.startswith(prefix))

    def delete(self, key: str) -> None:
        self.deletes.append(key)
        self.blobs.pop(key, None)

    def link(self, key: str, seconds: float) -> Link | None:
        return Link(f"https://store.example/{key}?signed", TAKEN_AT + timedelta(seconds=seconds)) if self.makes_links else None
