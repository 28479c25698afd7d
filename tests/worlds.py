"""What a run takes from outside, for tests: waits take no time, nobody watches, nothing is around."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from batch.pipeline import World


class Silence:
    """A Progress that nobody watches."""

    def stage(self, name: str) -> None: ...

    def count(self, what: str, number: int) -> None: ...

    def close(self) -> None: ...


def world(*, in_cluster: bool = False, ahead: timedelta = timedelta()) -> World:
    """Make a world whose clock is that far ahead of the real one."""
    return World(
        now=lambda: datetime.now(UTC) + ahead, monotonic=lambda: 0.0, sleep=lambda _: None, in_cluster=in_cluster, progress=Silence()
    )


@contextmanager
def in_an_empty_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in an empty folder, with no settings and no cluster around, and leave logging as it was."""
    for name in list(os.environ):
        if name.startswith(("NIGHTCAP_", "KUBE", "AWS_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    root = logging.getLogger()
    before = root.handlers[:]
    yield
    root.handlers[:] = before
