"""Lists from the live API: paging, namespaces, and the small questions."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.collect.source import FILE_NAMES, NODES, OF_AUTOSCALERS, POD_METRICS, PODS, Kind
from batch.deadline import Deadline
from tests.collect.api_lists import Connect, names, pods
from tests.kube.fake import FakeKube, rules_from_manifests

MYBINDER = Path(__file__).parents[1] / "data" / "mybinder"
NOW = datetime(2026, 12, 1, tzinfo=UTC)
BASE = Path(__file__).parents[2] / "k8s" / "base"
JOBS = Kind("jobs", "batch", "v1", namespaced=True)


def test_a_list_is_read_in_pages(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(5))
    cluster = connect(kube, api__page_size=2)

    assert names(cluster) == [["p00000", "p00001"], ["p00002", "p00003"], ["p00004"]]
    assert [request.query["limit"] for request in kube.requests] == ["2", "2", "2"]
    assert "continue" not in kube.requests[0].query
    assert cluster.request_count == 3


def test_a_page_is_what_the_server_sent_and_is_counted(kube: FakeKube, connect: Connect) -> None:
    kube.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "a", "name": "p"}, "unheardOf": {"größe": [1, None]}})
    cluster = connect(kube)

    (page,) = cluster.pages(PODS)

    assert json.loads(page)["items"][0]["unheardOf"] == {"größe": [1, None]}
    assert cluster.received_bytes == len(page)


def test_only_continue_says_whether_there_is_more(kube: FakeKube, connect: Connect) -> None:
    def page(count: int, token: str) -> dict[str, Any]:
        return {**pods(count), "metadata": {"continue": token}}

    kube.serve("/api/v1/pods", page(500, "t1"), page(0, "t2"), page(253, ""))

    assert [len(page) for page in names(connect(kube))] == [500, 0, 253]
    assert [request.query.get("continue") for request in kube.requests] == [None, "t1", "t2"]


def test_the_metrics_api_ignores_the_limit(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(5000) | {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetricsList"})

    assert [len(page) for page in names(connect(kube), POD_METRICS)] == [5000]


def test_items_may_be_null(kube: FakeKube, connect: Connect) -> None:
    kube.serve("/apis/metrics.k8s.io/v1beta1/pods", {"kind": "PodMetricsList", "metadata": {}, "items": None})

    assert names(connect(kube), POD_METRICS) == [[]]


def test_named_namespaces_are_listed_one_after_the_other(kube: FakeKube, connect: Connect) -> None:
    for namespace in ("a", "b", "c"):
        kube.add(pods(1, namespace))
    kube.add({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    cluster = connect(kube, cluster__namespaces="c,a")

    assert names(cluster) == [["p00000"], ["p00000"]]
    assert names(cluster, NODES) == [["n"]]
    assert [request.path for request in kube.requests] == ["/api/v1/namespaces/c/pods", "/api/v1/namespaces/a/pods", "/api/v1/nodes"]


def test_it_says_who_it_is(kube: FakeKube, connect: Connect) -> None:
    names(connect(kube))

    assert kube.requests[0].headers["user-agent"] == "nightcap/1.2.3"
    assert kube.requests[0].headers["accept"] == "application/json"


def test_a_cluster_and_its_dump_give_the_same_tables(kube: FakeKube, connect: Connect) -> None:
    for name in ("nodes", "pods", "podmetrics"):
        kube.add(json.loads(gzip.decompress((MYBINDER / f"{name}.json.gz").read_bytes())))

    live, dumped = (
        assemble(source, Identity("c", "s"), taken_at=NOW, fallback_taken_at=lambda: NOW, deadline=Deadline(None, 0, lambda: 0, 0))
        for source in (connect(kube, api__page_size=50), Dump(MYBINDER))
    )

    assert len(live.tables["pods"]) == 239
    for name, table in dumped.tables.items():
        columns = list(table.columns)
        pd.testing.assert_frame_equal(
            live.tables[name].sort_values(columns, ignore_index=True), table.sort_values(columns, ignore_index=True), obj=name
        )


def test_version(kube: FakeKube, connect: Connect) -> None:
    assert connect(kube).kubernetes_version() == "v1.37.0"


@pytest.mark.parametrize("status", [403, 503])
def test_a_version_that_is_not_told_is_unknown(kube: FakeKube, connect: Connect, status: int) -> None:
    kube.fail("/version", status, times=99)

    assert connect(kube).kubernetes_version() is None


def test_the_creation_time_of_our_own_job(kube: FakeKube, connect: Connect) -> None:
    job = {"namespace": "report", "name": "nightcap-1", "creationTimestamp": "2026-12-01T23:59:58Z"}
    kube.add({"apiVersion": "batch/v1", "kind": "Job", "metadata": job})
    cluster = connect(kube)

    assert cluster.created_at("nightcap-1", "report") == datetime(2026, 12, 1, 23, 59, 58, tzinfo=UTC)
    assert cluster.created_at("nightcap-2", "report") is None


def test_rights_are_asked_for_before_they_are_needed(connect: Connect) -> None:
    roles = """
kind: ClusterRole
metadata: {name: report}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
kind: Role
metadata: {name: report, namespace: a}
rules: [{apiGroups: [batch], resources: [jobs], verbs: [list]}]
"""
    with FakeKube(rules_from_manifests(yaml.safe_load_all(roles))) as kube:
        cluster = connect(kube)

        assert cluster.allowed("list", PODS)
        assert not cluster.allowed("list", NODES)
        assert not cluster.allowed("list", POD_METRICS)
        assert cluster.allowed("list", JOBS, "a")
        assert not cluster.allowed("list", JOBS)


def test_the_rights_of_the_manifests_are_those_that_are_needed(connect: Connect) -> None:
    documents = list(yaml.safe_load_all((BASE / "clusterrole.yaml").read_text()))
    with FakeKube(rules_from_manifests(documents)) as kube:
        cluster = connect(kube)

        assert all(names(cluster, kind) == [[]] for kind in FILE_NAMES if kind not in OF_AUTOSCALERS.values())
        assert not any(cluster.allowed("list", kind) for kind in OF_AUTOSCALERS.values())
        assert not cluster.allowed("list", Kind("secrets", "", "v1", namespaced=True))
