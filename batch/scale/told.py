"""What Prometheus told of the control plane, and what to say when it told nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from batch.findings import message
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, unknown
from batch.snapshot.control_plane import SOURCE


@dataclass(frozen=True)
class Figure:
    """One row of table control_plane_metrics but its name; a label that it does not have is empty."""

    instance: str
    api_group: str
    version: str
    resource: str
    verb: str
    scope: str
    flow: str
    reason: str
    value: float


def figures(facts: Facts, metric: str) -> list[Figure]:
    """Give the rows of one figure, largest first."""
    table = facts.snapshot.table("control_plane_metrics")
    own = table.loc[table["metric"] == metric]
    columns = [own[field.name].to_list() for field in fields(Figure)]
    found = (Figure(*row) for row in zip(*columns, strict=True))
    return sorted(found, key=lambda one: (-one.value, astuple(one)))


def untold(facts: Facts, rule: Rule, of: str, series: Sequence[str]) -> Check:
    """Say why a figure is not known: `of` is what has it ("etcd"), `series` are the metrics that would tell."""
    needed = message("Prometheus with {series:text} of {of:text}", series=" or ".join(series), of=of)
    if facts.snapshot.has(SOURCE):
        own = " On a managed control plane it is not visible" if of == "etcd" else ""
        return unknown(rule, message(f"Prometheus has no series of {{of:text}} that tell.{own}".rstrip("."), of=of), needed)
    if any(gap.source in (SOURCE, "prometheus") for gap in facts.snapshot.gaps):
        return unknown(rule, message("Prometheus did not answer"), needed)
    return unknown(rule, message("Prometheus was not asked"), message("Setting prometheus.url, and there the metrics of {of:text}", of=of))
