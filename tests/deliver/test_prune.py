"""Old runs go, and nothing else ever does."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from batch.deliver import publish
from batch.deliver.folder import FolderStore
from batch.deliver.model import Receipt, StorageError
from batch.deliver.prune import prune
from batch.report.model import Artifact
from batch.settings import RetentionSettings, Settings
from tests.deliver.reports import TAKEN_AT, MemoryStore, report

OWN = "cluster=prod-1/"


def run(day: str, cluster: str = OWN, name: str = "r") -> list[str]:
    return [f"{cluster}date={day}/run={name}/{file}" for file in ("manifest.json", "report.pdf", "snapshot/manifest.json")]


def store_with(*keys: str) -> MemoryStore:
    return MemoryStore(dict.fromkeys(keys, b"{}"))


def test_runs_older_than_the_days_go_and_tonight_counts_as_one() -> None:
    store = store_with(*run("2026-11-28"), *run("2026-11-29"), *run("2026-11-30"))
    assert prune(store, "prod-1", "2026-11-30", 2) == (f"{OWN}date=2026-11-28/run=r/",)
    assert store.keys() == [*run("2026-11-29"), *run("2026-11-30")]


def test_nothing_outside_the_runs_of_this_very_cluster_is_deleted() -> None:
    foreign = [
        *run("2020-01-01", "cluster=prod-10/"),
        *run("2020-01-01", "cluster=prod/"),
        *run("2020-01-01", ""),
        *run("2020-01-01", "other/cluster=prod-1/"),
        f"{OWN}history/date=2020-01-01/r.parquet",
        f"{OWN}history/date=2020-01-01/run=r/x",
        f"{OWN}mail/date=2020-01-01/r.json",
        f"{OWN}date=2020-01-01/notes.txt",
        f"{OWN}date=2020/run=r/report.pdf",
        f"{OWN}date=2020-01-01",
        f"{OWN}latest.json",
        "index.html",
        "somebody-elses.txt",
    ]
    store = store_with(*foreign, *run("2020-01-01"))
    prune(store, "prod-1", "2026-11-30", 1)
    assert store.keys() == sorted(foreign)


def test_a_manifest_goes_before_what_it_lists() -> None:
    store = store_with(*run("2020-01-01"))
    prune(store, "prod-1", "2026-11-30", 1)
    assert store.deletes[0] == f"{OWN}date=2020-01-01/run=r/manifest.json"
    assert len(store.deletes) == 3


def test_the_newest_complete_run_stays_whatever_its_age() -> None:
    store = store_with(*run("2020-01-01"), *run("2020-01-02"))
    store.blobs[f"{OWN}latest.json"] = f'{{"path": "{OWN}date=2020-01-02/run=r/"}}'.encode()
    prune(store, "prod-1", "2026-11-30", 1)
    assert store.keys(f"{OWN}date=") == run("2020-01-02")


def publish_night(back: int, place: Path, days: int | None = None) -> list[Receipt]:
    day = f"{date(2026, 11, 30) - timedelta(days=back):%Y-%m-%d}"
    remembered = (Artifact("r.parquet", "application/vnd.apache.parquet", b"row"),)
    made = report(run_id=f"r{back}", date=day, taken_at=TAKEN_AT - timedelta(days=back), history=remembered)
    return list(publish.publish(made, (str(place),), Settings(retention=RetentionSettings(days=days))))


def test_a_delivery_prunes_its_folder_and_the_lists_follow(tmp_path: Path) -> None:
    for back in (3, 2, 1):
        publish_night(back, tmp_path)
    assert publish_night(0, tmp_path, days=2)[0].error is None
    assert sorted(path.name for path in (tmp_path / OWN).glob("date=*")) == ["date=2026-11-29", "date=2026-11-30"]
    assert len(list((tmp_path / OWN / "history").glob("date=*/r.parquet"))) == 4
    page = (tmp_path / "index.html").read_text()
    assert "2026-11-29" in page
    assert "2026-11-28" not in page


def test_without_a_setting_nothing_goes(tmp_path: Path) -> None:
    for back in (900, 0):
        publish_night(back, tmp_path)
    assert len(list((tmp_path / OWN).glob("date=*"))) == 2


def test_old_runs_that_cannot_be_deleted_are_said_and_the_report_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    publish_night(3, tmp_path)
    publish_night(1, tmp_path)

    def refuse(_: FolderStore, key: str) -> None:
        raise StorageError(f"could not delete {key}: access denied", "Grant s3:DeleteObject to this key.")

    monkeypatch.setattr(FolderStore, "delete", refuse)
    assert publish_night(0, tmp_path, days=1)[0].error is None
    assert "old reports at" in caplog.text
    assert "access denied. Grant s3:DeleteObject" in caplog.text
    assert "2026-11-27" in (tmp_path / "index.html").read_text()
