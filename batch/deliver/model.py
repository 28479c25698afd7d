"""Receipt and StorageError: what became of one destination."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from batch.snapshot.archive import BlobStore


@dataclass(frozen=True)
class Receipt:
    """`location` is where the report is (or was to be); `error` is None when it arrived whole, `remedy` what to do about it."""

    destination: str
    location: str
    error: str | None = None
    remedy: str = ""


@dataclass(frozen=True)
class Link:
    """An address that opens without a login until `until` (aware, UTC); `may_end_earlier`: with credentials whose end is not known."""

    url: str
    until: datetime
    may_end_earlier: bool = False


class StorageError(Exception):
    """A folder or bucket did not do what it was asked: `why` names what was tried on what, `remedy` says what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why = why
        self.remedy = remedy
        super().__init__(f"{why}. {remedy}")


class Store(BlobStore, Protocol):
    """A BlobStore that reports are delivered to."""

    def delete(self, key: str) -> None:
        """Remove a blob; one that is not there is no error."""
        ...

    def link(self, key: str, seconds: float) -> Link | None:
        """Give an address by which people without a login can open a blob for at most that long; None where there is no such thing."""
        ...
