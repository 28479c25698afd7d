"""What the report says of trends: its section, its first page, report.json and the tables."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from batch.gpu.assess import assess as assess_gpu
from batch.jobs.assess import assess as assess_jobs
from batch.plan.assess import assess as assess_plan
from batch.plan.forecast.assess import assess
from batch.plan.model import CapacityPlan
from batch.report import sections
from batch.report.charts.courses import figure
from batch.report.charts.draw import NARROW_MM, WIDE_MM, draw
from batch.report.document import encode, report_document
from batch.report.exports import tables
from batch.report.format import render_message
from batch.report.model import Course, Reach, Section
from batch.report.sections.material import Material
from batch.scale.assess import assess as assess_scale
from batch.settings import Settings
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.model import Snapshot
from batch.snapshot.views import sampling
from tests.builders import CORE, GIB, PodRows, node, pod, snapshot
from tests.remembered import before, growing_to
from tests.report.clusters import run_of

SCHEMA = json.loads((Path(__file__).parents[2] / "reports" / "schema" / "report-v1.schema.json").read_text(encoding="utf-8"))


def web(name: str, cores: float, workload: str = "web") -> PodRows:
    return pod(name, cpu=int(cores * CORE), memory=GIB, workload_kind="Deployment", workload=workload, namespace="shop")


def cluster(*pods: PodRows) -> Snapshot:
    return snapshot(nodes=[node("n1", cpu=10 * CORE, memory=100 * GIB, labels={"karpenter.sh/nodepool": "general"})], pods=pods)


def planned(shot: Snapshot, history: History = NO_HISTORY) -> CapacityPlan:
    chosen = Settings()
    plan = assess_plan(shot, chosen)
    return replace(plan, trends=assess(shot, plan, (), history, chosen))


def nights(shot: Snapshot, count: int, a_night: int, old: Snapshot | None = None) -> CapacityPlan:
    """Plan with so many earlier nights in which CPU requests grew by `a_night`; the workloads of last night are those of `old`."""
    first, tonight = planned(old or shot).trends, planned(shot).trends
    assert first is not None
    assert tonight is not None
    earlier = growing_to(tonight.tonight, count, a_night)
    workloads = replace(first.workloads, date=earlier[-1].date)
    week = replace(first.workloads, date=earlier[-7].date) if count >= 7 else None
    return planned(shot, History(summaries=earlier, last_night=workloads, last_week=week))


def section_of(shot: Snapshot, plan: CapacityPlan, slug: str = "trends") -> Section:
    findings = plan.trends.findings if plan.trends else ()
    material = Material(
        run_of(shot),
        shot,
        plan,
        assess_gpu(shot, Settings()),
        assess_jobs(shot, Settings()),
        assess_scale(shot, Settings()),
        Settings(),
        findings,
        (),
        (),
    )
    return next(section for section in sections.build(material) if section.slug == slug)


def document_of(shot: Snapshot, plan: CapacityPlan) -> dict[str, Any]:
    made = report_document(
        run_of(shot),
        shot,
        plan,
        assess_gpu(shot, Settings()),
        assess_jobs(shot, Settings()),
        assess_scale(shot, Settings()),
        (),
        (),
        (),
        sampling(shot, 600),
    )
    document: dict[str, Any] = json.loads(encode(made))
    closed = json.loads(json.dumps(SCHEMA).replace('"additionalProperties": true', '"additionalProperties": false'))
    jsonschema.Draft202012Validator(closed, format_checker=jsonschema.FormatChecker()).validate(document)
    trends: dict[str, Any] = document["trends"]
    return trends


def said(section: Section) -> str:
    blocks = [section.title, *section.lede, *(sentence for block in section.sentences.values() for sentence in block)]
    return "\n".join(map(render_message, blocks)).replace("\u00a0", " ")


GROWN = cluster(web("a", 7), web("b", 1), web("c", 0.5, "cart"))
OLD = cluster(web("a", 7), web("gone", 0.5, "old"))


@pytest.fixture(scope="module")
def grown() -> CapacityPlan:
    return nights(GROWN, 20, CORE // 20, OLD)


def test_the_title_names_the_pool_that_is_full_first(grown: CapacityPlan) -> None:
    section = section_of(GROWN, grown)
    assert "Node pool general is expected to run out of CPU on 31 March 2026" in said(section)
    assert "21 nights are known, from 9 February 2026 to 1 March 2026." in said(section)
    assert [finding.id for finding in section.findings] == ["trends.filling/general/cpu"]


def test_a_workload_that_came_or_went_had_none_before_or_has_none_now(grown: CapacityPlan) -> None:
    rows = {row.cells[0]: row.cells[1:] for row in section_of(GROWN, grown).tables["night"].rows}
    assert rows["shop/old"] == (1, 0, CORE // 2, 0, GIB, 0)
    assert rows["shop/cart"] == (0, 1, 0, CORE // 2, 0, GIB)


def test_what_changed_is_said_in_words_and_first_on_the_first_page(grown: CapacityPlan) -> None:
    words = said(section_of(GROWN, grown))
    for sentence in (
        "Since last night",
        "CPU requested: 50 millicores more, now 8.5 cores.",
        "shop/web requests 1 core of CPU more and 1 GiB of memory more, with 2 pods instead of 1.",
        "shop/cart is new, with 1 pod, 500 millicores and 1 GiB.",
        "shop/old is gone, with 1 pod, 500 millicores and 1 GiB.",
        "Since the week before (22 February 2026)",
    ):
        assert sentence in words
    assert "shop/cart is new" in said(section_of(GROWN, grown, "summary"))


@pytest.mark.parametrize(("days", "words"), [((30, 40, 60), "11 Jan"), ((300, 340, None), "7 Nov 2027 →")])
def test_the_day_on_which_room_runs_out_is_named_in_the_chart(days: tuple[int, int, int | None], words: str) -> None:
    ahead = Reach(((0, 5.0, 5.0, 5.0), (days[1], 9.0, 10.0, 11.0)), 10.0, days)
    drawn = figure(Course("count", date(2026, 12, 2), (-20, 0), (("allocatable", (10, 10)), ("requests", (4, 5))), ahead), WIDE_MM)
    assert words in [text.get_text() for text in drawn.axes[0].texts]


def test_a_quiet_night_says_so() -> None:
    shot = cluster(web("a", 5))
    assert "Neither nodes nor requests changed by more than half a percent, and no workload stands out." in said(
        section_of(shot, nights(shot, 2, 0))
    )


def test_the_first_night_is_one_calm_sentence() -> None:
    shot = cluster(web("a", 5))
    section = section_of(shot, planned(shot))
    assert render_message(section.title) == "This is the first night that is remembered; trends begin with the next"
    assert (section.tables, section.charts, section.how_to_read, section.sentences) == ({}, {}, (), {})
    assert section_of(shot, assess_plan(shot, Settings())).title.template == "Earlier nights were not looked at"


def test_a_night_that_is_missing_is_named_and_workloads_that_are_unknown_too() -> None:
    shot = cluster(web("a", 5))
    tonight = planned(shot).trends
    assert tonight is not None
    words = said(section_of(shot, planned(shot, History(summaries=(before(tonight.tonight, 3),)))))
    assert "Since the last night that is known (26 February 2026)" in words
    assert "Which workloads moved is not known." in words


@pytest.mark.parametrize("count", [1, 5, 20])
def test_charts_are_drawn_for_wide_and_narrow_screens(count: int) -> None:
    section = section_of(GROWN, nights(GROWN, count, CORE // 20))
    assert list(section.charts) == ["cluster-cpu", "cluster-memory"]
    for chart in section.charts.values():
        for width in (WIDE_MM, NARROW_MM):
            drawn = draw(chart.drawing, width)
            assert ">allocatable<" in drawn
            assert ">requests<" in drawn


def test_report_json_has_series_forecasts_and_changes(grown: CapacityPlan) -> None:
    trends = document_of(GROWN, grown)
    assert trends["nights"] == len(trends["series"]["date"]) == len(trends["series"]["requests_cpu_cores"]) == 21
    assert trends["series"]["requests_cpu_cores"][-2:] == [8.45, 8.5]
    assert trends["series"]["usage_cpu_cores"] == [None] * 21
    (pool,) = trends["pools"]
    assert (pool["name"], pool["allocatable_memory_bytes"][0]) == ("general", 100 * GIB)
    forecast = {(one["pool"], one["resource"]): one for one in trends["forecast"]}
    cpu = forecast["general", "cpu"]
    assert (cpu["exhausted_at"], cpu["unit"], cpu["allocatable"], cpu["reason"]) == ("2026-03-31T03:00:00Z", "cores", 10, None)
    assert cpu["low"] <= cpu["exhausted_at"] <= cpu["high"]
    assert forecast["general", "memory"]["reason"] == "no growth that stands out from the nightly changes"
    night = trends["since_last_night"]
    assert (night["date"], night["changes"]["cpu_requests"]) == ("2026-02-28", [8.45, 8.5])
    assert night["movers"][0] == {
        "kind": "Deployment",
        "namespace": "shop",
        "workload": "web",
        "pod_count": [1, 2],
        "requests_cpu_cores": [7, 8],
        "requests_memory_bytes": [GIB, 2 * GIB],
        "usage_cpu_cores": [None, None],
        "usage_memory_bytes": [None, None],
    }


def test_without_a_history_report_json_says_unknown() -> None:
    trends = document_of(GROWN, assess_plan(GROWN, Settings()))
    assert (trends["nights"], trends["forecast"], trends["since_last_night"]) == (None, [], None)


def test_the_tables_are_complete(grown: CapacityPlan) -> None:
    made = {
        one.name: one.data.decode()
        for one in tables(GROWN, grown, assess_gpu(GROWN, Settings()), assess_jobs(GROWN, Settings()), assess_scale(GROWN, Settings()))
    }

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(made[f"tables/{name}.csv"])))

    assert (len(rows("trends")), rows("trends")[-1]["node_count"]) == (21, "1")
    last = rows("trends-levels")[-6]
    assert (last["pool"], last["resource"], last["unit"], last["requests"], last["usage"]) == ("", "cpu", "cores", "8.5", "")
    (cpu,) = (row for row in rows("forecast") if (row["pool"], row["resource"]) == ("general", "cpu"))
    assert (cpu["requests"], cpu["allocatable"], cpu["exhausted_at"][:10]) == ("8.5", "10.0", "2026-03-31")
    assert [row["workload"] for row in rows("movers") if row["since"] == "2026-02-28"] == ["web", "cart", "old"]
    assert rows("movers")[0]["now_requests_cpu_cores"] == "8"
