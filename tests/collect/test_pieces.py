"""Large pages are decoded in pieces: whatever stands in them, the tables are those of the page as a whole."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from batch.collect.items import NotAList
from batch.collect.pieces import pieces
from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import pod

FILLING = {"filling": "x" * 100_000}
"""Makes a pod so large that a piece holds two or three."""

CLAIM = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}}}}
INSIDE = [{"a": 1}, {"metadata": {"name": "no pod"}}, {"a": 2}]
"""A list in whose text an item seems to end and the next to begin."""


def large(name: str, **more: Any) -> dict[str, Any]:
    return pod(name, annotations=FILLING, **more)


def served(items: list[Any], *, compact: bool = True, **more: Any) -> bytes:
    """Give a list as the API server writes it, or with blanks, which is never cut."""
    value = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items, **more}
    return json.dumps(value, separators=(",", ":") if compact else None).encode()


def found(page: bytes) -> tuple[int, dict[str, pd.DataFrame], list[tuple[str, str, str, str]]]:
    rejects = Rejects()
    collector = PodCollector(rejects)
    return collector.take(page), collector.tables(), list(rejects.entries())


def assert_as_a_whole(items: list[Any]) -> None:
    cut, whole = served(items), served(items, compact=False)
    assert len(list(pieces(cut))) > 2
    assert len(list(pieces(whole))) == 1
    (count, tables, refused), (count_of_whole, tables_of_whole, refused_of_whole) = found(cut), found(whole)
    assert (count, refused) == (count_of_whole, refused_of_whole)
    for name, frame in tables_of_whole.items():
        pd.testing.assert_frame_equal(tables[name], frame)


def test_a_page_in_pieces_is_the_page() -> None:
    assert_as_a_whole([large(f"p{number}") for number in range(10)])


def test_what_looks_like_the_end_of_an_item_deep_within_one_is_none() -> None:
    odd = [large(f"odd{number}", spec={"volumes": [{"list": INSIDE + INSIDE}, CLAIM]}) for number in range(10)]
    for one in odd:  # what seems to be the next item comes behind the filling, where a cut is looked for
        one["more"] = [INSIDE] * 200
    assert_as_a_whole(odd)


def test_what_looks_like_it_within_a_string_is_none() -> None:
    assert_as_a_whole([pod(f"p{number}", annotations={"text": json.dumps(INSIDE, separators=(",", ":")) * 3000}) for number in range(10)])


def test_one_broken_object_costs_itself_alone() -> None:
    pods = [large(f"p{number}") for number in range(10)]
    pods[5]["metadata"]["name"] = 7
    pods[6] = {**pods[6], "kind": "Node"}
    pods[7]["metadata"].pop("name")
    assert_as_a_whole(pods)
    count, tables, refused = found(served(pods))
    assert (count, len(tables["pods"]), len(refused)) == (10, 7, 3)


@pytest.mark.parametrize("left", [1, 2, 100, 250_000, 900_000])
def test_a_page_that_is_cut_off_is_no_list(left: int) -> None:
    page = served([large(f"p{number}") for number in range(10)])
    with pytest.raises(NotAList):
        found(page[:-left])


def test_a_list_of_another_kind_is_refused_also_where_the_kind_comes_last() -> None:
    items = [large(f"p{number}") for number in range(10)]
    with pytest.raises(NotAList, match="NodeList"):
        found(served(items, kind="NodeList"))
    last = json.dumps({"items": items, "kind": "NodeList"}, separators=(",", ":")).encode()
    with pytest.raises(NotAList, match="NodeList"):
        found(last)
