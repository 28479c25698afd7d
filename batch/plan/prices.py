"""What nodes cost, as far as the user said so: nothing is looked up and nothing is assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from batch.findings import Money

HOURS_A_MONTH = 730
"""Hours of a year, 8,760, by twelve: how providers quote a month."""

_GIB = 1024**3
_CORE = 10**9


@dataclass(frozen=True)
class Price:
    """Price of one node for an hour, of that day; `spot`: it may be taken away."""

    per_hour: float
    day: date
    spot: bool


class Machine(NamedTuple):
    """Nodes of one flavor, to share out their price."""

    flavor: str
    node_count: int
    cpu_nanocores: int
    memory_bytes: int


class UnitCosts(NamedTuple):
    """What a core and a GiB cost in a month when half of a node's price is for its cores and half for its memory."""

    per_core_month: float
    per_gib_month: float


@dataclass(frozen=True)
class Prices:
    """Prices by flavor, in one currency. Empty when none were given: then every amount is None, never 0.

    A price from before `old_before` is old: the amounts that it makes say its day.
    """

    currency: str = ""
    by_flavor: Mapping[str, Price] = field(default_factory=dict)
    old_before: date = date.min

    def __post_init__(self) -> None:
        """Freeze the mapping."""
        object.__setattr__(self, "by_flavor", MappingProxyType(dict(self.by_flavor)))

    def judged_at(self, moment: datetime, max_age_seconds: float) -> Prices:
        """Give the same prices, those old that are older than that at the moment."""
        return Prices(self.currency, self.by_flavor, (moment - timedelta(seconds=max_age_seconds)).date())

    def monthly(self, flavor: str, node_count: int) -> float | None:
        """Give what that many nodes cost in a month of 730 hours, to the hundredth; None without a price."""
        price = self.by_flavor.get(flavor)
        return None if price is None else round(price.per_hour * HOURS_A_MONTH * node_count, 2)

    def money(self, flavor: str, node_count: int) -> Money | None:
        """Give the same as an amount to print, with the day of a price that is old."""
        amount = self.monthly(flavor, node_count)
        return None if amount is None else self.amount(amount, (flavor,))

    def amount(self, amount: float, flavors: Iterable[str]) -> Money:
        """Give an amount that was made from the prices of these flavors, with the oldest day among those that are old."""
        days = [self.by_flavor[flavor].day for flavor in flavors if flavor in self.by_flavor]
        old = [day for day in days if day < self.old_before]
        return Money(amount, self.currency, min(old, default=None))

    def unit_costs(self, machines: Iterable[Machine]) -> UnitCosts | None:
        """Share out the price of nodes over their cores and GiB, half and half; None when none of them has a price.

        Only nodes with a price count, on both sides.
        """
        priced = [machine for machine in machines if machine.node_count and machine.flavor in self.by_flavor]
        cost = sum(self.by_flavor[m.flavor].per_hour * HOURS_A_MONTH * m.node_count for m in priced)
        cores = sum(m.cpu_nanocores * m.node_count for m in priced) / _CORE
        gib = sum(m.memory_bytes * m.node_count for m in priced) / _GIB
        return UnitCosts(cost / 2 / cores, cost / 2 / gib) if cores and gib else None


NO_PRICES = Prices()
