"""Data quality: what is not known, how far the measurements reach, and what this version does not assess."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.plan.model import Totals
from batch.report.model import MOST_ROWS, Bar, Column, Row, Section, Table
from batch.report.sections.basis import over_window
from batch.report.sections.material import Material, ratio
from batch.report.sections.prometheus_table import prometheus_table
from batch.snapshot.model import Gap
from batch.snapshot.schemas import REJECTS
from batch.snapshot.views import sampling

SLUG = "quality"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about what the other sections rest on."""
    totals = material.plan.totals
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Data quality",
            title=_title(totals),
            lede=tuple(_lede(material)),
            how_to_read=_HOW_TO_READ,
            findings=material.findings_of(SLUG),
            tables={
                "coverage": _coverage_table(totals),
                **({"prometheus": prometheus_table(material.plan.window)} if material.plan.window else {}),
                "gaps": _gaps_table(material.gaps, "What could not be learnt tonight"),
                "not_asked": _gaps_table(material.not_asked, "What was not asked"),
                "rejects": _rejects_table(material),
            },
        ),
    )


_HOW_TO_READ = (
    message("A dash stands for what is not known; it is never a zero, and no sum or share pretends otherwise."),
    message("An object or value that could not be read costs itself and nothing else: it is missing from the sums and listed here."),
)


def _title(totals: Totals) -> Message:
    if not totals.bound_pod_count:
        return message("Pods run on virtual nodes only" if totals.virtual_pod_count else "There was no pod to measure")
    if totals.measured_pod_count >= totals.bound_pod_count:
        return message("Every one of {pods:count} pods was measured", pods=totals.bound_pod_count)
    return message("{measured:count} of {pods:count} pods were measured", measured=totals.measured_pod_count, pods=totals.bound_pod_count)


def _lede(material: Material) -> Iterator[Message]:
    yield message(
        "One snapshot of {source:text}, taken on {moment:instant}. Version of Kubernetes: {version:text}.",
        source=material.snapshot.source,
        moment=material.snapshot.taken_at,
        version=material.snapshot.kubernetes_version,
    )
    window = material.plan.window
    reach = sampling(material.snapshot, material.settings.usage.max_age_seconds)
    if window:
        basis = over_window(window)
        yield Message(f"Usage over time rests on {basis.template}.", basis.values)
    elif reach.sample_count == 1:
        yield message("Usage rests on one reading, which is one moment and not a day.")
    elif reach.sample_count:
        yield message(
            "Usage rests on {count:count} readings between {first:instant} and {last:instant}, which is not a day.",
            count=reach.sample_count,
            first=reach.first_at,
            last=reach.last_at,
        )
    if not material.gaps:
        yield message("Every source that was asked answered.")


def _coverage_table(totals: Totals) -> Table:
    pairs = (
        ("Pods bound to a node, with their use measured", totals.measured_pod_count, totals.bound_pod_count),
        ("Nodes whose use as a machine was measured", totals.measured_node_count, totals.node_count),
        ("Nodes that are ready", totals.ready_node_count, totals.node_count),
    )
    rows = tuple(Row((name, part, whole, "" if whole == 0 else ratio(part, whole), Bar(ratio(part, whole)))) for name, part, whole in pairs)
    return Table(
        what="sources",
        title=message("How far the measurements reach"),
        columns=(Column(""), Column("Known", "count"), Column("of", "count"), Column("Share", "ratio"), Column("", "bar")),
        rows=rows,
        row_count=len(rows),
    )


def _gaps_table(gaps: tuple[Gap, ...], title: str) -> Table:
    return Table(
        what="gaps",
        title=message(title),
        columns=(Column("Source"), Column("Why"), Column("What it means")),
        rows=tuple(Row((gap.source, gap.reason, gap.effect)) for gap in gaps),
        row_count=len(gaps),
    )


def _rejects_table(material: Material) -> Table:
    rejects = material.snapshot.table("rejects")
    rows = REJECTS.to_arrow(rejects.head(MOST_ROWS)).to_pylist()
    return Table(
        what="objects and values that could not be read",
        order="first",
        title=message("Objects and values that could not be read"),
        columns=(Column("Object"), Column("Field"), Column("Value"), Column("Why")),
        rows=tuple(Row((row["object"], row["field"], row["value"], row["reason"])) for row in rows),
        row_count=len(rejects),
        file="tables/rejects.csv",
    )
