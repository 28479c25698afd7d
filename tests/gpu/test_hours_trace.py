"""GPU-hours of a trace of 144 serving containers, from its raw samples."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import GPU_USAGE

TRACE = Path(os.environ.get("TEST_TRACES", "/nowhere")) / "gentd26-gpu"
STEP = 57
IDLE_SECONDS = 1800

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not TRACE.is_dir(), reason="TEST_TRACES names no folder that holds gentd26-gpu"),
]

LINE = re.compile(r'DCGM_FI_DEV_(GPU_UTIL|FB_USED)\{.*UUID="([^"]+)".*namespace="([^"]+)",pod="([^"]+)",container="([^"]+)"\} (\S+) (\S+)')


def samples() -> dict[tuple[str, ...], dict[str, list[tuple[float, float]]]]:
    """Pairs (time, value) of each device and pod, by metric."""
    found: dict[tuple[str, ...], dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(TRACE / "metrics.om.gz", "rt") as file:
        for line in file:
            if match := LINE.match(line):
                metric, device, namespace, pod, container, value, at = match.groups()
                found[device, namespace, pod, container][metric].append((float(at), float(value)))
    return found


def usage_row(key: tuple[str, ...], metrics: dict[str, list[tuple[float, float]]], end: float) -> dict[str, Any]:
    device, namespace, pod, container = key
    points = metrics.get("GPU_UTIL", [])
    ratios = np.array([value / 100 for _, value in points])
    recent = [value / 100 for at, value in points if at > end - IDLE_SECONDS]
    active = [at for at, value in points if value > 0]
    memory = np.array([value * 2**20 for _, value in metrics.get("FB_USED", [])])

    def instant(at: float | None) -> datetime | None:
        return None if at is None else datetime.fromtimestamp(at, UTC)

    return {
        "device": device,
        "mig_instance": "",
        "namespace": namespace,
        "pod": pod,
        "container": container,
        "metric": "DCGM_FI_DEV_GPU_UTIL",
        "step_seconds": STEP,
        "sample_count": len(points),
        "idle_sample_count": int((ratios == 0).sum()),
        "first_at": instant(points[0][0] if points else None),
        "last_at": instant(points[-1][0] if points else None),
        "last_active_at": instant(active[-1] if active else None),
        "activity_mean_ratio": float(ratios.mean()) if points else None,
        "activity_p95_ratio": float(np.quantile(ratios, 0.95)) if points else None,
        "activity_max_ratio": float(ratios.max()) if points else None,
        "recent_max_ratio": max(recent, default=None),
        "memory_used_max_bytes": int(memory.max()) if memory.size else None,
        "memory_used_p95_bytes": int(np.quantile(memory, 0.95)) if memory.size else None,
    }


@pytest.fixture(scope="module")
def found() -> tuple[GpuAssessment, dict[str, Any]]:
    expected = json.loads((TRACE / "expected.json").read_text())
    end = expected["about"]["end"]
    taken_at = datetime.fromtimestamp(end, UTC)
    shot = assemble(
        Dump(TRACE),
        Identity("gentd26", "dump:gentd26"),
        taken_at=taken_at,
        fallback_taken_at=lambda: taken_at,
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )
    rows = [usage_row(key, metrics, end) for key, metrics in samples().items()]
    usage = GPU_USAGE.frame([row.get(column.name) for column in GPU_USAGE.columns] for row in rows)
    parts = {name: getattr(shot, name) for name in ("cluster", "kubernetes_version", "source", "run_id", "date", "gaps")}
    measured = Snapshot(taken_at, tables={**shot.tables, "gpu_usage": usage}, unread=shot.unread - {"gpu_usage"}, **parts)
    return assess(measured, Settings()), expected


def test_hours_of_the_trace(found: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = found
    assert assessment.hours.gpu_hours == pytest.approx(expected["gpu_hours"], abs=1e-6)
    assert assessment.hours.idle_gpu_hours == pytest.approx(expected["idle_gpu_hours"], abs=1e-6)
    assert assessment.hours.usage_ratio_mean == pytest.approx(expected["all_util_samples"]["mean"] / 100, abs=1e-6)
    assert assessment.window_seconds == expected["about"]["end"] - expected["about"]["start"] + STEP
    (resource,) = assessment.resources
    assert resource.hours == assessment.hours
    assert (assessment.card_count, resource.requests_count) == (expected["gpus"], expected["gpus_requested_by_running_pods"])


def test_holders_of_the_trace(found: tuple[GpuAssessment, dict[str, Any]]) -> None:
    assessment, expected = found
    running = {name: own for name, own in expected["per_pod"].items() if own["running_at_end"]}
    holders = {one.pod: one for one in assessment.holders}
    assert set(holders) == set(running)
    for name, own in running.items():
        if own["util_samples"]:
            one = holders[name]
            assert (one.gpu_hours, one.idle_gpu_hours) == pytest.approx((own["gpu_hours"], own["idle_gpu_hours"]), abs=1e-6)
            shown = (one.usage_ratio_mean, one.usage_ratio_p95, one.usage_ratio_max)
            assert shown == pytest.approx(tuple(own["gpu_util"][key] / 100 for key in ("mean", "p95", "max")), abs=1e-6)
    ranked = [one.idle_gpu_hours or 0 for one in assessment.holders]
    assert ranked == sorted(ranked, reverse=True)
