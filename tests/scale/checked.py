"""The way from a small snapshot to one check."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from batch.report.format import render_message
from batch.scale.assess import assess
from batch.scale.model import Check, Emptying, ScaleAssessment, Status
from batch.settings import ScaleSettings, Settings
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.schema import Schema
from batch.snapshot.schemas import CONTROL_PLANE_METRICS, SCHEMAS
from tests.builders import snapshot

OK, WARN, FAIL, UNKNOWN = Status.OK, Status.WARN, Status.FAIL, Status.UNKNOWN


def assessed(
    *,
    history: History = NO_HISTORY,
    emptying: Emptying | None = None,
    version: str | None = "v1.36.2",
    scale: Mapping[str, Any] | None = None,
    **parts: Any,
) -> ScaleAssessment:
    """Assess a snapshot of these parts; `scale` are settings of that group."""
    shot = dataclasses.replace(snapshot(**parts), kubernetes_version=version)
    return assess(shot, Settings(scale=ScaleSettings(**(scale or {}))), history, emptying)


def check(rule: str, **parts: Any) -> Check:
    """Give one check of such an assessment."""
    (found,) = (one for one in assessed(**parts).checks if one.rule.id == rule)
    return found


def said(found: Check) -> str:
    """Give what was found, as it is printed."""
    return render_message(found.found).replace("\u00a0", " ")


def rows(schema: Schema, *given: Mapping[str, Any]) -> dict[str, Any]:
    """Give a table by its name from rows by column name; a column that a row lacks is NA."""
    return {schema.name: SCHEMAS[schema.name].frame([row.get(column.name) for column in schema.columns] for row in given)}


def told(*figures: tuple[str, float, Mapping[str, str]]) -> dict[str, Any]:
    """Give table control_plane_metrics of figures (name, value, labels)."""
    empty = dict.fromkeys((column.name for column in CONTROL_PLANE_METRICS.columns), "")
    return rows(CONTROL_PLANE_METRICS, *({**empty, **labels, "metric": name, "value": value} for name, value, labels in figures))
