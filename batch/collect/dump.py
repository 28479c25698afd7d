"""A folder of what kubectl prints, as a source."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from batch.collect.source import FILE_NAMES, Kind, SourceError, at_any_time
from batch.errors import CollectError


class Dump:
    """Reads `<kind>*.json` and `<kind>*.json.gz`; several files of a kind are the pages of one list."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise CollectError(
                "dump-missing",
                attempted=f"read the dump {folder}",
                why="there is no such folder",
                remedy="Give a folder with nodes.json and pods.json, as `kubectl get nodes -o json` and `kubectl get pods -A -o json` print them.",
            )
        self._folder = folder

    def kubernetes_version(self) -> str | None:
        """Give gitVersion of version.json, as `kubectl version -o json` or GET /version has it."""
        for path in self._files("version"):
            try:
                version = json.loads(_read(path))
                return str(version.get("serverVersion", version)["gitVersion"])
            except (OSError, ValueError, KeyError, AttributeError, zlib.error, EOFError):
                return None
        return None

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        """Yield the files of that kind in order of their names."""
        name = FILE_NAMES[kind]
        paths = self._files(name)
        if not paths:
            raise SourceError(kind, f"there is no {name}*.json in the dump", f"Save `kubectl get {name} -A -o json` there.", absent=True)
        for path in paths:
            before_page()
            try:
                yield _read(path)
            except (OSError, UnicodeDecodeError, zlib.error, EOFError) as error:
                raise SourceError(kind, f"{path.name} cannot be read: {error}", "Save it again.") from error

    def changed_at(self) -> datetime:
        """Give the time of the newest file: how old a dump without measurements is at least."""
        times = [path.stat().st_mtime for path in self._folder.iterdir() if path.is_file()]
        return datetime.fromtimestamp(int(max(times, default=0)), UTC)

    def _files(self, name: str) -> list[Path]:
        return sorted([*self._folder.glob(f"{name}*.json"), *self._folder.glob(f"{name}*.json.gz")])


def _read(path: Path) -> bytes:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # PowerShell's redirection writes UTF-16
        return data.decode("utf-16").encode()
    return data.removeprefix(b"\xef\xbb\xbf")
