"""Material: everything that a section may draw on."""

from __future__ import annotations

from dataclasses import dataclass

from batch.findings import Finding
from batch.gpu.model import GpuAssessment
from batch.jobs.model import JobAssessment
from batch.plan.model import CapacityPlan, Totals
from batch.report.model import Run
from batch.scale.model import ScaleAssessment
from batch.settings import Settings
from batch.snapshot.model import Gap, Snapshot


@dataclass(frozen=True)
class Material:
    """What was collected and what the checks say of it. `findings` are those of all checks, most urgent first.

    `gaps` is what could not be learnt tonight, `not_asked` what the settings leave out or nothing tells.
    """

    run: Run
    snapshot: Snapshot
    plan: CapacityPlan
    gpu: GpuAssessment
    jobs: JobAssessment
    scale: ScaleAssessment
    settings: Settings
    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]
    not_asked: tuple[Gap, ...]

    def findings_of(self, section: str) -> tuple[Finding, ...]:
        """Give the findings of the section with that slug."""
        return tuple(finding for finding in self.findings if finding.section == section)


def ratio(part: float | None, whole: float | None) -> float | None:
    """Give part / whole; None when either is unknown or the whole is nothing."""
    return None if part is None or not whole else part / whole


def plural(count: float | None, word: str) -> str:
    """Give a word for that many things: "pod" for 1, else "pods"."""
    return word if count == 1 else f"{word}s"


def is_partly_measured(totals: Totals) -> bool:
    """Whether some bound pods were measured and others not: what is used is then more than the figures say."""
    return totals.bound_pod_count is not None and 0 < totals.measured_pod_count < totals.bound_pod_count
