from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from batch.plan.fits import Needs, flavor_fits, mean_request
from batch.plan.model import NODES, Flavor, FlavorFit, Outliers
from batch.plan.prices import NO_PRICES, Prices
from batch.plan.risks import Risks
from batch.plan.sizes import Daemons, NodeSize
from batch.plan.usage import distribution
from batch.snapshot.views import INTEGER
from tests.builders import CORE, GIB, MIB

NO_DAEMONS = Daemons(0, 0, 0, 0, 0)


def fit(
    *,
    cpu: list[int] | None = None,
    memory: list[int] | None = None,
    size: NodeSize | None = None,
    chance: float = 0.01,
    prices: Prices = NO_PRICES,
    **given: Any,
) -> FlavorFit:
    needs = Needs(
        **{
            "cpu": distribution(pd.Series(cpu or [0], dtype=INTEGER), ()),
            "memory": distribution(pd.Series(memory or [0], dtype=INTEGER), ()),
            "requests_cpu": None,
            "requests_memory": None,
            "outliers": None,
            "pods_per_node": 2,
            "pod_count": 3,
            **given,
        }
    )
    flavor = Flavor("a", None, 4 * CORE, 8 * MIB, 0, None, "amd64", None)
    sizes = {"a": size or node_size()}
    (found,) = flavor_fits([flavor], sizes, needs, Risks(sizes, needs.cpu, needs.memory), chance=chance, prices=prices)
    return found


def node_size(memory: int | None = 4 * MIB, pod_limit: int | None = 110, daemons: Daemons = NO_DAEMONS) -> NodeSize:
    return NodeSize(NODES, 1, 4 * CORE, memory, pod_limit, daemons)


def test_the_overrun_is_of_what_daemonsets_leave() -> None:
    # two pods of 1 or 2 MiB: the sum is over 3 MiB in 1 of 4 draws; of 4 MiB allocatable the agent takes 1
    found = fit(memory=[MIB, 2 * MIB], size=node_size(daemons=Daemons(1, 0, MIB, 0, 0)))
    assert (found.memory_overrun_probability, found.cpu_overrun_probability) == (0.25, 0.0)


def test_of_a_flavor_of_unknown_size_only_the_nominal_one_tells() -> None:
    found = fit(memory=[4 * MIB, 5 * MIB], size=NodeSize(None, 0, None, None, None, NO_DAEMONS))
    assert (found.in_cluster_node_count, found.memory_overrun_probability, found.safe_pods_per_node, found.binding) == (0, None, None, None)
    assert found.memory_fit_ratio == 0.5  # 4 MiB is at most 8 / 2, 5 MiB is not
    assert found.node_count == 2  # 3 pods, 2 on a node


def test_what_binds_is_named() -> None:
    # 16 GiB less 1 GiB that DaemonSets request, 2.5 GiB a pod: 6; 16 GiB less 2 GiB that they use, p95 of 3 GiB: 4; 29 - 4 slots
    size = node_size(16 * GIB, 29, Daemons(4, 0, 2 * GIB, 0, GIB))
    found = fit(memory=[3 * GIB] * 20, size=size, requests_memory=Fraction(5 * GIB, 2))
    assert (found.pods_by_requests, found.pods_by_p95, found.pods_by_limit, found.binding) == (6, 4, 25, "memory_p95")
    # 4 cores, 1.5 cores a pod: 2
    found = fit(memory=[3 * GIB] * 20, size=size, requests_cpu=Fraction(3 * CORE, 2))
    assert (found.pods_by_requests, found.binding) == (2, "cpu_requests")
    found = fit(size=size)
    assert (found.pods_by_requests, found.pods_by_p95, found.binding) == (None, None, "pod_limit")


def test_the_safe_number_of_pods_is_that_of_the_worse_resource_within_the_slots() -> None:
    # every pod uses 1 MiB and 1 core: 4 MiB hold 4, 4 cores hold 4; with 1.1 cores 3
    assert fit(cpu=[CORE], memory=[MIB]).safe_pods_per_node == 4
    assert fit(cpu=[11 * CORE // 10], memory=[MIB]).safe_pods_per_node == 3
    assert fit(cpu=[CORE], memory=[MIB], size=node_size(pod_limit=2)).safe_pods_per_node == 2


def test_requests_are_averaged_exactly_over_those_that_are_known() -> None:
    assert mean_request(pd.Series([1, 2, None], dtype=INTEGER)) == Fraction(3, 2)
    assert mean_request(pd.Series([0, 0], dtype=INTEGER)) is None
    assert mean_request(pd.Series([None], dtype=INTEGER)) is None


def test_a_node_withstands_outliers_and_the_chance_of_more_is_told() -> None:
    # 8 MiB: one of two at 5 MiB beside one of 1 MiB; both at the level, each with chance 0.1, do not fit
    outliers = Outliers(0.9, float(MIB), None, None, 5 * MIB, "a setting", (), 0.1, "a setting")
    found = fit(outliers=outliers)
    assert found.outliers_tolerated == 1
    assert found.outlier_overflow_probability == pytest.approx(0.01)
