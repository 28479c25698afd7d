"""Rule, Check and ScaleAssessment: whether the cluster can grow, one judgement at a time."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import pandas as pd

from batch.findings import Finding, Message


class Status(enum.StrEnum):
    """What a check found, worst first."""

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    OK = "ok"

    @property
    def rank(self) -> int:
        """Position in the reading order, 0 first."""
        return list(Status).index(self)


@dataclass(frozen=True)
class Rule:
    """What a check measures, and who says where it becomes a problem.

    `unit` is that of its value: count, ratio, bytes, seconds, minor versions, or requests per second. `threshold` says in words where it
    warns and fails, `source` names who says so. `lesson` is two sentences on what happened to others; `action` is what to do. `needs` are
    the rights and sources that it rests on, as `check` names them. `falling`: little is bad.
    """

    id: str
    area: str
    name: str
    unit: str
    measures: str
    threshold: str
    source: str
    lesson: str
    action: str
    needs: tuple[str, ...]
    falling: bool = False


@dataclass(frozen=True)
class Check:
    """One judgement by a rule.

    `value` in the rule's unit is None where it is not known, or where there is nothing to measure. The check warns beyond `warn` and fails
    beyond `fail`, both None where there is no such limit for this cluster. `found` is a statement without a full stop; of an unknown check it
    says why, and `known_by` what would make it known. `objects` name what it is about, worst first.
    """

    rule: Rule
    status: Status
    value: float | None
    warn: float | None
    fail: float | None
    found: Message
    objects: tuple[str, ...] = ()
    known_by: Message | None = None


def judged(
    rule: Rule, value: float, found: Message, *, warn: float | None, fail: float | None = None, objects: tuple[str, ...] = ()
) -> Check:
    """Hold a value against its limits: beyond them is more than they say, for a falling rule less."""
    return Check(rule, _status(rule, value, warn, fail), value, warn, fail, found, objects)


def fine(rule: Rule, found: Message) -> Check:
    """Say that there is nothing to measure, and so nothing wrong."""
    return Check(rule, Status.OK, None, None, None, found)


def unknown(rule: Rule, why: Message, known_by: Message) -> Check:
    """Say that nothing is known, why, and what would change that."""
    return Check(rule, Status.UNKNOWN, None, None, None, why, (), known_by)


def _status(rule: Rule, value: float, warn: float | None, fail: float | None) -> Status:
    sign = -1 if rule.falling else 1
    for limit, status in ((fail, Status.FAIL), (warn, Status.WARN)):
        if limit is not None and (value - limit) * sign > 0:
            return status
    return Status.OK


@dataclass(frozen=True)
class Emptying:
    """What the capacity plan says of packing: of `considered_node_count` nodes, `nodes` could be emptied together."""

    considered_node_count: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class ScaleAssessment:
    """Every check in reading order, the findings, and the tables behind them.

    `tables` have the schemas of batch.scale.tables, by name; one that nothing is known of is empty.
    """

    checks: tuple[Check, ...]
    tables: dict[str, pd.DataFrame]
    findings: tuple[Finding, ...]

    def count(self, status: Status) -> int:
        """Tell how many checks have that status."""
        return sum(check.status is status for check in self.checks)
