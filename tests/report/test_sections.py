import dataclasses

import pytest

from batch.findings import Finding, Message, Severity, message
from batch.report.format import render_message
from batch.report.sections.summary import urgent
from batch.snapshot.model import Gap
from tests.builders import CORE, GIB, MIB, node, pod, snapshot
from tests.report.clusters import pods, sections_of, small_cluster


def text(sentences: tuple[Message, ...]) -> str:
    return " ".join(map(render_message, sentences)).replace("\u00a0", " ")


def test_the_report_speaks_first() -> None:
    summary = sections_of(small_cluster())["summary"]
    # 20 pods of 0.1 cores on two nodes of 4 cores: 2 of 8; their use is (1 + … + 20) / 100 = 2.1 cores
    assert text(summary.lede).startswith(
        "Pods request 25 % of the CPU and 4 % of the memory of 2 nodes; those measured, 20 of 21, use 26 % and 6 % of it."
    )
    assert [(tile.label, tile.value) for tile in summary.tiles][:2] == [
        ("CPU requested", 0.25),
        ("Memory requested", 20 * 64 / (32 * 1024)),
    ]


def test_what_is_not_known_stands_on_the_first_page() -> None:
    shot = dataclasses.replace(small_cluster(), complete=False)
    unknown = text(sections_of(shot)["summary"].sentences["unknown"])
    assert "had to stop early" in unknown
    assert "nodemetrics: forbidden. Usage of whole machines is partly unknown." in unknown


def test_the_lede_names_the_most_urgent_finding() -> None:
    def finding(severity: Severity, title: str) -> Finding:
        return Finding(title, severity, "capacity", message(title), message("Why."), message("Do."))

    advice = finding(Severity.ADVICE, "Cheaper nodes")
    assert render_message(urgent([advice])) == "Nothing that was checked needs attention."
    assert render_message(urgent([finding(Severity.CRITICAL, "Full"), advice])) == "One finding needs attention: Full."
    assert render_message(urgent([finding(Severity.CRITICAL, "Full"), finding(Severity.WARNING, "Old")])).startswith(
        "2 findings need attention. The first: Full."
    )


def test_a_section_without_data_is_one_calm_sentence() -> None:
    empty = sections_of(snapshot())
    assert render_message(empty["gpus"].title) == "This cluster advertises no GPUs"
    assert render_message(empty["capacity"].title) == "This cluster has no nodes"
    assert render_message(empty["profile-all-pods"].title) == "No such pod is running"
    assert not any(section.charts for section in empty.values())


@pytest.mark.parametrize(
    ("used", "machine", "words"),
    [
        (None, None, "Neither what pods use nor what machines use was measured."),
        ((CORE, MIB), None, "Use was measured for 1 of the pods, but not for machines as a whole."),
        (None, (CORE, MIB), "Use was measured for none of the pods, and for 1 of 1 machine as a whole."),
    ],
)
def test_what_was_measured_is_said_in_plain_words(used: tuple[int, int] | None, machine: tuple[int, int] | None, words: str) -> None:
    made = sections_of(snapshot(nodes=[node("n1", machine_usage=machine)], pods=[pod("a", usage=used)]))
    assert words in [render_message(sentence) for sentence in made["capacity"].lede]


def test_unread_nodes_are_unknown_and_not_none() -> None:
    shot = snapshot(pods=[pod("p", cpu=CORE, memory=GIB)], unread=["nodes"], namespaces=("team",))
    found = sections_of(shot)
    assert text(found["summary"].lede[:1]) == "Pods of namespace team (1) request 1 core of CPU and 1 GiB of memory."
    assert render_message(found["gpus"].title) == "Whether there are GPUs is unknown, because nodes could not be read"
    assert found["summary"].tiles[3].value is None


def test_virtual_nodes_and_pods_on_unknown_nodes_stand_apart() -> None:
    shot = snapshot(nodes=[node("n1"), node("v", virtual=True)], pods=[pod("a"), pod("b", on="v"), pod("c", on="gone")])
    apart = text(sections_of(shot)["capacity"].sentences["apart"])
    assert "Virtual nodes (virtual kubelet, Fargate): 1, with 1 pod." in apart
    assert "Pods bound to nodes that were not listed: 1." in apart
    assert [row.cells[0] for row in sections_of(shot)["capacity"].tables["nodes"].rows] == ["n1"]


def test_nodes_come_fullest_first_and_those_of_unknown_size_last() -> None:
    shot = snapshot(
        nodes=[node("low"), node("high"), node("blank", cpu=None, memory=None, pods=None)],
        pods=[pod("a", on="high", cpu=3 * CORE), pod("b", on="low", cpu=CORE)],
    )
    rows = sections_of(shot)["capacity"].tables["nodes"].rows
    assert [row.cells[0] for row in rows] == ["high", "low", "blank"]
    assert rows[2].cells[5] is None


def test_a_profile_of_few_pods_draws_no_distribution() -> None:
    few = sections_of(snapshot(nodes=[node("n1")], pods=pods(3)))["profile-all-pods"]
    assert "memory" not in few.charts
    assert "quantiles" not in few.tables
    assert render_message(few.title).replace("\u00a0", " ") == "The largest pod uses 30 MiB of memory"


def test_a_profile_is_titled_by_what_it_found() -> None:
    # 20 pods of 10 to 200 MiB: p90 is 10 + 0.9 * 19 * 10 = 181 MiB
    found = sections_of(snapshot(nodes=[node("n1")], pods=pods(20)))["profile-all-pods"]
    assert render_message(found.title).replace("\u00a0", " ") == "Nine in ten pods use less than 181 MiB of memory"
    assert {"memory", "cpu", "odds", "needs"} == set(found.charts)


def test_a_limit_that_few_would_notice_is_told() -> None:
    # of 20 pods up to 200 MiB, 10 use more than 100 MiB and none more than 256 MiB
    found = sections_of(snapshot(nodes=[node("n1")], pods=pods(20)))["profile-all-pods"]
    title = found.tables["thresholds"].title
    assert title
    assert render_message(title).replace("\u00a0", " ") == "A limit of 256 MiB would affect 0 % of the pods"


def test_only_so_many_rows_are_kept_however_many_pods_there_are() -> None:
    table = sections_of(snapshot(nodes=[node("n1", pods=5000)], pods=pods(1200)))["profile-all-pods"].tables["pods"]
    assert (len(table.rows), table.row_count) == (1000, 1200)
    assert table.rows[0].cells[0] == "p01200"  # the largest


def test_a_gap_of_the_snapshot_is_a_row_of_data_quality() -> None:
    quality = sections_of(snapshot(nodes=[node("n1")], gaps=[Gap("podmetrics", "forbidden", "Usage is unknown.")]))["quality"]
    assert quality.tables["gaps"].rows[0].cells == ("podmetrics", "forbidden", "Usage is unknown.")
    assert quality.tables["not_asked"].rows


def test_findings_stand_in_the_section_that_they_name() -> None:
    shot = snapshot(nodes=[node("n1", ready=False), node("n2")], pods=[pod("p", memory_limit=GIB, usage=(0, GIB - 2 * MIB))])
    found = sections_of(shot)
    assert "capacity.nodes-not-ready" in {finding.id for finding in found["capacity"].findings}
    assert {finding.section for finding in found["profile-all-pods"].findings} == {"profile-all-pods"}


def test_use_of_machines_is_a_share_of_those_that_reported() -> None:
    # n1 uses 6 of its 8 cores, n2 says nothing: 75 % of the one that reported, and not 37.5 % of both
    shot = snapshot(nodes=[node("n1", cpu=8 * CORE, machine_usage=(6 * CORE, None)), node("n2", cpu=8 * CORE)])
    capacity = sections_of(shot)["capacity"]
    assert capacity.tables["totals"].rows[0].cells[-1] == 0.75
    apart = text(capacity.sentences["apart"]).replace("\u00a0", " ")
    assert "Use of machines was measured on 1 of 2 nodes, which have 8 cores of 16 cores; its share is of these." in apart


def test_what_waits_and_what_makes_room_stand_on_the_page() -> None:
    shot = snapshot(
        nodes=[node("n1", resources={"hugepages-2Mi": (GIB, GIB)})],
        pods=[
            pod("waits", on=None, phase="Pending", cpu=CORE, resources={"nvidia.com/gpu": 2}),
            pod("placeholder", on="n1", cpu=2 * CORE, priority=-10),
            pod("pages", on="n1", resources={"hugepages-2Mi": 512 * MIB}),
        ],
    )
    capacity = sections_of(shot)["capacity"]
    assert capacity.tables["waiting"].rows[0].cells == ("Pods that no node takes yet", 1, 1, CORE, 0, "2 nvidia.com/gpu")
    assert capacity.tables["minor"].rows[0].cells[:5] == ("hugepages-2Mi", 1, GIB, 512 * MIB, 0.5)
    assert "2 cores and 0 bytes are those of 1 pod of negative priority" in text(capacity.sentences["apart"]).replace("\u00a0", " ")


def test_data_quality_says_on_how_many_readings_usage_rests() -> None:
    assert "one moment and not a day" in text(sections_of(small_cluster())["quality"].lede)


def test_a_profile_says_which_flavors_are_never_taken_and_what_it_keeps_room_for() -> None:
    plain = [pod(f"web-{number}", usage=(CORE, GIB)) for number in range(10)]
    read = text(sections_of(snapshot(nodes=[node("n1")], pods=plain))["profile-all-pods"].how_to_read)
    assert "Never taken, though compared: flavors of another CPU architecture" in read
    assert "flavors with GPUs, unless most of these pods request them" in read
    assert "allocatable less what DaemonSets use" in read
    own = [*plain, pod("agent", workload_kind="DaemonSet", usage=(CORE, GIB))]
    read = text(sections_of(snapshot(nodes=[node("n1")], pods=own))["profile-all-pods"].how_to_read)
    assert "allocatable less what other DaemonSets (those among these pods are drawn like any pod) use" in read
