"""Services, quotas, disruption budgets, and what of a pod matters to whoever drains its node."""

from typing import Any

import pandas as pd
import pytest

from batch.collect.pods import PodCollector
from batch.collect.policies import BudgetCollector, QuotaCollector, ServiceCollector
from batch.collect.rejects import Rejects
from tests.builders import CORE, GIB
from tests.collect.objects_json import page, pod


def named(name: str, namespace: str = "a", **parts: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, **parts}


def rows(table: Any) -> list[list[Any]]:
    """Give the rows of a table, None for NA."""
    return [[None if value is pd.NA else value for value in row] for row in zip(*(table[name].to_list() for name in table), strict=True)]


def test_services_are_counted_by_name_and_namespace() -> None:
    collector = ServiceCollector(Rejects(), ("a",))
    assert collector.take(page(named("x"), named("y", "b"), {"metadata": {}})) == 3
    assert rows(collector.tables()["services"]) == [["a", "x"]]


def test_a_quota_has_a_row_for_each_resource_in_its_own_unit() -> None:
    hard = {"requests.cpu": "2", "limits.memory": "1Gi", "pods": "10", "requests.nvidia.com/gpu": "4", "count/jobs.batch": "5"}
    used = {"requests.cpu": "1500m", "limits.memory": "512Mi", "pods": "3"}
    collector = QuotaCollector(Rejects())
    collector.take(page(named("q", status={"hard": hard, "used": used})))
    assert rows(collector.tables()["resource_quotas"]) == [
        ["a", "q", "count/jobs.batch", 5, None],
        ["a", "q", "limits.memory", GIB, GIB // 2],
        ["a", "q", "pods", 10, 3],
        ["a", "q", "requests.cpu", 2 * CORE, 3 * CORE // 2],
        ["a", "q", "requests.nvidia.com/gpu", 4, None],
    ]


def test_a_quota_that_was_never_counted_is_read_from_its_spec() -> None:
    collector = QuotaCollector(Rejects())
    collector.take(page(named("q", spec={"hard": {"pods": 3}}, status={})))
    assert rows(collector.tables()["resource_quotas"]) == [["a", "q", "pods", 3, None]]


def test_a_quantity_that_is_none_costs_one_row() -> None:
    rejects = Rejects()
    collector = QuotaCollector(rejects)
    collector.take(page(named("q", spec={"hard": {"pods": "many", "services": "2"}}), named("r", spec="odd")))
    assert rows(collector.tables()["resource_quotas"]) == [["a", "q", "pods", None, None], ["a", "q", "services", 2, None]]
    assert [field for _, field, _, _ in rejects.entries()] == ["object", "hard.pods"]


def test_a_budget_is_kept_with_what_it_selects() -> None:
    selector = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "x", "operator": "Exists"}],
    }
    status = {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 3}
    collector = BudgetCollector(Rejects())
    collector.take(page(named("b", spec={"selector": selector}, status=status)))
    assert rows(collector.tables()["disruption_budgets"]) == [["a", "b", 0, 2, 2, 3]]
    assert [row[2:] for row in rows(collector.tables()["budget_requirements"])] == [
        [0, 0, "app", "In", "web"],
        [1, 0, "tier", "In", "a"],
        [1, 1, "tier", "In", "b"],
        [2, 0, "x", "Exists", None],
    ]


@pytest.mark.parametrize("field", ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"])
def test_a_budget_with_a_number_beyond_64_bits_costs_itself(field: str) -> None:
    rejects = Rejects()
    collector = BudgetCollector(rejects)
    collector.take(page(named("odd", status={field: 2**63}), named("fine")))
    assert collector.tables()["disruption_budgets"]["budget"].tolist() == ["fine"]
    assert [thing for thing, *_ in rejects.entries()] == ["poddisruptionbudget a/odd"]


@pytest.mark.parametrize(("spec", "requirements"), [({"selector": {}}, 0), ({}, 1), ({"selector": None}, 1)])
def test_an_empty_selector_is_for_all_pods_and_none_for_no_pod(spec: dict[str, Any], requirements: int) -> None:
    collector = BudgetCollector(Rejects())
    collector.take(page(named("b", spec=spec)))
    assert len(collector.tables()["budget_requirements"]) == requirements


TERM = {"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"}


@pytest.mark.parametrize(
    ("spec", "annotations", "expected"),
    [
        ({}, {}, {"host_network": False, "dns_policy": None, "local_storage": False, "safe_to_evict": None, "kept_apart": False}),
        ({"hostNetwork": True, "dnsPolicy": "ClusterFirst"}, {}, {"host_network": True, "dns_policy": "ClusterFirst"}),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, {}, {"local_storage": True}),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}, {}, {"local_storage": True}),
        ({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}, {}, {"local_storage": False}),
        ({"volumes": [{"name": "emptyDir", "configMap": {"name": "hostPath"}}]}, {}, {"local_storage": False}),
        ({"volumes": None}, {}, {"local_storage": False}),
        ({}, {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}, {"safe_to_evict": True}),
        ({}, {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}, {"safe_to_evict": False}),
        ({}, {"cluster-autoscaler.kubernetes.io/safe-to-evict": "yes"}, {"safe_to_evict": None}),
        ({"topologySpreadConstraints": [{"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]}, {}, {"kept_apart": True}),
        ({"topologySpreadConstraints": []}, {}, {"kept_apart": False}),
        (
            {
                "affinity": {
                    "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]}
                }
            },
            {},
            {"kept_apart": True},
        ),
        ({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}, {}, {"kept_apart": True}),
        ({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}, {}, {"kept_apart": False}),
    ],
)
def test_what_of_a_pod_matters_to_network_and_drains(spec: dict[str, Any], annotations: dict[str, str], expected: dict[str, Any]) -> None:
    collector = PodCollector(Rejects())
    collector.take(page(pod(spec=spec, annotations=annotations)))
    table = collector.tables()["pods"]
    assert rows(table[list(expected)]) == [list(expected.values())]
