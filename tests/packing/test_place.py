import numpy as np

from batch.packing.model import Bins, Items, Placement
from batch.packing.place import place


def placed(sizes: list[list[int]], counts: list[int], rooms: list[list[int]], accepts: list[list[bool]] | None = None) -> Placement:
    classes = np.arange(len(rooms)) if accepts else np.zeros(len(rooms), dtype=np.int64)
    items = Items(np.array(sizes), np.array(counts), np.array(accepts or [[True]] * len(sizes)))
    return place(items, Bins(np.array(rooms, dtype=np.int64).reshape(-1, len(sizes[0])), classes))


def test_free_room_in_pieces_is_less_than_its_sum() -> None:
    # 3 + 3 + 3 = 9 free, and two things of 4 fit nowhere.
    placement = placed([[4]], [2], [[3], [3], [3]])
    assert placement.unplaced.tolist() == [2]
    assert placement.rooms.tolist() == [[3], [3], [3]]


def test_a_thing_goes_where_the_room_has_its_proportions() -> None:
    # Much CPU and little memory is put on the second bin, where CPU is what is free.
    placement = placed([[8, 1]], [1], [[9, 30], [30, 9]])
    assert placement.bins.tolist() == [1]


def test_equal_things_are_spread_over_equal_bins() -> None:
    placement = placed([[2]], [8], [[10], [10], [10], [10]])
    assert placement.counts.tolist() == [2, 2, 2, 2]


def test_a_class_that_refuses_is_left_alone() -> None:
    placement = placed([[1]], [5], [[100], [3]], accepts=[[False, True]])
    assert placement.unplaced.tolist() == [2]
    assert placement.rooms.tolist() == [[100], [0]]


def test_a_resource_that_is_not_needed_keeps_nothing_out() -> None:
    # A node whose memory is promised twice over still takes what asks for CPU alone.
    assert placed([[2, 0], [0, 1]], [1, 1], [[5, -3]]).unplaced.tolist() == [0, 1]


def test_things_that_need_nothing_are_placed() -> None:
    assert placed([[0, 0]], [5], [[1, 1], [1, 1]]).unplaced.tolist() == [0]


def test_without_bins_everything_is_left() -> None:
    assert placed([[1]], [5], []).unplaced.tolist() == [5]


def test_everything_is_accounted_for() -> None:
    random = np.random.default_rng(1)
    sizes, counts = random.integers(0, 9, (30, 3)), random.integers(1, 40, 30)
    rooms = random.integers(-2, 40, (50, 3))
    placement = placed(sizes.tolist(), counts.tolist(), rooms.tolist())
    held = np.zeros_like(rooms)
    for shape, bin_, count in zip(placement.shapes, placement.bins, placement.counts, strict=True):
        held[bin_] += sizes[shape] * count
    assert (rooms - held).tolist() == placement.rooms.tolist()
    assert ((placement.rooms >= 0) | (held == 0)).all()
    assert np.bincount(placement.shapes, placement.counts, minlength=30).tolist() == (counts - placement.unplaced).tolist()
    # What is left fits nowhere any more.
    for shape in np.flatnonzero(placement.unplaced):
        assert not ((placement.rooms >= sizes[shape]) | (sizes[shape] == 0)).all(axis=1).any()
