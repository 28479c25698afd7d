from datetime import timedelta

import pytest

from batch.scale.facts import Facts
from batch.scale.growth import Size, check, growth_a_day
from batch.scale.model import Status
from batch.settings import ScaleSettings, Settings
from batch.snapshot.history import History
from batch.snapshot.summaries import Summary
from tests.builders import TAKEN_AT, node, pod, snapshot
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, said
from tests.scale.checked import check as one


def facts(limit: int, nodes: int = 20) -> Facts:
    return Facts(
        snapshot(nodes=[node(f"n{number}") for number in range(nodes)], pods=[pod("p")]), Settings(scale=ScaleSettings(nodes_max=limit))
    )


def nights(*counts: int | None) -> list[Size]:
    """Give one night a day that ends yesterday."""
    return [Size(TAKEN_AT - timedelta(days=len(counts) - place), count, 1) for place, count in enumerate(counts)]


@pytest.mark.parametrize(("limit", "status", "days"), [(401, OK, 190.5), (200, WARN, 90), (40, FAIL, 10)])
def test_the_time_to_the_limit_is_what_is_left_by_the_growth_a_day(limit: int, status: Status, days: float) -> None:
    found = check(facts(limit), nights(6, 8, 10, 12, 14, 16, 18))  # 2 nodes a day, 20 tonight
    assert (found.status, found.value) == (status, days * 86_400)
    assert said(found).startswith("2 nodes more a day")


def test_it_is_told_when_the_limit_is_reached() -> None:
    assert "the limit of 40 is reached on 11 March 2026" in said(check(facts(40), nights(6, 8, 10, 12, 14, 16, 18)))


def test_one_odd_night_does_not_move_the_growth() -> None:
    assert growth_a_day([(TAKEN_AT + timedelta(days=day), count) for day, count in enumerate([10, 12, 14, 900, 18, 20, 22])]) == 2


def test_a_night_of_unknown_size_is_left_out() -> None:
    assert growth_a_day([(TAKEN_AT + timedelta(days=day), count) for day, count in enumerate([10, None, 14])]) == 2


def test_a_cluster_that_does_not_grow_reaches_nothing() -> None:
    assert check(facts(40), nights(20, 20, 21, 20, 20, 20, 20)).status is OK
    assert check(facts(40), nights(30, 28, 27, 26, 24, 22, 21)).status is OK


def test_few_nights_are_no_trend() -> None:
    found = check(facts(40), nights(16, 18))
    assert (found.status, said(found)) == (UNKNOWN, "The size of 3 nights is known, tonight included")
    assert check(Facts(snapshot(unread=["nodes"]), Settings()), nights(6, 8, 10, 12, 14, 16, 18)).status is UNKNOWN


def test_the_nights_are_those_that_earlier_runs_left() -> None:
    left = tuple(
        Summary(
            (TAKEN_AT - timedelta(days=back)).strftime("%Y-%m-%d"),
            "r",
            TAKEN_AT - timedelta(days=back),
            True,  # noqa: FBT003  whether it was complete
            None,
            3 - back // 3,
            3,
            1,
            0,
            None,
            None,
            (),
        )
        for back in range(7, 0, -1)
    )
    found = one("size.growth", nodes=[node(f"n{number}") for number in range(4)], history=History(summaries=left), scale={"nodes_max": 5})
    assert found.status is FAIL
