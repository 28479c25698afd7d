"""The checks of growth, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batch.report.format import render_message
from batch.scale.model import Check, ScaleAssessment
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import API_REQUESTS

CHECK_COLUMNS = (
    "id",
    "area",
    "name",
    "status",
    "value",
    "threshold",
    "fails_beyond",
    "falling",
    "unit",
    "evidence",
    "known_by",
    "measures",
    "threshold_text",
    "threshold_source",
    "lesson",
    "action",
    "needs",
)


def scale_document(scale: ScaleAssessment, snapshot: Snapshot) -> dict[str, Any]:
    """Give report.json's `scale`: every check with what it is about, and what this run asked of the API server."""
    return {
        "checks": [{**check_row(check), "needs": list(check.rule.needs), "objects": list(check.objects)} for check in scale.checks],
        "api_requests": API_REQUESTS.to_arrow(snapshot.table("api_requests")).to_pylist(),
    }


def check_row(check: Check) -> Mapping[str, Any]:
    """Give one check by CHECK_COLUMNS. `threshold` is where it warns; a check that is `falling` warns below it, the others above."""
    rule = check.rule
    return {
        "id": rule.id,
        "area": rule.area,
        "name": rule.name,
        "status": check.status.value,
        "value": check.value,
        "threshold": check.warn,
        "fails_beyond": check.fail,
        "falling": rule.falling,
        "unit": rule.unit,
        "evidence": render_message(check.found),
        "known_by": render_message(check.known_by) if check.known_by else None,
        "measures": rule.measures,
        "threshold_text": rule.threshold,
        "threshold_source": rule.source,
        "lesson": rule.lesson,
        "action": rule.action,
        "needs": "; ".join(rule.needs),
    }
