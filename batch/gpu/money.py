"""What idle and stranded cards cost in a month, at the prices that the user gave for a card of each product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from batch.gpu.activity import Reading, hours
from batch.gpu.mig import card_product
from batch.gpu.model import Cost, Costs, Holder
from batch.gpu.nodes import Row
from batch.gpu.room import FREE_REASONS
from batch.settings import PriceSettings

HOURS_A_MONTH = 730
"""Hours of a year, 8,760, by twelve: how providers quote a month."""

_HOUR = 3600


def costs(
    rows: Iterable[Row], readings: Mapping[str | None, Sequence[Reading]], window_seconds: float | None, prices: PriceSettings
) -> Costs:
    """Give the costs of each product with a price that the cluster has; None where hours or cards are not known.

    Idle hours are those of the window, at their rate over a month; stranded cards are those of now, all month long. `readings` are by
    product. The product of a part or share is that of its card.
    """
    by_product: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        product = card_product(row["product"])
        if product is not None:
            by_product[product].append(row)
    by_card: dict[str | None, list[Reading]] = defaultdict(list)
    for name, own in readings.items():
        by_card[card_product(name)].extend(own)
    if not prices.gpu_per_hour:
        return Costs()
    priced = [product for product in sorted(by_product) if product in prices.gpu_per_hour]
    return Costs(
        currency=prices.currency or "",
        by_product=tuple(
            Cost(
                p,
                prices.gpu_per_hour[p],
                _idle(by_card[p], window_seconds, prices.gpu_per_hour[p]),
                _stranded(by_product[p], prices.gpu_per_hour[p]),
            )
            for p in priced
        ),
        unpriced=tuple(product for product in sorted(by_product) if product not in prices.gpu_per_hour),
    )


def idle_monthly_cost(idle: Iterable[Holder], prices: PriceSettings) -> float | None:
    """Give what the cards of these holders cost in a month; None when one has no price, or holds units of unknown cards."""
    amounts = [
        None if one.card_count is None or price is None else one.card_count * price
        for one in idle
        for price in [prices.gpu_per_hour.get(card_product(one.product) or "")]
    ]
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known) * HOURS_A_MONTH, 2) if known and len(known) == len(amounts) else None


def stranded_monthly_cost(rows: Sequence[Row], prices: PriceSettings) -> float | None:
    """Give what stranded cards of these rows cost in a month; None when one has no price or an unknown number of cards."""
    amounts = []
    for product in {card_product(row["product"]) for row in rows}:
        price = prices.gpu_per_hour.get(product or "")
        own = [row for row in rows if card_product(row["product"]) == product]
        amounts.append(None if price is None else _stranded(own, price))
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), 2) if known and len(known) == len(amounts) else None


def _idle(own: Sequence[Reading], window_seconds: float | None, price: float) -> float | None:
    idle = hours(own).idle_gpu_hours
    return None if idle is None or not window_seconds else round(idle * _HOUR / window_seconds * HOURS_A_MONTH * price, 2)


def _stranded(rows: Sequence[Row], price: float) -> float | None:
    stranded = [row for row in rows if row.get("free_reason") == FREE_REASONS[1] and row["free_count"]]
    cards = [None if row["card_share_ratio"] is None else row["free_count"] * row["card_share_ratio"] for row in stranded]
    known = [count for count in cards if count is not None]
    if any(row.get("requests_count") is None for row in rows) or len(known) < len(cards):
        return None
    return float(round(sum(known) * HOURS_A_MONTH * price, 2))
