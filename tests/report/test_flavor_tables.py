from __future__ import annotations

import dataclasses
from datetime import date
from typing import Any

import pytest

from batch.findings import Message
from batch.plan.model import FORMULA, NODES, Flavor, FlavorFit, ProfilePlan, Recommendation
from batch.plan.prices import NO_PRICES, Price, Prices
from batch.report.format import NO_VALUE, render_message
from batch.report.model import Row, Table
from batch.report.sections.flavor_tables import flavors_table, pods_table
from batch.report.tables import display
from tests.builders import CORE, GIB
from tests.report.plans import small_plan

PRICES = Prices(
    "EUR",
    {"here": Price(1.0, date(2026, 3, 1), spot=False), "there": Price(0.5, date(2025, 1, 1), spot=True)},
    old_before=date(2026, 1, 1),
)


def fit(name: str, **given: Any) -> FlavorFit:
    unknown: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(FlavorFit))
    flavor = Flavor(name, "google", 4 * CORE, 16 * GIB, 0, None, "amd64", None)
    return FlavorFit(**{**unknown, "flavor": flavor, "in_cluster_node_count": 0, "node_count": 2, **given})


def profile(*fits: FlavorFit, recommended: str | None = None, share: float | None = 0.5) -> ProfilePlan:
    (planned,) = small_plan().profiles
    assert planned.outliers
    return dataclasses.replace(
        planned,
        flavors=fits,
        recommended=Recommendation(recommended, ()) if recommended else None,
        outliers=dataclasses.replace(planned.outliers, share=share),
    )


HERE = fit(
    "here", in_cluster_node_count=3, allocatable_source=NODES, monthly_cost=1460.0, pods_by_requests=9, pods_by_limit=7, binding="pod_limit"
)
THERE = fit(
    "there", allocatable_source=FORMULA, monthly_cost=730.0, pods_by_p95=4, pods_by_limit=7, binding="memory_p95", safe_pods_per_node=5
)
UNKNOWN = fit("unknown")


def column(table: Table, title: str, group: str = "") -> list[object]:
    (place,) = [i for i, one in enumerate(table.columns) if (one.title, one.group) == (title, group)]
    return [row.cells[place] for row in table.rows]


def plain(value: object) -> object:
    return render_message(value) if isinstance(value, Message) else value


def test_the_table_says_where_an_allocatable_size_is_from() -> None:
    table = flavors_table(profile(UNKNOWN, THERE, HERE, recommended="there"), NO_PRICES)
    assert column(table, "Flavor") == ["there", "here", "unknown"]
    assert column(table, "by", "Allocatable") == ["formula", "its nodes", ""]
    assert [isinstance(row, Row) and row.chosen for row in table.rows] == [True, False, False]


def test_costs_have_a_column_only_where_there_are_prices_and_old_ones_are_marked() -> None:
    assert "Nodes" not in {one.group for one in flavors_table(profile(fit("x")), NO_PRICES).columns if "month" in one.title}
    table = flavors_table(profile(HERE, THERE, UNKNOWN), PRICES)
    # 2 nodes: 1 an hour for 730 hours is 1,460, and half of it 730
    assert [plain(cost) for cost in column(table, "EUR a month", "Nodes")] == ["1,460", "730 \N{DAGGER}", None]
    assert [str(plain(note)).replace("\u00a0", " ") for note in table.notes] == [
        "\N{DAGGER} made from an old price, the oldest of 1 January 2025",
        "at spot prices: there",
    ]


@pytest.mark.parametrize(
    ("recommended", "title"),
    [
        ("here", "On here the pod limit binds first, at 7 pods"),
        ("there", "On there memory use binds first, at 4 pods"),
        ("unknown", "How many pods a node takes"),
        (None, "How many pods a node takes"),
    ],
)
def test_the_title_names_what_binds(recommended: str | None, title: str) -> None:
    table = pods_table(profile(HERE, THERE, UNKNOWN, recommended=recommended), 0.01)
    assert table.title
    assert render_message(table.title) == title


def test_pods_on_a_node_by_everything_that_limits_them() -> None:
    table = pods_table(profile(HERE, THERE), 0.01)
    assert column(table, "Tightest", "Pods on a node by") == ["pod limit", "memory use"]
    assert column(table, "Safe at 1\u00a0%") == [None, 5]


@pytest.mark.parametrize(("share", "shown"), [(0.5, True), (0.0, False), (None, False)])
def test_the_chance_of_more_outliers_is_told_where_there_are_any(share: float | None, *, shown: bool) -> None:
    table = pods_table(profile(HERE, share=share), 0.01)
    assert ("Chance of more" in {one.title for one in table.columns}) is shown


def test_what_is_known_has_a_word_and_what_is_not_a_dash() -> None:
    too_small = dataclasses.replace(HERE, outliers_tolerated=None, pods_by_requests=None, daemonset_pod_count=1, pods_by_p95=4)
    table = pods_table(profile(too_small, UNKNOWN), 0.01)
    assert plain(column(table, "Withstood", "Outliers")[0]) == "too small"
    # nothing is requested, so any number fits where the node's size is known; where it is not, how many fit is unknown
    assert [plain(one) for one in column(table, "Requests", "Pods on a node by")] == ["any", None]
    assert column(table, "p95 of use", "Pods on a node by") == [4, None]
    assert [one.text for one in display(table, 20).lines[1].cells][1:3] == [NO_VALUE, NO_VALUE]


def test_without_a_limit_no_outliers_are_counted() -> None:
    unlimited = dataclasses.replace(profile(HERE), outliers=None)
    assert "Withstood" not in {one.title for one in pods_table(unlimited, 0.01).columns}
