from typing import Any

import pytest

from batch.scale.model import Status
from batch.snapshot.control_plane import STORED_OBJECTS
from batch.snapshot.schemas import SERVICES
from tests.builders import node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, check, rows, said, told

NODES = [node(f"n{number}") for number in range(10)]
PODS = [pod(f"p{number}", container_count=2) for number in range(10)]


@pytest.mark.parametrize(
    ("rule", "setting", "size"),
    [("size.nodes", "nodes_max", 10), ("size.pods", "pods_max", 10), ("size.containers", "containers_max", 20)],
)
def test_a_size_warns_above_four_fifths_of_its_limit_and_fails_beyond_it(rule: str, setting: str, size: int) -> None:
    def status(limit: int) -> Status:
        found = check(rule, nodes=NODES, pods=PODS, scale={setting: limit})
        assert found.value == size
        return found.status

    assert status(size - 1) is FAIL
    assert status(size) is WARN
    assert status(size * 2) is OK


def test_a_size_is_unknown_where_its_list_was_not_read_as_a_whole() -> None:
    assert check("size.nodes", unread=["nodes"]).status is UNKNOWN
    for rule in ("size.pods", "size.containers", "size.services"):
        assert check(rule, nodes=NODES, pods=PODS, namespaces=("team",)).status is UNKNOWN
    assert check("size.services", unread=["services"]).status is UNKNOWN


def test_virtual_nodes_are_no_machines_and_finished_containers_do_not_run() -> None:
    assert check("size.nodes", nodes=[node("n1"), node("v", virtual=True)]).value == 1
    pods = [pod("a", container_count=3), pod("b", phase="Succeeded", container_count=4)]
    assert check("size.containers", nodes=[node("n1")], pods=pods).value == 3
    assert check("size.pods", nodes=[node("n1")], pods=pods).value == 2


@pytest.mark.parametrize(("own", "count", "status"), [(250, 110, OK), (250, 111, WARN), (100, 101, FAIL), (None, 111, WARN)])
def test_pods_on_one_node_are_held_against_what_is_tested_and_the_nodes_own_limit(own: int | None, count: int, status: Status) -> None:
    found = check("size.pods-per-node", nodes=[node("n1", pods=own), node("n2")], pods=[pod(f"p{number}") for number in range(count)])
    assert (found.status, found.value) == (status, count)
    assert found.objects == (() if status is OK else ("n1",))


def test_pods_on_a_node_are_unknown_without_nodes() -> None:
    assert check("size.pods-per-node", unread=["nodes"]).status is UNKNOWN
    assert check("size.pods-per-node").status is OK  # no nodes: nothing is wrong with them


@pytest.mark.parametrize(("limit", "status"), [(4, OK), (3, WARN), (2, FAIL)])
def test_the_largest_namespace_counts(limit: int, status: Status) -> None:
    pods = [*(pod(f"p{number}", namespace="big") for number in range(3)), pod("other", namespace="small")]
    found = check("size.pods-per-namespace", nodes=[node("n1")], pods=pods, scale={"pods_per_namespace_max": limit})
    assert (found.status, found.value, "big" in said(found)) == (status, 3, True)


@pytest.mark.parametrize(("count", "status"), [(4, OK), (5, WARN), (6, FAIL)])
def test_services_are_counted(count: int, status: Status) -> None:
    tables = rows(SERVICES, *({"namespace": "a", "service": str(number)} for number in range(count)))
    assert check("size.services", tables=tables, scale={"services_max": 5}).status is status


@pytest.mark.parametrize(("count", "status"), [(8_000, OK), (8_001, WARN), (10_001, FAIL)])
def test_stored_objects_are_held_against_what_is_tested(count: int, status: Status) -> None:
    def stored(number: float, resource: str, group: str = "") -> tuple[str, float, dict[str, str]]:
        return STORED_OBJECTS, number, {"resource": resource, "api_group": group}

    found = check(
        "size.stored-objects", tables=told(stored(count, "services"), stored(90_000, "events"), stored(20, "leases", "coordination.k8s.io"))
    )
    assert (found.status, found.value) == (status, count / 10_000)
    share = f"{count / 10_000:.0%}".replace("%", " %")
    assert said(found) == f"90,000 events, the most of 3 kinds; nearest to what is tested: {count:,} services, {share} of 10,000"


def test_stored_objects_of_which_no_number_is_tested_are_counted() -> None:
    found = check("size.stored-objects", tables=told((STORED_OBJECTS, 7.0, {"resource": "things", "api_group": "x.io"})))
    assert (found.status, found.value, said(found)) == (OK, None, "7 things.x.io, the most of 1 kind; no number of them is tested")


def test_stored_objects_are_unknown_without_prometheus() -> None:
    asked: dict[str, Any] = {"unread": ["control_plane"]}
    assert check("size.stored-objects", **asked).status is UNKNOWN
    assert said(check("size.stored-objects", **asked)) == "Prometheus was not asked"
    assert said(check("size.stored-objects")) == "Prometheus has no series of API servers that tell"
