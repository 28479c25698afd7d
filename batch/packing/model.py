"""What is packed, into what, and what came of it: exact integers, one column a resource."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Items:
    """Things to pack, all of one shape handled as one with a count.

    `sizes[shape, resource]` is what one of them needs, `counts[shape]` how many there are, `accepts[shape, class]` which classes of bins
    they may go into. A resource that a shape needs nothing of never keeps it out of a bin.
    """

    sizes: Integers
    counts: Integers
    accepts: Flags

    def only(self, chosen: Flags | Integers) -> Items:
        """Keep some of the shapes."""
        return Items(self.sizes[chosen], self.counts[chosen], self.accepts[chosen])

    def with_counts(self, counts: Integers) -> Items:
        """Give the same shapes in other numbers."""
        return Items(self.sizes, counts, self.accepts)


@dataclass(frozen=True)
class Bins:
    """Bins and their room: `rooms[bin, resource]`; `classes[bin]` is the number of the bin's class."""

    rooms: Integers
    classes: Integers

    def __len__(self) -> int:
        return len(self.classes)

    def with_new(self, number: int, room: Integers, class_: int) -> Bins:
        """Add equal bins at the end."""
        return Bins(
            np.concatenate([self.rooms, np.broadcast_to(room, (number, room.size))]),
            np.concatenate([self.classes, np.full(number, class_, dtype=np.int64)]),
        )


@dataclass(frozen=True)
class Placement:
    """Where things went: one entry for each shape in a bin, and what is left.

    `shapes`, `bins` and `counts` are parallel. `rooms[bin, resource]` is what is still free, `unplaced[shape]` what found no room.
    """

    shapes: Integers
    bins: Integers
    counts: Integers
    rooms: Integers
    unplaced: Integers


@dataclass(frozen=True)
class Pattern:
    """Bins that are filled alike: `bin_count` of class `class_`, each with `contents`, pairs (shape, count) in order of shape."""

    class_: int
    bin_count: int
    contents: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Packing:
    """The bins that a packing needs, the fullest patterns as they came; no packing needs fewer than `lower_bound`.

    `unplaced[shape]` counts what fits into no empty bin that accepts it; the bins and the bound are for the rest.
    """

    patterns: tuple[Pattern, ...]
    lower_bound: int
    unplaced: Integers

    @property
    def bin_count(self) -> int:
        """Bins of all patterns."""
        return sum(pattern.bin_count for pattern in self.patterns)
