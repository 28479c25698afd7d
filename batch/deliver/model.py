"""Receipt and StorageError: what became of one destination."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Receipt:
    """`location` is where the report is (or was to be); `error` is None when it arrived whole, `remedy` what to do about it."""

    destination: str
    location: str
    error: str | None = None
    remedy: str = ""


class StorageError(Exception):
    """A folder or bucket did not do what it was asked: `why` names what was tried on what, `remedy` says what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why = why
        self.remedy = remedy
        super().__init__(f"{why}. {remedy}")
