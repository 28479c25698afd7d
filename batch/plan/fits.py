"""How a profile fits each flavor: by its nominal size, and by what pods may use of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from batch.plan.model import Distribution, Flavor, FlavorFit, Outliers
from batch.plan.outliers import overflow_probability, tolerated
from batch.plan.prices import Prices
from batch.plan.risks import Risks
from batch.plan.sizes import NodeSize, less
from batch.plan.usage import fit_ratio
from batch.snapshot import views

BUSY_QUANTILE = 0.95
"""One of usage.QUANTILES."""


@dataclass(frozen=True)
class Needs:
    """What the pods of a profile use and request, and how many there are.

    `requests_*` are means over the pods whose request is known (nanocores, bytes); None when it is known of none, or nobody requests any.
    """

    cpu: Distribution
    memory: Distribution
    requests_cpu: Fraction | None
    requests_memory: Fraction | None
    outliers: Outliers | None
    pods_per_node: int
    pod_count: int


def mean_request(requests: pd.Series) -> Fraction | None:
    """Give the exact mean of the known requests; None when there is none, or all are 0."""
    known = requests.dropna()
    return Fraction(views.total(known) or 0, len(known)) or None if len(known) else None


def flavor_fits(
    flavors: Sequence[Flavor], sizes: Mapping[str, NodeSize], needs: Needs, risks: Risks, *, chance: float, prices: Prices
) -> tuple[FlavorFit, ...]:
    """Fit a profile to each flavor; what is not known of a flavor is None. `chance` is the one accepted."""
    return tuple(_fit(flavor, sizes[flavor.name], needs, risks, chance, prices) for flavor in flavors)


def _fit(flavor: Flavor, size: NodeSize, needs: Needs, risks: Risks, chance: float, prices: Prices) -> FlavorFit:
    pods, name = needs.pods_per_node, flavor.name
    node_count = -(-needs.pod_count // pods)
    withstood = _withstood(flavor, needs)
    by_requests, by_p95 = dict(_by_requests(size, needs)), dict(_by_p95(size, needs))
    everything = by_requests | by_p95 | ({"pod_limit": size.slots} if size.slots is not None else {})
    return FlavorFit(
        flavor=flavor,
        in_cluster_node_count=size.node_count,
        allocatable_cpu_nanocores=size.allocatable_cpu_nanocores,
        allocatable_memory_bytes=size.allocatable_memory_bytes,
        pod_limit=size.pod_limit,
        daemonset_pod_count=size.daemons.pod_count,
        daemonset_cpu_nanocores=size.daemons.cpu_nanocores,
        daemonset_memory_bytes=size.daemons.memory_bytes,
        cpu_fit_ratio=fit_ratio(needs.cpu, flavor.cpu_nanocores, pods),
        memory_fit_ratio=fit_ratio(needs.memory, flavor.memory_bytes, pods),
        outliers_tolerated=withstood,
        memory_overrun_probability=risks.memory(name, pods),
        cpu_overrun_probability=risks.cpu(name, pods),
        node_count=node_count,
        monthly_cost=prices.monthly(name, node_count),
        allocatable_source=size.source,
        pods_by_requests=min(by_requests.values(), default=None),
        pods_by_p95=min(by_p95.values(), default=None),
        pods_by_limit=size.slots,
        binding=min(everything, key=lambda one: everything[one], default=None),
        safe_pods_per_node=risks.most_pods(name, chance),
        outlier_overflow_probability=_overflow(withstood, needs),
        node_monthly_cost=prices.monthly(name, 1),
        memory_overrun_probability_mean=risks.memory_mean(name, pods),
        cpu_overrun_probability_mean=risks.cpu_mean(name, pods),
    )


def _withstood(flavor: Flavor, needs: Needs) -> int | None:
    found = needs.outliers
    return tolerated(found.level_bytes, found.typical_memory_bytes, needs.pods_per_node, flavor.memory_bytes) if found else None


def _overflow(withstood: int | None, needs: Needs) -> float | None:
    share = needs.outliers.share if needs.outliers else None
    return None if withstood is None or share is None else overflow_probability(needs.pods_per_node, withstood, share)


def _by_requests(size: NodeSize, needs: Needs) -> Iterator[tuple[str, int]]:
    """Give how many pods of the mean request fit, as the scheduler counts: beside what DaemonSets request."""
    daemons = size.daemons
    yield from _times("cpu_requests", less(size.allocatable_cpu_nanocores, daemons.requests_cpu_nanocores), needs.requests_cpu)
    yield from _times("memory_requests", less(size.allocatable_memory_bytes, daemons.requests_memory_bytes), needs.requests_memory)


def _by_p95(size: NodeSize, needs: Needs) -> Iterator[tuple[str, int]]:
    """Give how many pods fit that all use their 95th percentile, beside what DaemonSets use."""
    yield from _times("cpu_p95", size.cpu_room, _busy(needs.cpu))
    yield from _times("memory_p95", size.memory_room, _busy(needs.memory))


def _busy(use: Distribution) -> Fraction | None:
    return Fraction(dict(use.quantiles)[BUSY_QUANTILE]) if use.quantiles else None


def _times(name: str, room: int | None, each: Fraction | None) -> Iterator[tuple[str, int]]:
    if room is not None and each:
        yield name, max(0, int(room / each))
