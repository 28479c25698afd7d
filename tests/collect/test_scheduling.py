"""Where pods may go, as their specs say it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import page, pod

NAMED = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}


def tables_of(*pods: dict[str, Any]) -> dict[str, pd.DataFrame]:
    collector = PodCollector(Rejects())
    collector.take(page(*pods))
    return collector.tables()


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def requirements(spec: dict[str, Any]) -> list[list[Any]]:
    return tables_of(pod(spec=spec))["node_requirements"][["term", "label", "operator", "value"]].fillna("-").to_numpy().tolist()


def daemon(name: str, node: str, *terms: dict[str, Any]) -> dict[str, Any]:
    owner = [{"kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}]
    return pod(name, ownerReferences=owner, spec={"nodeName": node, "affinity": affinity(*terms)})


def test_selector_and_alternatives_of_affinity() -> None:
    spec = {
        "nodeSelector": {"pool": "a"},
        "affinity": affinity(
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1", "z2"]}, {"key": "gpu", "operator": "Exists"}]}, NAMED
        ),
    }
    assert requirements(spec) == [
        [0, "pool", "In", "a"],
        [1, "zone", "In", "z1"],
        [1, "zone", "In", "z2"],
        [1, "gpu", "Exists", "-"],
        [2, "metadata.name", "In", "n1"],
    ]


def test_a_term_that_says_nothing_holds_nowhere() -> None:
    # "A null or empty node selector term matches no objects" (API reference).
    assert requirements({"affinity": affinity({})}) == [[1, "", "In", "-"]]
    assert requirements({"affinity": affinity()}) == [[1, "", "In", "-"]]


def test_preferences_are_no_rules() -> None:
    preferred = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": NAMED}]}}
    assert requirements({"affinity": preferred}) == []


def test_tolerations() -> None:
    spec = {"tolerations": [{"operator": "Exists"}, {"key": "gpu", "value": "yes", "effect": "NoSchedule", "tolerationSeconds": 5}]}
    rows = tables_of(pod(spec=spec))["tolerations"].fillna("-")
    assert rows[["taint", "operator", "value", "effect"]].to_numpy().tolist() == [
        ["-", "Exists", "-", "-"],
        ["gpu", "Equal", "yes", "NoSchedule"],
    ]


def test_pods_of_equal_rules_share_one_set_however_they_are_worded() -> None:
    one, other = {"key": "a", "operator": "Exists"}, {"operator": "Exists", "key": "a"}
    sets = tables_of(pod("a", spec={"tolerations": [one]}), pod("b", spec={"tolerations": [other]}), pod("c"))["pods"]["scheduling_set"]
    assert sets.tolist() == [0, 0, 1]


def test_pods_of_a_daemonset_are_alike_on_every_node() -> None:
    def named(node: str, *more: dict[str, Any]) -> dict[str, Any]:
        return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}], "matchExpressions": list(more)}

    gpu = {"key": "gpu", "operator": "Exists"}
    tables = tables_of(daemon("a", "n1", named("n1")), daemon("b", "n2", named("n2")))
    assert tables["pods"]["scheduling_set"].tolist() == [0, 0]
    assert tables["node_requirements"].empty
    tables = tables_of(daemon("a", "n1", named("n1", gpu)), daemon("b", "n2", named("n2", gpu)))
    assert tables["node_requirements"][["term", "label"]].to_numpy().tolist() == [[1, "gpu"]]


def test_what_depends_on_other_pods() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}}
    evenly = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    if_possible = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
    tables = tables_of(
        pod("a", spec={"affinity": apart}),
        pod("b", spec={"topologySpreadConstraints": evenly}),
        pod("c", spec={"topologySpreadConstraints": if_possible}),
    )
    spread = tables["scheduling_sets"].set_index("scheduling_set")["spread"]
    assert tables["pods"]["scheduling_set"].map(spread).tolist() == [True, True, False]


def test_rules_that_cannot_be_read_are_noted_and_the_pod_stays() -> None:
    rejects = Rejects()
    collector = PodCollector(rejects)
    collector.take(page(pod("a", spec={"tolerations": "all"}), pod("b")))
    assert collector.tables()["pods"]["scheduling_set"].tolist() == [0, 0]
    assert [(thing, field) for thing, field, _, _ in rejects.entries()] == [("pod default/a", "spec, where it may go")]
