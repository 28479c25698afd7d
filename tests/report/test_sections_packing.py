from batch.findings import Message
from batch.report.format import render_message
from batch.report.model import Fills, Section, Table
from tests.builders import CORE, GIB, NodeRows, PodRows, Rules, node, pod, snapshot
from tests.report.clusters import sections_of


def plain(text: Message) -> str:
    return render_message(text).replace("\u00a0", " ")


def section(slug: str, nodes: list[NodeRows], pods: list[PodRows], **more: object) -> Section:
    return sections_of(snapshot(nodes=nodes, pods=pods, **more))[slug]  # type: ignore[arg-type]  # what a test names


def cells(table: Table, *columns: int) -> list[tuple[object, ...]]:
    return [tuple(row.cells[column] for column in columns) for row in table.rows]


def test_a_loss_that_leaves_pods_without_a_place_is_the_title() -> None:
    nodes = [node("n1", labels={"eks.amazonaws.com/nodegroup": "web"}), node("n2", labels={"eks.amazonaws.com/nodegroup": "web"})]
    pods = [pod("a", on="n1", cpu=3 * CORE, memory=GIB), pod("b", on="n2", cpu=3 * CORE, memory=GIB)]
    found = section("headroom", nodes, pods)
    assert plain(found.title) == "The loss of one node of web would leave its 1 pod without a place"
    assert cells(found.tables["losses"], 0, 1, 4, 7) == [("n1", "web", 1, "default/a")]
    assert plain(found.lede[0]) == "Not one more typical pod fits into any node pool."


def test_where_every_loss_is_survived_the_title_says_so() -> None:
    pods = [pod("a", on="n1", cpu=CORE), pod("b", on="n2", cpu=CORE)]
    found = section("headroom", [node("n1"), node("n2")], pods)
    assert plain(found.title) == "The pods of each pool's largest node would fit on the other nodes"
    assert plain(found.lede[0]) == "Every node pool takes more of its typical pods; the fewest, 6, fit into none."
    assert plain(found.lede[1]) == "1 of 2 nodes could be emptied together."


def test_a_pod_that_must_stay_is_told_apart_from_one_that_finds_no_room() -> None:
    zone = "topology.kubernetes.io/zone"
    nodes = [node(name, zone=name, labels={zone: name}) for name in ("z1", "z2")]
    found = section("headroom", nodes, [pod("a", on="z1", cpu=CORE, rules=Rules(selector=((zone, "z1"),)))])
    assert found.tables["losses"].rows[0].cells[7] == "default/a (no other node may take it)"


def test_headroom_that_is_not_known() -> None:
    assert plain(section("headroom", [], []).title) == "There are no nodes that pods could fit on"
    unread = section("headroom", [], [pod("p", cpu=CORE)], unread=["nodes"])
    assert plain(unread.title) == "What still fits is unknown, because nodes could not be read"
    some = section("headroom", [node("n1")], [pod("p", cpu=CORE)], namespaces=("team",))
    assert plain(some.title) == "What still fits is unknown, because only some namespaces were read"
    assert not some.tables


def test_the_fleet_that_holds_all_pods_is_the_title() -> None:
    nodes = [node("n1", instance_type="m5.xlarge", provider="aws"), node("n2", instance_type="m5.xlarge", provider="aws")]
    pods = [pod("a", cpu=CORE, memory=GIB), pod("b", on="n2", cpu=CORE, memory=GIB), pod("c", on=None, phase="Pending", cpu=CORE)]
    found = section("fleets", nodes, pods)
    assert plain(found.title) == "1 node of m5.xlarge would hold all 3 pods"
    assert "today's 2 nodes have 8 cores and 32 GiB" in plain(found.lede[0])
    assert cells(found.tables["fleets"], 0, 3, 4)[:2] == [("Nodes of today", 2, ""), ("m5.xlarge", 1, 1)]
    drawing = found.charts["fills"].drawing
    assert isinstance(drawing, Fills)
    assert [(row.name, row.cpu, row.node_count) for row in drawing.rows][:2] == [("Nodes of today", 0.25, 2), ("m5.xlarge", 0.75, 1)]


def test_what_is_left_over_is_told_with_the_reason() -> None:
    nodes = [node("n1", instance_type="m5.xlarge", provider="aws")]
    pods = [pod("a", cpu=CORE), pod("b", cpu=CORE), pod("g", resources={"nvidia.com/gpu": 1}, on=None, phase="Pending")]
    found = section("fleets", nodes, pods)
    assert plain(found.title) == "1 node of m5.xlarge would hold 2 of 3 pods"
    assert [plain(text) for text in found.sentences["left"]] == [
        "Left over on m5.xlarge",
        "1 pod asks for nvidia.com/gpu, which it does not have.",
    ]


def test_without_pods_or_sizes_there_is_no_fleet() -> None:
    assert plain(section("fleets", [node("n1")], []).title) == "There are no pods that nodes would have to hold"
    arm = section("fleets", [node("n1", architecture="riscv64")], [pod("p", cpu=CORE)])
    assert plain(arm.title) == "How many nodes would do is unknown"
    assert "because the pods run on another CPU architecture" in " ".join(map(plain, arm.sentences["skipped"]))


def test_right_sized_pods_that_fit_no_node_of_a_flavor_are_said() -> None:
    # As they ask today one m5.xlarge takes all three; the two that need 6 cores fit none of them.
    nodes = [node("n1", instance_type="m5.xlarge", provider="aws"), node("n2", instance_type="big", provider="aws", cpu=64 * CORE)]
    web = [pod(name, cpu=CORE, workload_kind="Deployment", workload="web", usage=(6 * CORE, GIB)) for name in ("a", "b")]
    given = {"plan": {"flavor_names": ["m5.xlarge"]}, "rightsizing": {"samples_min": 1, "days_min": 1}}
    found = sections_of(snapshot(nodes=nodes, pods=[*web, pod("c", cpu=CORE)]), **given)["fleets"]
    assert plain(found.lede[2]) == "With the requests that are recommended it would be 1 node that leaves 2 pods over."
    assert plain(found.tables["fleets"].rows[1].cells[5]) == "1, 2 left over"  # type: ignore[arg-type]  # a cell of text
