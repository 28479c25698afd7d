import pytest

from batch.scale.model import Status
from batch.snapshot.schemas import NODE_IMAGES
from tests.builders import GIB, node
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, assessed, check, rows, said

SECOND = 125_000_000
"""Bytes that one second at 1 Gbit/s brings."""

NODES = [node(f"n{number}") for number in range(10)]


def images(*found: tuple[str, str, int]) -> dict[str, object]:
    return rows(NODE_IMAGES, *({"node": where, "image": image, "size_bytes": size} for where, image, size in found))


@pytest.mark.parametrize(("seconds", "status"), [(60, OK), (61, WARN), (301, FAIL)])
def test_the_largest_image_is_pulled_at_a_stated_bandwidth(seconds: int, status: Status) -> None:
    found = check("images.largest", nodes=NODES, tables=images(("n1", "big:1", seconds * SECOND), ("n1", "small:1", 5)))
    assert (found.status, found.value) == (status, seconds)
    assert found.objects == (() if status is OK else ("big:1",))


def test_seventeen_gigabytes_take_two_minutes_at_one_gigabit() -> None:
    found = check("images.largest", nodes=NODES, tables=images(("n1", "game", 17_000_000_000)))
    assert said(found) == "2 min 16 s for game of 15.8 GiB"


@pytest.mark.parametrize(("largest", "status"), [(50, OK), (51, WARN), (291, FAIL)])
def test_one_at_a_time_a_typical_image_waits_for_the_largest(largest: int, status: Status) -> None:
    tables = images(
        ("n1", "large", largest * SECOND), ("n1", "typical", 10 * SECOND), ("n1", "small", SECOND), ("n2", "alone", 20 * SECOND)
    )
    found = check("images.per-node", nodes=NODES, tables=tables)
    assert (found.status, found.value, found.objects) == (status, largest + 10, ("n1",))
    assert "20 s in parallel; 3 images, at least" in said(found)
    assert said(found).endswith("on n1; the median node has " + {50: "7.1 GiB", 51: "7.22 GiB", 291: "35.2 GiB"}[largest])


@pytest.mark.parametrize(
    ("size", "nodes", "status"),
    [(GIB - 1, 1, OK), (GIB, 2, OK), (GIB, 1, WARN), (301 * SECOND, 1, FAIL)],
)
def test_large_images_on_few_nodes_are_told(size: int, nodes: int, status: Status) -> None:
    found = check("images.rare", nodes=NODES, tables=images(*((f"n{number}", "model:3", size) for number in range(nodes))))
    assert (found.status, found.objects) == (status, () if status is OK else ("model:3",))


def test_images_that_no_node_reports_are_unknown() -> None:
    for rule in ("images.largest", "images.per-node", "images.rare"):
        assert check(rule, nodes=NODES).status is UNKNOWN
        assert check(rule, unread=["nodes"]).status is UNKNOWN
        assert check(rule).status is OK


def test_images_of_virtual_nodes_are_of_no_machine() -> None:
    virtual = node("virtual", virtual=True)
    for rule in ("images.largest", "images.per-node", "images.rare"):
        assert check(rule, nodes=[*NODES, virtual], tables=images(("virtual", "big", 9 * GIB))).status is UNKNOWN
    found = check("images.per-node", nodes=[*NODES, virtual], tables=images(("virtual", "big", 9 * GIB), ("n1", "small", GIB)))
    assert found.objects == ("n1",)


def test_the_table_counts_nodes_and_takes_the_largest_size() -> None:
    table = assessed(nodes=NODES, tables=images(("n1", "a", 10), ("n2", "a", 30), ("n1", "b", 20))).tables["scale-images"]
    assert table[["image", "size_bytes", "node_count", "node_ratio"]].to_numpy().tolist() == [["a", 30, 2, 0.2], ["b", 20, 1, 0.1]]
