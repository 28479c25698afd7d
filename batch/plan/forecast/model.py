"""Trends and their parts: figures over the nights, when room runs out, and what changed. None means unknown, never zero."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from batch.findings import Finding
from batch.snapshot.summaries import Summary, Workloads


class Refusal(enum.StrEnum):
    """Why there is no date on which a resource is used up."""

    UNKNOWN = "its size or its requests are not known tonight"
    FEW_NIGHTS = "fewer than 7 nights"
    NO_TREND = "no growth that stands out from the nightly changes"
    FAR = "later than the horizon"


@dataclass(frozen=True)
class ConePoint:
    """What is expected on a day, counted from tonight, and the bounds of the 80 percent interval."""

    day: int
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """When requests reach what is allocatable tonight. `pool` is None for the whole cluster.

    `exhausted_at`, `low` and `high` are aware and in UTC; None is "not within the horizon", or that nothing is told (`refusal`).
    `weekly_growth` is the change in a week, in the resource's unit; `compound` says that growth at a constant rate fits better than a constant
    amount, `seasonal` that the week was taken out, `step_dates` when new levels began. `cone` are points of the forecast for a chart.
    """

    pool: str | None
    resource: str
    requests: int | None
    allocatable: int | None
    night_count: int
    exhausted_at: datetime | None = None
    low: datetime | None = None
    high: datetime | None = None
    refusal: Refusal | None = None
    weekly_growth: float | None = None
    compound: bool = False
    seasonal: bool = False
    step_dates: tuple[str, ...] = ()
    cone: tuple[ConePoint, ...] = ()


@dataclass(frozen=True)
class Change:
    """A figure of the cluster then and now, in base units of `kind` (findings.KINDS)."""

    what: str
    kind: str
    before: float | None
    now: float | None


@dataclass(frozen=True)
class Mover:
    """A workload whose requests changed, and by how much; `workload` is empty for all bare pods, or single Jobs, of a namespace.

    Each pair is (then, now); None is not there, for requests also not known. `weight` is the larger of the changes of CPU and memory, as shares
    of what the cluster may promise.
    """

    kind: str
    namespace: str
    workload: str
    pods: tuple[int | None, int | None]
    requests_cpu: tuple[int | None, int | None]
    requests_memory: tuple[int | None, int | None]
    usage_cpu: tuple[int | None, int | None]
    usage_memory: tuple[int | None, int | None]
    weight: float


@dataclass(frozen=True)
class Comparison:
    """Tonight against an earlier night (`date`, YYYY-MM-DD). `movers` has the largest changes first, None when its workloads are not known."""

    date: str
    changes: tuple[Change, ...]
    movers: tuple[Mover, ...] | None


@dataclass(frozen=True)
class Trends:
    """Everything about how the cluster changes. `summaries` are the nights, oldest first, tonight last.

    `tonight` and `workloads` are what later runs will read of this one.
    """

    summaries: tuple[Summary, ...]
    workloads: Workloads
    forecasts: tuple[Forecast, ...]
    last_night: Comparison | None = None
    last_week: Comparison | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def tonight(self) -> Summary:
        """The newest of the nights."""
        return self.summaries[-1]
