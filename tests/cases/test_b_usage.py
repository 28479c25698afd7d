"""Case group B, as far as the metrics API goes: what was measured, of what, and what was not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from batch.collect.source import POD_METRICS
from batch.plan.rightsizing.model import Verdict
from tests.cases.clusters import CORE, GI, MI, plan, read, ready_node
from tests.cases.clusters import node_metrics as of_node
from tests.cases.clusters import pod_metrics as of_pod
from tests.collect.api_lists import Connect
from tests.collect.objects_json import container, pod
from tests.collect.test_assemble import snapshot_of
from tests.kube.fake import FakeKube


def test_b01_a_node_without_metrics_is_unknown_and_the_share_is_of_those_that_reported() -> None:
    found = plan(read([ready_node("n1"), ready_node("n2")], node_metrics=[of_node("n1", cpu="6", memory="1Gi")]))
    totals = found.totals
    assert (totals.machine_usage_cpu_nanocores, totals.measured_capacity_cpu_nanocores) == (6 * CORE, 8 * CORE)
    assert Fraction(6 * CORE, 8 * CORE) == Fraction(75, 100)
    assert (totals.measured_node_count, totals.node_count, totals.capacity_cpu_nanocores) == (1, 2, 16 * CORE)
    machine = found.nodes.set_index("node")["machine_usage_cpu_nanocores"]
    assert machine["n1"] == 6 * CORE
    assert machine["n2"] is pd.NA


@pytest.mark.parametrize(
    ("status", "body", "reason", "requests"),
    [(503, "service unavailable", "metrics API unavailable: 503 service unavailable", 5), (404, None, "is not served (404)", 1)],
)
def test_b02_a_metrics_api_that_is_down_is_no_data_and_the_rest_is_reported(
    kube: FakeKube, connect: Connect, status: int, body: str | None, reason: str, requests: int
) -> None:
    kube.add({"apiVersion": "v1", "kind": "Node", **ready_node()})
    kube.add({"apiVersion": "v1", "kind": "Pod", **pod(spec={"containers": [container(requests={"cpu": "1"})]})})
    kube.fail("/apis/metrics.k8s.io/v1beta1/pods", status, times=99, body=body)
    snapshot = snapshot_of(connect(kube))
    assert reason in next(gap.reason for gap in snapshot.gaps if gap.source == "podmetrics")
    assert len([r for r in kube.requests if r.path == POD_METRICS.path()]) == requests
    totals = plan(snapshot).totals
    assert (totals.usage_cpu_nanocores, totals.requests_cpu_nanocores) == (None, CORE)


def two_containers() -> dict[str, Any]:
    return pod(spec={"containers": [container("work", requests={"cpu": "1", "memory": "1Gi"}), container("sidecar")]})


def test_b03_a_pod_without_metrics_is_unknown_and_gets_no_advice() -> None:
    found = plan(read([ready_node()], [two_containers()], pod_metrics=[]))
    assert (found.totals.usage_cpu_nanocores, found.totals.measured_pod_count, found.totals.bound_pod_count) == (None, 0, 1)
    assert {one.cpu.verdict for one in found.rightsizing.advice} <= {Verdict.UNKNOWN}
    assert not any(one.is_change for one in found.rightsizing.advice)


def test_b03_metrics_that_lack_a_container_are_not_those_of_the_pod() -> None:
    part = [of_pod("p1", sidecar={"cpu": "10m", "memory": "10Mi"})]
    totals = plan(read([ready_node()], [two_containers()], pod_metrics=part)).totals
    assert (totals.usage_cpu_nanocores, totals.usage_memory_bytes, totals.measured_pod_count) == (None, None, 0)
    whole = [
        of_pod("p1", sidecar={"cpu": "10m", "memory": "10Mi"}, work={"cpu": "1", "memory": "1Mi"}, debugger={"cpu": "1", "memory": "1Mi"})
    ]
    totals = plan(read([ready_node()], [two_containers()], pod_metrics=whole)).totals
    assert (totals.usage_cpu_nanocores, totals.usage_memory_bytes, totals.measured_pod_count) == (2_010_000_000, 12 * MI, 1)


def test_b04_machines_are_measured_against_capacity_and_pods_against_allocatable() -> None:
    node = ready_node(capacity={"cpu": "8", "memory": "10Gi", "pods": "110"}, allocatable={"cpu": "8", "memory": "8Gi", "pods": "110"})
    metrics = [of_pod("p1", app={"cpu": "1", "memory": "6Gi"})]
    totals = plan(read([node], [pod()], pod_metrics=metrics, node_metrics=[of_node("n1", cpu="1", memory="8Gi")])).totals
    assert Fraction(totals.machine_usage_memory_bytes or 0, totals.measured_capacity_memory_bytes or 1) == Fraction(80, 100)
    assert Fraction(totals.usage_memory_bytes or 0, totals.allocatable_memory_bytes or 1) == Fraction(75, 100)


@pytest.mark.parametrize(("memory", "expected"), [("2655456Ki", 2_719_186_944), ("2728711509333m", 2_728_711_510)])
def test_b05_units_may_alternate_between_readings(memory: str, expected: int) -> None:
    totals = plan(read([ready_node()], [pod()], pod_metrics=[of_pod("p1", app={"cpu": "1", "memory": memory})])).totals
    assert totals.usage_memory_bytes == expected


def test_b06_a_further_key_in_usage_is_neither_cpu_nor_memory() -> None:
    usage = {"cpu": "10m", "memory": "100Mi", "swap": "7Gi"}
    totals = plan(read([ready_node()], [pod()], pod_metrics=[of_pod("p1", app=usage)])).totals
    assert (totals.usage_cpu_nanocores, totals.usage_memory_bytes) == (10_000_000, 100 * MI)


def test_a_measurement_from_the_future_is_none_and_is_named() -> None:
    ahead = {**of_pod("p2", app={"cpu": "8", "memory": "1Gi"}), "timestamp": "2026-12-01T03:00:00Z"}
    believed = [of_pod(name, app={"cpu": "1", "memory": "1Gi"}) for name in ("p1", "p3")]
    snapshot = read([ready_node()], [pod(name) for name in ("p1", "p2", "p3")], pod_metrics=[*believed, ahead])
    assert plan(snapshot).totals.usage_cpu_nanocores == 2 * CORE
    (refused,) = snapshot.table("rejects").to_dict("records")
    assert (refused["object"], refused["reason"]) == ("podmetrics default/p2", "it is in the future")


@pytest.mark.parametrize("window", ["9" * 300 + "h", "1e99s", "999999999999h", "9" * 100_000, "-5s", 7])
def test_an_absurd_window_costs_itself_at_most(window: object) -> None:
    measured = [{**of_pod("p1", app={"cpu": "1", "memory": "1Gi"}), "window": window}, of_pod("p2", app={"cpu": "1", "memory": "1Gi"})]
    snapshot = read([ready_node()], [pod(), pod("p2")], pod_metrics=measured)
    assert (snapshot.table("container_usage")["pod"] == "p2").sum() == 1
    assert snapshot.table("container_usage").set_index("pod")["window_seconds"].get("p1", pd.NA) is pd.NA
    assert (plan(snapshot).totals.usage_memory_bytes or 0) >= GI


def test_usage_that_no_machine_has_costs_the_pod() -> None:
    measured = [of_pod("p1", app={"cpu": "5G", "memory": "7Ei"}), of_pod("p2", app={"cpu": "1", "memory": "1Gi"})]
    snapshot = read([ready_node()], [pod(), pod("p2")], pod_metrics=measured)
    assert plan(snapshot).totals.usage_cpu_nanocores == CORE
    assert snapshot.table("rejects")["reason"].tolist() == ["more than any machine has"] * 2
