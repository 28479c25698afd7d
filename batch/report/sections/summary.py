"""Summary: what is wrong or right tonight, in two sentences, four figures and the findings by urgency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Finding, Message, Severity, message
from batch.report.model import Section
from batch.report.sections.basis import joined
from batch.report.sections.changes import in_short
from batch.report.sections.material import Material
from batch.report.sections.summary_state import state
from batch.report.sections.summary_tiles import tiles

SLUG = "summary"

_IN_FULL = 9
"""Findings that the PDF prints with their reasons: two pages, which is what people read before they turn to a section."""

_ORDER = message("Ordered by urgency. Each line says what is so, what to do about it, and why.")


def build(material: Material) -> tuple[Section, ...]:
    """Give the first page."""
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Summary",
            title=message("{cluster:text}", cluster=material.snapshot.cluster),
            lede=(state(material.plan.totals, material.snapshot.namespaces), urgent(material.findings)),
            findings=material.findings,
            in_full=_IN_FULL,
            tiles=tiles(material),
            sentences={
                "unknown": tuple(_unknown(material)),
                "order": (_ORDER,),
                "further": tuple(_further(material.findings)),
                "coverage": (_coverage(material),),
                "changed": tuple(in_short(material.plan.trends)) if material.plan.trends else (),
            },
        ),
    )


def urgent(findings: Sequence[Finding]) -> Message:
    """Say in one sentence what most needs attention."""
    pressing = [finding for finding in findings if finding.severity is not Severity.ADVICE]
    if not pressing:
        return message("Nothing that was checked needs attention.")
    title = pressing[0].title
    if len(pressing) == 1:
        return Message(f"One finding needs attention: {title.template}.", title.values)
    return Message(f"{{findings:count}} findings need attention. The first: {title.template}.", {"findings": len(pressing), **title.values})


def _further(findings: Sequence[Finding]) -> Iterator[Message]:
    """Say where the reasons of the findings are that the PDF prints in short."""
    if len(findings) > _IN_FULL:
        yield message("{count:count} more, in short. report.html and report.json have their reasons.", count=len(findings) - _IN_FULL)


def _coverage(material: Material) -> Message:
    """Say how far the measurements reach, for the foot of every page."""
    totals = material.plan.totals
    measured = message("{measured:count} of {pods:count} pods measured", measured=totals.measured_pod_count, pods=totals.bound_pod_count)
    if material.plan.window is None:
        return measured
    return joined(measured, message("{window:seconds}, Prometheus", window=material.plan.window.window_seconds), between="; ")


def _unknown(material: Material) -> Iterator[Message]:
    """Say what this report lacks tonight, before anybody relies on it."""
    if not material.run.complete:
        yield message("The run had to stop early: what was not read by then is missing.")
    for gap in material.gaps:
        yield message("{source:text}: {reason:text}. {effect:text}", source=gap.source, reason=gap.reason.rstrip("."), effect=gap.effect)
