"""The part of report.json about right-sizing: what each container asks for, and should ask for."""

from __future__ import annotations

from typing import Any

from batch.findings import Message
from batch.plan.rightsizing.model import Advice, Rightsizing, Sizing
from batch.report.document_profiles import NANO
from batch.report.format import render_message
from batch.report.patches import changes, file_name

_STATES = ("requests", "limits", "usage", "target", "target_limit", "lower_bound", "upper_bound")


def rightsizing_document(sized: Rightsizing, files: frozenset[str]) -> dict[str, Any]:
    """Give `rightsizing`; `files` are the names of the run's files, among them the patches that were made."""
    patches = {workload: name for workload in changes(sized) if (name := file_name(*workload)) in files}
    words = _Words()
    return {
        "strategy": sized.strategy,
        "window_seconds": sized.window_seconds,
        "night_count": sized.night_count,
        "reading_count": sized.reading_count,
        "currency": sized.currency or None,
        "workloads": [_entry(advice, patches.get((advice.kind, advice.namespace, advice.workload)), words) for advice in sized.advice],
    }


class _Words:
    """Writes each sentence once: thousands of containers share theirs."""

    def __init__(self) -> None:
        self._written: dict[int, str] = {}

    def of(self, message: Message) -> str:
        if id(message) not in self._written:
            self._written[id(message)] = render_message(message)
        return self._written[id(message)]


def _entry(advice: Advice, patch: str | None, words: _Words) -> dict[str, Any]:
    evidence = advice.evidence
    return {
        "namespace": advice.namespace,
        "kind": advice.kind,
        "name": advice.workload,
        "container": advice.container,
        "sidecar": advice.sidecar,
        "injected": advice.injected,
        "pod_count": advice.pod_count,
        **{f"{state}_cpu_cores": _cores(getattr(advice.cpu, state)) for state in _STATES},
        **{f"{state}_memory_bytes": getattr(advice.memory, state) for state in _STATES},
        "removes_cpu_limit": advice.cpu.removes_limit,
        "verdict_cpu": advice.cpu.verdict.value,
        "verdict_memory": advice.memory.verdict.value,
        "change_cpu_cores": None if advice.cpu.target is None else _cores(advice.cpu_change),
        "change_memory_bytes": None if advice.memory.target is None else advice.memory_change,
        "monthly_saving": advice.monthly_saving,
        "strategy": advice.strategy,
        "source": evidence.source,
        "confidence": evidence.confidence,
        "sample_count": evidence.sample_count,
        "night_count": evidence.night_count,
        "window_seconds": evidence.window_seconds,
        "coverage_ratio": evidence.coverage_ratio,
        "hours": list(evidence.hours),
        "quantile_interval_cpu_cores": None if advice.cpu.interval is None else list(map(_cores, advice.cpu.interval)),
        "quantile_interval_memory_bytes": None if advice.memory.interval is None else list(advice.memory.interval),
        "candidates": {name: _candidate(advice.cpu, advice.memory, name) for name in ("peak", "decayed", "target_ratio")},
        "killed_count": advice.kill_count,
        "throttled_ratio": advice.throttled_ratio,
        "patch": patch if advice.is_change and advice.patchable else None,
        "reasons": [words.of(reason) for reason in advice.reasons],
    }


def _candidate(cpu: Sizing, memory: Sizing, name: str) -> dict[str, Any]:
    return {"cpu_cores": _cores(getattr(cpu, name)), "memory_bytes": getattr(memory, name)}


def _cores(nanocores: int | None) -> float | None:
    return None if nanocores is None else nanocores / NANO
