"""How much of the run's time is left, and what each stage may use of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """The run's time budget.

    `total_seconds` None means no limit. `reserve_seconds` is kept for rendering and delivery: collection of
    optional sources stops when only that much is left, so that a slow source costs a gap and not the report; a list without which there is
    no report may use it.
    `monotonic` is a clock in seconds; `started` its reading at the start of the run.
    """

    total_seconds: float | None
    reserve_seconds: float
    monotonic: Callable[[], float]
    started: float

    def remaining_seconds(self) -> float:
        """Seconds until the budget is used up; infinite without a limit, never negative."""
        if self.total_seconds is None:
            return float("inf")
        return max(0.0, self.total_seconds - (self.monotonic() - self.started))

    def collection_seconds(self) -> float:
        """Seconds that collection may still use, with the reserve left for what follows."""
        return max(0.0, self.remaining_seconds() - self.reserve_seconds)
