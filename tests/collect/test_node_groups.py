"""How far node autoscalers may go: two forms of a status, NodePools, and the right to read one ConfigMap alone."""

import json
from typing import Any

import pandas as pd
import pytest

from batch.collect.node_groups import AutoscalerStatusCollector, NodePoolCollector
from batch.collect.rejects import Rejects
from batch.collect.source import CLUSTER_AUTOSCALER_STATUS, SourceError
from tests.builders import CORE
from tests.collect.api_lists import Connect, names
from tests.collect.objects_json import page
from tests.kube.fake import FakeKube, rules_from_manifests

STRUCTURED = """
time: 2026-11-30 02:00:00 +0000 UTC
autoscalerStatus: Running
nodeGroups:
- name: general
  health:
    status: Healthy
    nodeCounts: {registered: {total: 5, ready: 5}}
    cloudProviderTarget: 5
    minSize: 1
    maxSize: 5
- name: gpu
  health: {cloudProviderTarget: 0, minSize: 0, maxSize: 8}
- health: {}
"""
WRITTEN = """Cluster-autoscaler status at 2022-11-30 02:00:00 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=5 unready=0 notStarted=0 longNotStarted=0 registered=5 longUnregistered=0)

NodeGroups:
  Name:        general
  Health:      Healthy (ready=5 unready=0 notStarted=0 registered=5 longUnregistered=0 cloudProviderTarget=5 (minSize=1, maxSize=5))
  Name:        gpu
  Health:      Healthy (ready=0 unready=0 notStarted=0 registered=0 longUnregistered=0 cloudProviderTarget=0 (minSize=0, maxSize=8))
"""


def status(text: str) -> dict[str, Any]:
    return {"metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}, "data": {"status": text}}


@pytest.mark.parametrize("text", [STRUCTURED, WRITTEN], ids=["since 1.30", "before"])
def test_both_forms_of_the_status_tell_the_same(text: str) -> None:
    collector = AutoscalerStatusCollector(Rejects())
    collector.take(page(status(text)))
    assert collector.rows().frame().to_numpy().tolist() == [
        ["cluster-autoscaler", "general", "nodes", 5, 5],
        ["cluster-autoscaler", "gpu", "nodes", 0, 8],
    ]


_ABSURD = "9" * 5000


@pytest.mark.parametrize("text", ["", "nodeGroups: 5", "a: [", "nodeGroups: []", f"a: {_ABSURD}", "a: 2026-99-99", "[" * 5000])
def test_a_status_that_tells_nothing_is_noted(text: str) -> None:
    rejects = Rejects()
    collector = AutoscalerStatusCollector(rejects)
    collector.take(page(status(text)))
    assert collector.rows().frame().empty
    assert [field for _, field, _, _ in rejects.entries()] == ["data.status"]


@pytest.mark.parametrize("size", [10**19, -1, True, "5"])
def test_a_size_that_no_group_has_is_unknown(size: object) -> None:
    groups = [{"name": "odd", "health": {"cloudProviderTarget": size, "maxSize": 5}}]
    collector = AutoscalerStatusCollector(Rejects())
    collector.take(page(status(json.dumps({"nodeGroups": groups}))))
    row = collector.rows().frame().iloc[0]
    assert pd.isna(row["used_amount"])
    assert row["limit_amount"] == 5


@pytest.mark.parametrize("size", ["9" * 19, _ABSURD])
def test_a_line_with_such_a_size_tells_nothing(size: str) -> None:
    collector = AutoscalerStatusCollector(Rejects())
    collector.take(page(status(f"  Name: odd\n  Health: Healthy (cloudProviderTarget={size} (minSize=1, maxSize=5))")))
    assert collector.rows().frame().empty


def test_every_limit_of_a_node_pool_has_a_row() -> None:
    collector = NodePoolCollector(Rejects())
    limited = {
        "metadata": {"name": "general"},
        "spec": {"limits": {"cpu": "100", "nodes": 10}},
        "status": {"resources": {"cpu": "64", "memory": "1Gi"}},
    }
    collector.take(page(limited, {"metadata": {"name": "free"}, "spec": {}}))
    found = collector.rows().frame().astype(object)
    assert found.where(found.notna(), None).to_numpy().tolist() == [
        ["karpenter", "general", "cpu", 64 * CORE, 100 * CORE],
        ["karpenter", "general", "nodes", None, 10],
    ]


def role(*names_: str) -> list[Any]:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": list(names_), "verbs": ["get", "list"]}
    return rules_from_manifests([{"kind": "Role", "metadata": {"name": "r", "namespace": "kube-system"}, "rules": [rule]}])


def test_the_right_to_one_config_map_is_enough_and_no_other_is_read(connect: Connect) -> None:
    with FakeKube(role("cluster-autoscaler-status")) as kube:
        for name in ("cluster-autoscaler-status", "other"):
            kube.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kube-system"}})
        assert names(connect(kube), CLUSTER_AUTOSCALER_STATUS) == [["cluster-autoscaler-status"]]
        assert connect(kube).allowed("list", CLUSTER_AUTOSCALER_STATUS)


def test_without_it_the_rule_to_add_names_the_config_map(connect: Connect) -> None:
    with FakeKube(role("other")) as kube:
        assert not connect(kube).allowed("list", CLUSTER_AUTOSCALER_STATUS)
        with pytest.raises(SourceError) as refused:
            names(connect(kube), CLUSTER_AUTOSCALER_STATUS)
    assert refused.value.remedy == (
        'Add to a Role in namespace "kube-system": apiGroups [""], resources ["configmaps"], '
        'resourceNames ["cluster-autoscaler-status"], verbs ["get", "list"].'
    )
