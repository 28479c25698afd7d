"""The section about growth: what it says first, what it teaches, and what it does not know."""

from typing import Any

import pytest

from batch.findings import Message
from batch.report.format import render_message
from batch.report.model import Section
from batch.report.tables import display
from batch.snapshot.schemas import API_REQUESTS, NODE_IMAGES, RESOURCE_QUOTAS
from tests.builders import CORE, GIB, node, pod, snapshot
from tests.report.clusters import report_of, sections_of
from tests.scale.checked import rows


def section(**parts: Any) -> Section:
    return sections_of(snapshot(**parts))["scale"]


def text(*sentences: Message) -> str:
    return " ".join(map(render_message, sentences)).replace("\u00a0", " ")


UNREAD = [
    "nodes",
    "services",
    "resourcequotas",
    "poddisruptionbudgets",
    "horizontalpodautoscalers",
    "control_plane",
    "clusterautoscalerstatus",
    "nodepools",
]
QUOTA = rows(RESOURCE_QUOTAS, {"namespace": "a", "quota": "q", "resource": "requests.cpu", "used_amount": CORE, "hard_amount": CORE})

BUSY: dict[str, Any] = {"nodes": [node("n1")], "pods": [pod("p", on="n1", cpu=3 * CORE)]}


@pytest.mark.parametrize(
    ("parts", "title"),
    [
        ({**BUSY, "tables": QUOTA}, "1 of 16 checks fails: quotas nearly used"),
        (
            {**BUSY, "tables": rows(NODE_IMAGES, {"node": "n1", "image": "i", "size_bytes": 8 * GIB})},
            "Nothing stops growth yet; 2 of 19 checks warn",
        ),
        (BUSY, "None of 16 checks finds anything in the way of growth"),
    ],
)
def test_the_title_says_what_was_found(parts: dict[str, Any], title: str) -> None:
    assert text(section(**parts, unread=["control_plane", "clusterautoscalerstatus", "nodepools"]).title) == title


def test_every_check_stands_in_one_table_with_its_limits() -> None:
    table = section(nodes=[node("n1")]).tables["checks"]
    first = table.rows[0].cells
    assert (first[:3], text(*first[4:])) == (("Size", "Nodes", "ok"), "> 4,000 > 5,000")  # type: ignore[arg-type]  # Messages
    assert len(display(table, 5).lines) == len(table.rows) > 5  # a limit of rows does not cut it


def test_checks_that_lack_the_same_are_told_together() -> None:
    unknown = section(unread=UNREAD).tables["unknown"]
    reasons = {text(row.cells[1]): row.cells[0] for row in unknown.rows}  # type: ignore[arg-type]  # Messages
    assert str(reasons["The list of nodes could not be read"]).startswith("Size: Nodes; Size: Pods on one node")
    assert "etcd: Writes to the log; etcd: Commits of the database" in str([row.cells[0] for row in unknown.rows])


def test_a_check_that_is_not_fine_teaches_its_lesson() -> None:
    (lesson,) = section(**BUSY, tables=QUOTA).lessons
    assert (lesson.name, lesson.status) == ("Health: Quotas nearly used", "fail")
    assert text(lesson.found) == "100 % of requests.cpu in a is used, the most of 1 limits"
    assert lesson.where
    assert text(lesson.where) == "Where: a/q requests.cpu"
    assert text(lesson.basis).startswith("Measured: largest share of a ResourceQuota that is used. It warns above")
    assert text(lesson.lesson).endswith("so nothing shows as pending.")


def test_amounts_of_quotas_have_their_own_units() -> None:
    memory = {"namespace": "a", "quota": "q", "resource": "limits.memory", "used_amount": GIB, "hard_amount": 4 * GIB}
    pods = {"namespace": "a", "quota": "q", "resource": "pods", "used_amount": None, "hard_amount": 5}
    table = section(tables={"resource_quotas": rows(RESOURCE_QUOTAS, memory, pods)["resource_quotas"]}).tables["quotas"]
    assert [[text(cell) if isinstance(cell, Message) else cell for cell in row.cells[2:]] for row in table.rows] == [
        ["limits.memory", "1 GiB", "4 GiB", 0.25],
        ["pods", None, "5", None],
    ]


def test_the_reports_own_requests_are_shown_with_their_sum() -> None:
    pods = {"kind": "pods", "request_count": 3, "received_bytes": 1024, "object_count": 1200}
    other = {"kind": "other", "request_count": 1, "received_bytes": 10, "object_count": 0}
    table = section(tables=rows(API_REQUESTS, pods, other)).tables["requests"]
    assert [row.cells for row in table.rows] == [("pods", 3, 1200, 1024), ("other", 1, 0, 10)]
    assert table.total
    assert table.total.cells == ("All", 4, 1200, 1034)


def test_names_from_outside_cannot_break_the_page() -> None:
    image = rows(NODE_IMAGES, {"node": "n1", "image": "<script>alert(1)</script>{x}", "size_bytes": 9 * GIB})
    report = report_of(
        snapshot(nodes=[node("n1")], pods=[pod("p", on=None, phase="Pending", unschedulable_reason="<b>{y}")], tables=image),
        report={"formats": ("html",)},
    )
    (page,) = (artifact.data.decode() for artifact in report.artifacts if artifact.name == "report.html")
    assert "<script>alert" not in page
    assert "alert(1)" in page
    assert "&lt;b&gt;{y}" in page
