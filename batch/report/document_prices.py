"""The part of report.json about prices: which were given, and how old they are."""

from __future__ import annotations

from typing import Any

from batch.plan.prices import Prices
from batch.snapshot.model import Gap

_NONE_SET = Gap("prices", "none are set", "Costs and savings are unknown. Set prices.file or prices.per_hour to have them.")


def prices_document(prices: Prices) -> dict[str, Any]:
    """Give `prices`: the currency of every amount in the document, and the days of the prices; all null when none were given."""
    days = sorted(price.day for price in prices.by_flavor.values())
    return {
        "currency": prices.currency or None,
        "flavor_count": len(days),
        "old_flavor_count": sum(day < prices.old_before for day in days),
        "spot_flavor_count": sum(price.spot for price in prices.by_flavor.values()),
        "oldest_date": days[0].isoformat() if days else None,
        "newest_date": days[-1].isoformat() if days else None,
    }


def price_gaps(prices: Prices) -> tuple[Gap, ...]:
    """Say what is unknown for lack of prices."""
    return () if prices.by_flavor else (_NONE_SET,)
