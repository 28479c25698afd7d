"""The part of report.json about profiles: what their pods use, and what nodes for them need."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from batch.plan.model import AtOnce, Distribution, FlavorFit, NodePlan, Outliers, ProfilePlan, Recommendation
from batch.report.format import render_message

QUANTILES = ("0.5", "0.75", "0.9", "0.95", "0.98", "0.99", "1")
NANO = 10**9


def base_units(values: Mapping[str, Any]) -> dict[str, Any]:
    """Give nanocores as cores, under a name that says so; everything else unchanged and in the same order."""
    return {name.replace("nanocores", "cores"): _cores(value) if "nanocores" in name else value for name, value in values.items()}


def profile_document(profile: ProfilePlan) -> dict[str, Any]:
    """Give one entry of `profiles`; pods without a measurement are in pod_count alone."""
    return {
        "name": profile.name,
        "title": profile.title,
        "namespace": profile.namespace,
        "selector": profile.selector,
        "pod_count": profile.pod_count,
        "measured_pod_count": profile.measured_pod_count,
        "pods_per_node": profile.pods_per_node,
        "pods_per_node_reason": profile.pods_per_node_reason,
        "memory_bytes": _distribution(profile, profile.memory, "threshold_bytes", 1),
        "cpu_cores": _distribution(profile, profile.cpu, "threshold_cores", NANO),
        "average_plan": _average_plan(profile.average_plan),
        "quantile_plans": [base_units(vars(plan)) for plan in profile.quantile_plans],
        "outliers": _outliers(profile.outliers),
        "flavors": [_flavor(fit) for fit in profile.flavors],
        "odds": odds_rows(profile),
        "at_once": _at_once(profile.at_once) if profile.at_once else None,
        "unplaced_pod_count": profile.unplaced_pod_count,
        "recommended_flavor": _recommended(profile.recommended) if profile.recommended else None,
        "refusal": render_message(profile.refusal) if profile.refusal else None,
    }


def _at_once(found: AtOnce) -> dict[str, Any]:
    return {**vars(found), "peak_at": found.peak_at.isoformat().replace("+00:00", "Z")}


def odds_rows(profile: ProfilePlan) -> list[dict[str, Any]]:
    """Give the chance of an overrun by flavor and number of pods on a node, one row for each point."""
    return [
        {"flavor": one.flavor, "pods_per_node": pod_count, "memory_overrun_probability": memory, "cpu_overrun_probability": cpu}
        for one in profile.odds
        for pod_count, memory, cpu in zip(one.pod_counts, one.memory, one.cpu, strict=True)
    ]


def _recommended(recommendation: Recommendation) -> dict[str, Any]:
    return {"name": recommendation.flavor, "reasons": [render_message(reason) for reason in recommendation.reasons]}


def _cores(nanocores: float | None) -> float | None:
    return None if nanocores is None else nanocores / NANO


def _distribution(profile: ProfilePlan, distribution: Distribution, threshold: str, divisor: int) -> dict[str, Any]:
    """Divide by `divisor` where the distribution is in nanocores; bytes stay as they are."""

    def scaled(value: float | None) -> float | None:
        return value if value is None or divisor == 1 else value / divisor

    found = {f"{quantile:g}": value for quantile, value in distribution.quantiles}
    return {
        "mean": scaled(distribution.mean),
        "quantiles": {quantile: scaled(found.get(quantile)) for quantile in QUANTILES},
        "over": [{threshold: scaled(size), "pod_count": profile.at_a_time(count)} for size, count in distribution.over],
    }


def _average_plan(plan: NodePlan | None) -> dict[str, Any]:
    keys = ("memory_bytes_per_pod", "cpu_nanocores_per_pod", "memory_bytes_per_node", "cpu_nanocores_per_node")
    return base_units({key: getattr(plan, key, None) for key in keys})


def _outliers(outliers: Outliers | None) -> dict[str, Any]:
    if outliers is None:
        return {**dict.fromkeys(field.name for field in dataclasses.fields(Outliers)), "memory_needed_bytes": []}
    return {**vars(outliers), "memory_needed_bytes": list(outliers.memory_needed_bytes)}


def _flavor(fit: FlavorFit) -> dict[str, Any]:
    """Put what a flavor is and how it fits side by side; the pod limit is that of nodes in the cluster, where there are some."""
    return base_units({**vars(fit.flavor), **{name: value for name, value in vars(fit).items() if name != "flavor"}})
