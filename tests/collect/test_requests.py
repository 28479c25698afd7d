"""Effective requests: the scheduler's arithmetic, not a plain sum."""

from __future__ import annotations

from typing import Any

import pytest

from batch.collect.rejects import Rejects
from batch.collect.requests import effective_limits, effective_requests, limited, template_requests
from batch.snapshot.requests_rule import RequestsRule, rule_of
from tests.collect.objects_json import container, decode_pod, pod

MI = 2**20
GI = 2**30
MILLI = 10**6


def requests_of(spec: dict[str, Any], status: dict[str, Any] | None = None) -> dict[str, int | None]:
    return effective_requests(decode_pod(pod(spec=spec, status=status)), "pod p1", Rejects())


def sidecar(name: str, requests: dict[str, Any]) -> dict[str, Any]:
    return container(name, requests=requests, restartPolicy="Always")


def test_init_peak_and_overhead_count_for_the_whole_life() -> None:
    found = requests_of(
        {
            "initContainers": [container("migrate", requests={"cpu": "200m", "memory": "3Gi"})],
            "containers": [container(requests={"cpu": "1", "memory": "2Gi"})],
            "overhead": {"cpu": "50m", "memory": "200Mi"},
        }
    )
    assert found == {"cpu": 1050 * MILLI, "memory": 3272 * MI}


@pytest.mark.parametrize(("first", "cores"), [("setup", 2_000), ("mesh", 2_500)])
def test_an_init_container_runs_beside_the_sidecars_listed_before_it(first: str, cores: int) -> None:
    init = [container("setup", requests={"cpu": "2"}), sidecar("mesh", {"cpu": "500m"})]
    init.sort(key=lambda c: c["name"] != first)
    found = requests_of({"initContainers": init, "containers": [container(requests={"cpu": "1"})]})
    # app + mesh = 1.5; setup alone = 2, or 2 + mesh = 2.5 when mesh runs already
    assert found["cpu"] == cores * MILLI


def test_pod_level_requests_replace_the_sum() -> None:
    found = requests_of(
        {
            "containers": [container(requests={"cpu": "1", "memory": "1Gi"}), container("b", requests={"cpu": "1"})],
            "resources": {"requests": {"cpu": "500m"}},
            "overhead": {"cpu": "100m"},
        }
    )
    assert found == {"cpu": 600 * MILLI, "memory": GI}


@pytest.mark.parametrize(
    ("version", "milli"),
    [
        ("v1.36.2", 2750),  # 0.75 of a, 2 of b
        ("v1.37.0-gke.100", 2500),  # the largest of 0.5 + 2, 0.5 + 1 and 0.75 + 1
        (None, 2750),
    ],
)
def test_a_resize_counts_by_the_rule_of_the_server_version(version: str | None, milli: int) -> None:
    resized = pod(
        spec={"containers": [container("a", requests={"cpu": "500m"}), container("b", requests={"cpu": "2"})]},
        status={
            "containerStatuses": [
                {"name": "a", "allocatedResources": {"cpu": "500m"}, "resources": {"requests": {"cpu": "750m"}}},
                {"name": "b", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}},
            ]
        },
    )
    assert effective_requests(decode_pod(resized), "pod p1", Rejects(), rule_of(version))["cpu"] == milli * MILLI


@pytest.mark.parametrize(("reason", "cores"), [("Infeasible", 1), ("Deferred", 100)])
@pytest.mark.parametrize("rule", RequestsRule)
def test_an_infeasible_resize_is_not_counted_and_a_deferred_one_is(reason: str, cores: int, rule: RequestsRule) -> None:
    resized = pod(
        spec={"containers": [container(requests={"cpu": "100"})]},
        status={
            "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}],
            "containerStatuses": [{"name": "app", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}],
        },
    )
    assert effective_requests(decode_pod(resized), "pod p1", Rejects(), rule)["cpu"] == cores * 1000 * MILLI


def test_a_template_takes_missing_requests_from_limits_and_a_pod_does_not() -> None:
    spec = decode_pod(
        pod(
            spec={
                "containers": [
                    container("a", limits={"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "2"}),
                    container("b", requests={"cpu": "0"}, limits={"cpu": "1", "memory": "1Gi"}),
                ]
            }
        )
    )
    assert spec.spec is not None
    assert template_requests(spec.spec, "job j", Rejects()) == {"cpu": 2000 * MILLI, "memory": 5 * GI, "nvidia.com/gpu": 2}
    assert effective_requests(spec, "pod p1", Rejects()) == {"cpu": 0}


def test_forty_containers_add_up() -> None:
    found = requests_of({"containers": [container(f"c{i}", requests={"cpu": "25m", "memory": "10Mi"}) for i in range(40)]})
    assert found == {"cpu": 1000 * MILLI, "memory": 400 * MI}


def test_huge_pages_and_gpus_are_resources_of_their_own() -> None:
    found = requests_of({"containers": [container(requests={"memory": "1Gi", "hugepages-2Mi": "512Mi", "nvidia.com/gpu": "2"})]})
    assert found == {"memory": GI, "hugepages-2Mi": 512 * MI, "nvidia.com/gpu": 2}


def test_a_refused_value_makes_the_sum_unknown_and_only_that_one() -> None:
    rejects = Rejects()
    broken = decode_pod(
        pod(spec={"containers": [container("a", requests={"cpu": "1K", "memory": "1Gi"}), container("b", requests={"cpu": "1"})]})
    )
    assert effective_requests(broken, "pod default/p1", rejects) == {"cpu": None, "memory": GI}
    assert len(rejects) == 1
    assert rejects.first() == "requests.cpu '1K' of pod default/p1/a: not a quantity"


def test_limits_of_containers_that_have_one() -> None:
    some = decode_pod(
        pod(spec={"containers": [container("a", limits={"memory": "1Gi"}), container("b")], "overhead": {"memory": "1Mi", "cpu": "1"}})
    )
    assert effective_limits(some, "pod p1", Rejects()) == {"memory": GI + MI}
    assert limited(some, "memory") == (False,)


def test_a_pod_is_limited_when_every_running_container_is() -> None:
    one = container("a", limits={"memory": "1Gi"})
    assert limited(decode_pod(pod(spec={"containers": [one], "initContainers": [container("setup")]})), "memory") == (True,)
    assert limited(decode_pod(pod(spec={"containers": [one], "initContainers": [sidecar("mesh", {})]})), "memory") == (False,)
