from typing import Any

import pytest

from batch.scale.model import Status
from batch.snapshot import control_plane as names
from batch.snapshot.model import Gap
from batch.snapshot.schemas import API_REQUESTS
from tests.builders import GIB
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, check, rows, said, told

OF_PROMETHEUS = (
    *("etcd.size", "etcd.fsync", "etcd.commit", "etcd.leader-changes"),
    *("apiserver.latency", "apiserver.lists", "apiserver.rejected", "apiserver.inflight"),
    "versions.deprecated-apis",
)


def request(value: float, verb: str, scope: str, resource: str = "pods") -> tuple[str, float, dict[str, str]]:
    return names.LATENCY, value, {"verb": verb, "scope": scope, "resource": resource}


@pytest.mark.parametrize(("size", "status"), [(2 * GIB, OK), (2 * GIB + 1, WARN), (int(3.3 * GIB), FAIL)])
def test_the_database_is_held_against_its_quota(size: int, status: Status) -> None:
    quota = (names.ETCD_QUOTA, 4.0 * GIB, {"instance": "a"})
    found = check(
        "etcd.size", tables=told((names.ETCD_DATABASE, size, {"instance": "a"}), (names.ETCD_DATABASE, 5.0, {"instance": "b"}), quota)
    )
    assert (found.status, found.value) == (status, size / (4 * GIB))


def test_without_a_quota_it_is_etcds_default() -> None:
    found = check("etcd.size", tables=told((names.ETCD_DATABASE, GIB, {})))
    assert said(found) == "1 GiB used, 50 % of 2 GiB, for no quota is told"


def test_each_member_is_held_against_its_own_quota() -> None:
    main, events = {"instance": "main"}, {"instance": "events"}
    tables = told(
        (names.ETCD_DATABASE, 3.0 * GIB, main),
        (names.ETCD_QUOTA, 8.0 * GIB, main),
        (names.ETCD_DATABASE, 1.2 * GIB, events),
        (names.ETCD_QUOTA, 2.0 * GIB, events),
    )
    found = check("etcd.size", tables=tables)
    assert (found.status, found.value, found.objects) == (WARN, 0.6, ("events",))
    assert said(found) == "1.2 GiB of 2 GiB used, 60 %"


@pytest.mark.parametrize(("size", "status"), [(1.0, OK), (1.01, WARN), (1.7, FAIL), (2.1, FAIL), (2.3, UNKNOWN)])
def test_a_database_well_beyond_the_assumed_quota_has_another_one(size: float, status: Status) -> None:
    found = check("etcd.size", tables=told((names.ETCD_DATABASE, size * GIB, {"instance": "a"})))
    assert found.status is status
    assert (found.known_by is not None) is (status is UNKNOWN)


@pytest.mark.parametrize(
    ("rule", "metric", "limits"),
    [
        ("etcd.fsync", names.ETCD_FSYNC, (0.01, 0.011, 0.51)),
        ("etcd.commit", names.ETCD_COMMIT, (0.025, 0.026, 0.26)),
        ("etcd.leader-changes", names.ETCD_LEADER_CHANGES, (1, 2, 4)),
        ("apiserver.inflight", names.SEATS, (0.8, 0.81, 1.01)),
        ("apiserver.lists", names.LISTS, (1, 1.1, 10.1)),
    ],
)
def test_the_worst_is_held_against_the_limits(rule: str, metric: str, limits: tuple[float, float, float]) -> None:
    for value, status in zip(limits, (OK, WARN, FAIL), strict=True):
        worst = {"instance": "a", "flow": "a", "resource": "pods"}
        found = check(rule, tables=told((metric, value, worst), (metric, 0.0001, {"instance": "b"})))
        assert (found.status, found.value) == (status, value)


def test_times_are_printed_so_that_they_can_be_compared() -> None:
    found = check("etcd.fsync", tables=told((names.ETCD_FSYNC, 0.0124, {"instance": "a"})))
    assert said(found) == "99 of 100 take at most 12.4 ms on the slowest of 1 members"


@pytest.mark.parametrize(
    ("rows_", "status", "late"),
    [
        ((request(1.0, "POST", "resource"), request(30.0, "LIST", "cluster")), OK, ()),
        ((request(1.1, "GET", "resource"),), WARN, ("GET pods (resource)",)),
        ((request(31.0, "LIST", "namespace"),), WARN, ("LIST pods (namespace)",)),
        ((request(2.1, "PUT", "resource"), request(1.5, "PATCH", "resource")), FAIL, ("PUT pods (resource)", "PATCH pods (resource)")),
    ],
)
def test_latency_is_a_share_of_what_the_slo_allows(rows_: tuple[Any, ...], status: Status, late: tuple[str, ...]) -> None:
    found = check("apiserver.latency", tables=told(*rows_))
    assert (found.status, found.objects) == (status, late)


@pytest.mark.parametrize(("flow", "status"), [("global-default", WARN), ("workload-high", FAIL)])
def test_requests_turned_away_are_worst_where_they_are_kubernetes_own(flow: str, status: Status) -> None:
    assert check("apiserver.rejected", tables=told((names.REJECTED, 12.0, {"flow": flow, "reason": "queue-full"}))).status is status


def test_api_servers_that_tell_of_lists_have_rejected_nothing_and_nobody_asks_for_what_is_deprecated() -> None:
    tables = told((names.LISTS, 0.1, {"resource": "pods"}))
    assert check("apiserver.rejected", tables=tables).status is OK
    assert check("versions.deprecated-apis", tables=tables).status is OK


@pytest.mark.parametrize(("removed", "status"), [("1.38", WARN), ("1.37", FAIL), ("", WARN)])
def test_a_deprecated_api_fails_when_the_next_version_lacks_it(removed: str, status: Status) -> None:
    labels = {"api_group": "flowcontrol.apiserver.k8s.io", "version": "v1beta3", "resource": "flowschemas", "reason": removed}
    found = check("versions.deprecated-apis", tables=told((names.DEPRECATED, 1.0, labels)))
    assert (found.status, found.objects) == (status, ("flowschemas.v1beta3.flowcontrol.apiserver.k8s.io",))


@pytest.mark.parametrize("rule", OF_PROMETHEUS)
def test_what_prometheus_does_not_tell_is_unknown_and_it_is_said_why(rule: str) -> None:
    not_asked = check(rule, unread=["control_plane"])
    failed = check(rule, unread=["control_plane"], gaps=[Gap("control_plane", "503", "")])
    silent = check(rule)
    assert {not_asked.status, failed.status, silent.status} == {UNKNOWN}
    assert (said(not_asked), said(failed)) == ("Prometheus was not asked", "Prometheus did not answer")
    assert said(silent).startswith("Prometheus has no series of")
    assert ("managed control plane" in said(silent)) is rule.startswith("etcd")
    assert not_asked.known_by


def cost(requests: int, objects: int) -> dict[str, Any]:
    return rows(API_REQUESTS, {"kind": "pods", "request_count": requests, "object_count": objects, "received_bytes": 10})


@pytest.mark.parametrize(("requests", "status"), [(43, OK), (44, WARN), (431, FAIL)])
def test_this_reports_own_requests_are_bounded(requests: int, status: Status) -> None:
    assert check("apiserver.own-requests", tables=cost(requests, 1000)).status is status  # fewer than 2 * 1000 / 500 + 40


def test_a_dump_asks_no_api_server() -> None:
    found = check("apiserver.own-requests")
    assert (found.status, found.value) == (OK, None)
