"""Right-sizing: what containers ask for, what was seen, what they should ask for, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Message, message
from batch.plan.rightsizing.model import PROMETHEUS, Advice, Rightsizing, Verdict
from batch.report.model import Section
from batch.report.patches import SCRIPT, apply_command, changes
from batch.report.sections.basis import of_report
from batch.report.sections.material import Material, plural
from batch.report.sections.rightsizing_chart import chart
from batch.report.sections.rightsizing_tables import container_name, tables
from batch.settings import RightsizingSettings
from batch.snapshot.window import Window

SLUG = "right-sizing"

_EXPLAINED = 3
"""Workloads whose change is explained; the others have their reasons in the table's file."""

_REASONS = 3
"""Reasons that are shown of each, those that decide first."""


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about requests; without a measurement its title says so."""
    sized, settings = material.plan.rightsizing, material.settings.rightsizing
    measured = _measured(sized)
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Right-sizing",
            title=_title(sized),
            lede=tuple(_lede(sized, material)),
            how_to_read=tuple(_how_to_read(material)) if measured else (),
            findings=material.findings_of(SLUG),
            tables=tables(sized) if measured else {},
            charts=chart(sized, _basis(material)) if measured else {},
            sentences={f"change-{number}": block for number, block in enumerate(_explained(sized, settings), 1)},
        ),
    )


def _basis(material: Material) -> Message:
    return of_report(material.plan, material.snapshot, material.settings.usage.max_age_seconds)


def _measured(sized: Rightsizing) -> list[Advice]:
    return [advice for advice in sized.advice if advice.evidence.sample_count]


def _title(sized: Rightsizing) -> Message:
    if not sized.advice:
        return message("No container is running")
    if not _measured(sized):
        return message("What containers use is unknown, so nothing is advised")
    changed = [advice for advice in sized.advice if advice.is_change]
    if changed:
        return _changes_title(changed)
    if all(advice.cpu.verdict in (Verdict.UNKNOWN, Verdict.HELD) for advice in sized.advice):
        return message("Too little is known yet to advise on requests")
    return message("What is requested fits what is used")


def _changes_title(changed: Sequence[Advice]) -> Message:
    cpu, memory = (sum(getattr(advice, f"{resource}_change") for advice in changed) for resource in ("cpu", "memory"))
    who = f"{{count:count}} {plural(len(changed), 'container')} should ask for"
    amounts: dict[str, object] = {"count": len(changed)}
    parts = []
    for name, kind, change in (("cpu", "nanocores", cpu), ("memory", "bytes", memory)):
        if change:
            amounts[name] = abs(change)
            parts.append(f"{{{name}:{kind}}} {'less' if change < 0 else 'more'}")
    return message(f"{who} {' and '.join(parts)} in all", **amounts) if parts else message(f"{who} other limits", count=len(changed))


def _lede(sized: Rightsizing, material: Material) -> Iterator[Message]:
    if not sized.advice:
        return
    measured, settings = _measured(sized), material.settings.rightsizing
    if not measured:
        yield message("None of {all:count} containers was measured.", all=len(sized.advice))
        return
    if by_prometheus := [advice for advice in measured if advice.evidence.source == PROMETHEUS]:
        basis = _basis(material)
        yield Message(
            f"{{measured:count}} of {{all:count}} containers were measured: {basis.template}.",
            {"measured": len(by_prometheus), "all": len(sized.advice), **basis.values},
        )
    if len(by_prometheus) < len(measured):
        yield _by_night(len(measured) - len(by_prometheus), sized)
    first = min(filter(None, (_nights_missing(advice, settings) for advice in measured)), default=None)
    if first and not by_prometheus and not any(advice.cpu.target or advice.memory.target for advice in measured if not advice.kill_count):
        yield message(
            f"Advice takes {{least:count}} samples from {{days:count}} nights; the first containers have them in {{first:count}} {plural(first, 'night')}.",
            least=settings.samples_min,
            days=settings.days_min,
            first=first,
        )
    if all(advice.evidence.confidence < 1 for advice in measured):
        yield message("No container has a sample a minute for a day, so there are no bounds.")


def _by_night(count: int, sized: Rightsizing) -> Message:
    nights, readings = sized.night_count, sized.reading_count
    return message(
        f"{{measured:count}} of {{all:count}} containers were measured, on {{nights:count}} {plural(nights, 'night')}, tonight with {{readings:count}} {plural(readings, 'reading')}.",
        measured=count,
        all=len(sized.advice),
        nights=nights,
        readings=readings,
    )


def _nights_missing(advice: Advice, settings: RightsizingSettings) -> int | None:
    """Give how many more nights like those before bring enough samples; None where there are enough, and where no night will."""
    evidence = advice.evidence
    if not advice.has_history or advice.cpu.verdict is not Verdict.UNKNOWN:
        return None
    samples = settings.samples_min - evidence.sample_count
    return max(settings.days_min - evidence.night_count, -(-samples * evidence.night_count // evidence.sample_count), 0) or None


def _on_samples(window: Window | None, settings: RightsizingSettings) -> Message:
    """Say what samples are worth: one a night, or those of a window."""
    if window is None:
        return message(
            "A sample a night is worth little: it shows one hour of the day. A nightly memory sample is no daily peak, so memory is lowered only on samples from {hours:count} hours of the day or more.",
            hours=settings.memory_hours_min,
        )
    return message(
        "With Prometheus the busiest pod's 95th percentile and the largest memory are those of all samples of {window:seconds}, CPU in means of {rate:seconds}, pods that are gone included. The percentile of all pods together and the decayed candidate's CPU are taken at {instants:count} instants, its memory from each day's peak.",
        window=window.window_seconds,
        rate=window.rate_seconds,
        instants=window.instant_count,
    )


def _explained(sized: Rightsizing, settings: RightsizingSettings) -> Iterator[tuple[Message, ...]]:
    """Yield, for the largest changes, what changes, why, and the command that changes it."""
    for place, (workload, advice) in enumerate(list(changes(sized).items())[:_EXPLAINED]):
        first = advice[0]
        with_file = place < settings.patch_files
        how = message("`{command:text}`", command=apply_command(workload)) if with_file else message(f"Its command is in {SCRIPT}.")
        yield (message("{name:text}", name=container_name(first)), *first.reasons[:_REASONS], how)


def _how_to_read(material: Material) -> Iterator[Message]:
    sized, settings = material.plan.rightsizing, material.settings.rightsizing
    yield message(
        "Asks is what most pods of a workload request for the container. Seen is the highest figure of all samples: of CPU the 95th percentile of the busiest pod, of memory the largest sample."
    )
    yield message(
        "Three candidates come from the same samples. Peak: what was seen, memory with 15 %. Decayed: the 90th percentile of a histogram in which samples lose half of their weight each day, with 15 %. Target ratio: the 95th percentile of all pods, divided by {ratio:ratio}. Advised is {strategy:text}, unless the settings say otherwise for a namespace.",
        ratio=settings.target_usage_ratio,
        strategy=settings.strategy.replace("_", " "),
    )
    yield message(
        "From candidate to advice: a kill for memory raises it; no less than the floor; rounded up to what a person would write; no more than the largest node leaves. Changes of less than {least:ratio} are left out.",
        least=settings.change_min_ratio,
    )
    yield message(
        "Confidence is the days from the first sample to the last, or samples / 1,440 if that is less: a sample a minute for a day is 1. Below 1 the decayed candidate has no bounds. From 29 nights on, an interval bounds the 90th percentile of the nights; each end is wrong in one of twenty cases."
    )
    yield _on_samples(material.plan.window, settings)
    yield message(
        "Placeholder pods get no advice. What an autoscaler scales by is held. Without a template to patch, a change has to be made where the pods are made; bare pods without a change are in the file only."
    )
    if sized.currency:
        yield message(
            "A saving counts half of a node's price for its cores and half for its memory. It becomes money when nodes go, not before."
        )
