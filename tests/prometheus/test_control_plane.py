"""etcd, API servers and DNS in a real Prometheus: each figure against what its raw samples say, and what the checks make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batch.collect.prometheus.read import Measures
from batch.scale.assess import assess
from batch.scale.model import Check, Status
from batch.settings import Settings
from tests.builders import snapshot
from tests.prometheus import server
from tests.prometheus.conftest import measure
from tests.prometheus.server import Series
from tests.prometheus.week import AT

DAY, MINUTE = 86_400, 60
END = int(AT.timestamp())
TIMES = range(END - DAY - 3600, END + 1, MINUTE)
PER_MINUTE = {"0.001": 50, "0.01": 90, "0.1": 100, "+Inf": 100}
"""Observations a minute by upper bound: the 99th lies nine tenths into the bucket from 0.01 to 0.1, at 0.091."""


def series(metric: str, value: Callable[[int], float], **labels: str) -> Series:
    """Make a series of a value by the minutes since its beginning."""
    return Series(metric, labels, [(float(at), float(value((at - TIMES[0]) // MINUTE))) for at in TIMES])


def steady(value: float) -> Callable[[int], float]:
    return lambda _: value


def counter(metric: str, a_minute: float, **labels: str) -> Series:
    return series(metric, lambda minute: a_minute * minute, **labels)


def histogram(metric: str, **labels: str) -> Iterator[Series]:
    for bound, count in PER_MINUTE.items():
        yield counter(f"{metric}_bucket", count, le=bound, **labels)


def new_names() -> Iterator[Series]:
    """Give what a self-managed control plane of today tells, of cluster a; cluster b has ten times as much."""
    for cluster, times in (("a", 1), ("b", 10)):
        own = {"cluster": cluster, "instance": "10.0.0.1:2379"}
        yield series("etcd_mvcc_db_total_size_in_bytes", steady(3e9 * times), **own)
        yield series("etcd_server_quota_backend_bytes", lambda _: 8e9, **own)
        yield counter("apiserver_request_total", 120 * times, group="", resource="pods", verb="LIST", scope="cluster", code="200", **own)
        yield series("apiserver_resource_objects", steady(4000 * times), group="", resource="services", **own)
        yield series("apiserver_resource_objects", steady(90 * times), group="apps", resource="deployments", **own)
        yield series("apiserver_resource_objects", lambda _: -1, group="x", resource="broken", **own)
    own = {"cluster": "a", "instance": "10.0.0.1:2379"}
    yield from histogram("etcd_disk_wal_fsync_duration_seconds", **own)
    yield from histogram("etcd_disk_backend_commit_duration_seconds", **own)
    yield from histogram("apiserver_request_sli_duration_seconds", group="", resource="pods", verb="POST", scope="resource", **own)
    yield from histogram("apiserver_request_sli_duration_seconds", group="", resource="pods", verb="WATCH", scope="cluster", **own)
    following = {"group": "", "resource": "pods", "subresource": "log", "verb": "GET", "scope": "resource"}
    yield counter("apiserver_request_sli_duration_seconds_bucket", 0, le="30", **following, **own)
    yield counter("apiserver_request_sli_duration_seconds_bucket", 100, le="60", **following, **own)
    yield counter("apiserver_request_sli_duration_seconds_bucket", 100, le="+Inf", **following, **own)
    yield series("etcd_server_leader_changes_seen_total", lambda minute: 1 + sum(minute >= start for start in (700, 703, 706)), **own)
    yield counter(
        "apiserver_flowcontrol_dispatched_requests_total", 60, flow_schema="service-accounts", priority_level="workload-low", **own
    )
    yield counter("apiserver_flowcontrol_rejected_requests_total", 0.5, priority_level="workload-low", reason="queue-full", **own)
    yield series(
        "apiserver_flowcontrol_current_executing_seats",
        lambda minute: 90 if 600 <= minute < 620 else 5,
        priority_level="workload-low",
        flow_schema="s",
        **own,
    )
    yield series("apiserver_flowcontrol_nominal_limit_seats", lambda _: 100, priority_level="workload-low", **own)
    removed = {
        "group": "flowcontrol.apiserver.k8s.io",
        "version": "v1beta3",
        "resource": "flowschemas",
        "removed_release": "1.32",
        "subresource": "",
    }
    yield series("apiserver_requested_deprecated_apis", lambda _: 1, **removed, **own)
    for pod, busy in (("10.1.0.1:9153", 250), ("10.1.0.2:9153", 20)):
        yield counter("coredns_dns_requests_total", 60 * busy, cluster="a", instance=pod, server="dns://:53", zone=".")


def old_names() -> Iterator[Series]:
    """Give what API servers of older versions tell, where etcd itself is not visible."""
    own = {"instance": "10.0.0.1:6443"}
    yield series("apiserver_storage_db_total_size_in_bytes", lambda _: 2e9, **own)
    yield series("apiserver_storage_objects", lambda _: 9000, resource="services", **own)
    yield from histogram("apiserver_request_duration_seconds", group="", resource="pods", verb="GET", scope="resource", **own)
    yield series("apiserver_flowcontrol_request_concurrency_in_use", lambda _: 30, priority_level="system", **own)
    yield series("apiserver_flowcontrol_request_concurrency_limit", lambda _: 40, priority_level="system", **own)


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measures]:
    with server.running(server.write_blocks(tmp_path_factory.mktemp("today"), new_names())) as address:
        yield measure(address, prometheus={"selector": 'cluster="a"'})


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measures]:
    with server.running(server.write_blocks(tmp_path_factory.mktemp("before"), old_names())) as address:
        yield measure(address)


def figures(measures: Measures) -> dict[tuple[str, ...], float]:
    table = measures.tables["control_plane_metrics"]
    return {tuple(filter(None, row[:-1])): row[-1] for row in table.to_numpy().tolist()}


def check(measures: Measures, rule: str) -> Check:
    shot = snapshot(tables={"control_plane_metrics": measures.tables["control_plane_metrics"]}, unread=measures.unread)
    (found,) = (one for one in assess(shot, Settings()).checks if one.rule.id == rule)
    return found


def test_each_figure_is_that_of_the_raw_samples_of_the_selected_cluster(today: Measures) -> None:
    found = figures(today)
    member = "10.0.0.1:2379"
    assert found["etcd_database_bytes", member] == 3e9
    assert found["etcd_quota_bytes", member] == 8e9
    assert found["etcd_fsync_p99_seconds", member] == pytest.approx(0.091)
    assert found["etcd_commit_p99_seconds", member] == pytest.approx(0.091)
    assert found["etcd_leader_changes_count", member] == pytest.approx(3, rel=0.1)  # Prometheus extrapolates to the window's ends
    assert found["stored_objects_count", "services"] == 4000
    assert found["stored_objects_count", "apps", "deployments"] == 90
    assert found["request_p99_seconds", "pods", "POST", "resource"] == pytest.approx(0.091)
    assert found["list_requests_per_second", "pods", "LIST", "cluster"] == pytest.approx(2)
    assert found["flow_requests_per_second", "service-accounts"] == pytest.approx(1)
    assert found["rejected_requests_count", "workload-low", "queue-full"] == pytest.approx(0.5 * 1440)
    assert found["seats_taken_ratio", "workload-low"] == pytest.approx(0.9)
    assert found["dns_requests_per_second", "10.1.0.1:9153"] == pytest.approx(250)
    assert ("deprecated_api_requested", "flowcontrol.apiserver.k8s.io", "v1beta3", "flowschemas", "1.32") in found
    assert not [key for key in found if "broken" in key or "WATCH" in key]
    assert ("request_p99_seconds", "pods", "GET", "resource") not in found  # following a log lasts as long as somebody looks


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("etcd.size", Status.OK),
        ("etcd.fsync", Status.WARN),
        ("etcd.commit", Status.WARN),
        ("etcd.leader-changes", Status.WARN),
        ("size.stored-objects", Status.OK),
        ("apiserver.latency", Status.OK),
        ("apiserver.lists", Status.WARN),
        ("apiserver.rejected", Status.WARN),
        ("apiserver.inflight", Status.WARN),
        ("versions.deprecated-apis", Status.FAIL),
        ("dns.requests", Status.WARN),
    ],
)
def test_the_checks_judge_what_it_told(today: Measures, rule: str, status: Status) -> None:
    assert check(today, rule).status is status


def test_older_versions_tell_the_same_under_other_names(before: Measures) -> None:
    assert figures(before) == {
        ("etcd_database_bytes", "10.0.0.1:6443"): 2e9,
        ("stored_objects_count", "services"): 9000,
        ("request_p99_seconds", "pods", "GET", "resource"): pytest.approx(0.091),
        ("seats_taken_ratio", "system"): 0.75,
    }
    assert check(before, "etcd.size").status is Status.FAIL  # of etcd's default quota
    fsync = check(before, "etcd.fsync")
    assert fsync.status is Status.UNKNOWN


def test_control_planes_of_two_clusters_are_not_mixed(tmp_path: Path) -> None:
    """The store has no containers, by which this is found out elsewhere."""
    with server.running(server.write_blocks(tmp_path, new_names())) as address:
        found = measure(address)
    assert "control_plane" in found.unread
    assert any(gap.source == "control_plane" and "are of 2 clusters, by their label cluster: a, b" in gap.reason for gap in found.gaps)


def test_a_store_without_the_control_plane_was_asked_and_told_nothing(measured: Measures) -> None:
    assert "control_plane" not in measured.unread
    assert measured.tables["control_plane_metrics"].empty


def test_without_an_answer_it_is_a_gap() -> None:
    found = measure("http://127.0.0.1:9", prometheus={"retry_seconds": 0})
    assert "control_plane" in found.unread
    assert "control_plane_metrics" not in found.tables
