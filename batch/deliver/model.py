"""Receipt: what became of one destination."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Receipt:
    """`location` is where the report is (or was to be); `error` is None when it arrived whole."""

    destination: str
    location: str
    error: str | None = None
