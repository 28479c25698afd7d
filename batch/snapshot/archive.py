"""Save a snapshot as Parquet tables and manifest.json, and load it again."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from batch.errors import CollectError
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.schemas import FORMAT_VERSION, SCHEMAS, SOURCES_OF_OPTIONAL

MANIFEST = "manifest.json"

_NOT_KEPT = "the snapshot was taken by an older version, which did not keep it"
_NOT_KEPT_EFFECT = "What rests on it is unknown; a snapshot of the next night will have it."


class BlobStore(Protocol):
    """Where blobs live: a folder or a bucket prefix. Keys use "/" and are relative to the store."""

    def read(self, key: str) -> bytes:
        """Return the blob of that key; KeyError when there is none."""
        ...

    def write(self, key: str, data: bytes, media_type: str) -> None:
        """Store a blob, whole or not at all."""
        ...

    def keys(self, prefix: str = "") -> list[str]:
        """List all keys that start with `prefix`, sorted."""
        ...


def encode(snapshot: Snapshot) -> dict[str, bytes]:
    """Turn a snapshot into files: one Parquet file a table and manifest.json, which comes last."""
    files = {f"{name}.parquet": _parquet(SCHEMAS[name].to_arrow(frame)) for name, frame in sorted(snapshot.tables.items())}
    manifest = {
        "format_version": FORMAT_VERSION,
        "cluster": snapshot.cluster,
        "kubernetes_version": snapshot.kubernetes_version,
        "source": snapshot.source,
        "run_id": snapshot.run_id,
        "date": snapshot.date,
        "taken_at": snapshot.taken_at.isoformat(),
        "namespaces": None if snapshot.namespaces is None else list(snapshot.namespaces),
        "complete": snapshot.complete,
        "unread": sorted(snapshot.unread),
        "gaps": [{"source": g.source, "reason": g.reason, "effect": g.effect} for g in snapshot.gaps],
        "row_counts": {name: len(frame) for name, frame in sorted(snapshot.tables.items())},
    }
    files[MANIFEST] = (json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    return files


def save(snapshot: Snapshot, store: BlobStore) -> None:
    """Write a snapshot; the manifest last, so that a reader never takes half a snapshot for a whole one."""
    for key, data in encode(snapshot).items():
        store.write(key, data, media_type(key))


def media_type(key: str) -> str:
    """Give the media type of a file of a snapshot."""
    return "application/json" if key == MANIFEST else "application/vnd.apache.parquet"


def load(store: BlobStore, where: str) -> Snapshot:
    """Read a snapshot. `where` names the store in errors.

    Raises CollectError when there is none, when it is damaged, or when a newer version wrote it.
    """
    attempted = f"read the snapshot at {where}"
    manifest = _manifest(store, attempted)
    try:
        return _decode(manifest, store)
    except KeyError as error:
        raise _damaged(attempted, f"{MANIFEST} has no {error}") from error
    except (ValueError, TypeError, AttributeError, OverflowError, pa.ArrowException) as error:
        raise _damaged(attempted, str(error)) from error


def _manifest(store: BlobStore, attempted: str) -> Mapping[str, Any]:
    """Read the manifest and make sure that this version can read what it is of."""
    try:
        manifest = json.loads(store.read(MANIFEST))
    except KeyError as error:
        raise CollectError(
            "snapshot-missing",
            attempted=attempted,
            why=f"there is no {MANIFEST}",
            remedy="Give the folder that `collect --to` or a run's snapshot/ wrote.",
        ) from error
    except ValueError as error:
        raise _damaged(attempted, f"{MANIFEST} is not JSON") from error
    if not isinstance(manifest, dict):
        raise _damaged(attempted, f"{MANIFEST} is no mapping")
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise _damaged(attempted, f"its format_version is {json.dumps(version)}, which no version of Nightcap writes")
    if version > FORMAT_VERSION:
        raise CollectError(
            "snapshot-newer",
            attempted=attempted,
            why=f"its format_version is {version} and this version reads up to {FORMAT_VERSION}",
            remedy="Use the version of Nightcap that wrote it, or a newer one.",
        )
    return manifest


def _decode(manifest: Mapping[str, Any], store: BlobStore) -> Snapshot:
    """Decode a snapshot of this format; what an older writer did not have yet is unknown, what a newer one has beside is not looked at."""
    row_counts = dict(manifest["row_counts"])
    absent = [name for name in SCHEMAS if name not in row_counts]
    if vital := [name for name in absent if name not in SOURCES_OF_OPTIONAL]:
        raise ValueError(f"it lacks the tables {', '.join(vital)}")
    unread = sorted({source for name in absent for source in SOURCES_OF_OPTIONAL[name]} - set(manifest["unread"]))
    return Snapshot(
        taken_at=datetime.fromisoformat(manifest["taken_at"]),
        **{name: _text(manifest, name) for name in ("cluster", "source", "run_id", "date")},
        kubernetes_version=manifest["kubernetes_version"],
        tables={name: _table(name, store, row_count) for name, row_count in row_counts.items() if name in SCHEMAS},
        gaps=(*(Gap(**gap) for gap in manifest["gaps"]), *(Gap(source, _NOT_KEPT, _NOT_KEPT_EFFECT) for source in unread)),
        namespaces=None if manifest["namespaces"] is None else tuple(manifest["namespaces"]),
        complete=bool(manifest["complete"]),
        unread=frozenset((*manifest["unread"], *unread)),
    )


def _text(manifest: Mapping[str, Any], name: str) -> str:
    if not isinstance(manifest[name], str):
        raise TypeError(f"{MANIFEST} has no text as {name}")
    return str(manifest[name])


def _table(name: str, store: BlobStore, row_count: int) -> pd.DataFrame:
    """Read one table whole; a column that may be NA and that an older writer did not have yet is NA."""
    try:
        data = store.read(f"{name}.parquet")
    except KeyError as error:
        raise ValueError(f"there is no {name}.parquet") from error
    table = pq.read_table(io.BytesIO(data))
    if len(table) != row_count:
        raise ValueError(f"{name}.parquet has {len(table)} rows, and {MANIFEST} says {row_count}")
    for column in SCHEMAS[name].columns:
        if column.name not in table.column_names:
            if not column.nullable:
                raise ValueError(f"{name}.parquet lacks the column {column.name}")
            table = table.append_column(column.name, pa.nulls(len(table), column.type))
    return SCHEMAS[name].from_arrow(table)


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _damaged(attempted: str, why: str) -> CollectError:
    return CollectError("snapshot-damaged", attempted=attempted, why=why, remedy="Take the snapshot again, or use another night's.")
