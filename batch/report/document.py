"""report.json: everything that the report says, for programs, in base units."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from batch.findings import Finding
from batch.gpu.model import GPU_NODES, GpuAssessment, GpuResource
from batch.jobs.model import JobAssessment
from batch.plan.model import NODE_CAPACITY, CapacityPlan, Pool
from batch.report.document_jobs import jobs_document
from batch.report.document_packing import NO_ROOM, packing_document, pool_headroom
from batch.report.document_prices import price_gaps, prices_document
from batch.report.document_profiles import base_units, profile_document
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

NOT_BUILT = tuple(
    Gap(source, "not assessed by this version", effect)
    for source, effect in (
        ("GPU activity", "Whether requested GPUs work is unknown, and so are GPU hours, and free GPUs that do not fit typical pods."),
        ("GPU cards", "How many cards are behind slots and slices is unknown, unless the resource says so."),
        ("GPU holders", "Which pods hold GPUs, and for how long, is unknown."),
        ("dynamic resource allocation", "Devices of ResourceSlices and their claims are unknown."),
    )
)
"""What report.json has keys for and this version leaves null or empty."""


def stopped(report: Report) -> Report:
    """Give the report of a run that was stopped before every output had it: the same, but its run is not complete."""

    def marked(file: Artifact) -> Artifact:
        if file.name != "report.json":
            return file
        document = json.loads(file.data)
        return dataclasses.replace(file, data=encode({**document, "run": {**document["run"], "complete": False}}))

    run = dataclasses.replace(report.run, complete=False)
    return dataclasses.replace(report, run=run, artifacts=tuple(map(marked, report.artifacts)))


def not_assessed(plan: CapacityPlan) -> tuple[Gap, ...]:
    """Give what was not even asked for: what the settings leave out, and what this version does not have."""
    return (*price_gaps(plan.prices), *NOT_BUILT)


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
        "gaps": [dataclasses.asdict(gap) for gap in dict.fromkeys((*gaps, *not_assessed(plan)))],
        "totals": base_units({**vars(plan.totals), "pod_count_by_phase": dict(plan.totals.pod_count_by_phase)}),
        "waiting": [base_units({**vars(row), "resources": dict(row.resources)}) for row in plan.waiting],
        "minor_resources": [vars(row) for row in plan.minor_resources],
        "pools": [_pool(pool, rooms.get(pool.name, NO_ROOM)) for pool in plan.pools],
        **packing_document(plan),
        "nodes": [_node(row) for row in NODE_CAPACITY.to_arrow(plan.nodes).to_pylist()],
        "profiles": [profile_document(profile) for profile in plan.profiles],
        "prices": prices_document(plan.prices),
        "gpu": _gpu(gpu),
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
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


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


def _gpu(gpu: GpuAssessment) -> dict[str, Any]:
    return {
        "card_count": None,
        "requests_card_equivalents": None,
        "usage_ratio_mean": None,
        "gpu_hours": None,
        "idle_gpu_hours": None,
        "pending_pod_count": gpu.pending_pod_count,
        "unknown_resources": list(gpu.unknown_resources),
        "resources": [_gpu_resource(resource) for resource in gpu.resources],
        "dra": [],
        "nodes": _gpu_nodes(gpu),
        "holders": [],
    }


def _gpu_resource(resource: GpuResource) -> dict[str, Any]:
    return {
        **vars(resource),
        "free_by_reason": dict(resource.free_by_reason),
        "largest_free_block": {str(size): count for size, count in sorted(resource.largest_free_block.items())},
        "unusable_for_typical_count": None,
        "fit_count": {},
        "wholly_free_device_count": None,
        "usage_ratio_mean": None,
        "idle_gpu_hours": None,
    }


def _gpu_nodes(gpu: GpuAssessment) -> list[dict[str, Any]]:
    """One entry for each node, with all its resources; the rows of a node that advertises none hold only its problem."""
    nodes: dict[str, dict[str, Any]] = {}
    for row in GPU_NODES.to_arrow(gpu.nodes).to_pylist():
        empty = {"name": row["node"], "pool": row["pool"], "card_count": None, "usage_ratio_mean": None, "resources": {}, "problems": []}
        node = nodes.setdefault(row["node"], empty)
        if row["resource"]:
            columns = ("product", "capacity_count", "allocatable_count", "requests_count", "free_count", "free_reason")
            node["resources"][row["resource"]] = {column: row[column] for column in columns}
        if row["problem"]:
            node["problems"].append(f"{row['resource']}: {row['problem']}" if row["resource"] else row["problem"])
    return list(nodes.values())


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
