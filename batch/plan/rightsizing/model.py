"""Rightsizing and its parts: what each container asks for, was seen to use, and should ask for, in base units and exact integers.

None means unknown, never zero.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date

from batch.findings import Message, Money
from batch.snapshot.sketches import Night

METRICS_API, PROMETHEUS = "metrics API", "Prometheus"
"""Who measured a container: the metrics API, night by night, or Prometheus, all the time."""

NAMELESS = ("Pod", "Job")
"""Kinds whose names do not return: a sketch of them would never be read again."""


class Verdict(enum.StrEnum):
    """What is said of one request."""

    RAISE = "raise"
    LOWER = "lower"
    SET = "set"
    KEEP = "keep"
    HELD = "held"
    UNKNOWN = "unknown"

    @property
    def is_change(self) -> bool:
        """Whether there is something to change."""
        return self in (Verdict.RAISE, Verdict.LOWER, Verdict.SET)


@dataclass(frozen=True, slots=True)
class Sizing:
    """One resource of one container, in nanocores or bytes.

    `usage` is the highest figure seen: of CPU the busiest pod's 95th percentile, of memory the largest sample. `interval` bounds the 90th
    percentile of the nights' figures. `target` is the request to set, None for no change; `target_limit` the limit to set with it, None to
    leave it as it is, unless `removes_limit`.
    """

    requests: int | None
    limits: int | None
    usage: int | None
    peak: int | None
    decayed: int | None
    target_ratio: int | None
    lower_bound: int | None
    upper_bound: int | None
    interval: tuple[int, int] | None
    verdict: Verdict = Verdict.UNKNOWN
    target: int | None = None
    target_limit: int | None = None
    removes_limit: bool = False

    @property
    def change(self) -> int:
        """What the request of one pod changes by; 0 where nothing is to be changed."""
        return 0 if self.target is None else self.target - (self.requests or 0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What advice rests on. `sample_count` are samples of CPU on `night_count` dates, `window_seconds` from the first to the last of them.

    `coverage_ratio` is the share of samples that are there of those that could be; `hours` are the hours of the day (UTC) with samples.
    `source` says who measured: with PROMETHEUS dates are days of its window.
    """

    sample_count: int
    night_count: int
    window_seconds: int
    coverage_ratio: float
    confidence: float
    hours: tuple[int, ...]
    source: str = METRICS_API


@dataclass(frozen=True, slots=True)
class Advice:
    """One container of one workload. `injected` is None where the workload's template was not read.

    `throttled_ratio` is the share of scheduling periods in which the CPU limit held back the container that it held back most.
    `patchable` is whether a patch of the workload can carry the change; `kill_count` are its containers that were killed for memory.
    `has_evidence` is whether there are enough samples for advice; a kill for memory needs none.
    `monthly_saving` is what the change of all its pods' requests is worth, negative when they cost more; None without prices or a change.
    """

    kind: str
    namespace: str
    workload: str
    container: str
    sidecar: bool
    injected: bool | None
    pod_count: int
    strategy: str
    evidence: Evidence
    cpu: Sizing
    memory: Sizing
    patchable: bool
    kill_count: int
    has_evidence: bool
    reasons: tuple[Message, ...]
    monthly_saving: float | None = None
    is_placeholder: bool = False
    throttled_ratio: float | None = None

    @property
    def has_history(self) -> bool:
        """Whether later nights will know it again by its name."""
        return self.kind not in NAMELESS

    @property
    def is_change(self) -> bool:
        """Whether anything of this container is to be changed."""
        return self.cpu.verdict.is_change or self.memory.verdict.is_change

    @property
    def cpu_change(self) -> int:
        """Nanocores by which the requests of all its pods together change."""
        return self.cpu.change * self.pod_count

    @property
    def memory_change(self) -> int:
        """Bytes by which the requests of all its pods together change."""
        return self.memory.change * self.pod_count


@dataclass(frozen=True)
class Rightsizing:
    """Advice for every container of every workload that runs, largest change first; then those without one, most room unused first.

    `night_count` are the nights that samples are from, tonight included; `sketch` is what tonight leaves to later ones, None when nothing
    was measured. `reading_count` are tonight's readings. Savings are in `currency`; `priced_on` is the day of their prices when these are old.
    """

    strategy: str
    window_seconds: float
    night_count: int
    reading_count: int
    advice: tuple[Advice, ...]
    sketch: Night | None = None
    currency: str = ""
    priced_on: date | None = None

    def money(self, amount: float | None) -> Money | None:
        """Give an amount to print; None where it is not known."""
        return None if amount is None else Money(amount, self.currency, self.priced_on)


NO_ADVICE = Rightsizing("peak", 0, 0, 0, ())
"""What is known before anything was assessed."""
