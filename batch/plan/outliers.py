"""The safety factor: what a node needs when some of its pods sit at their memory limit."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

from batch.plan.model import Distribution, Outliers
from batch.plan.usage import quantile
from batch.settings import PlanSettings

_MOST_SHOWN = 20
"""Outliers up to which the table goes: a fifth of the default hundred pods a node."""


def outliers(pods: pd.DataFrame, memory: Distribution, pods_per_node: int, settings: PlanSettings) -> Outliers | None:
    """Give the memory needed with h = 0, 1, … pods at their limit; None without a limit or without a measured pod.

    `pods` has the columns of table `pods`. The limit is the setting's, else the commonest among pods whose containers all have one, the
    larger of equally common ones.
    """
    found = _limit(pods, settings)
    if found is None or not memory.values:
        return None
    limit, source = found
    typical = quantile(memory.values, settings.typical_quantile)
    needed = tuple(float(_needed(h, pods_per_node, limit, typical)) for h in range(min(_MOST_SHOWN, pods_per_node) + 1))
    return Outliers(settings.typical_quantile, typical, limit, source, needed)


def tolerated(found: Outliers, pods_per_node: int, memory_bytes: int) -> int | None:
    """Give the largest h <= pods_per_node whose needed memory fits; None when even h = 0 does not."""
    limit, typical = found.memory_limit_bytes, found.typical_memory_bytes
    if _needed(0, pods_per_node, limit, typical) > memory_bytes:
        return None
    return max(h for h in range(pods_per_node + 1) if _needed(h, pods_per_node, limit, typical) <= memory_bytes)


def _needed(at_limit: int, pods_per_node: int, limit: int, typical: float) -> Fraction:
    return at_limit * Fraction(limit) + (pods_per_node - at_limit) * Fraction(typical)


def _limit(pods: pd.DataFrame, settings: PlanSettings) -> tuple[int, str] | None:
    if settings.memory_limit_bytes is not None:
        return settings.memory_limit_bytes, "the setting plan.memory_limit_bytes"
    limits = pods.loc[pods["memory_limited"], "limits_memory_bytes"].dropna()
    if limits.empty:
        return None
    counts = limits.value_counts()
    commonest = int(max(counts.index[counts == counts.max()]))
    return commonest, f"the commonest limit, that of {int(counts.max())} of {len(pods)} pods"
