"""What of the checks needs attention, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Finding, Severity, plain
from batch.scale.model import Check, Status

SECTION = "scale"

_TOLD_ELSEWHERE = frozenset({"health.pending", "packing.underused", "packing.emptyable"})
"""Checks whose matter the capacity plan tells in findings of its own."""

_FAILS_ARE_CRITICAL = frozenset({"etcd.size", "health.not-ready", "dns.replicas"})
"""Failures that stop the whole cluster."""

_NAMED = 20


def judge(checks: Sequence[Check]) -> tuple[Finding, ...]:
    """Give one finding for each check that warns or fails, but for those that other sections tell."""
    return tuple(_findings(checks))


def _findings(checks: Sequence[Check]) -> Iterator[Finding]:
    for check in checks:
        if check.status in (Status.WARN, Status.FAIL) and check.rule.id not in _TOLD_ELSEWHERE:
            yield Finding(
                id=f"scale.{check.rule.id}",
                severity=_severity(check),
                section=SECTION,
                title=check.found,
                detail=plain(f"{check.rule.lesson.partition('. ')[0].rstrip('.')}."),
                action=plain(check.rule.action),
                objects=check.objects[:_NAMED],
                weight=float(len(check.objects)),
            )


def _severity(check: Check) -> Severity:
    if check.status is Status.WARN:
        return Severity.ADVICE
    return Severity.CRITICAL if check.rule.id in _FAILS_ARE_CRITICAL else Severity.WARNING
