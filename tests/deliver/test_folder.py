from __future__ import annotations

import os
from pathlib import Path

import pytest

from batch.deliver.folder import FolderStore
from batch.deliver.model import StorageError


def test_what_is_written_is_read_and_listed(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "made" / "later")
    assert store.keys() == []
    for key in ("a/b/2", "a/b/1", "a/c", "ab"):
        store.write(key, key.encode(), "text/plain")
    assert store.read("a/b/1") == b"a/b/1"
    assert store.keys() == ["a/b/1", "a/b/2", "a/c", "ab"]
    assert store.keys("a/") == ["a/b/1", "a/b/2", "a/c"]
    assert store.keys("a/b") == ["a/b/1", "a/b/2"]
    assert store.keys("nothing/") == []


@pytest.mark.parametrize("key", ["absent", "folder", "file/below"])
def test_a_key_that_is_not_there_is_a_key_error(tmp_path: Path, key: str) -> None:
    store = FolderStore(tmp_path)
    store.write("folder/x", b"", "text/plain")
    store.write("file", b"", "text/plain")
    with pytest.raises(KeyError):
        store.read(key)


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FolderStore(tmp_path)
    store.write("latest.json", b"old", "application/json")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"latest.json: No space left on device. Make room on that disk"):
        store.write("latest.json", b"new", "application/json")
    assert [path.name for path in tmp_path.iterdir()] == ["latest.json"]
    assert store.read("latest.json") == b"old"


def test_what_a_killed_write_left_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / ".0123456789abcdef.tmp").write_bytes(b"half")
    assert FolderStore(tmp_path).keys() == []


def test_files_get_the_rights_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        FolderStore(tmp_path).write("report.pdf", b"", "application/pdf")
    finally:
        os.umask(before)
    assert (tmp_path / "report.pdf").stat().st_mode & 0o777 == 0o640


def test_a_file_in_the_way_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    with pytest.raises(StorageError, match=r"could not write .*reports/a.* A file stands where a folder is needed"):
        FolderStore(tmp_path / "reports").write("a", b"", "text/plain")
