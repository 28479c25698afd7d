"""FolderStore: blobs as files below a folder."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batch.deliver.model import StorageError

_TEMPORARY = ".tmp"

_REMEDIES = {
    errno.EACCES: "Give the user that runs this the right to write there, or choose another folder.",
    errno.EPERM: "Give the user that runs this the right to write there, or choose another folder.",
    errno.ENOSPC: "Make room on that disk, or choose another folder.",
    errno.EDQUOT: "Make room within that quota, or choose another folder.",
    errno.EROFS: "Mount a volume that can be written there, or choose another folder.",
    errno.ENOTDIR: "A file stands where a folder is needed: move it away, or choose another folder.",
    errno.EEXIST: "A file stands where a folder is needed: move it away, or choose another folder.",
    errno.ENAMETOOLONG: "Choose a folder with a shorter path.",
}


class FolderStore:
    """A BlobStore in a folder, which is made when the first blob is written."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, key: str) -> bytes:
        """Return the file's content; KeyError when there is none."""
        with _in_words("read", self._root / key):
            try:
                return (self._root / key).read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
                raise KeyError(key) from error

    def write(self, key: str, data: bytes, media_type: str) -> None:  # noqa: ARG002  a file carries no media type
        """Write a file whole or not at all, also when the machine stops: aside first, onto the disk, then renamed."""
        target = self._root / key
        aside = target.with_name(f".{secrets.token_hex(8)}{_TEMPORARY}")
        with _in_words("write", target):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with aside.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(target)
            finally:
                aside.unlink(missing_ok=True)

    def keys(self, prefix: str = "") -> list[str]:
        """List the files whose path below the folder starts with `prefix`; none when there is no folder."""
        start = self._root / prefix.rpartition("/")[0]
        with _in_words("list", start):
            found = (path.relative_to(self._root).as_posix() for path in _files(start))
            return sorted(key for key in found if key.startswith(prefix))

    def delete(self, key: str) -> None:
        """Remove a file, and the folders that are empty without it."""
        path = self._root / key
        with _in_words("delete", path):
            path.unlink(missing_ok=True)
            for parent in path.parents:
                if parent == self._root or (parent.is_dir() and any(parent.iterdir())):
                    return
                if parent.is_dir():
                    parent.rmdir()

    def link(self, key: str, seconds: float) -> None:
        """A folder makes no links."""  # noqa: D401  says what it does not do


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder, onerror=_stop_unless_absent):
        yield from (Path(parent, name) for name in names if not (name.startswith(".") and name.endswith(_TEMPORARY)))


def _stop_unless_absent(error: OSError) -> None:
    """Let no unreadable folder pass for an empty one."""
    if not isinstance(error, FileNotFoundError):
        raise error


@contextmanager
def _in_words(action: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "Check the folder and the disk that it is on.")
        raise StorageError(f"could not {action} {path}: {error.strerror or error}", remedy) from error
