"""A snapshot comes back as it was, and what is not one is refused with a reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd
import pytest

from batch.errors import CollectError
from batch.snapshot import archive
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.schemas import NODE_TAINTS, NODE_USAGE, SCHEMAS

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Memory:
    """A BlobStore in memory."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def read(self, key: str) -> bytes:
        return self.blobs[key]

    def write(self, key: str, data: bytes, media_type: str) -> None:
        assert media_type
        self.blobs[key] = data

    def keys(self, prefix: str = "") -> list[str]:
        return sorted(key for key in self.blobs if key.startswith(prefix))


def snapshot(**changes: object) -> Snapshot:
    tables = {
        "node_usage": NODE_USAGE.frame([("n1", NOON, 15, 2**62, None)]),
        "node_taints": NODE_TAINTS.frame([("n1", "k", "NoSchedule", None), ("n1", "k", "NoExecute", "v")]),
    }
    facts = {"cluster": "ünï/c", "kubernetes_version": None, "source": "sample", "run_id": "r", "date": "2026-12-01", "tables": tables}
    return Snapshot(NOON, **{**facts, **changes})  # type: ignore[arg-type]


def test_everything_comes_back() -> None:
    before = snapshot(gaps=(Gap("nodes", "why", "what"),), namespaces=("a", "b"), complete=False, unread=frozenset({"nodes"}))
    store = Memory()
    archive.save(before, store)
    after = archive.load(store, "memory")
    for name in SCHEMAS:
        pd.testing.assert_frame_equal(after.table(name), before.table(name))
    assert (after.taken_at, after.cluster, after.gaps, after.namespaces, after.complete, after.unread) == (
        before.taken_at,
        before.cluster,
        before.gaps,
        before.namespaces,
        before.complete,
        before.unread,
    )


def test_equal_snapshots_give_equal_bytes_and_the_manifest_comes_last() -> None:
    files = archive.encode(snapshot())
    assert files == archive.encode(snapshot())
    assert list(files)[-1] == "manifest.json"


def test_a_newer_format_is_refused_with_what_to_do() -> None:
    store = Memory()
    archive.save(snapshot(), store)
    store.blobs["manifest.json"] = json.dumps({**json.loads(store.blobs["manifest.json"]), "format_version": 2}).encode()
    with pytest.raises(
        CollectError, match=r"format_version is 2 and this version reads up to 1.*Use the version of Nightcap that wrote it"
    ):
        archive.load(store, "memory")


@pytest.mark.parametrize("harm", ["missing manifest", "manifest is text", "missing table", "table is text"])
def test_a_damaged_snapshot_is_refused(harm: str) -> None:
    store = Memory()
    archive.save(snapshot(), store)
    if harm.startswith("missing"):
        del store.blobs["manifest.json" if "manifest" in harm else "nodes.parquet"]
    else:
        store.blobs["manifest.json" if "manifest" in harm else "nodes.parquet"] = b"text"
    with pytest.raises(CollectError, match="could not read the snapshot at memory"):
        archive.load(store, "memory")


def test_a_table_that_breaks_its_schema_is_a_bug_that_shows_at_once() -> None:
    with pytest.raises(ValueError, match="stands there twice"):
        NODE_TAINTS.frame([("n1", "k", "NoSchedule", None)] * 2)
    with pytest.raises(ValueError, match="taint"):
        NODE_TAINTS.frame([("n1", None, "NoSchedule", None)])
    with pytest.raises(ValueError, match="is not in UTC"):
        Snapshot(datetime(2026, 12, 1), "c", None, "sample", "r", "2026-12-01", {})  # noqa: DTZ001  the point of the test
