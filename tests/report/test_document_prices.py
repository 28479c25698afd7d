from __future__ import annotations

import dataclasses
from datetime import date

from batch.plan.model import Odds
from batch.plan.prices import NO_PRICES, Price, Prices
from batch.report.document_prices import price_gaps, prices_document
from batch.report.document_profiles import odds_rows
from tests.report.plans import small_plan

PRICES = Prices("EUR", {"a": Price(1.0, date(2026, 1, 1), spot=True), "b": Price(2.0, date(2026, 3, 1), spot=False)}, date(2026, 2, 1))


def test_prices_are_told_with_their_days() -> None:
    assert prices_document(PRICES) == {
        "currency": "EUR",
        "flavor_count": 2,
        "old_flavor_count": 1,
        "spot_flavor_count": 1,
        "oldest_date": "2026-01-01",
        "newest_date": "2026-03-01",
    }


def test_without_prices_costs_are_a_gap() -> None:
    assert prices_document(NO_PRICES)["currency"] is None
    assert [gap.source for gap in price_gaps(NO_PRICES)] == ["prices"]
    assert price_gaps(PRICES) == ()


def test_odds_have_a_row_for_each_point() -> None:
    (profile,) = small_plan().profiles
    rows = odds_rows(dataclasses.replace(profile, odds=(Odds("a", (1, 2), (0.0, 0.5), (0.25, 1.0)),)))
    assert rows == [
        {"flavor": "a", "pods_per_node": 1, "memory_overrun_probability": 0.0, "cpu_overrun_probability": 0.25},
        {"flavor": "a", "pods_per_node": 2, "memory_overrun_probability": 0.5, "cpu_overrun_probability": 1.0},
    ]
