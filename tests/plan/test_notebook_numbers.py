"""Every number of a public notebook that sized nodes for mybinder.org, from the data that it was computed from."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from batch.plan.assess import assess
from batch.plan.model import CapacityPlan, Distribution, ProfilePlan
from batch.settings import Settings
from tests.builders import CORE, GIB, MIB

FOLDER = Path(__file__).parents[1] / "data" / "mybinder"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
PRINTED = EXPECTED["printed"]


@cache
def plan() -> CapacityPlan:
    source = Dump(FOLDER)
    taken = assemble(
        source,
        Identity("mybinder", "dump:mybinder"),
        taken_at=None,
        fallback_taken_at=lambda: datetime(2018, 7, 1, tzinfo=UTC),
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )
    return assess(taken, Settings())


def users() -> ProfilePlan:
    (found,) = [profile for profile in plan().profiles if profile.name == "jupyterhub-users"]
    return found


def over(use: Distribution, threshold: int) -> int:
    return dict(use.over)[threshold]


def test_the_profiles_are_all_pods_and_the_users() -> None:
    assert [profile.name for profile in plan().profiles] == ["all-pods", "jupyterhub-users"]
    assert [profile.pods_per_node for profile in plan().profiles] == [100, 100]
    assert users().pod_count == users().measured_pod_count == PRINTED["rows"]


def test_memory_quantiles() -> None:
    assert {f"{q:.2f}": f"{value / MIB:.2f}" for q, value in users().memory.quantiles} == PRINTED["mem_quantiles"]


def test_cpu_quantiles() -> None:
    assert {f"{q:.2f}": f"{value / CORE:.5f}" for q, value in users().cpu.quantiles} == PRINTED["cpu_quantiles"]


def test_pods_over_the_thresholds() -> None:
    assert {mib: over(users().memory, int(mib) * MIB) for mib in PRINTED["mem_over_mb"]} == PRINTED["mem_over_mb"]
    assert PRINTED["rows"] - over(users().memory, 100 * MIB) == PRINTED["mem_at_most_100mb"]
    assert over(users().cpu, CORE // 10) == PRINTED["cpu_over_0.1"]


def test_the_plan_by_the_mean() -> None:
    average = users().average_plan
    assert average is not None
    assert f"{average.memory_bytes_per_node / GIB:.3f}" == PRINTED["mean_times_100_mem_gb"]
    assert f"{average.cpu_nanocores_per_node / CORE:.3f}" == PRINTED["mean_times_100_cpu_cores"]


def test_the_plans_by_quantile() -> None:
    found = {
        f"{plan.quantile:.2f}": {
            "mem_mb_per_pod": f"{plan.memory_bytes_per_pod / MIB:.0f}",
            "cpu_cores_per_pod": f"{plan.cpu_nanocores_per_pod / CORE:.3f}",
            "mem_gb_per_node": f"{plan.memory_bytes_per_node / GIB:.1f}",
            "cpu_cores_per_node": f"{plan.cpu_nanocores_per_node / CORE:.1f}",
        }
        for plan in users().quantile_plans
    }
    assert found == EXPECTED["derived_not_printed"]["plan_by_quantile"]


@pytest.mark.parametrize("name", PRINTED["flavours"])
def test_how_the_flavors_fit(name: str) -> None:
    (fit,) = [fit for fit in users().flavors if fit.flavor.name == name]
    assert fit.cpu_fit_ratio is not None
    assert fit.memory_fit_ratio is not None
    assert {
        "memory_gb": round(fit.flavor.memory_bytes / GIB),
        "cpu_percent": round(100 * fit.cpu_fit_ratio),
        "mem_percent": round(100 * fit.memory_fit_ratio),
    } == PRINTED["flavours"][name]


def test_outliers_of_the_flavor_in_use() -> None:
    profile = users()
    (fit,) = [fit for fit in profile.flavors if fit.flavor.name == "n1-highmem-8"]
    assert profile.outliers is not None
    assert profile.outliers.memory_limit_bytes == PRINTED["limit_gb"] * GIB
    assert fit.outliers_tolerated == PRINTED["n1-highmem-8_pods_at_limit"]


def test_the_least_memory_that_is_safe_is_recommended_though_the_cluster_has_no_such_node() -> None:
    # 100 of these pods use 10.8 GiB and 1.9 cores on average; 4 cores are too few in 9 of 100 draws, and 30 GiB with 8 are the next size
    profile = users()
    assert profile.recommended is not None
    assert profile.recommended.flavor == "n1-standard-8"
    sources = {fit.flavor.name: fit.allocatable_source for fit in profile.flavors}
    assert (sources["n1-highmem-8"], sources["n1-standard-8"]) == ("nodes", "formula")


def test_user_pods_are_named_by_their_repository() -> None:
    top = users().pods.iloc[0]
    assert (top["workload"], top["usage_memory_bytes"]) == ("ipython-ipython-in-depth", 978 * MIB)
    assert users().pods["workload"].str.fullmatch(".*-[a-z0-9]*[0-9][a-z0-9]{7}").sum() == 0


def test_totals_of_the_cluster() -> None:
    totals, derived = plan().totals, EXPECTED["derived_not_printed"]
    assert totals.usage_memory_bytes == derived["sum_usage_memory_ki"] * 1024
    assert totals.usage_cpu_nanocores == derived["sum_cpu_millicores"] * 10**6
    assert totals.allocatable_memory_bytes == 3 * derived["node_allocatable_memory_ki_each"] * 1024
    assert sorted(plan().nodes["pod_count"], reverse=True) == derived["pods_per_node"]
