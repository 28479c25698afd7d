"""The table of right-sizing as a CSV file: every container, with everything that advice on it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batch.plan.rightsizing.model import Advice
from batch.report.format import render_message

_STATES = ("requests", "limits", "usage", "target", "target_limit", "peak", "decayed", "target_ratio", "lower_bound", "upper_bound")

RIGHTSIZING_COLUMNS = (
    "namespace",
    "kind",
    "workload",
    "container",
    "sidecar",
    "injected",
    "pod_count",
    *(f"{state}_cpu_nanocores" for state in _STATES),
    "verdict_cpu",
    "change_cpu_nanocores",
    *(f"{state}_memory_bytes" for state in _STATES),
    "verdict_memory",
    "change_memory_bytes",
    "monthly_saving",
    "strategy",
    "source",
    "confidence",
    "sample_count",
    "night_count",
    "window_seconds",
    "coverage_ratio",
    "killed_count",
    "throttled_ratio",
    "patchable",
    "reasons",
)


def rightsizing_row(advice: Advice) -> Mapping[str, Any]:
    """Give one row in RIGHTSIZING_COLUMNS."""
    evidence = advice.evidence
    return {
        "namespace": advice.namespace,
        "kind": advice.kind,
        "workload": advice.workload,
        "container": advice.container,
        "sidecar": advice.sidecar,
        "injected": advice.injected,
        "pod_count": advice.pod_count,
        **{f"{state}_cpu_nanocores": getattr(advice.cpu, state) for state in _STATES},
        "verdict_cpu": advice.cpu.verdict.value,
        "change_cpu_nanocores": None if advice.cpu.target is None else advice.cpu_change,
        **{f"{state}_memory_bytes": getattr(advice.memory, state) for state in _STATES},
        "verdict_memory": advice.memory.verdict.value,
        "change_memory_bytes": None if advice.memory.target is None else advice.memory_change,
        "monthly_saving": advice.monthly_saving,
        "strategy": advice.strategy,
        "source": evidence.source,
        "confidence": evidence.confidence,
        "sample_count": evidence.sample_count,
        "night_count": evidence.night_count,
        "window_seconds": evidence.window_seconds,
        "coverage_ratio": evidence.coverage_ratio,
        "killed_count": advice.kill_count,
        "throttled_ratio": advice.throttled_ratio,
        "patchable": advice.patchable,
        "reasons": " ".join(map(render_message, advice.reasons)),
    }
