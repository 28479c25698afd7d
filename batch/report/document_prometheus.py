"""The part of report.json about Prometheus: what was asked, and how much of it was there."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from batch.snapshot.model import Gap
from batch.snapshot.window import Window


def prometheus_document(window: Window | None) -> dict[str, Any] | None:
    """Give `prometheus`; null where it was not asked, or did not tell what containers used."""
    if window is None:
        return None
    return {name: _plain(value) for name, value in vars(window).items()} | {"window_seconds": window.window_seconds}


def prometheus_gaps(window: Window | None, gaps: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """Say that Prometheus was not asked, unless it was: then it answered, or a gap says why not."""
    if window is not None or any(gap.source == "prometheus" for gap in gaps):
        return ()
    return (Gap("prometheus", "not asked: prometheus.url is not set", "Usage rests on single moments, and former pods do not count."),)


def _plain(value: object) -> object:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
