"""The chart of right-sizing: what the largest containers ask for, beside what was seen and what is advised."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.rightsizing.model import Advice, Rightsizing, Sizing
from batch.report.model import Chart, Span, Spans
from batch.report.sections.material import plural
from batch.report.sections.rightsizing_tables import container_name, is_shown

_MOST = 12
"""Containers that a chart shows at one glance."""


def chart(sized: Rightsizing) -> dict[str, Chart]:
    """Draw the first containers of the tables, those to change first; nothing when none of them asks for anything."""
    asking = [
        advice for advice in sized.advice if (advice.is_change or is_shown(advice)) and (advice.cpu.requests or advice.memory.requests)
    ]
    drawable = [advice for advice in asking[:_MOST] if advice.cpu.usage or advice.memory.usage]
    if not drawable:
        return {}
    text = "Each line runs from what was seen to what is asked for, in one pod; the scales are logarithmic."
    if any(advice.is_change and advice.has_evidence for advice in drawable):
        text += " Marks are the three candidates, a diamond is what is advised."
    return {
        "spans": Chart(
            title=_title(drawable),
            subtitle=message(text),
            alt=message(
                f"For {{count:count}} {plural(len(drawable), 'container')}, requests and the highest use that was seen; the tables below have the numbers.",
                count=len(drawable),
            ),
            drawing=Spans(tuple(_span(advice) for advice in drawable)),
        )
    }


def _title(drawable: list[Advice]) -> Message:
    """Tell of the container that asks for most beyond what was seen."""
    wide = [advice for advice in drawable if advice.cpu.requests and advice.cpu.usage]
    if not wide:
        return message("What the largest containers ask for, and what was seen")
    most = max(wide, key=lambda advice: (_factor(advice.cpu), container_name(advice)))
    if _factor(most.cpu) < 2:  # noqa: PLR2004  twice is a word
        return message("What the largest containers ask for is close to what was seen")
    return message(
        "{name:text} asks for {times:count} times the CPU that was seen", name=container_name(most), times=round(_factor(most.cpu))
    )


def _factor(sizing: Sizing) -> float:
    return (sizing.requests or 0) / (sizing.usage or 1)


def _span(advice: Advice) -> Span:
    return Span(
        container_name(advice),
        _points(advice.cpu, has_evidence=advice.has_evidence),
        _points(advice.memory, has_evidence=advice.has_evidence),
    )


def _points(sizing: Sizing, *, has_evidence: bool) -> tuple[int | None, int | None, tuple[int, ...], int | None]:
    """Give what is seen, asked for, the candidates of an advised change, and what is advised."""
    candidates = (sizing.peak, sizing.decayed, sizing.target_ratio) if sizing.target is not None and has_evidence else ()
    return sizing.usage, sizing.requests, tuple(value for value in candidates if value), sizing.target
