"""The few figures by which a run is told apart in a list of many."""

from __future__ import annotations

from collections.abc import Sequence

from batch.findings import Finding, Severity
from batch.plan.model import CapacityPlan
from batch.report.format import clean, render_message
from batch.report.sections.material import ratio


def key_figures(plan: CapacityPlan, findings: Sequence[Finding]) -> dict[str, float | int | str | None]:
    """Give size, fill and findings of a run; `findings` are in order of urgency. None is unknown."""
    totals = plan.totals
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    fills = {
        "requests_cpu_ratio": ratio(totals.requests_cpu_nanocores, totals.allocatable_cpu_nanocores),
        "requests_memory_ratio": ratio(totals.requests_memory_bytes, totals.allocatable_memory_bytes),
    }
    return {
        "node_count": totals.node_count,
        "bound_pod_count": totals.bound_pod_count,
        **{name: None if share is None else round(share, 4) for name, share in fills.items()},
        "critical_count": counts[Severity.CRITICAL],
        "warning_count": counts[Severity.WARNING],
        "first_finding": clean(render_message(findings[0].title)) if findings else None,
    }
