"""Renders the report: the PDF, the page, the tables, and report.json that lists them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from batch.errors import RenderError
from batch.findings import by_urgency
from batch.gpu.model import GpuAssessment
from batch.jobs.model import JobAssessment
from batch.plan.model import CapacityPlan
from batch.report import sections
from batch.report.deadline_patches import deadline_patches
from batch.report.document import encode, not_assessed, report_document
from batch.report.exports import tables
from batch.report.figures import key_figures
from batch.report.format import clean, render_message
from batch.report.html import Pictures, print_page, screen_page
from batch.report.letter import letter
from batch.report.model import Artifact, Report, Run, Section
from batch.report.patches import patches
from batch.report.pdf import Pdf, make_pdf
from batch.report.sections.material import Material
from batch.scale.model import ScaleAssessment
from batch.settings import Settings
from batch.snapshot import sketches, summaries
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.views import sampling

log = logging.getLogger("nightcap")

_LARGEST_ATTACHMENT = 2 << 20
"""A larger table is in the run's folder only: the PDF has to fit into a mail."""


def render(
    run: Run,
    snapshot: Snapshot,
    plan: CapacityPlan,
    gpu: GpuAssessment,
    jobs: JobAssessment,
    scale: ScaleAssessment,
    settings: Settings,
    extra: tuple[Artifact, ...],
) -> Report:
    """Make the files of the run: report.pdf and report.html as wanted, tables/*.csv, `extra`, and report.json.

    A PDF that cannot be made is a gap in the other files and the report's `problem`.
    """
    pictures = Pictures()
    material = _material(run, snapshot, plan, gpu, jobs, scale, settings)
    files = tables(snapshot, plan, gpu, jobs, scale)
    pdf, problem = _pdf(material, files, pictures) if "pdf" in settings.report.formats else (None, None)
    if gaps := _gaps_of(pdf, problem):
        snapshot = replace(snapshot, gaps=(*snapshot.gaps, *gaps))
        material = _material(run, snapshot, plan, gpu, jobs, scale, settings)
        files = tables(snapshot, plan, gpu, jobs, scale)
    made = sections.build(material)
    artifacts = (
        *([Artifact("report.pdf", "application/pdf", pdf.data)] if pdf else []),
        *([_page(made, run, snapshot, pictures)] if "html" in settings.report.formats else []),
        *files,
        *patches(plan.rightsizing, settings.rightsizing.patch_files),
        *deadline_patches(jobs, settings.jobs.patch_files),
        *extra,
    )
    reach = sampling(snapshot, settings.usage.max_age_seconds)
    document = report_document(run, snapshot, plan, gpu, jobs, scale, material.findings, snapshot.gaps, artifacts, reach)
    return Report(
        cluster=snapshot.cluster,
        run=run,
        artifacts=(*artifacts, Artifact("report.json", "application/json", encode(document))),
        headline=f"{clean(snapshot.cluster)}: {' '.join(map(render_message, made[0].lede))}",
        missing=_missing(snapshot.gaps),
        key_figures=key_figures(plan, material.findings),
        findings=material.findings,
        problem=problem,
        history=_history(plan, run),
        letter=letter(made) if settings.mail.host else None,
    )


def _history(plan: CapacityPlan, run: Run) -> tuple[Artifact, ...]:
    """Give what later runs will read of this one."""
    sketch, trends = plan.rightsizing.sketch, plan.trends
    sketched = (Artifact(sketches.name(run.id), sketches.MEDIA_TYPE, sketches.encode(sketch)),) if sketch else ()
    if trends is None:
        return sketched
    return (
        *sketched,
        Artifact(summaries.workloads_name(run.id), summaries.MEDIA_TYPE, summaries.encode_workloads(trends.workloads)),
        Artifact(summaries.summary_name(run.id), summaries.MEDIA_TYPE, summaries.encode_summary(trends.tonight)),
    )


def _material(
    run: Run, snapshot: Snapshot, plan: CapacityPlan, gpu: GpuAssessment, jobs: JobAssessment, scale: ScaleAssessment, settings: Settings
) -> Material:
    return Material(
        run=run,
        snapshot=snapshot,
        plan=plan,
        gpu=gpu,
        jobs=jobs,
        scale=scale,
        settings=settings,
        findings=by_urgency(
            (*plan.findings, *(plan.trends.findings if plan.trends else ()), *gpu.findings, *jobs.findings, *scale.findings)
        ),
        gaps=snapshot.gaps,
        not_asked=not_assessed(plan, gpu, snapshot, snapshot.gaps),
    )


def _pdf(material: Material, files: Sequence[Artifact], pictures: Pictures) -> tuple[Pdf | None, str | None]:
    """Make the PDF; give it, or why there is none."""
    options = material.settings.report
    page = print_page(sections.build(material), material.run, material.snapshot, pictures, options.top_rows)
    attached = [file for file in files if len(file.data) <= _LARGEST_ATTACHMENT]
    try:
        return make_pdf(page, attached, material.run.finished_at, options), None
    except RenderError as error:
        log.error("%s", error)  # noqa: TRY400  its cause is in the sentence; a traceback says nothing more
        return None, error.why


def _gaps_of(pdf: Pdf | None, problem: str | None) -> tuple[Gap, ...]:
    """Say what is wrong with the PDF in the words of the other files."""
    if pdf is None:
        return (Gap("report.pdf", problem, "There is no PDF tonight; the other files are complete."),) if problem else ()
    gaps = []
    if pdf.missing_glyphs:
        reason = f"characters without a glyph: {', '.join(pdf.missing_glyphs)}"
        gaps.append(
            Gap("report.pdf", reason, "They are boxes in the PDF. A font that has them, installed where the report is made, shows them.")
        )
    if pdf.warnings:
        gaps.append(Gap("report.pdf", f"WeasyPrint warns: {'; '.join(pdf.warnings)}", "Something may be missing in the PDF."))
    return tuple(gaps)


def _page(made: Sequence[Section], run: Run, snapshot: Snapshot, pictures: Pictures) -> Artifact:
    return Artifact("report.html", "text/html; charset=utf-8", screen_page(made, run, snapshot, pictures).encode())


def _missing(gaps: Sequence[Gap]) -> str:
    """Say for a terminal what the report lacks."""
    tonight = "; ".join(f"{clean(gap.source)} ({clean(gap.reason)})" for gap in gaps)
    return f"Not known: {tonight}." if tonight else "Every source answered."
