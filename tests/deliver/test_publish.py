from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from batch.deliver import manifest, publish, spool
from batch.deliver.model import Receipt, StorageError
from batch.deliver.spool import keep
from batch.errors import Interrupted
from batch.report.model import Artifact, Report
from batch.settings import Settings
from tests.deliver.reports import FILES, TAKEN_AT, MemoryStore, report

RUN = "cluster=prod-1/date=2026-11-30/run=20261130T020500Z/"
DERIVED = ["cluster=prod-1/latest.json", "cluster=prod-1/latest/index.html", "index.html"]

Serve = Callable[[MemoryStore, Report], list[Receipt]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Publish a report to a store in memory."""

    def _serve(store: MemoryStore, made: Report) -> list[Receipt]:
        monkeypatch.setattr(publish, "open_store", lambda *_: store)
        store.writes.clear()
        store.reads.clear()
        return list(publish.publish(made, ("s3://bucket/p",), Settings()))

    return _serve


def night(number: int, *, complete: bool = True) -> Report:
    taken_at = TAKEN_AT + timedelta(days=number)
    return report(run_id=f"{taken_at:%Y%m%dT%H%M%SZ}", date=f"{taken_at:%Y-%m-%d}", taken_at=taken_at, complete=complete)


def pointed_at(store: MemoryStore) -> str:
    return str(json.loads(store.blobs["cluster=prod-1/latest.json"])["run"]["date"])


def test_files_come_first_then_the_manifest_then_what_points_at_them(serve: Serve) -> None:
    store = MemoryStore()
    receipts = serve(store, report())
    assert store.writes == [*(RUN + file.name for file in FILES), RUN + "manifest.json", *DERIVED]
    assert receipts == [Receipt("s3://bucket/p", f"s3://bucket/p/{RUN}")]
    assert json.loads(store.blobs[DERIVED[0]]) == {
        "format_version": 1,
        "cluster": "prod-1",
        "run": {"id": "20261130T020500Z", "date": "2026-11-30", "taken_at": "2026-11-30T02:05:00+00:00", "complete": True},
        "path": RUN,
        "reports": ["report.html", "report.pdf", "report.json"],
        "key_figures": {"node_count": 3, "requests_cpu_ratio": 0.5, "critical_count": 1, "warning_count": 0, "first_finding": "Full"},
    }


REMEMBERED = tuple(Artifact(name, "application/vnd.apache.parquet", b"row") for name in ("sketches/r", "workloads/r", "r"))


@pytest.mark.parametrize("gap", range(len(FILES) + len(REMEMBERED) + 1 + len(DERIVED)))
def test_a_failure_at_any_write_shows_no_half_report_and_a_retry_ends_the_same(serve: Serve, gap: int) -> None:
    made = report(history=REMEMBERED)
    undisturbed = MemoryStore()
    serve(undisturbed, night(-1))
    serve(undisturbed, made)
    store = MemoryStore()
    serve(store, night(-1))
    store.fails_at = gap
    receipts = serve(store, made)
    assert "the disk is full" in (receipts[0].error or "")
    whole = RUN + "manifest.json" in store.blobs
    assert whole == (gap > len(FILES) + len(REMEMBERED))
    if not whole:
        assert RUN.encode() not in store.blobs["index.html"]
        assert pointed_at(store) == "2026-11-29"
    store.fails_at = None
    assert serve(store, made)[0].error is None
    assert store.blobs == undisturbed.blobs


@pytest.mark.parametrize("gap", range(len(FILES) + len(REMEMBERED) + 1))
def test_a_try_after_one_that_delivered_shows_no_mixture_of_both(serve: Serve, gap: int) -> None:
    """The first try of a Job can deliver and fail all the same, at another output or the mail; the next one collects anew."""
    other = tuple(replace(file, data=file.data + b" again") for file in FILES)
    first, again = report(history=REMEMBERED), report(history=REMEMBERED, artifacts=other, taken_at=TAKEN_AT + timedelta(hours=1))
    store = MemoryStore()
    serve(store, first)
    store.fails_at = gap
    assert serve(store, again)[0].error is not None
    assert RUN + "manifest.json" not in store.blobs
    store.fails_at = None
    serve(store, night(1))
    assert RUN.encode() not in store.blobs["index.html"]
    assert serve(store, again)[0].error is None
    undisturbed = MemoryStore()
    serve(undisturbed, night(1))
    serve(undisturbed, again)
    assert store.blobs == undisturbed.blobs


def test_a_key_that_may_not_delete_delivers_again_all_the_same(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    class Kept(MemoryStore):
        def delete(self, key: str) -> None:
            raise StorageError(f"could not delete {key}: access denied", "Grant s3:DeleteObject.")

    store = Kept()
    serve(store, report())
    assert serve(store, report(taken_at=TAKEN_AT + timedelta(hours=1)))[0].error is None
    assert "an earlier try" in caplog.text
    assert "03:05" in store.blobs["index.html"].decode()


def test_latest_never_moves_back(serve: Serve) -> None:
    store = MemoryStore()
    serve(store, night(1))
    serve(store, night(0))
    assert pointed_at(store) == "2026-12-01"
    assert b"2026-12-01" in store.blobs["cluster=prod-1/latest/index.html"]
    serve(store, night(2))
    assert pointed_at(store) == "2026-12-02"


def test_latest_stays_where_the_listing_lags(serve: Serve) -> None:
    store = MemoryStore()
    serve(store, night(1))
    store.blobs = {key: data for key, data in store.blobs.items() if key == DERIVED[0]}
    serve(store, night(0))
    assert pointed_at(store) == "2026-12-01"


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"run": {}}', b'{"run": {"taken_at": "2027-01-01T00:00:00"}}', b"\xff"])
def test_a_damaged_pointer_is_rebuilt_from_the_listing(serve: Serve, damaged: bytes) -> None:
    store = MemoryStore()
    serve(store, night(1))
    store.blobs[DERIVED[0]] = damaged
    serve(store, night(0))
    assert pointed_at(store) == "2026-12-01"


def test_a_run_that_stopped_early_is_listed_but_not_the_latest(serve: Serve) -> None:
    store = MemoryStore()
    serve(store, night(0))
    serve(store, night(1, complete=False))
    assert pointed_at(store) == "2026-11-30"
    assert b"stopped early" in store.blobs["index.html"]


def test_a_run_that_turns_out_to_be_stopped_is_told_so_and_latest_does_not_move_back(serve: Serve) -> None:
    store = MemoryStore()
    serve(store, night(0))
    serve(store, night(1))
    store.writes.clear()
    publish.correct(night(1, complete=False), ("s3://bucket/p",), Settings())
    folder = RUN.replace("2026-11-30/run=20261130", "2026-12-01/run=20261201")
    assert store.writes[:2] == [f"{folder}report.json", f"{folder}manifest.json"]
    assert json.loads(store.blobs[f"{folder}manifest.json"])["run"]["complete"] is False
    assert b"stopped early" in store.blobs["index.html"]
    assert pointed_at(store) == "2026-12-01"
    store.fails_at = len(store.writes)
    publish.correct(night(1, complete=False), ("s3://bucket/p",), Settings())  # a failure is a line of the log


def test_a_damaged_manifest_costs_its_row_the_details_and_nothing_else(serve: Serve) -> None:
    store = MemoryStore({"cluster=a%2Fb/date=2026-11-01/run=x/manifest.json": b"{"})
    assert serve(store, report())[0].error is None
    assert b"a/b</bdi>" in store.blobs["index.html"]
    assert pointed_at(store) == "2026-11-30"


def test_only_manifests_that_are_new_are_read(serve: Serve) -> None:
    store = MemoryStore()
    for number in range(3):
        serve(store, night(number))
    assert store.reads[1:] == ["index.html", "cluster=prod-1/latest.json"]  # first, whether an earlier try was here
    del store.blobs["index.html"]
    serve(store, night(3))
    assert [key for key in store.reads[1:] if key.endswith("manifest.json")] == [
        f"cluster=prod-1/date=2026-{date}/run=2026{date.replace('-', '')}T020500Z/manifest.json" for date in ("11-30", "12-01", "12-02")
    ]


def test_a_deleted_run_leaves_the_index(serve: Serve) -> None:
    store = MemoryStore()
    serve(store, night(0))
    store.blobs = {key: data for key, data in store.blobs.items() if "date=2026-11-30" not in key}
    serve(store, night(1))
    assert b"2026-11-30" not in store.blobs["index.html"]


def test_a_run_that_finishes_meanwhile_is_taken_in() -> None:
    class Busy(MemoryStore):
        def write(self, key: str, data: bytes, media_type: str) -> None:
            super().write(key, data, media_type)
            if key == "index.html" and not any("2026-12-01" in known for known in self.blobs):
                publish.deliver(night(1), self)

    store = Busy()
    publish.deliver(report(), store)
    publish.refresh(store, manifest.entry_of(report(), RUN))
    assert b"2026-12-01" in store.blobs["index.html"]
    assert pointed_at(store) == "2026-12-01"


def test_one_output_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file")
    outputs = (str(tmp_path / "blocked"), "ftp://host/x", str(tmp_path / "good"))
    receipts = tuple(publish.publish(report(), outputs, Settings()))
    assert [receipt.error is None for receipt in receipts] == [False, False, True]
    assert receipts[2].location == f"{tmp_path}/good/{RUN}"
    assert (tmp_path / "good" / RUN / "report.pdf").read_bytes() == FILES[0].data

    kept = keep(report(), tmp_path / "spool")
    error = publish.failure(receipts, kept)
    assert error.slug == "destination-failed"
    assert error.exit_code == 5
    for part in (outputs[0], "A file stands where a folder is needed", outputs[1], "ftp: is no kind of output", f"kept in {kept}"):
        assert part in str(error)
    assert outputs[2] not in str(error)
    assert kept == tmp_path / "spool" / RUN
    assert {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()} == {
        *(file.name for file in FILES),
        "manifest.json",
    }


def test_a_bug_in_one_output_becomes_its_receipt(serve: Serve) -> None:
    store = MemoryStore(fails_at=2, failure=ZeroDivisionError("oops"))
    assert serve(store, report())[0].error == "ZeroDivisionError: oops"


def test_a_report_that_arrived_but_is_not_listed_says_so(serve: Serve) -> None:
    store = MemoryStore(fails_at=len(FILES) + 1)
    error = serve(store, report())[0].error or ""
    assert error.startswith("the report is there but could not be listed: ")


@pytest.mark.parametrize(("gap", "counted"), [(len(FILES), 0), (len(FILES) + 1, 1)])
def test_an_interruption_passes_through_and_what_arrived_whole_counts(monkeypatch: pytest.MonkeyPatch, gap: int, counted: int) -> None:
    store = MemoryStore(fails_at=gap, failure=Interrupted(15))
    monkeypatch.setattr(publish, "open_store", lambda *_: store)
    receipts: list[Receipt] = []
    with pytest.raises(Interrupted):
        receipts.extend(publish.publish(report(), ("s3://bucket/p", "s3://bucket/q"), Settings()))
    assert [receipt.error for receipt in receipts] == [None] * counted


def test_odd_cluster_names_keep_apart_and_can_be_opened(tmp_path: Path) -> None:
    names = ["a/b", "a b", "..", "größe", "集" * 253, "x" * 253, "a\\b", '<b>"&']
    for name in names:
        assert [receipt.error for receipt in publish.publish(report(name), (str(tmp_path),), Settings())] == [None]
    assert len(list(tmp_path.glob("cluster=*"))) == len(names)
    assert sorted(json.loads(path.read_bytes())["cluster"] for path in tmp_path.glob("cluster=*/latest.json")) == sorted(names)
    for pointer in tmp_path.glob("cluster=*/latest.json"):
        assert (tmp_path / json.loads(pointer.read_bytes())["path"] / "report.pdf").exists()


def test_a_spool_folder_that_fails_too_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "spool").write_text("a file")
    assert spool.keep(report(), tmp_path / "spool") is None
    assert "A file stands where a folder is needed" in caplog.text
    assert "could not be kept" in str(publish.failure([Receipt("s3://b", "s3://b/x", "why", "Do it.")], None))


def test_the_failures_of_storage_read_as_sentences() -> None:
    assert str(StorageError("could not write a: full", "Make room.")) == "could not write a: full. Make room."
