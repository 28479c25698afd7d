from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET

import pytest

from batch.findings import message
from batch.plan.model import Odds, ProfilePlan, Recommendation
from batch.report.charts.draw import NARROW_MM, WIDE_MM, draw
from batch.report.format import render_message
from batch.report.model import ChanceLine, Chances
from batch.report.sections.odds_chart import odds_chart
from tests.report.plans import small_plan

BASIS = message("one snapshot at 02:00")


def line(name: str, growth: float, **more: bool) -> ChanceLine:
    return ChanceLine(
        (name,), tuple((pods, min(1.0, 1e-7 * growth**pods)) for pods in range(1, 101)), more.get("ends", True), more.get("chosen", False)
    )


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314  drawn here


@pytest.mark.parametrize("width", [WIDE_MM, NARROW_MM])
def test_lines_the_accepted_chance_and_the_plan_are_named_at_their_places(width: float) -> None:
    # 1e-7 * 1.3^n is at most 1 % up to n = 43 (0.0079) and over it from 44 on (0.0103); 1.1^n does not get there
    drawn = texts(draw(Chances((line("big", 1.1, chosen=True), line("small", 1.3)), 0.01, 60), width))
    assert {"big", "small", "1\u00a0% is accepted"} <= set(drawn)
    assert [text for text in drawn if text.strip() == "43"]
    assert any("planned: 60" in text for text in drawn)


def test_flavors_on_one_line_are_all_named_up_to_three() -> None:
    many = ChanceLine(("a", "b", "c", "d", "e"), ((1, 0.001), (2, 0.1)), ends=False)
    assert {"a", "b", "c +2"} <= set(texts(draw(Chances((many,), 0.01, 1), WIDE_MM)))


def test_a_line_that_stays_below_one_in_a_million_is_named_and_not_drawn() -> None:
    assert "flat" in texts(draw(Chances((line("flat", 1.0), line("up", 1.3)), 0.01, 10), WIDE_MM))


def profile(*odds: Odds, recommended: str | None = None, safe: int = 7) -> ProfilePlan:
    (planned,) = small_plan().profiles
    fit = planned.flavors[0]
    fits = tuple(
        dataclasses.replace(fit, flavor=dataclasses.replace(fit.flavor, name=one.flavor), safe_pods_per_node=safe, pods_by_limit=3)
        for one in odds
    )
    return dataclasses.replace(planned, odds=odds, flavors=fits, recommended=Recommendation(recommended, ()) if recommended else None)


def test_the_chart_shows_the_larger_chance_and_joins_flavors_that_look_alike() -> None:
    one = Odds("one", (1, 2, 3), (0.0, 0.1, 0.5), (0.2, 0.0, 0.1))
    same = Odds("same", (1, 2), (0.21, 0.11), (0.0, 0.0))
    other = Odds("other", (1, 2), (0.9, 0.99), (0.0, 0.0))
    chart = odds_chart(profile(one, same, other, recommended="same"), 0.01, BASIS)
    assert chart is not None
    assert isinstance(chart.drawing, Chances)
    first, second = chart.drawing.lines
    assert (first.names, first.points, first.ends, first.chosen) == (("one", "same"), ((1, 0.2), (2, 0.1), (3, 0.5)), True, True)
    assert (second.names, second.ends, second.chosen) == (("other",), False, False)
    assert render_message(chart.title).replace("\u00a0", " ") == "same carries up to 7 pods at a chance of at most 1 %"


def test_without_a_recommendation_the_title_says_what_no_flavor_carries() -> None:
    chart = odds_chart(profile(Odds("a", (1,), (0.5,), (0.0,))), 0.01, BASIS)
    assert chart is not None
    assert render_message(chart.title).replace("\u00a0", " ") == "No flavor carries 100 pods at a chance of at most 1 %"


def test_chances_that_nobody_could_see_make_no_chart() -> None:
    assert odds_chart(profile(Odds("a", (1, 2), (0.0, 1e-7), (0.0, 0.0))), 0.01, BASIS) is None
    assert odds_chart(profile(), 0.01, BASIS) is None
