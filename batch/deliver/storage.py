"""Opens the folder or bucket that a URL names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from batch.deliver.folder import FolderStore
from batch.deliver.model import StorageError, Store
from batch.errors import SettingsError
from batch.settings import Settings

__all__ = ["Location", "StorageError", "locate", "open_store", "without_keys"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_BUCKET = re.compile(r"[A-Za-z0-9._-]{3,255}")
"""What botocore takes for a bucket name; stores other than AWS allow capitals and underscores."""


@dataclass(frozen=True)
class Location:
    """A folder, or a bucket and a prefix in it. `path` is the folder's absolute path, or the prefix without slashes around it."""

    bucket: str | None
    path: str

    def at(self, key: str = "") -> str:
        """Say where a key is, as a path or an s3:// URL."""
        root = self.path if self.bucket is None else "/".join(filter(None, (f"s3://{self.bucket}", self.path)))
        return f"{root}/{key}" if key else root


def locate(url: str) -> Location:
    """Read an output's URL: a folder path, file:///folder or s3://bucket/prefix. Opens nothing.

    Raises SettingsError when it is none of these.
    """
    scheme = _SCHEME.match(url)
    rest = url[scheme.end() + 1 :] if scheme else url
    if not scheme:
        return _folder(url, rest)
    if scheme.group().lower() == "s3":
        return _bucket(url, rest)
    if scheme.group().lower() == "file":
        return _folder(url, unquote(rest.removeprefix("//localhost").removeprefix("//")), rest.startswith("//"))
    raise _refused(url, f"{scheme.group()}: is no kind of output")


def open_store(url: str, settings: Settings) -> Store:
    """Give the store at a URL. No request is made yet: a missing bucket shows at the first read or write, as StorageError."""
    location = locate(url)
    if location.bucket is None:
        return FolderStore(Path(location.path))
    from batch.deliver import s3  # noqa: PLC0415  boto3 takes half a second to import, which a run into a folder need not wait for

    return s3.BucketStore(location.bucket, location.path, s3.connect(settings.s3), settings.s3)


def without_keys(url: str) -> str:
    """Hide what stands before an @ in a URL: somebody may have put keys there."""
    return re.sub(r"//[^/]*@", "//***@", url)


def _folder(url: str, path: str, must_be_absolute: bool = False) -> Location:  # noqa: FBT001, FBT002  one private caller
    if not path or "\0" in path:
        raise _refused(url, "it names no folder")
    if must_be_absolute and not path.startswith("/"):
        raise _refused(url, "the folder of a file:// URL begins with a third slash")
    return Location(None, str(Path(path).absolute()))


def _bucket(url: str, rest: str) -> Location:
    bucket, _, prefix = rest.removeprefix("//").partition("/")
    if "@" in bucket:
        raise _refused(url, "keys do not belong into a URL, which gets logged")
    if not rest.startswith("//") or not _BUCKET.fullmatch(bucket):
        raise _refused(url, "it names no bucket")
    return Location(bucket, prefix.strip("/"))


def _refused(url: str, why: str) -> SettingsError:
    return SettingsError(
        "output-url",
        attempted=f"use {without_keys(url)!r} as a place for reports",
        why=why,
        remedy="Give a folder (./reports), file:///folder or s3://bucket/prefix.",
    )
