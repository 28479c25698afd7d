"""The chance of an overrun by pods a node, for the few flavors that are worth comparing."""

from __future__ import annotations

from collections.abc import Sequence

from batch.plan.model import FlavorFit, Odds
from batch.plan.risks import MOST_PODS, Risks

_MOST_FLAVORS = 6
"""Lines of a chart that can still be told apart."""

_MOST_POINTS = 120
_ALMOST_CERTAIN = 0.999


def odds(fits: Sequence[FlavorFit], risks: Risks, recommended: str | None, planned: int) -> tuple[Odds, ...]:
    """Give the chance from one pod up to the slots, or until an overrun is almost certain, of flavors of known size.

    Of machines with many slots not for every number of pods, but always for the safe one and the next.

    The recommended flavor comes first, then those of the cluster, those with most nodes first; then those whose safe number of pods is
    nearest to the planned one, one for each number.
    """
    known = [fit for fit in fits if fit.safe_pods_per_node is not None]
    chosen: list[FlavorFit] = []
    for fit in sorted(known, key=lambda fit: _rank(fit, recommended, planned)):
        alike = any(fit.safe_pods_per_node == other.safe_pods_per_node for other in chosen)
        if fit.in_cluster_node_count or fit.flavor.name == recommended or not alike:
            chosen.append(fit)
    return tuple(_of_flavor(fit, risks) for fit in chosen[:_MOST_FLAVORS])


def _rank(fit: FlavorFit, recommended: str | None, planned: int) -> tuple[bool, int, int, int, str]:
    away = abs((fit.safe_pods_per_node or 0) - planned)
    return fit.flavor.name != recommended, -fit.in_cluster_node_count, away, fit.flavor.memory_bytes, fit.flavor.name


def _of_flavor(fit: FlavorFit, risks: Risks) -> Odds:
    limit = fit.pods_by_limit if fit.pods_by_limit is not None else MOST_PODS
    step = max(1, -(-limit // _MOST_POINTS))
    safe = fit.safe_pods_per_node or 0
    counts = {*range(1, limit + 1, step), safe, min(safe + 1, limit), limit} - {0}
    points: list[tuple[int, float, float]] = []
    for point in risks.curves(fit.flavor.name, sorted(counts)):
        points.append(point)
        if max(point[1:]) > _ALMOST_CERTAIN:
            break
    pods, by_memory, by_cpu = zip(*points, strict=True) if points else ((), (), ())
    return Odds(fit.flavor.name, pods, by_memory, by_cpu)
