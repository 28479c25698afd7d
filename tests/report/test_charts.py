import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from batch.plan.model import Distribution
from batch.report.charts.draw import NARROW_MM, WIDE_MM, draw, embedded
from batch.report.charts.labels import Point, place
from batch.report.histogram import histogram
from batch.report.model import Blocks, Histogram, Level, Needs, Stacks

MIB = 1024**2
QUANTILES = (0.5, 0.9, 0.99, 1.0)
PARTS = (("requested", "use"), ("free", "room"), ("stranded", "trouble"), ("out of reach", "quiet"))


def distribution(values: list[int]) -> Distribution:
    ordered = sorted(values)
    quantiles = tuple((q, float(ordered[min(len(ordered) - 1, int(q * len(ordered)))])) for q in QUANTILES)
    return Distribution(tuple(ordered), sum(ordered) / len(ordered), quantiles, ())


def texts(svg: str) -> str:
    return " ".join(element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))  # noqa: S314  drawn here


EVEN = histogram(distribution([n * 10 * MIB for n in range(1, 101)]), "bytes", "Memory used by a pod")
TAIL = histogram(distribution([0] * 50 + [n * 10**6 for n in range(1, 50)] + [4 * 10**9]), "nanocores", "CPU used by a pod")


def test_every_pod_is_in_one_bin() -> None:
    assert sum(EVEN.counts) == 100
    assert TAIL.zero_count + sum(TAIL.counts) == 100
    assert EVEN.edges[0] == 0
    assert EVEN.edges[-1] > 1000 * MIB


def test_bins_have_round_steps() -> None:
    steps = {round((high - low) / MIB, 6) for low, high in pairwise(EVEN.edges)}
    assert steps == {50.0}  # 1,000 MiB in 30 bins is 33.3, rounded up to 1, 2, 2.5 or 5 times ten


def test_a_heavy_tail_gets_a_logarithmic_axis_with_a_bin_for_next_to_nothing() -> None:
    assert not EVEN.logarithmic
    assert (TAIL.logarithmic, TAIL.zero_count) == (True, 50)


def test_the_line_rises_to_all_pods() -> None:
    shares = [share for _, share in EVEN.curve]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_150_000_values_become_a_few_hundred_points() -> None:
    many = histogram(distribution([MIB + n * 7919 % (900 * MIB) for n in range(150_000)]), "bytes", "Memory")
    assert len(many.curve) <= 300
    assert len(many.counts) <= 61
    assert len(draw(many, WIDE_MM)) < 40_000


@pytest.mark.parametrize("width", [WIDE_MM, NARROW_MM])
@pytest.mark.parametrize(
    "drawing",
    [
        EVEN,
        TAIL,
        Needs((10.0 * MIB, 20.0 * MIB), (Level(15 * MIB, ("a", "b"), chosen=True), Level(15 * MIB + 1, ("c",)))),
        Needs((10.0 * MIB,), ()),
        Stacks(PARTS, (("T4", (3, 1, 0, 0)), ("none at all", (0, 0, 0, 0)))),
        Stacks(PARTS, (("T4", (0.5, 1, 0, 0)), ("A100", (3.25, 0, 0, 9))), alike=True),
        Blocks("GPUs", ((0, 440), (1, 44), (5, 1))),
    ],
)
def test_drawings_are_drawn_and_equal_ones_give_equal_bytes(drawing: Histogram | Needs | Stacks | Blocks, width: float) -> None:
    svg = draw(drawing, width)
    assert ET.fromstring(svg) is not None  # noqa: S314  drawn here
    assert svg == draw(drawing, width)
    assert "<dc:date>" not in svg


def test_marks_are_named_at_the_line() -> None:
    assert "half use less than" in texts(draw(EVEN, WIDE_MM))
    assert "half:" in texts(draw(EVEN, NARROW_MM))


def test_names_are_no_formulas_and_fonts_of_their_own_do_no_harm() -> None:
    stacks = Stacks(PARTS, (("$\\frac{$ 负责 <b>", (1, 0, 0, 0)),))
    assert "$\\frac{$ 负责 <b>" in texts(draw(stacks, WIDE_MM))


def test_a_picture_inside_a_page_has_ids_of_its_own() -> None:
    svg = embedded(draw(EVEN, WIDE_MM), "one")
    assert svg.startswith("<svg")
    assert "width=" not in svg.partition(">")[0]
    ids = {element.get("id") for element in ET.fromstring(svg).iter() if element.get("id")}  # noqa: S314  drawn here
    assert ids
    assert all(name and name.startswith("one-") for name in ids)
    assert "url(#one-" in svg


def test_labels_meet_neither_each_other_nor_the_edge() -> None:
    points = [Point(0.90, 0.5, "half", 0.3), Point(0.92, 0.52, "more", 0.3), Point(0.95, 0.54, "most", 0.3)]
    placed = place(points, line=lambda x: x / 2, height=0.05)
    assert not any(a.meets(b) for a, b in pairwise(placed))
    assert all(label.x >= 0 and label.x + label.width <= 1 for label in placed)
