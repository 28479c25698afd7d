"""The first page: its sentence and its four figures."""

from dataclasses import replace

from batch.findings import Finding, Message, Severity
from batch.report import sections
from batch.report.format import render_message
from batch.report.html import Pictures, print_page, screen_page
from batch.report.model import Section, Tile
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, node, pod, snapshot
from tests.report.clusters import material_of, sections_of


def state(shot: Snapshot) -> str:
    return render_message(summary(shot).lede[0]).replace("\u00a0", " ")


def summary(shot: Snapshot) -> Section:
    return sections_of(shot)["summary"]


def tile(shot: Snapshot, place: int) -> tuple[object, str]:
    found: Tile = summary(shot).tiles[place]
    return found.value, render_message(found.base).replace("\u00a0", " ")


def half_blind() -> Snapshot:
    """Give a node of known size that is half requested, and one of unknown size with as many requests."""
    nodes = [node("n1", cpu=4 * CORE, memory=16 * GIB), node("n2", cpu=None, memory=None, pods=None)]
    pods = [pod(name, on=name, cpu=2 * CORE, memory=8 * GIB, usage=(CORE, 4 * GIB)) for name in ("n1", "n2")]
    return snapshot(nodes=nodes, pods=pods)


def test_shares_are_over_the_nodes_whose_size_is_known() -> None:
    shot = half_blind()
    assert state(shot) == (
        "Pods request 50 % of the CPU and 50 % of the memory of the 1 of 2 nodes that state their size, and use 25 % and 25 % of it."
    )
    assert tile(shot, 0) == (0.5, "of 4 cores; 25 % used")
    assert tile(shot, 2)[0] == 1 / 110
    capacity = sections_of(shot)["capacity"]
    assert render_message(capacity.title).replace("\u00a0", " ") == "50 % of the CPU and 50 % of the memory is requested"
    # 4 cores are requested in all, and the share is that of 2 in 4
    assert [render_message(cell) for cell in capacity.tables["totals"].rows[0].cells[1:3]] == ["4\u00a0cores", "4\u00a0cores"]  # type: ignore[arg-type]
    assert capacity.tables["totals"].rows[0].cells[3] == 0.5
    assert "Only 1 of 2 nodes state their size" in " ".join(map(render_message, capacity.sentences["apart"]))
    assert capacity.tables["pools"].rows[0].cells[2] == 0.5
    today = sections_of(shot)["fleets"].tables.get("fleets")
    assert today is None or today.rows[0].cells[8] == 0.5


def test_use_of_some_pods_says_of_how_many_it_is() -> None:
    pods = [pod("a", cpu=CORE, memory=GIB, usage=(CORE, GIB)), pod("b", cpu=CORE, memory=GIB)]
    shot = snapshot(nodes=[node("n1")], pods=pods)
    assert state(shot).endswith("of the only node; those measured, 1 of 2, use 25 % and 6 % of it.")
    assert tile(shot, 0) == (0.5, "of 4 cores; 25 % used by 1 of 2 pods")
    capacity = sections_of(shot)["capacity"]
    for name in ("totals", "pools", "nodes"):
        assert [render_message(note) for note in capacity.tables[name].notes] == ["used: by the 1 of 2 pods measured"]
    assert "comes on top" in " ".join(map(render_message, capacity.lede))


def test_of_some_namespaces_only_what_their_pods_ask_for_is_said() -> None:
    pods = [pod("a", namespace="team", cpu=CORE, memory=GIB, usage=(CORE // 2, GIB), resources={"nvidia.com/gpu": 1})]
    shot = snapshot(nodes=[node("n1", resources={"nvidia.com/gpu": (4, 4)})], pods=pods, namespaces=("team",))
    assert state(shot) == "Pods of namespace team (1) request 1 core of CPU and 1 GiB of memory, and use 500 millicores and 1 GiB."
    assert tile(shot, 0) == (CORE, "500 millicores used; share of the nodes unknown")
    assert tile(shot, 2) == (1, "on nodes; share of their slots unknown")
    assert tile(shot, 3) == (None, "of 4 nvidia.com/gpu; not known")
    found = sections_of(shot)
    assert render_message(found["capacity"].title) == "How full the nodes are is unknown, because only some namespaces were read"
    assert render_message(found["fleets"].title) == "How many nodes would do is unknown, because only some namespaces were read"


def test_a_cluster_of_virtual_nodes_is_not_empty() -> None:
    shot = snapshot(
        nodes=[node("v1", virtual=True), node("v2", virtual=True)],
        pods=[pod("a", on="v1", cpu=CORE, memory=GIB), pod("b", on="v2", cpu=2 * CORE, usage=(CORE, GIB))],
    )
    assert state(shot) == "2 pods on 2 virtual nodes, and no other node: each pod brings its own room."
    assert tile(shot, 0) == (None, "there are only virtual nodes")
    capacity = sections_of(shot)["capacity"]
    assert render_message(capacity.title) == "This cluster has only virtual nodes, on which no room is left over"
    assert "totals" not in capacity.tables
    assert [row.cells[:5] for row in capacity.tables["virtual"].rows] == [
        ("v1", "none", 1, CORE, None),
        ("v2", "none", 1, 2 * CORE, CORE),
    ]


def test_nodes_without_pods_are_told_with_the_right_number() -> None:
    assert state(snapshot(nodes=[node("n1")])) == "1 node, and no pod on it."
    assert state(snapshot(nodes=[node("n1"), node("n2")])) == "2 nodes, and no pod on them."
    assert state(snapshot()) == "No nodes and no pods were found."


def test_the_figure_of_gpus_is_in_cards_where_they_are_known() -> None:
    nodes = [node("n1", resources={"aliyun.com/gpu-milli": (8000, 8000)}), node("n2", resources={"aliyun.com/gpu-milli": (8000, 8000)})]
    whole = node("n3", resources={"nvidia.com/gpu": (4, 4)})
    pods = [pod("a", on="n1", resources={"aliyun.com/gpu-milli": 500}), pod("b", on="n3", resources={"nvidia.com/gpu": 1})]
    assert tile(snapshot(nodes=[*nodes, whole], pods=pods), 3) == (0.075, "1.5 of 20 cards")
    assert tile(snapshot(nodes=nodes, pods=pods[:1]), 3)[1] == "0.5 of 16 cards"


def test_the_pdf_prints_the_reasons_of_the_first_findings_and_says_where_the_others_are() -> None:
    shot = snapshot()
    many = tuple(
        Finding(
            f"x.{number}", Severity.ADVICE, "capacity", Message(f"title {number}."), Message(f"why {number}."), Message(f"do {number}.")
        )
        for number in range(12)
    )
    material = replace(material_of(shot), findings=many)
    page = print_page(sections.build(material), material.run, shot, Pictures(), 20)
    assert [number for number in range(12) if f"title {number}." in page and f"do {number}." in page] == [*range(12)]
    assert [number for number in range(12) if f"why {number}." in page] == [*range(9)]
    assert "3 more, in short. report.html and report.json have their reasons." in page
    on_screen = screen_page(sections.build(material), material.run, shot, Pictures())
    assert all(f"why {number}." in on_screen for number in range(12))
