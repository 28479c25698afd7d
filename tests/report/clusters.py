"""Snapshots to render, and the way from a snapshot to a report. Run as a program, it prints the checksums of one report's files."""

from __future__ import annotations

import dataclasses
import sys
from datetime import UTC, datetime
from typing import Any

from batch.gpu.assess import assess as assess_gpu
from batch.jobs.assess import assess as assess_jobs
from batch.plan.assess import assess as assess_plan
from batch.report import sections
from batch.report.document import not_assessed
from batch.report.model import Artifact, Report, Run, Section
from batch.report.render import render
from batch.report.sections.material import Material
from batch.scale.assess import assess as assess_scale
from batch.settings import Settings
from batch.snapshot.model import Gap, Snapshot
from tests.builders import CORE, GIB, MIB, TAKEN_AT, PodRows, node, pod, snapshot

FINISHED_AT = datetime(2026, 3, 1, 3, 1, tzinfo=UTC)


def run_of(shot: Snapshot) -> Run:
    return Run(shot.run_id, shot.date, shot.source, shot.taken_at, TAKEN_AT, FINISHED_AT, None, shot.complete)


def report_of(shot: Snapshot, *extra: Artifact, **settings: Any) -> Report:
    chosen = Settings(**settings)
    return render(
        run_of(shot),
        shot,
        assess_plan(shot, chosen),
        assess_gpu(shot, chosen),
        assess_jobs(shot, chosen),
        assess_scale(shot, chosen),
        chosen,
        extra,
    )


def material_of(shot: Snapshot, **settings: Any) -> Material:
    chosen = Settings(**settings)
    plan, gpu, jobs, scale = assess_plan(shot, chosen), assess_gpu(shot, chosen), assess_jobs(shot, chosen), assess_scale(shot, chosen)
    findings = (*plan.findings, *gpu.findings, *jobs.findings, *scale.findings)
    return Material(run_of(shot), shot, plan, gpu, jobs, scale, chosen, findings, shot.gaps, not_assessed(plan, gpu, shot, shot.gaps))


def sections_of(shot: Snapshot, **settings: Any) -> dict[str, Section]:
    return {section.slug: section for section in sections.build(material_of(shot, **settings))}


def pods(count: int, **columns: Any) -> list[PodRows]:
    """Give pods that use 10, 20, 30, … MiB and as many millicores, each with a limit of 1 GiB."""
    return [
        pod(f"p{n:05d}", cpu=CORE // 10, memory=64 * MIB, memory_limit=GIB, usage=(n * CORE // 100, n * 10 * MIB), **columns)
        for n in range(1, count + 1)
    ]


def small_cluster() -> Snapshot:
    """Give two nodes, one of them with GPUs, and 20 pods."""
    return snapshot(
        nodes=[
            node("n1", machine_usage=(2 * CORE, 4 * GIB), instance_type="m5.xlarge"),
            node("n2", resources={"nvidia.com/gpu": (4, 4)}, labels={"nvidia.com/gpu.product": "T4"}),
        ],
        pods=[*pods(20), pod("g", on="n2", resources={"nvidia.com/gpu": 1})],
        gaps=[Gap("nodemetrics", "forbidden", "Usage of whole machines is partly unknown.")],
    )


def named(cluster: str) -> Snapshot:
    return dataclasses.replace(small_cluster(), cluster=cluster)


if __name__ == "__main__":
    for artifact in report_of(small_cluster()).artifacts:
        sys.stdout.write(f"{artifact.sha256} {artifact.name}\n")
