"""Figures of containers as they come in: a number for each container, a column for each figure."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from batch.collect.prometheus.answers import Answer, Labels

SECOND = 10**6
"""Times of tables are whole microseconds since 1970."""

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Key = tuple[str, str, str]
"""Namespace, pod and container."""


class Figures:
    """Numbers the containers as they are met, and keeps their figures in columns."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._sorted: list[Key] = []
        self._figures: dict[str, array[float]] = {}
        self._rows: dict[str, list[tuple[npt.NDArray[np.int32], Integers, Floats]]] = {}

    @property
    def keys(self) -> Sequence[Key]:
        """The containers in order, which is not that of the answers: equal stores are to give equal tables."""
        if len(self._sorted) < len(self._numbers):
            self._sorted = sorted(self._numbers)
        return self._sorted

    def take(self, figure: str, answers: Iterable[Answer], *, only_known: bool = False) -> None:
        """Read one figure of each container, or only of those that were met before."""
        column = self._figures.setdefault(figure, array("d"))
        for answer in answers:
            for labels, value in answer.values():
                if (number := self._number(labels, only_known=only_known)) is not None:
                    column.extend([np.nan] * (number + 1 - len(column)))
                    column[number] = value

    def take_series(self, figure: str, answers: Iterable[Answer]) -> None:
        """Read the values of each container at several moments."""
        rows = self._rows.setdefault(figure, [])
        for answer in answers:
            for labels, points in answer.series:
                if (number := self._number(labels)) is not None:
                    known = np.array(points, dtype=np.float64)
                    moments = np.asarray(np.rint(known[:, 0] * SECOND), dtype=np.int64)
                    rows.append((np.full(len(points), number, dtype=np.int32), moments, known[:, 1]))

    def figure(self, name: str) -> Floats:
        """Give a figure of all containers in order; NaN where there is none."""
        column = np.array(self._figures.get(name, ()), dtype=np.float64)
        return np.concatenate([column, np.full(len(self._numbers) - len(column), np.nan)])[self._order()]

    def series(self, *names: str) -> tuple[Integers, Integers, list[Floats]]:
        """Give places (in `keys`) and moments at which any of these figures has a value, and the figures there; NaN where one has none."""
        columns = [self._joined(name) for name in names]
        moments = np.unique(np.concatenate([moment for _, moment, _ in columns]))
        cells = [place * len(moments) + np.searchsorted(moments, moment) for place, moment, _ in columns]
        every = np.unique(np.concatenate(cells))
        values = [_spread(every, cell, value) for cell, (_, _, value) in zip(cells, columns, strict=True)]
        return every // max(1, len(moments)), moments[every % max(1, len(moments))], values

    def _order(self) -> Integers:
        """Give the numbers of the containers in order."""
        return np.array([self._numbers[key] for key in self.keys], dtype=np.int64)

    def _joined(self, name: str) -> tuple[Integers, Integers, Floats]:
        rows = [*self._rows.get(name, []), (np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0))]
        number, moment, value = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        return np.argsort(self._order())[number], moment, value

    def _number(self, labels: Labels, *, only_known: bool = False) -> int | None:
        key = labels.get("namespace", ""), labels.get("pod", ""), labels.get("container", "")
        if only_known:
            return self._numbers.get(key)
        return self._numbers.setdefault(key, len(self._numbers)) if all(key) else None


def _spread(cells: Integers, own: Integers, values: Floats) -> Floats:
    spread = np.full(len(cells), np.nan)
    spread[np.searchsorted(cells, own)] = values
    return spread
