"""What is wrong with the prices that were given."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Finding, Severity, message
from batch.plan.prices import Prices

SECTION = "quality"


def judge(prices: Prices) -> Iterator[Finding]:
    """Give a finding when some prices are old; amounts made from them say so too."""
    old = {name: price.day for name, price in prices.by_flavor.items() if price.day < prices.old_before}
    if not old:
        return
    oldest = min(old, key=lambda name: (old[name], name))
    yield Finding(
        id="prices.old",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message("Old prices: those of {old:count} of {all:count} flavors", old=len(old), all=len(prices.by_flavor)),
        detail=message(
            "The oldest, that of {name:text}, is of {day:day}. Prices change, and every amount made from these says how old they are.",
            name=oldest,
            day=old[oldest],
        ),
        action=message("Bring the file of prices.file, or prices.per_hour and prices.date, up to date."),
        objects=tuple(sorted(old)),
    )
