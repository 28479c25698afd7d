"""Save a snapshot as Parquet tables and manifest.json, and load it again."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from batch.errors import CollectError
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.schemas import FORMAT_VERSION, SCHEMAS

MANIFEST = "manifest.json"


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
    try:
        manifest: Mapping[str, Any] = json.loads(store.read(MANIFEST))
    except KeyError as error:
        raise CollectError(
            "snapshot-missing",
            attempted=attempted,
            why=f"there is no {MANIFEST}",
            remedy="Give the folder that `collect --to` or a run's snapshot/ wrote.",
        ) from error
    except ValueError as error:
        raise _damaged(attempted, f"{MANIFEST} is not JSON") from error
    version = manifest.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise CollectError(
            "snapshot-newer",
            attempted=attempted,
            why=f"its format_version is {version} and this version reads up to {FORMAT_VERSION}",
            remedy="Use the version of Nightcap that wrote it, or a newer one.",
        )
    try:
        return _decode(manifest, store)
    except (KeyError, ValueError, TypeError, pa.ArrowException) as error:
        raise _damaged(attempted, str(error)) from error


def _decode(manifest: Mapping[str, Any], store: BlobStore) -> Snapshot:
    tables = {name: SCHEMAS[name].from_arrow(pq.read_table(io.BytesIO(store.read(f"{name}.parquet")))) for name in manifest["row_counts"]}
    return Snapshot(
        taken_at=datetime.fromisoformat(manifest["taken_at"]),
        cluster=manifest["cluster"],
        kubernetes_version=manifest["kubernetes_version"],
        source=manifest["source"],
        run_id=manifest["run_id"],
        date=manifest["date"],
        tables=tables,
        gaps=tuple(Gap(**gap) for gap in manifest["gaps"]),
        namespaces=None if manifest["namespaces"] is None else tuple(manifest["namespaces"]),
        complete=manifest["complete"],
        unread=frozenset(manifest["unread"]),
    )


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _damaged(attempted: str, why: str) -> CollectError:
    return CollectError("snapshot-damaged", attempted=attempted, why=why, remedy="Take the snapshot again, or use another night's.")
