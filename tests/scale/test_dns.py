from typing import Any

import pytest

from batch.scale.model import Status
from batch.snapshot.control_plane import DNS_REQUESTS
from tests.builders import CORE, PodRows, node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, check, said, told

NODES = [node(f"n{number}") for number in range(4)]


def dns(name: str, on: str | None = "n0", **columns: Any) -> PodRows:
    given = {"namespace": "kube-system", "workload_kind": "Deployment", "workload": "coredns", **columns}
    return pod(name, on=on, labels={"k8s-app": "kube-dns"}, **given)


def cache(on: str) -> PodRows:
    return pod(f"cache-{on}", on=on, labels={"k8s-app": "node-local-dns"}, workload_kind="DaemonSet", workload="node-local-dns")


def on_nodes(*places: str, **columns: Any) -> list[PodRows]:
    return [dns(f"d{number}", place, **columns) for number, place in enumerate(places)]


@pytest.mark.parametrize(
    ("nodes", "cores", "places", "status", "limit"),
    [
        (4, 4, 2, OK, 2),
        (4, 4, 1, FAIL, 2),
        (1, 4, 1, OK, 1),  # a single node needs no second one
        (33, 4, 2, WARN, 3),  # 33 / 16 rounded up
        (33, 4, 3, OK, 3),
        (4, 257, 4, WARN, 5),  # 1,028 cores / 256 rounded up
    ],
)
def test_dns_pods_grow_with_nodes_and_cores(nodes: int, cores: int, places: int, status: Status, limit: int) -> None:
    machines = [node(f"n{number}", cpu=cores * CORE) for number in range(nodes)]
    found = check("dns.replicas", nodes=machines, pods=on_nodes(*(f"n{number}" for number in range(places))))
    assert (found.status, found.value, found.warn) == (status, places, limit)


def test_with_a_cache_on_the_nodes_two_are_enough() -> None:
    machines = [node(f"n{number}") for number in range(33)]
    assert check("dns.replicas", nodes=machines, pods=[*on_nodes("n0", "n1"), cache("n0")]).status is OK


def test_a_dns_pod_that_does_not_run_does_not_count() -> None:
    assert check("dns.replicas", nodes=NODES, pods=[dns("a"), dns("b", None, phase="Pending"), dns("c", phase="Failed")]).value == 1


@pytest.mark.parametrize(
    ("places", "status", "crowded"), [(("n0", "n1"), OK, ()), (("n0", "n0", "n1"), WARN, ("n0",)), (("n0", "n0"), FAIL, ("n0",))]
)
def test_dns_pods_that_share_a_node_are_told(places: tuple[str, ...], status: Status, crowded: tuple[str, ...]) -> None:
    found = check("dns.spread", nodes=NODES, pods=on_nodes(*places))
    assert (found.status, found.objects) == (status, crowded)


@pytest.mark.parametrize(("places", "status"), [("ababa", OK), ("aaaba", WARN), ("aaaaa", FAIL)])
def test_with_more_dns_pods_than_nodes_an_even_share_is_fine(places: str, status: Status) -> None:
    assert check("dns.spread", nodes=[node("a"), node("b")], pods=on_nodes(*places)).status is status


def test_one_dns_pod_is_not_said_to_be_spread() -> None:
    assert said(check("dns.spread", nodes=NODES, pods=on_nodes("n0"))) == "One DNS pod runs, on n0"


def test_one_of_several_is_a_singular() -> None:
    pods = [*on_nodes("n0", kept_apart=True), dns("loose", "n1")]
    assert said(check("dns.constraints", nodes=NODES, pods=pods)).startswith("1 of 2 DNS pods has neither")


def test_on_a_single_node_they_cannot_be_spread() -> None:
    assert check("dns.spread", nodes=[node("n0")], pods=on_nodes("n0", "n0")).status is OK


@pytest.mark.parametrize(
    ("places", "columns", "status"),
    [
        (("n0", "n1"), {"kept_apart": True}, OK),
        (("n0", "n1"), {}, WARN),
        (("n0", "n0"), {}, FAIL),
        (("n0", "n1"), {"workload_kind": "DaemonSet"}, OK),
    ],
)
def test_a_rule_has_to_keep_them_apart(places: tuple[str, ...], columns: dict[str, Any], status: Status) -> None:
    assert check("dns.constraints", nodes=NODES, pods=on_nodes(*places, **columns)).status is status


@pytest.mark.parametrize(("busiest", "status"), [(200, OK), (201, WARN), (1001, FAIL)])
def test_the_busiest_dns_pod_is_held_against_two_hundred_a_second(busiest: float, status: Status) -> None:
    found = check("dns.requests", tables=told((DNS_REQUESTS, busiest, {"instance": "a"}), (DNS_REQUESTS, 5.0, {"instance": "b"})))
    assert (found.status, found.objects) == (status, () if status is OK else ("a",))


@pytest.mark.parametrize(
    ("nodes", "cached", "status"), [(3, 0, OK), (4, 4, OK), (10, 9, OK), (10, 8, WARN), (40, 20, WARN), (40, 19, FAIL)]
)
def test_a_cache_on_each_node_is_missed_from_some_size_on(nodes: int, cached: int, status: Status) -> None:
    machines = [node(f"n{number}") for number in range(nodes)]
    pods = [dns("d"), *(cache(f"n{number}") for number in range(cached))]
    assert check("dns.cache", nodes=machines, pods=pods, scale={"dns_cache_nodes": 4}).status is status


def test_dns_that_is_not_seen_is_unknown() -> None:
    for rule in ("dns.replicas", "dns.spread", "dns.constraints", "dns.cache"):
        found = check(rule, nodes=NODES, pods=[pod("other")])
        assert (found.status, said(found)) == (UNKNOWN, "No DNS pod is visible by its labels")
        assert check(rule, nodes=NODES, pods=[pod("other")], namespaces=("team",)).status is UNKNOWN
    assert check("dns.replicas", pods=[dns("a")], unread=["nodes"]).status is UNKNOWN
    assert check("dns.requests", unread=["control_plane"]).status is UNKNOWN
    assert check("dns.cache", unread=["nodes"]).status is UNKNOWN
