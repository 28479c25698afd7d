"""What a run takes from outside, for tests: waits take no time, nobody watches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
