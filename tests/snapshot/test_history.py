"""Sketches are written, read back, and never misread."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from batch.deliver.model import StorageError
from batch.snapshot import history, sketches
from batch.snapshot.history import History, Window
from batch.snapshot.sketches import SKETCHES, ForeignSketchError, Night, decode, encode

NOON = datetime(2026, 2, 10, 12, tzinfo=UTC)
PATH = "cluster=c/history/"


def key(date: str, run: str) -> str:
    return f"{PATH}date={date}/{sketches.name(run)}"


def night(date: str = "2026-02-10", *, run: str = "r1", samples: int = 1, taken_at: datetime = NOON) -> Night:
    row: dict[str, Any] = {
        "kind": "Deployment",
        "namespace": "shop",
        "workload": "web",
        "container": "app",
        "expected_count": samples,
        "sample_count": samples,
        "cpu_peak_nanocores": 5,
        "memory_peak_bytes": None,
        "cpu_buckets": [0, 175],
        "cpu_counts": [samples, 70_000],
        "memory_buckets": [],
        "memory_counts": [],
    }
    return Night(date, run, taken_at, taken_at, taken_at, pa.Table.from_pylist([row], schema=SKETCHES.arrow))


WINDOW = Window("2026-02-11", timedelta(days=30).total_seconds(), timedelta(days=30).total_seconds())


class Shelf:
    """A store in memory; a key in `broken` cannot be read."""

    def __init__(self, files: dict[str, bytes], broken: str = "") -> None:
        self._files = files
        self._broken = broken

    def read(self, key: str) -> bytes:
        if key == self._broken:
            raise StorageError("access denied", "")
        return self._files[key]

    def write(self, key: str, data: bytes, media_type: str) -> None:
        raise AssertionError(f"history is read only: {key}, {len(data)} bytes, {media_type}")

    def keys(self, prefix: str = "") -> list[str]:
        if self._broken == "keys":
            raise StorageError("no route to host", "")
        return sorted(name for name in self._files if name.startswith(prefix))


def load(*nights: Night, more: dict[str, bytes] | None = None, broken: str = "") -> History:
    files = {key(one.date, one.run_id): encode(one) for one in nights} | (more or {})
    return history.load(Shelf(files, broken), PATH, WINDOW)


def test_a_sketch_survives_and_equal_nights_give_equal_bytes() -> None:
    written = encode(night())
    again = decode(written)
    assert (again.date, again.run_id, again.taken_at, again.sample_count) == ("2026-02-10", "r1", NOON, 1)
    assert again.sketches.equals(night().sketches)
    assert encode(again) == written


@pytest.mark.parametrize("data", [b"", b"no Parquet", encode(night())[:-9]])
def test_what_is_no_sketch_is_refused(data: bytes) -> None:
    with pytest.raises(ForeignSketchError, match="it is no sketch"):
        decode(data)


def test_a_sketch_with_impossible_buckets_is_refused() -> None:
    row = night().sketches.to_pylist()[0]
    table = pa.Table.from_pylist([{**row, "cpu_buckets": [176], "cpu_counts": [1]}], schema=SKETCHES.arrow)
    with pytest.raises(ForeignSketchError, match="bucket in cpu_buckets"):
        decode(encode(Night("2026-02-10", "r1", NOON, NOON, NOON, table)))


def test_a_sketch_under_another_nights_key_is_left_out() -> None:
    moved = load(more={key("2026-02-09", "r1"): encode(night())})
    assert (moved.nights, len(moved.gaps)) == ((), 1)


def foreign(monkeypatch: pytest.MonkeyPatch) -> bytes:
    with monkeypatch.context() as patched:
        patched.setattr(sketches, "VERSION", 99)
        return encode(night("2026-02-09"))


def test_another_version_is_skipped_with_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    read = load(night(), more={key("2026-02-09", "r0"): foreign(monkeypatch)})
    assert [one.date for one in read.nights] == ["2026-02-10"]
    (gap,) = read.gaps
    assert "its version is 99, and this one reads version 1" in gap.reason


def test_nights_come_oldest_first_and_only_those_before_tonight_and_in_the_window() -> None:
    dates = ["2026-02-11", "2026-02-10", "2026-01-12", "2026-01-11", "2025-12-31"]
    assert [one.date for one in load(*map(night, dates)).nights] == ["2026-01-12", "2026-02-10"]


def test_runs_of_one_night_count_once() -> None:
    whole, adhoc = night(run="a", samples=9), night(run="z", samples=1, taken_at=NOON + timedelta(hours=3))
    assert [one.run_id for one in load(whole, adhoc).nights] == ["a"]
    later = night(run="b", samples=9, taken_at=NOON + timedelta(hours=1))
    assert [one.run_id for one in load(whole, later).nights] == ["b"]


def test_a_foreign_file_is_left_alone_and_named() -> None:
    read = load(night(), more={f"{PATH}notes.txt": b"{}", f"{PATH}date=2026-02-09/other/x.parquet": b""})
    assert [one.date for one in read.nights] == ["2026-02-10"]
    (gap,) = read.gaps
    assert gap.reason == f"it has 2 files that are none of its own: {PATH}date=2026-02-09/other/x.parquet"


def test_what_cannot_be_read_is_a_gap_and_the_other_nights_stay() -> None:
    read = load(night(), night("2026-02-09"), broken=key("2026-02-09", "r1"))
    assert ([one.date for one in read.nights], len(read.gaps)) == (["2026-02-10"], 1)
    assert "access denied" in read.gaps[0].reason
    nothing = load(night(), broken="keys")
    assert nothing.nights == ()
    assert "no route to host" in nothing.gaps[0].reason
