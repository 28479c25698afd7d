"""What figures of usage rest on stands beside them."""

from __future__ import annotations

from batch.findings import Message
from batch.report.format import render_message
from batch.report.model import Section
from tests.builders import CORE, GIB, MIB, node, pod, snapshot
from tests.plan.measured_days import Told, tables
from tests.report.clusters import pods, sections_of, small_cluster

WEEK = "7 days, Prometheus, >\u00a099\u00a0% coverage"


def words(*sentences: Message) -> str:
    return " ".join(map(render_message, sentences))


def by_week() -> dict[str, Section]:
    """Give the report of 20 pods, each a tenth larger at the second of two instants, of which a sample is missing."""
    told = [
        Told(
            f"p{n:05d}",
            ((1, n * CORE // 100, n * 10 * MIB), (0, n * CORE // 100, n * 11 * MIB)),
            workload=("Pod", f"p{n:05d}"),
            columns={"cpu_sample_count": 2015 if n == 1 else 2016},
        )
        for n in range(1, 21)
    ]
    listed = [*pods(20), pod("new", cpu=CORE, memory=GIB)]
    return sections_of(snapshot(nodes=[node("n1")], pods=listed, tables=tables(*told, instant_count=2)))


def test_a_profile_says_that_it_is_of_a_week_and_each_chart_too() -> None:
    section = by_week()["profile-all-pods"]
    assert WEEK in words(*section.lede)
    assert "At the same time there were 20 to 20 of them" in words(*section.lede)
    assert f"40 values of pods at 2 instants; {WEEK}." in words(section.charts["memory"].subtitle)
    assert all(WEEK in words(chart.subtitle) for chart in section.charts.values())
    assert "the worst instant decides" in words(*section.how_to_read)


def test_pods_above_a_limit_are_means_over_the_instants() -> None:
    rows = by_week()["profile-all-pods"].tables["thresholds"].rows
    limit = next(row for row in rows if "100\u00a0MiB" in words(row.cells[0]))  # type: ignore[arg-type]  # a Message
    assert limit.cells[1] == 10  # of 10 and 11 pods, rounded to even
    assert limit.cells[4] == 10


def test_data_quality_tells_what_prometheus_was_asked() -> None:
    table = by_week()["quality"].tables["prometheus"]
    said = {str(row.cells[0]): words(row.cells[1]) for row in table.rows}  # type: ignore[arg-type]  # a Message
    assert table.title is not None
    assert WEEK in words(table.title)
    assert said["Asked"] == "http://prometheus.example:9090"
    assert said["Together"] == "2 instants, 1\u00a0h apart"
    assert said["Cost"].startswith("40 requests, 977\u00a0KiB, 2.5\u00a0s")


def test_right_sizing_and_every_foot_name_the_window() -> None:
    made = by_week()
    assert f"20 of 21 containers were measured: {WEEK}." in words(*made["right-sizing"].lede)
    assert "7 days, Prometheus" in words(*made["summary"].sentences["coverage"])


def test_without_prometheus_it_is_one_snapshot() -> None:
    made = sections_of(small_cluster())
    section = made["profile-all-pods"]
    assert "Usage rests on one snapshot at 03:00 UTC." in words(*section.lede)
    assert "20 measured pods; one snapshot at 03:00 UTC." in words(section.charts["memory"].subtitle)
    assert "Usage: one snapshot at 03:00 UTC." in words(*made["capacity"].lede)
    assert "prometheus" not in made["quality"].tables
