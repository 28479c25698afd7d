"""What a snapshot's usage rests on when Prometheus was asked: how long a window, how much of it is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from batch.snapshot.model import Snapshot
from batch.snapshot.prometheus_schemas import PROMETHEUS


@dataclass(frozen=True)
class Window:
    """The window that Prometheus told of. `coverage_ratio` is the share of samples that are there of those that could be; None: unknown.

    `container_count` are the containers with usage in it, `gone_count` those of them whose pod is gone, `unknown_count` those of which it is
    not known any more what workload they were of.
    """

    address: str
    first_at: datetime
    last_at: datetime
    scrape_seconds: int | None
    step_seconds: int
    rate_seconds: int
    recorded_series: str | None
    instant_seconds: int
    instant_count: int
    request_count: int
    received_bytes: int
    elapsed_seconds: float
    dropped_count: int
    coverage_ratio: float | None
    container_count: int
    gone_count: int
    unknown_count: int

    @property
    def window_seconds(self) -> float:
        """Length of the window."""
        return (self.last_at - self.first_at).total_seconds()


def window(snapshot: Snapshot) -> Window | None:
    """Read it; None when Prometheus was not asked, or did not tell what containers used."""
    rows: list[dict[str, Any]] = PROMETHEUS.to_arrow(snapshot.table("prometheus")).to_pylist()
    if not rows:
        return None
    measured = snapshot.table("measured_containers")
    return Window(
        **rows[0],
        coverage_ratio=_coverage(snapshot, rows[0]),
        container_count=len(measured),
        gone_count=int((~measured["listed"]).sum()),
        unknown_count=int(measured["workload"].isna().sum()),
    )


def _coverage(snapshot: Snapshot, row: dict[str, Any]) -> float | None:
    """Divide the samples of CPU that are there by those that could be; where there is no CPU at all, those of memory."""
    measured = snapshot.table("measured_containers")
    expected = int(measured["expected_count"].sum()) * row["step_seconds"]
    counted = int(measured["cpu_sample_count"].sum()) * row["step_seconds"]
    if not counted:
        counted = int(measured["memory_sample_count"].sum()) * (row["scrape_seconds"] or 0)
    return min(1.0, counted / expected) if expected and counted else None
