"""What the sections about profiles say, and leave unsaid."""

import dataclasses
from typing import Any

from batch.report.format import render_message
from batch.report.model import Needs, Section
from batch.report.sections.profile_charts import charts
from batch.settings import PlanSettings, ProfileSettings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, node, pod, snapshot
from tests.report.clusters import pods, sections_of
from tests.report.test_flavor_tables import fit, profile

HUB = {"component": "singleuser-server"}


def sections(shot: Snapshot, **settings: Any) -> dict[str, Section]:
    return sections_of(shot, **settings)


def test_two_profiles_of_the_same_pods_are_printed_once() -> None:
    found = sections(snapshot(nodes=[node("n1")], pods=pods(20, labels=HUB)))
    once, twin = found["profile-jupyterhub-users"], found["profile-all-pods"]
    assert {"memory", "cpu"} <= set(once.charts)
    assert (twin.charts, twin.tables) == ({}, {})
    assert render_message(twin.title) == "These are the same 20 pods as those of JupyterHub user pods"
    said = " ".join(map(render_message, twin.lede))
    assert "with a plan for 100 on a node" in said
    assert "The plan here is for 20 " in said


def test_profiles_of_different_pods_are_both_printed() -> None:
    shot = snapshot(nodes=[node("n1")], pods=[*pods(20, labels=HUB), pod("other", usage=(CORE, GIB))])
    assert all(sections(shot)[f"profile-{name}"].tables for name in ("all-pods", "jupyterhub-users"))
    same_number = PlanSettings(profiles=(ProfileSettings(name="one", namespace="a"), ProfileSettings(name="two", namespace="b")))
    usage = (CORE, GIB)
    two = snapshot(nodes=[node("n1")], pods=[pod("p", namespace="a", usage=usage), pod("p", namespace="b", usage=usage)])
    assert all(sections(two, plan=same_number)[f"profile-{name}"].tables for name in ("one", "two"))


def test_of_few_pods_no_chances_are_told() -> None:
    few = sections(snapshot(nodes=[node("n1")], pods=pods(9)))["profile-all-pods"]
    assert set(few.tables) == {"plans", "pods"}
    assert not few.charts
    assert "tables/profile-all-pods-flavors.csv" in " ".join(map(render_message, few.how_to_read))


def test_thresholds_say_how_many_pods_use_more_and_how_many_at_most_that() -> None:
    # of 20 pods with 10, 20, … 200 MiB, 10 use more than 100 MiB
    table = sections(snapshot(nodes=[node("n1")], pods=pods(20)))["profile-all-pods"].tables["thresholds"]
    (row,) = [row for row in table.rows if render_message(row.cells[0]).startswith("100\u00a0MiB")]  # type: ignore[arg-type]  # a Message
    assert (row.cells[1], row.cells[4]) == (10, 10)
    assert [column.title for column in table.columns][-1] == "At most"


def test_a_pod_without_a_limit_has_a_word_for_it() -> None:
    shot = snapshot(nodes=[node("n1")], pods=[pod("a", usage=(0, 20 * MIB)), pod("b", memory_limit=GIB)])
    rows = sections(shot)["profile-all-pods"].tables["pods"].rows
    assert render_message(rows[0].cells[4]) == "none"  # type: ignore[arg-type]  # a Message
    assert rows[0].cells[5] == ""
    # b has a limit, and what it uses of it is unknown
    assert rows[1].cells[4:6] == (GIB, None)


def test_the_recommended_flavor_is_a_level_of_the_chart_however_large_it_is() -> None:
    huge = dataclasses.replace(fit("huge", outliers_tolerated=2), flavor=dataclasses.replace(fit("huge").flavor, memory_bytes=1024 * GIB))
    planned = profile(huge, fit("small"), recommended="huge")
    needs = charts(planned, 0.01)["needs"]
    assert isinstance(needs.drawing, Needs)
    assert [level.names for level in needs.drawing.levels if level.chosen] == [("huge",)]
    assert "nominal 1\u00a0TiB of huge" in render_message(needs.title)
