"""Case group C: what pods request, as the scheduler counts it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from batch.collect.rejects import Rejects
from batch.collect.requests import effective_limits, effective_requests
from batch.plan.model import CapacityPlan
from batch.plan.rightsizing.model import Advice
from batch.snapshot.requests_rule import RequestsRule, rule_of
from tests.cases.clusters import CORE, GI, MI, MILLI, plan, read, ready_node
from tests.cases.clusters import pod_metrics as of_pod
from tests.collect.objects_json import container, decode_pod, pod

Json = dict[str, Any]


def asking(name: str, cpu: str, memory: str = "0", **more: Any) -> Json:
    spec = {"containers": [container(requests={"cpu": cpu, "memory": memory})], **more.pop("spec", {})}
    return pod(name, spec=spec, **more)


def advice(found: CapacityPlan) -> dict[str, Advice]:
    return {one.container: one for one in found.rightsizing.advice}


def test_c01_init_peak_and_overhead_count_for_the_whole_life() -> None:
    spec = {
        "initContainers": [container("migrate", requests={"cpu": "200m", "memory": "3Gi"})],
        "containers": [container(requests={"cpu": "1", "memory": "2Gi"})],
        "overhead": {"cpu": "50m", "memory": "200Mi"},
    }
    totals = plan(read([ready_node()], [pod(spec=spec)])).totals
    assert (totals.requests_cpu_nanocores, totals.requests_memory_bytes) == (1050 * MILLI, 3272 * MI)


def job(spec: Json, *, parallelism: int | None = 3, **more: Any) -> Json:
    return {
        "metadata": {"name": "j", "namespace": "default", "uid": "u"},
        "spec": {"suspend": True, "parallelism": parallelism, "template": {"spec": spec}, **more},
    }


def waiting(*jobs: Json) -> tuple[int | None, int | None, dict[str, int]]:
    (row,) = plan(read([ready_node()], jobs=jobs)).waiting
    return row.requests_cpu_nanocores, row.requests_memory_bytes, dict(row.resources)


def test_c02_a_template_takes_missing_requests_from_limits() -> None:
    spec = {"containers": [container(limits={"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "2"})]}
    assert waiting(job(spec)) == (6 * CORE, 12 * GI, {"nvidia.com/gpu": 6})


def test_c02_a_request_for_cpu_alone_still_takes_the_rest_from_limits_and_zero_stays_zero() -> None:
    limits = {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "2"}
    assert waiting(job({"containers": [container(requests={"cpu": "1"}, limits=limits)]})) == (3 * CORE, 12 * GI, {"nvidia.com/gpu": 6})
    assert waiting(job({"containers": [container(requests={"cpu": "0"}, limits=limits)]}))[0] == 0


@pytest.mark.parametrize(
    ("asked", "cpu", "memory"),
    [
        ({}, 4 * CORE, 8 * GI),  # nobody else asks
        ({"cpu": "1"}, CORE, 8 * GI),  # containers ask for CPU: the sum of theirs, not the limit
    ],
)
def test_c02_limits_of_the_pod_as_a_whole_stand_in_where_nobody_asks(asked: Json, cpu: int, memory: int) -> None:
    spec = {"containers": [container(requests=asked)], "resources": {"limits": {"cpu": "4", "memory": "8Gi"}}}
    assert waiting(job(spec, parallelism=1))[:2] == (cpu, memory)


@pytest.mark.parametrize(
    "resources", [[], "none", 7, {"limits": ["cpu"]}, {"limits": {"cpu": 10**30}}, {"limits": {"cpu": {"value": "1"}}}]
)
def test_c02_resources_of_a_template_that_cannot_be_read_are_unknown_and_cost_no_report(resources: Any) -> None:
    odd = job({"containers": [{"name": "app", "image": "i", "resources": resources}]})
    snapshot = read([ready_node()], [asking("p", "1")], jobs=[odd])
    assert snapshot.table("jobs")["template_requests_cpu_nanocores"].isna().all()
    assert set(snapshot.table("rejects")["object"]) == {"job default/j/app"}
    assert plan(snapshot).totals.requests_cpu_nanocores == CORE


@pytest.mark.parametrize("resources", ["1K", {"limits": "1K"}, {"limits": {"cpu": "1"}, "requests": [1]}])
def test_a_template_whose_resources_are_no_map_is_unknown_and_costs_itself(resources: object) -> None:
    broken = {
        **job({"containers": [{"name": "app", "resources": resources}]}),
        "metadata": {"name": "b", "namespace": "default", "uid": "b"},
    }
    snapshot = read([ready_node()], jobs=[broken, job({"containers": [container(requests={"cpu": "1", "memory": "1Gi"})]})])
    requests = snapshot.table("jobs").set_index("job")["template_requests_cpu_nanocores"]
    assert requests["j"] == CORE
    assert pd.isna(requests["b"])
    assert snapshot.table("rejects")["object"].tolist() == ["job default/b/app"]


@pytest.mark.parametrize(("parallelism", "completions", "pods"), [(5, 2, 2), (2, 5, 2), (3, None, 3), (None, 4, 1), (0, 4, 0)])
def test_a_job_runs_no_more_pods_at_once_than_it_completes(parallelism: int | None, completions: int | None, pods: int) -> None:
    more = {} if completions is None else {"completions": completions}
    assert waiting(job({"containers": [container(requests={"cpu": "1"})]}, parallelism=parallelism, **more))[0] == pods * CORE


def test_a_suspended_job_beyond_64_bits_is_added_up_exactly() -> None:
    most = 2147483647
    spec = {"containers": [container(requests={"cpu": "1M", "memory": "1Ti", "nvidia.com/gpu": "8"})]}
    assert waiting(job(spec, parallelism=most)) == (10**15 * most, 2**40 * most, {"nvidia.com/gpu": 8 * most})


def test_c03_finished_pods_request_nothing() -> None:
    done = [asking(f"done-{i}", "1", status={"phase": "Succeeded"}) for i in range(40)]
    totals = plan(read([ready_node()], [*done, *(asking(f"p{i}", "1") for i in range(3))])).totals
    assert Fraction(totals.requests_cpu_nanocores or 0, totals.allocatable_cpu_nanocores or 1) == Fraction("0.375")


@pytest.mark.parametrize(
    ("odd", "holds"),
    [
        ({"deletionTimestamp": "2026-11-28T02:00:00Z"}, True),  # until it is gone the scheduler counts it
        ({"status": {"phase": "Unknown"}}, True),
        ({"status": {"phase": "Pending"}}, True),  # bound, and pulling its images
        ({"status": {"phase": "Failed"}}, False),
        ({"status": {"phase": "Succeeded"}, "deletionTimestamp": "2026-11-28T02:00:00Z"}, False),
        ({"status": {"phase": "Pending", "nominatedNodeName": "n1"}, "spec": {"nodeName": None}}, False),
        ({"status": {"phase": "Pending"}, "spec": {"nodeName": None, "schedulingGates": [{"name": "g"}]}}, False),
    ],
)
def test_a_pod_holds_its_requests_from_binding_until_it_has_ended(odd: Json, *, holds: bool) -> None:
    found = plan(read([ready_node()], [asking("p", "2"), asking("odd", "3", **odd)]))
    (pool,), expected = found.pools, (5 * CORE, 2) if holds else (2 * CORE, 1)
    assert (found.totals.requests_cpu_nanocores, found.totals.bound_pod_count) == expected
    assert (pool.requests_cpu_nanocores, pool.bound_pod_count) == expected


def test_c04_placeholders_are_requested_preemptible_and_get_no_advice() -> None:
    pods = [asking(f"p{i}", "1", spec={"priority": 0}) for i in range(6)]
    pods += [asking(f"placeholder-{i}", "2", spec={"priority": -10}) for i in range(5)]
    metrics = [of_pod(f"placeholder-{i}", app={"cpu": "0", "memory": "1Mi"}) for i in range(5)]
    found = plan(read([ready_node(capacity={"cpu": "16", "memory": "64Gi", "pods": "110"})], pods, pod_metrics=metrics))
    assert found.totals.requests_cpu_nanocores == found.totals.allocatable_cpu_nanocores == 16 * CORE
    assert found.totals.preemptible_requests_cpu_nanocores == 10 * CORE
    assert not [one for one in found.rightsizing.advice if one.workload.startswith("placeholder") and one.is_change]


def test_c05_pods_on_a_node_that_is_gone_are_in_no_percentage() -> None:
    gone = asking("gone", "8", spec={"nodeName": "n2"}, deletionTimestamp="2026-11-28T02:00:00Z")
    totals = plan(read([ready_node()], [asking("p", "2"), gone])).totals
    assert (totals.requests_cpu_nanocores, totals.bound_pod_count, totals.unknown_node_pod_count) == (2 * CORE, 1, 1)


def test_c06_an_injected_container_counts_and_is_marked() -> None:
    owner = [{"kind": "ReplicaSet", "name": "web-7d9c", "uid": "r", "controller": True}]
    containers = [container("app", requests={"cpu": "500m"}), container("daprd", requests={"cpu": "300m"})]
    web = pod("web-1", spec={"containers": containers}, ownerReferences=owner, labels={"pod-template-hash": "7d9c"})
    template = {"spec": {"containers": [container("app", requests={"cpu": "500m"})]}}
    deployment = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"template": template}}
    usage = {"cpu": "100m", "memory": "50Mi"}
    found = plan(read([ready_node()], [web], pod_metrics=[of_pod("web-1", app=usage, daprd=usage)], deployments=[deployment]))
    assert found.totals.requests_cpu_nanocores == 800 * MILLI
    assert {name: one.injected for name, one in advice(found).items()} == {"app": False, "daprd": True}


@pytest.mark.parametrize(("first", "cores"), [("setup", 2), ("mesh", Fraction(5, 2))])
def test_c07_sidecars_have_their_row_and_init_containers_have_none(first: str, cores: Fraction) -> None:
    init = [container("setup", requests={"cpu": "2"}), container("mesh", requests={"cpu": "500m"}, restartPolicy="Always")]
    init.sort(key=lambda c: c["name"] != first)
    usage = {"cpu": "20m", "memory": "50Mi"}
    pods = [pod(spec={"initContainers": init, "containers": [container(requests={"cpu": "1"})]})]
    found = plan(read([ready_node()], pods, pod_metrics=[of_pod("p1", app=usage, mesh=usage)]))
    assert found.totals.requests_cpu_nanocores == cores * CORE
    assert set(advice(found)) == {"app", "mesh"}


def resized(*, condition: str | None = None, spec: Json | None = None, status: Json | None = None) -> Json:
    conditions = [{"type": "PodResizePending", "status": "True", "reason": condition}] if condition else []
    return pod(spec=spec or {}, status={"conditions": conditions, **(status or {})})


@pytest.mark.parametrize(("version", "milli"), [("v1.36.2", 2750), ("v1.37.0", 2500), (None, 2750)])
def test_c08_a_resize_is_counted_by_the_rule_of_the_version(version: str | None, milli: int) -> None:
    spec = {"containers": [container("a", requests={"cpu": "500m"}), container("b", requests={"cpu": "2"})]}
    statuses = [
        {"name": "a", "allocatedResources": {"cpu": "500m"}, "resources": {"requests": {"cpu": "750m"}}},
        {"name": "b", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}},
    ]
    found = plan(read([ready_node()], [resized(spec=spec, status={"containerStatuses": statuses})], version=version))
    assert found.totals.requests_cpu_nanocores == milli * MILLI


@pytest.mark.parametrize(("restart", "version", "milli"), [("Always", "v1.36.2", 3000), (None, "v1.36.2", 1000), (None, "v1.37.0", 2000)])
def test_c08_the_status_of_an_ordinary_init_container_does_not_count_before_1_37(restart: str | None, version: str, milli: int) -> None:
    init = {**container("init", requests={"cpu": "100m"}), "restartPolicy": restart}
    status = {"name": "init", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
    spec = {"containers": [container(requests={"cpu": "1"})], "initContainers": [init]}
    found = effective_requests(decode_pod(resized(spec=spec, status={"initContainerStatuses": [status]})), "p", Rejects(), rule_of(version))
    assert found["cpu"] == milli * MILLI


POD_LEVEL: dict[str, Json] = {
    "spec": {
        "containers": [container(requests={"cpu": "1"}, limits={"cpu": "1"})],
        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}},
    },
    "status": {"allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2500m", "memory": "1Gi"}, "limits": {"cpu": "6"}}},
}


@pytest.mark.parametrize(
    ("condition", "asked", "milli"),
    [
        (None, "2", 3000),  # the largest of 2 asked, 3 allocated, 2.5 configured
        (None, "5", 5000),  # asked for more, not yet allocated
        ("Deferred", "5", 5000),
        ("Infeasible", "5", 3000),  # what cannot be given is not held
    ],
)
@pytest.mark.parametrize("rule", RequestsRule)
def test_c08_a_pod_resized_as_a_whole_holds_the_largest_of_the_three(
    rule: RequestsRule, condition: str | None, asked: str, milli: int
) -> None:
    spec = {**POD_LEVEL["spec"], "resources": {"requests": {"cpu": asked}}, "overhead": {"cpu": "100m"}}
    found = effective_requests(decode_pod(resized(condition=condition, spec=spec, status=POD_LEVEL["status"])), "p", Rejects(), rule)
    assert found["cpu"] == (milli + 100) * MILLI


@pytest.mark.parametrize(("rule", "memory"), [(RequestsRule.PER_CONTAINER, None), (RequestsRule.PER_POD, GI)])
def test_c08_until_1_36_only_what_the_pod_itself_asks_for_is_taken_from_its_status(rule: RequestsRule, memory: int | None) -> None:
    assert (
        effective_requests(decode_pod(resized(spec=POD_LEVEL["spec"], status=POD_LEVEL["status"])), "p", Rejects(), rule).get("memory")
        == memory
    )


def test_c08_from_1_37_the_status_of_the_pod_stands_for_its_containers() -> None:
    spec = {"containers": [container("a", requests={"cpu": "1"}), container("b", requests={"cpu": "1"})]}
    status = {"allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}}
    found = decode_pod(resized(spec=spec, status=status))
    assert effective_requests(found, "p", Rejects(), RequestsRule.PER_POD)["cpu"] == 3 * CORE
    assert effective_requests(found, "p", Rejects(), RequestsRule.PER_CONTAINER)["cpu"] == 2 * CORE


@pytest.mark.parametrize(("condition", "cores"), [(None, 4), ("Infeasible", 3)])
@pytest.mark.parametrize("rule", RequestsRule)
def test_c08_limits_are_the_larger_of_asked_and_configured(rule: RequestsRule, condition: str | None, cores: int) -> None:
    status = {"containerStatuses": [{"name": "app", "resources": {"limits": {"cpu": "3"}}}]}
    found = decode_pod(resized(condition=condition, spec={"containers": [container(limits={"cpu": "4"})]}, status=status))
    assert effective_limits(found, "p", Rejects(), rule)["cpu"] == cores * CORE


@pytest.mark.parametrize(("condition", "cores"), [(None, 6), ("Infeasible", 6)])
@pytest.mark.parametrize("rule", RequestsRule)
def test_c08_limits_of_the_pod_as_a_whole_too(rule: RequestsRule, condition: str | None, cores: int) -> None:
    assert (
        effective_limits(
            decode_pod(resized(condition=condition, spec=POD_LEVEL["spec"], status=POD_LEVEL["status"])), "p", Rejects(), rule
        )["cpu"]
        == cores * CORE
    )


@pytest.mark.parametrize(("rule", "milli"), [(RequestsRule.PER_CONTAINER, 3000), (RequestsRule.PER_POD, 1500)])
def test_c08_from_1_37_limits_in_the_status_stand_for_a_pod_that_only_asks_as_a_whole(rule: RequestsRule, milli: int) -> None:
    spec = {"containers": [container(limits={"cpu": "3"})], "resources": {"requests": {"cpu": "1"}}}
    found = decode_pod(resized(spec=spec, status={"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1500m"}}}))
    assert effective_limits(found, "p", Rejects(), rule)["cpu"] == milli * MILLI


def test_a_resize_that_was_carried_out_for_one_of_two_alike_pods_is_counted_for_that_one() -> None:
    spec = POD_LEVEL["spec"]
    pods = [pod("a", spec=spec), pod("b", spec=spec, status=POD_LEVEL["status"])]
    assert read([ready_node()], pods).table("pods")["requests_cpu_nanocores"].tolist() == [2 * CORE, 3 * CORE]


def test_a_pod_whose_requests_cannot_be_read_leaves_the_room_of_its_node_unknown() -> None:
    broken = asking("broken", "1K", spec={"nodeName": "n1"})
    found = plan(read([ready_node("n1"), ready_node("n2")], [broken, asking("p", "2"), asking("q", "3", spec={"nodeName": "n2"})]))
    assert found.nodes.set_index("node")["unreadable_pod_count"].to_dict() == {"n1": 1, "n2": 0}
    (pool,) = found.pools
    assert (pool.requests_cpu_nanocores, pool.headroom_cpu_nanocores, pool.headroom_pod_count) == (5 * CORE, 5 * CORE, 217)
    (room,) = found.headroom.pools
    assert room.largest_cpu_fit is not None
    assert (room.largest_cpu_fit.node, room.largest_cpu_fit.cpu_nanocores) == ("n2", 5 * CORE)


def test_a_pool_whose_only_node_has_such_a_pod_has_unknown_headroom() -> None:
    (pool,) = plan(read([ready_node()], [asking("broken", "1K")])).pools
    assert (pool.headroom_cpu_nanocores, pool.headroom_memory_bytes) == (None, None)


@pytest.mark.parametrize(
    ("spec", "status"),
    [({"priority": 10**30}, {}), ({}, {"containerStatuses": [{"name": "app", "restartCount": 2**70}]})],
)
def test_a_number_beyond_64_bits_costs_its_pod(spec: Json, status: Json) -> None:
    snapshot = read([ready_node()], [pod("odd", spec=spec, status=status), pod("fine")])
    assert snapshot.table("pods")["pod"].tolist() == ["fine"]
    assert snapshot.table("rejects")["object"].tolist() == ["pod default/odd"]


def test_a_time_that_is_none_in_utc_is_unknown() -> None:
    dates: dict[str, Any] = {"creationTimestamp": "9999-12-31T23:59:59-14:00", "deletionTimestamp": "0001-01-01T00:00:00+14:00"}
    row = read([ready_node()], [pod(**dates)]).table("pods").iloc[0]
    assert row[["created_at", "deleted_at"]].isna().all()
