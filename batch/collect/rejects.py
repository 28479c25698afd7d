"""Rejects: the list of objects and values that could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from batch.collect.quantity import MOST_OF_A_POD, QuantityError, read_amount
from batch.snapshot.schemas import REJECTS

_LONGEST_VALUE = 100

NOTED = object()
"""Stands for a quantity that could not be read and has been noted."""


class Rejects:
    """Collects what was refused, so that the run goes on and nothing is lost silently."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, str, str, str, str]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, thing: str, field: str, value: object, reason: str) -> None:
        """Note one refused value with the object that it belongs to."""
        self._rows.append((len(self._rows) + 1, thing, field, str(value)[:_LONGEST_VALUE], reason))

    def forget_after(self, count: int) -> None:
        """Keep the first `count` only: what came after them was of a list that is begun again."""
        del self._rows[count:]

    def amounts(
        self,
        quantities: Mapping[str, object] | None,
        thing: str,
        field: str,
        read: Callable[[str, object], int] = read_amount,
    ) -> dict[str, int | None]:
        """Read a map of quantities by resource; a refused one is noted and is None."""
        amounts: dict[str, int | None] = {}
        for resource, value in (quantities or {}).items():
            if value is NOTED:
                amounts[resource] = None
                continue
            try:
                amounts[resource] = read(resource, value)
            except QuantityError as error:
                self.add(thing, f"{field}.{resource}", value, str(error))
                amounts[resource] = None
            except TypeError:  # a list or a map where a quantity should be
                self.add(thing, f"{field}.{resource}", value, "not a quantity")
                amounts[resource] = None
        return amounts

    def possible(self, amounts: Mapping[str, int | None], thing: str, field: str) -> dict[str, int | None]:
        """Give what a pod asks for; an amount that no machine has is noted and is None."""
        found = dict(amounts)
        for resource, amount in amounts.items():
            if amount is not None and amount > MOST_OF_A_POD:
                self.add(thing, f"{field}.{resource}", amount, "more than any machine has")
                found[resource] = None
        return found

    def entries(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield object, field, value and reason of each."""
        yield from ((thing, field, value, reason) for _, thing, field, value, reason in self._rows)

    def first(self) -> str:
        """Describe the first one, for a gap."""
        _, thing, field, value, reason = self._rows[0]
        return f"{field} {value!r} of {thing}: {reason}" if value else f"{field} of {thing}: {reason}"

    def table(self) -> pd.DataFrame:
        """Give all of them as table `rejects`."""
        return REJECTS.frame(self._rows)
