from datetime import timedelta
from typing import Any

import pytest

from batch.scale.model import Status
from batch.snapshot.model import Gap
from batch.snapshot.schemas import HPAS, NODE_GROUPS, RESOURCE_QUOTAS
from tests.builders import CORE, TAKEN_AT, PodRows, node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, assessed, check, rows, said


@pytest.mark.parametrize(
    ("broken", "all_", "status"),
    [
        (0, 10, OK),
        (3, 4, OK),  # so few are ignored, whatever their share
        (4, 100, OK),
        (4, 20, WARN),
        (9, 20, WARN),  # exactly 45 %
        (10, 20, FAIL),
    ],
)
def test_the_share_of_nodes_not_ready_is_what_stops_an_autoscaler(broken: int, all_: int, status: Status) -> None:
    nodes = [node(f"n{number}", ready=number >= broken) for number in range(all_)]
    found = check("health.not-ready", nodes=nodes)
    assert (found.status, found.value) == (status, broken / all_)


def test_a_node_that_does_not_say_is_not_ready() -> None:
    assert check("health.not-ready", nodes=[node("n1", ready=None)]).value == 1
    assert check("health.not-ready", unread=["nodes"]).status is UNKNOWN


def groups(*sizes: tuple[str, int | None, int | None]) -> dict[str, Any]:
    made = (
        {"autoscaler": "karpenter", "group": name, "resource": "nodes", "used_amount": used, "limit_amount": most}
        for name, used, most in sizes
    )
    return rows(NODE_GROUPS, *made)


@pytest.mark.parametrize(
    ("sizes", "status", "full"),
    [
        ((("a", 9, 10), ("b", 1, 2)), OK, ()),
        ((("a", 10, 10), ("b", 1, 2)), WARN, ("a",)),
        ((("a", 10, 10), ("b", 3, 2)), FAIL, ("a", "b")),
        ((("a", 10, 10),), WARN, ("a",)),
        ((("a", None, 10),), UNKNOWN, ()),
        ((("a", None, None),), OK, ()),
    ],
)
def test_node_pools_at_their_maximum_are_named(sizes: Any, status: Status, full: tuple[str, ...]) -> None:
    found = check("health.pools-at-maximum", tables=groups(*sizes), unread=["clusterautoscalerstatus"])
    assert (found.status, found.objects) == (status, full)


def test_an_autoscaler_that_was_asked_and_refused_is_not_said_to_be_unasked() -> None:
    refused = {"unread": ["clusterautoscalerstatus"], "gaps": [Gap("clusterautoscalerstatus", "no right to list configmaps (403)", "")]}
    found = check("health.pools-at-maximum", tables=groups(("a", 9, 10)), **refused)
    assert (found.status, said(found)) == (UNKNOWN, "The limits of the cluster autoscaler could not be read")
    assert check("health.pools-at-maximum", tables=groups(("a", 10, 10), ("b", 1, 2)), **refused).status is WARN  # Karpenter's own is known


def test_node_pools_are_unknown_while_no_autoscaler_is_asked() -> None:
    found = check("health.pools-at-maximum", unread=["clusterautoscalerstatus", "nodepools"])
    assert found.status is UNKNOWN
    assert found.known_by


def hpas(*sizes: tuple[int, int, int | None]) -> dict[str, Any]:
    made = (
        {
            "namespace": "a",
            "hpa": f"h{number}",
            "target_kind": "Deployment",
            "target_name": "d",
            "min_replica_count": least,
            "max_replica_count": most,
            "current_replica_count": now,
        }
        for number, (least, most, now) in enumerate(sizes)
    )
    return rows(HPAS, *made)


@pytest.mark.parametrize(
    ("sizes", "status", "at_end"),
    [
        (((1, 5, 4), (3, 3, 3)), OK, ()),  # one without room between minimum and maximum does not scale
        (((1, 5, 5),), WARN, ("a/h0",)),
        (((1, 5, 5), (1, 5, 5), (1, 5, 5), (1, 5, 1)), FAIL, ("a/h0", "a/h1", "a/h2")),
        (((1, 5, None),), OK, ()),
        ((), OK, ()),
    ],
)
def test_autoscalers_at_their_maximum_are_named(sizes: Any, status: Status, at_end: tuple[str, ...]) -> None:
    found = check("health.hpas-at-maximum", tables=hpas(*sizes))
    assert (found.status, found.objects) == (status, at_end)


def test_autoscalers_that_were_not_read_are_unknown() -> None:
    assert check("health.hpas-at-maximum", unread=["horizontalpodautoscalers"]).status is UNKNOWN


def quota(used: int | None, hard: int | None, resource: str = "requests.cpu") -> dict[str, Any]:
    return {"namespace": "shop", "quota": "q", "resource": resource, "used_amount": used, "hard_amount": hard}


@pytest.mark.parametrize(("used", "status"), [(8, OK), (9, WARN), (10, FAIL), (None, OK)])
def test_the_fullest_quota_counts(used: int | None, status: Status) -> None:
    tables = rows(RESOURCE_QUOTAS, quota(used and used * CORE, 10 * CORE), quota(1, 100, "pods"), quota(0, 0, "services.loadbalancers"))
    assert check("health.quotas", tables=tables).status is status


def test_what_nobody_may_have_is_not_used_up() -> None:
    table = assessed(tables=rows(RESOURCE_QUOTAS, quota(0, 0, "services.nodeports"))).tables["scale-quotas"]
    assert table["used_ratio"].isna().all()
    assert check("health.quotas", unread=["resourcequotas"]).status is UNKNOWN


@pytest.mark.parametrize(("used", "hard", "status"), [(2**40, 2**63 - 1, OK), (2**63 - 1, 2**63 - 1, FAIL), (2**63 - 1, 2**40, FAIL)])
def test_a_quota_that_is_as_good_as_none_is_held_against_all_the_same(used: int, hard: int, status: Status) -> None:
    assert check("health.quotas", tables=rows(RESOURCE_QUOTAS, quota(used, hard, "requests.memory"))).status is status


def test_quotas_that_nobody_counted_are_unknown() -> None:
    assert check("health.quotas", tables=rows(RESOURCE_QUOTAS, quota(None, 10))).status is UNKNOWN
    assert check("health.quotas", tables=rows(RESOURCE_QUOTAS, quota(0, 0))).status is OK


def waiting(name: str, seconds: float, why: str | None = "0/3 nodes are available: 3 Insufficient cpu.", **columns: Any) -> PodRows:
    created = TAKEN_AT - timedelta(seconds=seconds)
    return pod(name, on=None, phase="Pending", created_at=created, unschedulable_reason=why, **columns)


@pytest.mark.parametrize(("seconds", "status"), [(600, OK), (601, WARN), (3601, FAIL)])
def test_the_longest_wait_counts(seconds: float, status: Status) -> None:
    found = check("health.pending", pods=[waiting("a", seconds), waiting("b", 1), waiting("gated", 9999, gated=True), pod("runs")])
    assert (found.status, found.value) == (status, seconds)


def test_only_reasons_of_those_that_wait_too_long_are_named() -> None:
    found = check("health.pending", pods=[waiting("late", 700), waiting("new", 1, why=None)])
    assert found.objects == ("default/late",)


def test_nobody_waits() -> None:
    assert said(check("health.pending", pods=[pod("runs")])) == "No pod waits for a node"


def test_waiting_pods_are_grouped_by_what_the_scheduler_says() -> None:
    pods = [
        waiting(
            "a",
            700,
            "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s). preemption: 0/5 nodes are available: 5 No preemption victims found.",
        ),
        waiting("b", 900, "0/9 nodes are available: 4 node(s) had untolerated taint(s), 5 Insufficient cpu. preemption: not eligible"),
        waiting("c", 10, None),
    ]
    table = assessed(pods=pods).tables["scale-pending"]
    assert table.to_numpy().tolist() == [
        ["Insufficient cpu, node(s) had untolerated taint(s)", 2, 2, 900.0, "default/b"],
        ["the scheduler has not said why", 1, 0, 10.0, "default/c"],
    ]
