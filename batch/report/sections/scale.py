"""Can it grow: every check with its status, what those that are not fine teach, and what the others would need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Message, message, plain
from batch.report.model import Lesson, Section
from batch.report.sections.material import Material, plural
from batch.report.sections.scale_tables import tables
from batch.scale.model import Check, ScaleAssessment, Status

SLUG = "scale"

_NAMED = 3
"""Failing checks that the title names, and objects that a lesson names."""


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about growth."""
    found = material.scale
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Can it grow",
            title=_title(found),
            lede=tuple(_lede(found)),
            how_to_read=tuple(_how_to_read(material)),
            tables=tables(material),
            lessons=tuple(map(_lesson, _not_fine(found.checks))),
        ),
    )


def _title(found: ScaleAssessment) -> Message:
    known = len(found.checks) - found.count(Status.UNKNOWN)
    fail, warn = found.count(Status.FAIL), found.count(Status.WARN)
    if not known:
        return message("Whether the cluster can grow is unknown")
    if fail:
        return _failing([check.rule.name for check in found.checks if check.status is Status.FAIL], known)
    if warn:
        return message(
            f"Nothing stops growth yet; {{warn:count}} of {{known:count}} {plural(known, 'check')} {'warns' if warn == 1 else 'warn'}",
            warn=warn,
            known=known,
        )
    return message("None of {known:count} checks finds anything in the way of growth", known=known)


def _failing(names: Sequence[str], known: int) -> Message:
    """Say how many checks fail, and name the first of them as in the middle of a sentence."""
    shown = [name if name[:2].isupper() else name[:1].lower() + name[1:] for name in names[:_NAMED]]
    rest = len(names) - len(shown)
    text = f"{', '.join(shown)} and {rest} more" if rest else " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
    return message(
        f"{{fail:count}} of {{known:count}} checks {'fails' if len(names) == 1 else 'fail'}: {{text:text}}",
        fail=len(names),
        known=known,
        text=text,
    )


def _lede(found: ScaleAssessment) -> Iterator[Message]:
    unknown = found.count(Status.UNKNOWN)
    yield message(
        "Of {all:count} checks {ok:count} are fine, {warn:count} warn, {fail:count} fail, and {unknown:count} could not be made.",
        all=len(found.checks),
        ok=found.count(Status.OK),
        warn=found.count(Status.WARN),
        fail=found.count(Status.FAIL),
        unknown=unknown,
    )
    yield message("Each is a limit that others met on the way to thousands of nodes; most of them do not show before they hurt.")


def _not_fine(checks: Sequence[Check]) -> list[Check]:
    """Give the checks that fail and warn, those that fail first."""
    return sorted((check for check in checks if check.status in (Status.FAIL, Status.WARN)), key=lambda check: check.status.rank)


def _lesson(check: Check) -> Lesson:
    rule = check.rule
    return Lesson(
        name=f"{rule.area}: {rule.name}",
        status=check.status.value,
        found=check.found,
        where=_where(check.objects),
        lesson=plain(rule.lesson),
        action=plain(rule.action),
        basis=plain(f"Measured: {rule.measures}. It {rule.threshold}. Source: {rule.source}."),
    )


def _where(objects: Sequence[str]) -> Message | None:
    if not objects:
        return None
    rest = len(objects) - _NAMED
    others = f" and {rest:,} more" if rest > 0 else ""
    return message(f"Where: {{names:text}}{others}", names=", ".join(objects[:_NAMED]))


def _how_to_read(material: Material) -> Iterator[Message]:
    scale = material.settings.scale
    yield message(
        "A check warns and fails beyond the limits beside it: above them, or below them where little is bad. Whose limits these are stands with each lesson, and for all checks in tables/scale-checks.csv. Settings of the group scale change them."
    )
    yield message("A check that could not be made is unknown, and not fine. What would make it known stands with it.")
    yield message(
        "Times to pull images are sizes divided by {bandwidth:bytes} a second; unpacking comes on top. Kubelets report 50 images by default, and as a rule their compressed size, so totals are at least that.",
        bandwidth=scale.pull_bytes_per_second,
    )
    yield message(
        "What a kubelet is really set to (`serializeImagePulls`, `maxParallelImagePulls`, `registryPullQPS`, `maxPods`) stands in its own configuration. Reading it through the API server takes the right `nodes/proxy`, which also lets its holder run commands in every pod of the node; this report does not ask for it."
    )
