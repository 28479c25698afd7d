"""Pages of objects: what does not fit, is no UTF-8 or is nested without end costs itself or is told as an error, and never ends the program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from batch.collect.items import NotAList
from batch.collect.nodes import NodeCollector
from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import container, node, page, pod

ODD = "\N{REPLACEMENT CHARACTER}"
NO_TEXT = b"\xff\xfe"


def page_with_no_text(*items: dict[str, Any]) -> bytes:
    """Give a page in whose bytes the odd character is none."""
    return page(*items).replace(json.dumps(ODD)[1:-1].encode(), NO_TEXT)


@pytest.mark.parametrize(
    ("odd", "field", "remaining"),
    [
        (pod("odd", labels={"app": ODD}), "metadata.labels", ["fine"]),
        (pod("odd", spec={"containers": [container(requests={"cpu": ODD})]}), "resources", ["fine", "odd"]),
        (pod("odd", spec={"overhead": {"cpu": ODD}}), "resources", ["fine", "odd"]),
        (pod("odd", spec={"tolerations": [{"key": ODD}]}), "spec, where it may go", ["fine", "odd"]),
        (pod("odd", spec={"nodeSelector": {"a": ODD}}), "spec, where it may go", ["fine", "odd"]),
    ],
)
def test_text_that_is_no_utf_8_costs_itself(odd: dict[str, Any], field: str, remaining: list[str]) -> None:
    rejects = Rejects()
    collector = PodCollector(rejects)
    collector.take(page_with_no_text(odd, pod("fine")))
    assert collector.tables()["pods"]["pod"].tolist() == remaining
    assert [(thing.removesuffix("/app"), named) for thing, named, *_ in rejects.entries()] == [("pod default/odd", field)]


def test_an_image_whose_name_is_no_utf_8_costs_itself() -> None:
    rejects = Rejects()
    collector = NodeCollector(rejects)
    images = [{"names": [ODD], "sizeBytes": 1}, {"names": ["fine"], "sizeBytes": 1}]
    collector.take(page_with_no_text(node(status={"images": images})))
    assert collector.tables()["node_images"]["image"].tolist() == ["fine"]
    assert len(rejects) == 1


def test_an_object_with_a_number_of_thousands_of_digits_is_refused_by_its_name() -> None:
    rejects = Rejects()
    collector = PodCollector(rejects)
    whole = page(pod("odd", status={"containerStatuses": [{"name": "app", "restartCount": 7777}]}), pod("fine"))
    collector.take(whole.replace(b"7777", b"9" * 6000))
    assert collector.tables()["pods"]["pod"].tolist() == ["fine"]
    assert [thing for thing, *_ in rejects.entries()] == ["pod default/odd"]


@pytest.mark.parametrize("tail", [b"", b', {"metadata": "cut', b"]]"])
def test_what_is_cut_behind_an_object_that_does_not_fit_is_no_list(tail: bytes) -> None:
    whole = page({"metadata": "none"}, pod("fine"))
    with pytest.raises(NotAList):
        PodCollector(Rejects()).take(whole.removesuffix(b"]}") + tail)


def test_what_is_nested_without_end_is_no_list() -> None:
    deep = page(pod("deep", annotations={"a": 7777})).replace(b"7777", b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(NotAList):
        PodCollector(Rejects()).take(deep)
