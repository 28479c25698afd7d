from __future__ import annotations

from datetime import UTC, date, datetime

from batch.findings import Money
from batch.plan.price_judgements import judge
from batch.plan.prices import NO_PRICES, Machine, Price, Prices, UnitCosts
from tests.builders import CORE, GIB

DAY = 86_400
SPRING = date(2026, 3, 1)
PRICES = Prices("EUR", {"a": Price(0.25, SPRING, spot=False), "b": Price(1.5, date(2025, 1, 1), spot=False)})


def test_a_month_has_730_hours() -> None:
    assert PRICES.monthly("a", 3) == 547.5  # 0.25 * 730 * 3
    assert PRICES.money("a", 3) == Money(547.5, "EUR")


def test_without_a_price_nothing_costs_nothing() -> None:
    assert (PRICES.monthly("c", 3), NO_PRICES.monthly("a", 1), NO_PRICES.money("a", 1)) == (None, None, None)


def test_prices_grow_old_and_their_amounts_say_of_which_day_they_are() -> None:
    # 90 days before 30 May 2026 is 1 March 2026: a price of that day is not old yet
    judged = PRICES.judged_at(datetime(2026, 5, 30, 12, tzinfo=UTC), 90 * DAY)
    assert judged.money("a", 1) == Money(182.5, "EUR")
    assert judged.money("b", 1) == Money(1095.0, "EUR", date(2025, 1, 1))
    assert judged.amount(1.0, ("a", "b")).priced_on == date(2025, 1, 1)
    later = PRICES.judged_at(datetime(2026, 5, 31, tzinfo=UTC), 90 * DAY)
    assert later.money("a", 1) == Money(182.5, "EUR", SPRING)


def test_old_prices_are_a_finding_that_names_the_oldest() -> None:
    assert list(judge(PRICES)) == []
    (found,) = judge(PRICES.judged_at(datetime(2026, 5, 30, tzinfo=UTC), 90 * DAY))
    assert (found.id, found.objects) == ("prices.old", ("b",))
    assert found.detail.values["day"] == date(2025, 1, 1)


def test_half_of_a_price_is_for_the_cores_and_half_for_the_memory() -> None:
    # two nodes of a: 365 a month, half of it for 8 cores, half for 32 GiB; what has no price does not count
    machines = [Machine("a", 2, 4 * CORE, 16 * GIB), Machine("c", 5, CORE, GIB)]
    assert PRICES.unit_costs(machines) == UnitCosts(182.5 / 8, 182.5 / 32)
    assert PRICES.unit_costs([Machine("c", 5, CORE, GIB), Machine("a", 0, CORE, GIB)]) is None
