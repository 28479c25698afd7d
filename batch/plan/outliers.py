"""The safety factor: what a node needs when some of its pods sit at their memory limit, and how likely it is that too many do."""

from __future__ import annotations

import math
from fractions import Fraction

import pandas as pd

from batch.plan.model import Distribution, Outliers
from batch.plan.usage import quantile
from batch.settings import PlanSettings

_MOST_SHOWN = 20
"""Outliers up to which the table goes: a fifth of the default hundred pods a node."""

_TENTHS = 9
"""Tenths of the level from which on a pod counts as one that reaches it: it is killed before it stands exactly there."""


def outliers(pods: pd.DataFrame, memory: Distribution, pods_per_node: int, settings: PlanSettings) -> Outliers | None:
    """Give the memory needed with h = 0, 1, … pods at the outlier level; None without a level or without a measured pod.

    `pods` has the columns of table `pods` and the usage. The level is the setting's, else the limit: the setting's, else the commonest among
    pods whose containers all have one, the larger of equally common ones.
    """
    limit = _limit(pods, settings)
    level = (settings.outlier_level_bytes, "the setting plan.outlier_level_bytes") if settings.outlier_level_bytes else limit
    if level is None or not memory.values:
        return None
    typical = quantile(memory.values, settings.typical_quantile)
    needed = tuple(float(_needed(h, pods_per_node, level[0], typical)) for h in range(min(_MOST_SHOWN, pods_per_node) + 1))
    share = _share(pods, settings)
    return Outliers(
        typical_quantile=settings.typical_quantile,
        typical_memory_bytes=typical,
        memory_limit_bytes=limit[0] if limit else None,
        limit_source=limit[1] if limit else None,
        level_bytes=level[0],
        level_source=level[1],
        memory_needed_bytes=needed,
        share=share[0] if share else None,
        share_source=share[1] if share else None,
    )


def tolerated(level: int, typical: float, pods_per_node: int, memory_bytes: int) -> int | None:
    """Give the largest h <= pods_per_node whose needed memory fits; None when even h = 0 does not."""
    if _needed(0, pods_per_node, level, typical) > memory_bytes:
        return None
    return max(h for h in range(pods_per_node + 1) if _needed(h, pods_per_node, level, typical) <= memory_bytes)


def overflow_probability(pods_per_node: int, withstood: int, share: float) -> float:
    """Give the chance that more than `withstood` of `pods_per_node` pods reach the level when each does with chance `share`.

    The tail of the binomial distribution, term by term.
    """
    if share in (0.0, 1.0):
        return float(share == 1.0 and withstood < pods_per_node)
    ways = math.lgamma(pods_per_node + 1)
    terms = (
        ways - math.lgamma(k + 1) - math.lgamma(pods_per_node - k + 1) + k * math.log(share) + (pods_per_node - k) * math.log1p(-share)
        for k in range(withstood + 1, pods_per_node + 1)
    )
    return min(1.0, math.fsum(map(math.exp, terms)))


def _needed(at_level: int, pods_per_node: int, level: int, typical: float) -> Fraction:
    return at_level * Fraction(level) + (pods_per_node - at_level) * Fraction(typical)


def _limit(pods: pd.DataFrame, settings: PlanSettings) -> tuple[int, str] | None:
    if settings.memory_limit_bytes is not None:
        return settings.memory_limit_bytes, "the setting plan.memory_limit_bytes"
    limits = pods.loc[pods["memory_limited"], "limits_memory_bytes"].dropna()
    if limits.empty:
        return None
    counts = limits.value_counts()
    commonest = int(max(counts.index[counts == counts.max()]))
    return commonest, f"the commonest limit, that of {int(counts.max())} of {len(pods)} pods"


def _share(pods: pd.DataFrame, settings: PlanSettings) -> tuple[float, str] | None:
    """Give the share of pods that reach the level: the setting's, else that of the measured pods, of those with a limit when that is the level."""
    if settings.outlier_share is not None:
        return settings.outlier_share, "the setting plan.outlier_share"
    measured = pods.dropna(subset=["usage_memory_bytes"])
    if settings.outlier_level_bytes is None:
        measured = measured.loc[measured["memory_limited"]].dropna(subset=["limits_memory_bytes"])
    if measured.empty:
        return None
    level = settings.outlier_level_bytes or measured["limits_memory_bytes"]
    reaching = int((measured["usage_memory_bytes"] >= level * _TENTHS // 10).sum())
    return reaching / len(measured), f"{reaching} of {len(measured)} measured pods are within a tenth of it"
