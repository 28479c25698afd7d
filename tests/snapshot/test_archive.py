"""A snapshot comes back as it was, and what is not one is refused with a reason."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pandas as pd
import pyarrow.parquet as pq
import pytest

from batch.errors import CollectError
from batch.snapshot import archive
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.schemas import NODE_TAINTS, NODE_USAGE, SCHEMAS

ABSENT = object()
"""Stands for a key that a manifest does not have."""

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


def changed(**changes: object) -> Memory:
    """Give a saved snapshot with another manifest."""
    store = Memory()
    archive.save(snapshot(), store)
    manifest = {**json.loads(store.blobs["manifest.json"]), **changes}
    store.blobs["manifest.json"] = json.dumps({key: value for key, value in manifest.items() if value is not ABSENT}).encode()
    return store


def without(table: str) -> Memory:
    """Give a saved snapshot as a version wrote it that did not have that table."""
    store = Memory()
    archive.save(snapshot(), store)
    manifest = json.loads(store.blobs["manifest.json"])
    del manifest["row_counts"][table]
    del store.blobs[f"{table}.parquet"]
    store.blobs["manifest.json"] = json.dumps(manifest).encode()
    return store


def without_column(table: str, column: str) -> Memory:
    """Give a saved snapshot as a version wrote it that did not have that column."""
    store = Memory()
    archive.save(snapshot(), store)
    read = pq.read_table(io.BytesIO(store.blobs[f"{table}.parquet"]))
    sink = io.BytesIO()
    pq.write_table(read.drop_columns([column]), sink)
    store.blobs[f"{table}.parquet"] = sink.getvalue()
    return store


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        ({"missing": "manifest.json"}, "there is no manifest.json"),
        ({"missing": "nodes.parquet"}, "there is no nodes.parquet"),
        ({"text": "manifest.json"}, "manifest.json is not JSON"),
        ({"text": "nodes.parquet"}, "could not read the snapshot at memory"),
    ],
)
def test_a_damaged_snapshot_is_refused(harm: dict[str, str], why: str) -> None:
    store = Memory()
    archive.save(snapshot(), store)
    for how, name in harm.items():
        if how == "missing":
            del store.blobs[name]
        else:
            store.blobs[name] = b"text"
    with pytest.raises(CollectError, match=why):
        archive.load(store, "memory")


@pytest.mark.parametrize("text", ["[]", "3", "null", '"text"'])
def test_a_manifest_that_is_no_mapping_is_refused(text: str) -> None:
    store = changed()
    store.blobs["manifest.json"] = text.encode()
    with pytest.raises(CollectError, match=r"manifest\.json is no mapping"):
        archive.load(store, "memory")


@pytest.mark.parametrize("version", [True, False, 0, -1, "1", 1.0, [1]])
def test_a_version_that_nothing_writes_is_refused(version: object) -> None:
    with pytest.raises(CollectError, match="which no version of Nightcap writes") as caught:
        archive.load(changed(format_version=version), "memory")
    assert caught.value.slug == "snapshot-damaged"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"row_counts": {**dict.fromkeys(SCHEMAS, 0), "node_taints": 2, "node_usage": 2}},
            r"node_usage\.parquet has 1 rows, and manifest\.json says 2",
        ),
        ({"row_counts": [1]}, "could not read the snapshot"),
        ({"cluster": 5}, r"manifest\.json has no text as cluster"),
        ({"taken_at": "2026-12-01T12:00:00"}, "is not in UTC"),
        ({"gaps": [{"source": "nodes"}]}, "could not read the snapshot"),
        ({"run_id": ABSENT}, r"manifest\.json has no 'run_id'"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused_with_what_is_wrong(changes: dict[str, object], why: str) -> None:
    with pytest.raises(CollectError, match=why) as caught:
        archive.load(changed(**changes), "memory")
    assert (caught.value.slug, caught.value.exit_code) == ("snapshot-damaged", 3)


@pytest.mark.parametrize(
    ("table", "sources"), [("hpas", {"horizontalpodautoscalers"}), ("workload_containers", {"deployments", "statefulsets", "daemonsets"})]
)
def test_a_table_that_an_older_version_did_not_keep_is_a_source_that_was_not_read(table: str, sources: set[str]) -> None:
    after = archive.load(without(table), "memory")
    assert after.table(table).empty
    assert after.unread == sources
    assert {gap.source for gap in after.gaps if "older version" in gap.reason} == sources


@pytest.mark.parametrize("table", ["nodes", "pods", "scheduling_sets"])
def test_a_table_that_no_report_can_do_without_is_missed(table: str) -> None:
    with pytest.raises(CollectError, match=f"it lacks the tables {table}"):
        archive.load(without(table), "memory")


def test_a_column_that_an_older_version_did_not_keep_is_unknown_where_it_may_be() -> None:
    after = archive.load(without_column("node_usage", "machine_usage_cpu_nanocores"), "memory")
    assert after.table("node_usage")["machine_usage_cpu_nanocores"].isna().tolist() == [True]
    with pytest.raises(CollectError, match=r"node_taints\.parquet lacks the column effect"):
        archive.load(without_column("node_taints", "effect"), "memory")


def test_a_table_of_a_later_version_of_the_same_format_is_not_looked_at() -> None:
    counts = {name: len(frame) for name, frame in snapshot().tables.items()}
    assert archive.load(changed(row_counts={**counts, "unheard_of": 7}), "memory").cluster == "ünï/c"


def test_a_table_that_breaks_its_schema_is_a_bug_that_shows_at_once() -> None:
    with pytest.raises(ValueError, match="stands there twice"):
        NODE_TAINTS.frame([("n1", "k", "NoSchedule", None)] * 2)
    with pytest.raises(ValueError, match="taint"):
        NODE_TAINTS.frame([("n1", None, "NoSchedule", None)])
    with pytest.raises(ValueError, match="is not in UTC"):
        Snapshot(datetime(2026, 12, 1), "c", None, "sample", "r", "2026-12-01", {})  # noqa: DTZ001  the point of the test
