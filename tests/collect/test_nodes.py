"""Nodes: one odd node costs one row at most."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from batch.collect.nodes import NodeCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import node, page


def tables_of(*nodes: dict[str, Any]) -> tuple[dict[str, pd.DataFrame], Rejects]:
    rejects = Rejects()
    collector = NodeCollector(rejects)
    collector.take(page(*nodes))
    return collector.tables(), rejects


def test_without_allocatable_capacity_counts_and_without_both_it_is_unknown() -> None:
    tables, rejects = tables_of(node("n1", status={"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}), node("n2"))
    rows = tables["nodes"].set_index("node")
    assert rows.loc["n1", "allocatable_cpu_nanocores"] == 4 * 10**9
    assert rows.loc["n1", "allocatable_memory_bytes"] == 8 * 2**30
    assert rows.loc["n1", "allocatable_pod_count"] == 110
    assert rows.loc["n2", ["allocatable_cpu_nanocores", "capacity_memory_bytes", "allocatable_pod_count", "ready"]].isna().all()
    assert not rejects


def test_the_architecture_is_that_of_the_kubelet_else_that_of_the_label() -> None:
    label = {"kubernetes.io/arch": "arm64"}
    told = node("told", labels=label, status={"nodeInfo": {"architecture": "amd64"}})
    rows = tables_of(told, node("labelled", labels=label), node("unknown"))[0]["nodes"].set_index("node")["architecture"]
    assert (rows["told"], rows["labelled"], rows.isna()["unknown"]) == ("amd64", "arm64", True)


def test_capacity_and_allocatable_in_different_units() -> None:
    tables, _ = tables_of(
        node(status={"capacity": {"ephemeral-storage": "10190100Ki"}, "allocatable": {"ephemeral-storage": "9391196145"}})
    )
    row = tables["node_resources"].iloc[0]
    assert (row["capacity_count"], row["allocatable_count"]) == (10_434_662_400, 9_391_196_145)


def test_unknown_conditions_and_images_without_names_are_ordinary() -> None:
    tables, rejects = tables_of(
        node(
            status={
                "conditions": [
                    {"type": "CorruptDockerOverlay2", "status": "False"},
                    {"type": "Odd"},
                    {"type": "Ready", "status": "True"},
                ],
                "images": [{"names": None, "sizeBytes": 1}, {"names": ["r/a@sha256:0", "r/a:1"], "sizeBytes": 7}],
            }
        )
    )
    assert not rejects
    assert tables["nodes"]["ready"].tolist() == [True]
    assert tables["node_conditions"]["condition"].tolist() == ["CorruptDockerOverlay2", "Odd", "Ready"]
    assert dict(zip(tables["node_images"]["image"], tables["node_images"]["size_bytes"], strict=True)) == {"<none>": 1, "r/a:1": 7}


def test_null_lists_are_empty_lists() -> None:
    tables, rejects = tables_of(
        {
            "metadata": {"name": "n1", "labels": None},
            "spec": {"taints": None},
            "status": {"conditions": None, "images": None, "capacity": None},
        }
    )
    assert not rejects
    assert tables["nodes"]["node"].tolist() == ["n1"]


def test_an_object_that_does_not_fit_costs_only_itself() -> None:
    tables, rejects = tables_of(node("good"), {"metadata": {"name": "bad"}, "status": {"conditions": "none"}}, node("also-good"))
    assert tables["nodes"]["node"].tolist() == ["also-good", "good"]
    assert rejects.table()["object"].tolist() == ["node bad"]


@pytest.mark.parametrize(
    ("condition", "ready"), [([{"type": "Ready", "status": "Unknown"}], False), ([{"type": "Ready", "status": "False"}], False), ([], None)]
)
def test_only_true_is_ready_and_silence_is_unknown(condition: list[dict[str, str]], ready: object) -> None:
    tables, _ = tables_of(node(status={"conditions": condition}))
    (found,) = tables["nodes"]["ready"].tolist()
    assert (None if pd.isna(found) else found) is ready


def test_labels_say_type_zone_and_that_a_node_is_virtual() -> None:
    tables, _ = tables_of(
        node(
            "old",
            labels={"beta.kubernetes.io/instance-type": "m5.large", "failure-domain.beta.kubernetes.io/zone": "a"},
            spec={"providerID": "aws:///a/i-1"},
        ),
        node("fargate", labels={"eks.amazonaws.com/compute-type": "fargate"}),
        node("cordoned", spec={"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]}),
    )
    rows = tables["nodes"].set_index("node")
    assert rows.loc[["old"], ["instance_type", "zone", "provider"]].to_numpy().tolist() == [["m5.large", "a", "aws"]]
    assert rows["virtual"].to_dict() == {"cordoned": False, "fargate": True, "old": False}
    assert rows["schedulable"].to_dict() == {"cordoned": False, "fargate": True, "old": True}
    assert tables["node_taints"]["taint"].tolist() == ["k"]


def test_a_broken_quantity_makes_that_figure_unknown_and_names_the_node() -> None:
    tables, rejects = tables_of(node(status={"allocatable": {"cpu": "4 cores", "memory": "1Gi", "pods": True}}))
    row = tables["nodes"].iloc[0]
    assert pd.isna(row["allocatable_cpu_nanocores"])
    assert pd.isna(row["allocatable_pod_count"])
    assert row["allocatable_memory_bytes"] == 2**30
    assert rejects.table()["object"].tolist() == ["node n1", "node n1"]


def test_each_node_has_its_images_those_without_a_name_together() -> None:
    web, unnamed = {"names": ["web:1"], "sizeBytes": 7}, {"names": [], "sizeBytes": 2}
    tables, rejects = tables_of(
        node("b", status={"images": [unnamed, web, unnamed, {"names": None, "sizeBytes": 3}]}),
        node("a", status={"images": [web, {"names": ["web:1"], "sizeBytes": 8}, {"names": 1}]}),
        node("none"),
        node("c", status={"images": [web, {"names": []}]}),
    )
    assert [tuple(row) for row in tables["node_images"].itertuples(index=False)] == [
        ("a", "web:1", 8),
        ("b", "<none>", 7),
        ("b", "web:1", 7),
        ("c", "<none>", 0),
        ("c", "web:1", 7),
    ]
    assert [(thing, field) for thing, field, _, _ in rejects.entries()] == [("node a", "status.images")]
