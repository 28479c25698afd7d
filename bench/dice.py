"""Dice: repeatable draws, equal in every version of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes random suffixes of (k8s.io/apimachinery/pkg/util/rand): no vowels, so no words."""

Thing = TypeVar("Thing")


class Dice:
    """Draws from one seeded stream; random() and getrandbits() alone are promised to stay the same."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)  # noqa: S311  repeatable is what is wanted
        self.share = source.random
        self._bits = source.getrandbits

    def chance(self, probability: float) -> bool:
        """Tell whether something of that probability happens."""
        return self.share() < probability

    def below(self, end: int) -> int:
        """Draw a number from 0 to end - 1."""
        return int(self.share() * end)

    def pick(self, things: Sequence[Thing]) -> Thing:
        """Draw one of them."""
        return things[self.below(len(things))]

    def hex(self, length: int) -> str:
        """Draw that many hexadecimal digits."""
        return f"{self._bits(4 * length):0{length}x}"

    def suffix(self, length: int) -> str:
        """Draw a suffix such as generateName appends."""
        return "".join(_LETTERS[self.below(len(_LETTERS))] for _ in range(length))

    def uid(self) -> str:
        """Draw a UUID of version 4."""
        digits = self.hex(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
