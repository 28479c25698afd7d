import numpy as np
import pytest

from batch.packing.fleet import pack
from batch.packing.model import Items, Pattern
from tests.packing.checker import check, volume_bound


def items(*shapes: tuple[list[int], int], accepts: list[list[bool]] | None = None) -> Items:
    sizes, counts = zip(*shapes, strict=True)
    return Items(np.array(sizes, dtype=np.int64), np.array(counts, dtype=np.int64), np.array(accepts or [[True]] * len(shapes)))


def test_the_example_worked_out_by_hand() -> None:
    # Tenths of a core, GiB, pods; of the 40, 16 and 110 of an empty node its DaemonSets take 5, 1 and 1.
    example = items(([20, 4, 1], 4), ([5, 4, 1], 6), ([10, 1, 1], 3))
    packing = pack(example, np.array([[35, 15, 109]]))
    check(example, [[35, 15, 109]], packing)
    # CPU: (80 + 30 + 30) / 35 = 4 nodes, and no two of the large pods share one. With 4 nodes all CPU would be used: three nodes hold
    # large + 1.0 + 0.5, the fourth large + 3 x 0.5, which need 4 + 3 x 4 = 16 of 15 GiB. So it takes 5.
    assert (packing.lower_bound, packing.bin_count) == (4, 5)


def test_things_that_need_opposite_resources_share_bins() -> None:
    # First fit fills bins with one kind (10 + 10 bins); each bin takes one of both, 10 bins.
    opposites = items(([9, 1], 10), ([1, 9], 10))
    packing = pack(opposites, np.array([[10, 10]]))
    assert packing.patterns == (Pattern(0, 10, ((0, 1), (1, 1))),)


def test_many_small_things_need_slots_beside_few_large_ones() -> None:
    # 100 bins of 100 slots hold 9,900 small and 100 large ones only if the large ones are spread.
    mixed = items(([50, 1], 100), ([0, 1], 9_900))
    packing = pack(mixed, np.array([[100, 100]]))
    check(mixed, [[100, 100]], packing)
    assert packing.bin_count == packing.lower_bound == 100


def test_what_fits_into_no_bin_is_left_out_of_count_and_bound() -> None:
    packing = pack(items(([11], 3), ([5], 2)), np.array([[10]]))
    assert (packing.bin_count, packing.lower_bound, packing.unplaced.tolist()) == (1, 1, [3, 0])


def test_nothing_to_pack_needs_no_bin() -> None:
    packing = pack(Items(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.bool_)), np.array([[10, 10]]))
    assert (packing.bin_count, packing.lower_bound) == (0, 0)


def test_classes_that_refuse_each_other_open_bins_of_their_own_and_others_fill_the_gaps() -> None:
    # 3 of class 0 and 3 of class 1 at 6 of 10 each need 3 bins each; six of 4 that go anywhere fill them up.
    split = items(([6], 3), ([6], 3), ([4], 6), accepts=[[True, False], [False, True], [True, True]])
    packing = pack(split, np.array([[10], [10]]))
    check(split, [[10], [10]], packing)
    assert packing.bin_count == packing.lower_bound == 6


def test_what_one_class_accepts_alone_raises_the_bound() -> None:
    # By volume two things of 5 fill one bin of 10, but no bin accepts both.
    apart = items(([5], 1), ([5], 1), accepts=[[True, False], [False, True]])
    assert pack(apart, np.array([[10], [10]])).lower_bound == 2


def test_a_class_with_overhead_of_its_own_has_less_room() -> None:
    apart = items(([5], 4), ([5], 4), accepts=[[True, False], [False, True]])
    packing = pack(apart, np.array([[10], [5]]))
    assert sorted((pattern.class_, pattern.bin_count) for pattern in packing.patterns) == [(0, 2), (1, 4)]


@pytest.mark.parametrize("seed", range(12))
def test_random_things_respect_every_constraint_and_come_close_to_the_bound(seed: int) -> None:
    random = np.random.default_rng(seed)
    shapes, classes = int(random.integers(1, 60)), int(random.integers(1, 4))
    sizes = np.stack([random.integers(0, 30, shapes) * 10**8, random.integers(0, 48, shapes) * 2**28, np.ones(shapes)], axis=1).astype(
        np.int64
    )
    some = Items(sizes, random.integers(1, 400, shapes), random.random((shapes, classes)) < 0.7)
    rooms = np.array([[8 * 10**9 - i * 10**8, 32 * 2**30, 110] for i in range(classes)], dtype=np.int64)
    packing = pack(some, rooms)
    check(some, rooms.tolist(), packing)
    assert packing.bin_count <= 1.2 * packing.lower_bound + classes


def test_without_classes_the_bound_is_at_least_the_volume() -> None:
    random = np.random.default_rng(5)
    some = Items(random.integers(1, 30, (40, 3)), random.integers(1, 50, 40), np.ones((40, 1), dtype=np.bool_))
    assert volume_bound(some, [100, 90, 80]) <= pack(some, np.array([[100, 90, 80]])).lower_bound
