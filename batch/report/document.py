"""report.json: everything that the report says, for programs, in base units."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from batch.findings import Finding
from batch.gpu.model import GpuAssessment
from batch.jobs.model import JobAssessment
from batch.plan.model import NODE_CAPACITY, CapacityPlan, Pool
from batch.report.document_gpu import gpu_document, gpu_gaps
from batch.report.document_jobs import jobs_document
from batch.report.document_packing import NO_ROOM, packing_document, pool_headroom
from batch.report.document_prices import price_gaps, prices_document
from batch.report.document_profiles import base_units, profile_document
from batch.report.document_prometheus import prometheus_document, prometheus_gaps
from batch.report.document_rightsizing import rightsizing_document
from batch.report.document_scale import scale_document
from batch.report.document_trends import trends_document
from batch.report.format import render_message
from batch.report.model import Artifact, Report, Run
from batch.scale.model import ScaleAssessment
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.requests_rule import rule_of
from batch.snapshot.views import Sampling

FORMAT_VERSION = 1
"""Version of report.json; its schema is reports/schema/report-v1.schema.json. Raised when a key is renamed or redefined."""


def stopped(report: Report) -> Report:
    """Give the report of a run that was stopped before every output had it: the same, but its run is not complete."""

    def marked(file: Artifact) -> Artifact:
        if file.name != "report.json":
            return file
        document = json.loads(file.data)
        return dataclasses.replace(file, data=encode({**document, "run": {**document["run"], "complete": False}}))

    run = dataclasses.replace(report.run, complete=False)
    return dataclasses.replace(report, run=run, artifacts=tuple(map(marked, report.artifacts)))


def not_assessed(plan: CapacityPlan, gpu: GpuAssessment, snapshot: Snapshot, gaps: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """Give what was not even asked for: what the settings leave out, and what accelerators do not tell.

    `gaps` are of what was asked.
    """
    return (*price_gaps(plan.prices), *prometheus_gaps(plan.window, gaps), *gpu_gaps(gpu, snapshot))


def report_document(
    run: Run,
    snapshot: Snapshot,
    plan: CapacityPlan,
    gpu: GpuAssessment,
    jobs: JobAssessment,
    scale: ScaleAssessment,
    findings: tuple[Finding, ...],
    gaps: tuple[Gap, ...],
    artifacts: tuple[Artifact, ...],
    sampling: Sampling,
) -> dict[str, Any]:
    """Put report.json together: cores and ratios as floats, bytes and counts as integers, None for what is not known.

    `gaps` are completed with what was not assessed; `artifacts` are all files of the run but report.json itself; `sampling` says how often
    usage was measured.
    """
    rooms = pool_headroom(plan)
    files = frozenset(artifact.name for artifact in artifacts)
    return {
        "format_version": FORMAT_VERSION,
        "cluster": {
            "name": snapshot.cluster,
            "kubernetes_version": snapshot.kubernetes_version,
            "namespaces": None if snapshot.namespaces is None else list(snapshot.namespaces),
            "requests_rule": rule_of(snapshot.kubernetes_version).value,
        },
        "run": {**_run(run), "sampling": _sampling(sampling)},
        "gaps": [dataclasses.asdict(gap) for gap in dict.fromkeys((*gaps, *not_assessed(plan, gpu, snapshot, gaps)))],
        "totals": base_units({**vars(plan.totals), "pod_count_by_phase": dict(plan.totals.pod_count_by_phase)}),
        "waiting": [base_units({**vars(row), "resources": dict(row.resources)}) for row in plan.waiting],
        "minor_resources": [vars(row) for row in plan.minor_resources],
        "pools": [_pool(pool, rooms.get(pool.name, NO_ROOM)) for pool in plan.pools],
        **packing_document(plan),
        "nodes": [_node(row) for row in NODE_CAPACITY.to_arrow(plan.nodes).to_pylist()],
        "profiles": [profile_document(profile) for profile in plan.profiles],
        "prices": prices_document(plan.prices),
        "prometheus": prometheus_document(plan.window),
        "gpu": gpu_document(gpu),
        "jobs": jobs_document(jobs, files),
        "rightsizing": rightsizing_document(plan.rightsizing, files),
        "scale": scale_document(scale, snapshot),
        "trends": trends_document(plan.trends),
        "findings": [_finding(finding) for finding in findings],
        "artifacts": [{"name": a.name, "media_type": a.media_type, "bytes": len(a.data), "sha256": a.sha256} for a in artifacts],
    }


def encode(document: Mapping[str, Any]) -> bytes:
    """Write a document as UTF-8 JSON with keys in the order given; equal documents give equal bytes.

    Raises ValueError for NaN and infinity, which JSON does not have.
    """
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="utf-8", newline="\n") as text:
        json.dump(
            document, text, ensure_ascii=False, allow_nan=False, indent=1
        )  # piece by piece: json.dumps keeps all pieces, five times the text
        text.write("\n")
        text.flush()
        return written.getvalue()


def _run(run: Run) -> dict[str, Any]:
    return {name: _instant(value) if isinstance(value, datetime) else value for name, value in vars(run).items()}


def _sampling(sampling: Sampling) -> dict[str, Any]:
    first, last = sampling.first_at, sampling.last_at
    return {
        "reading_count": sampling.sample_count,
        "span_seconds": (last - first).total_seconds() if first and last else None,
        "first_at": _instant(first) if first else None,
        "last_at": _instant(last) if last else None,
    }


def _instant(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def _pool(pool: Pool, room: Mapping[str, Any]) -> dict[str, Any]:
    return {**base_units({**vars(pool), "unusable": [base_units(vars(unusable)) for unusable in pool.unusable]}), **room}


def _node(row: Mapping[str, Any]) -> dict[str, Any]:
    return base_units({"name": row["node"], **{name: value for name, value in row.items() if name != "node"}})


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "section": finding.section,
        "title": render_message(finding.title),
        "detail": render_message(finding.detail),
        "action": render_message(finding.action),
        "objects": list(finding.objects),
        "worth": render_message(finding.worth) if finding.worth else None,
        "worth_of": finding.worth_of,
        "monthly_saving": finding.monthly_saving,
    }
