"""manifest.json of a run: what it left, and the few facts by which it is listed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from batch.report.model import Report

NAME = "manifest.json"
FORMAT_VERSION = 1
READABLE = ("report.html", "report.pdf", "report.json")
"""The artifacts that lists link to, best for a screen first."""


@dataclass(frozen=True)
class Entry:
    """A run as lists show it. `path` is its key with a slash at the end; `taken_at` (aware, UTC) is None when its manifest is damaged."""

    path: str
    cluster: str
    run_id: str
    date: str
    taken_at: datetime | None
    complete: bool
    reports: tuple[str, ...]
    key_figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moment(self) -> str:
        """When it was, for sorting: an ISO 8601 time, or only the date where the time is not known."""
        return self.taken_at.isoformat() if self.taken_at else self.date


def encode(report: Report, paths: Mapping[str, str]) -> bytes:
    """Write manifest.json; `paths` gives for each artifact's name its path below the run's folder."""
    artifacts = [
        {"name": a.name, "path": paths[a.name], "media_type": a.media_type, "bytes": len(a.data), "sha256": a.sha256}
        for a in report.artifacts
    ]
    entry = entry_of(report, "")
    return to_json(
        {
            "format_version": FORMAT_VERSION,
            "cluster": report.cluster,
            "run": _run(entry),
            "key_figures": dict(entry.key_figures),
            "artifacts": artifacts,
        }
    )


def entry_of(report: Report, path: str) -> Entry:
    """Give the entry of a report that is delivered at `path`."""
    names = {artifact.name for artifact in report.artifacts}
    reports = tuple(name for name in READABLE if name in names)
    run = report.run
    return Entry(path, report.cluster, run.id, run.date, run.taken_at, run.complete, reports, dict(report.key_figures))


def decode(path: str, data: bytes) -> Entry:
    """Read the manifest.json of the run at `path`; of a damaged one only what the key itself says is known."""
    try:
        fields = json.loads(data)
        names = {artifact["name"] for artifact in fields["artifacts"]}
        return from_fields({**fields, "path": path, "reports": [name for name in READABLE if name in names]})
    except (ValueError, KeyError, TypeError):
        cluster, date, run_id = (unquote(part.partition("=")[2]) for part in path.strip("/").split("/"))
        return Entry(path, cluster, run_id, date, None, complete=False, reports=())


def to_fields(entry: Entry) -> dict[str, object]:
    """Give an entry as JSON has it, in latest.json and in the rows of the index."""
    return {
        "cluster": entry.cluster,
        "run": _run(entry),
        "path": entry.path,
        "reports": list(entry.reports),
        "key_figures": dict(entry.key_figures),
    }


def from_fields(fields: Mapping[str, Any]) -> Entry:
    """Read an entry; ValueError, KeyError or TypeError when it is damaged."""
    run = fields["run"]
    taken_at = datetime.fromisoformat(run["taken_at"])
    if taken_at.tzinfo is None:
        raise ValueError("taken_at has no time zone")
    return Entry(
        path=_text(fields["path"]),
        cluster=_text(fields["cluster"]),
        run_id=_text(run["id"]),
        date=_text(run["date"]),
        taken_at=taken_at.astimezone(UTC),
        complete=run["complete"] is True,
        reports=tuple(map(_text, fields["reports"])),
        key_figures=_figures(fields.get("key_figures", {})),
    )


def _figures(fields: object) -> dict[str, Any]:
    """Take the figures that are numbers or texts: a manifest is written by this program and can be changed by others."""
    known = fields.items() if isinstance(fields, dict) else ()
    return {str(name): value for name, value in known if value is None or isinstance(value, int | float | str)}


def to_json(fields: Mapping[str, object]) -> bytes:
    """Write JSON for people and programs; equal input gives equal bytes."""
    return (json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _run(entry: Entry) -> dict[str, object]:
    taken_at = entry.taken_at.isoformat() if entry.taken_at else None
    return {"id": entry.run_id, "date": entry.date, "taken_at": taken_at, "complete": entry.complete}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
