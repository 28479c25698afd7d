import numpy as np
import pytest

from batch.packing.bounds import lower_bound


@pytest.mark.parametrize(
    ("shapes", "room", "bound"),
    [
        ([((3,), 4)], (10,), 2),  # 12 of 10: two by volume; 3 fit into one
        ([((6,), 5)], (10,), 5),  # 30 of 10 is 3 by volume, but two of 6 never share
        ([((7,), 2), ((4,), 3)], (10,), 4),  # 26 of 10 is 3; beside a 7 no 4 fits, so 2 + ceil(12 / 10)
        ([((1, 9), 3), ((9, 1), 3)], (10, 10), 3),  # 30 of 10 in either resource; two of 9 never share
        ([((0, 1), 250)], (10, 110), 3),  # slots alone
        ([((0, 0), 7)], (10, 10), 1),  # weighs nothing, yet has to be somewhere
        ([], (10, 10), 0),
    ],
)
def test_no_packing_needs_fewer(shapes: list[tuple[tuple[int, ...], int]], room: tuple[int, ...], bound: int) -> None:
    sizes = np.array([size for size, _ in shapes], dtype=np.int64).reshape(-1, len(room))
    assert lower_bound(sizes, np.array([count for _, count in shapes], dtype=np.int64), np.array(room)) == bound
