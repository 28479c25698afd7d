"""Finds places for labels: at points of a rising line, so that they touch neither the line nor each other, and in a margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

_GAP = 0.012
"""Distance of a label from its point, as a share of the width."""

_STEPS = 40

_ROUNDS, _TOUCH = 300, 1e-4
"""Labels are pushed apart in rounds until they overlap by no more than this share of the height."""


@dataclass(frozen=True)
class Point:
    """A point of the line, in shares of the axes, with its text and how wide that is."""

    x: float
    y: float
    text: str
    width: float


@dataclass(frozen=True)
class Label:
    """A text with its lower left corner and its extent, in shares of the axes."""

    x: float
    y: float
    width: float
    height: float
    text: str

    def meets(self, other: Label) -> bool:
        """Whether two labels overlap."""
        beside = self.x + self.width <= other.x or other.x + other.width <= self.x
        return not beside and abs(self.y - other.y) < max(self.height, other.height)


def place(points: Sequence[Point], line: Callable[[float], float], height: float) -> list[Label]:
    """Place each label below its point and the line, to the right as far as there is room, and lower where another label is."""
    placed: list[Label] = []
    for point in points:
        label = _below(point, line, height)
        for _ in range(_STEPS):
            if not any(label.meets(other) for other in placed):
                break
            label = replace(label, y=label.y - height / 4)
        placed.append(label)
    return placed


def _below(point: Point, line: Callable[[float], float], height: float) -> Label:
    left = max(0.0, min(point.x, 1 - 2 * _GAP - point.width) + _GAP)
    return Label(left, min(point.y, line(left)) - 1.25 * height, point.width, height, point.text)


def spread(places: Sequence[float], least: float) -> list[float]:
    """Move labels apart until none overlaps, keeping their order and staying as close to their lines as that allows."""
    spread = np.asarray(places, dtype=float)
    for _ in range(_ROUNDS):
        short = least - np.diff(spread)
        if not (short > _TOUCH).any():
            break
        push = np.where(short > 0, short / 2, 0)
        spread[:-1] -= push
        spread[1:] += push
        spread = np.maximum(spread, least / 2)
    return [float(place) for place in spread]
