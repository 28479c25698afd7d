"""Earlier nights made from tonight's figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from batch.snapshot.summaries import Level, Summary


def before(tonight: Summary, days: int, **changes: Any) -> Summary:
    """Give tonight's summary as that of an earlier night."""
    moment = tonight.taken_at - timedelta(days=days)
    return replace(tonight, taken_at=moment, date=f"{moment:%Y-%m-%d}", run_id=f"r{days}", **changes)


def growing_to(tonight: Summary, nights: int, a_night: int) -> tuple[Summary, ...]:
    """Give earlier nights in which CPU requests of pool and cluster were less by `a_night` for every night back."""

    def smaller(level: Level, days: int) -> Level:
        return replace(level, requests=(level.requests or 0) - a_night * days) if level.resource == "cpu" else level

    return tuple(before(tonight, days, levels=tuple(smaller(level, days) for level in tonight.levels)) for days in range(nights, 0, -1))
