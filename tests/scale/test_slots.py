import pytest

from batch.scale.model import Status
from tests.builders import CORE, PodRows, node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, check, said


def pods_on(name: str, count: int, cpu: int = 0) -> list[PodRows]:
    return [pod(f"{name}-{number}", on=name, cpu=cpu) for number in range(count)]


@pytest.mark.parametrize(
    ("count", "cpu", "status"),
    [
        (24, 0, OK),  # 24 of 30 slots are 80 %, not more
        (25, 0, WARN),
        (25, 4 * CORE // 25, OK),  # CPU is full before the slots are
    ],
)
def test_a_node_warns_that_is_short_of_slots_while_work_would_fit(count: int, cpu: int, status: Status) -> None:
    nodes = [node("n1", pods=30), *(node(f"other{number}") for number in range(20))]
    found = check("slots.binding", nodes=nodes, pods=pods_on("n1", count, cpu))
    assert (found.status, found.objects) == (status, ("n1",) if status is WARN else ())


def test_it_fails_when_a_tenth_of_the_nodes_is_full_and_idle() -> None:
    nodes = [node("a", pods=5), node("b", pods=5), *(node(f"other{number}") for number in range(8))]
    found = check("slots.binding", nodes=nodes, pods=[*pods_on("a", 5), *pods_on("b", 5)])
    assert (found.status, found.value) == (FAIL, 2)
    assert said(found) == "2 of 10 nodes are nearly out of pod slots while CPU and memory are free"


def test_nodes_of_unknown_size_are_not_judged() -> None:
    assert check("slots.binding", nodes=[node("n1", pods=None)], pods=pods_on("n1", 9)).status is UNKNOWN
    assert check("slots.binding", nodes=[node("n1", pods=None), node("n2")], pods=pods_on("n1", 9)).status is OK
    assert check("slots.binding", unread=["nodes"]).status is UNKNOWN
    assert check("slots.binding", nodes=[node("n1")], namespaces=("team",)).status is UNKNOWN
