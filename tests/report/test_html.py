import re
from html.parser import HTMLParser

import pytest

from batch.report.model import Report
from batch.snapshot.model import Gap
from tests.builders import CORE, GIB, TAKEN_AT, node, pod, snapshot
from tests.report.clusters import pods, report_of, small_cluster

EVIL = "<script>alert(1)</script>\"'{{ 7*7 }}</style><img src=x onerror=alert(2)>"
LONG = "n" * 120 + "-" + "x" * 132


class Page(HTMLParser):
    """Collects what a test asks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def attributes(self, name: str) -> list[str]:
        return [value for _, found in self.tags if (value := found.get(name)) is not None]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(report: Report) -> str:
    return next(artifact.data.decode() for artifact in report.artifacts if artifact.name == "report.html")


def hostile() -> str:
    shot = snapshot(
        nodes=[node(LONG, labels={"nvidia.com/gpu.product": EVIL, "karpenter.sh/nodepool": EVIL}, resources={"nvidia.com/gpu": (1, 0)})],
        pods=[
            *pods(12, on=LONG, workload=EVIL),
            pod("w", on=None, phase="Pending", unschedulable_reason=EVIL, created_at=TAKEN_AT),
            pod(LONG, on=LONG, usage=(CORE, GIB)),
        ],
        gaps=[Gap("podmetrics", EVIL, EVIL)],
    )
    return page_of(report_of(shot, report={"formats": ["html"]}, plan={"profiles": [{"name": EVIL}]}))


@pytest.fixture(scope="module")
def evil_page() -> str:
    return hostile()


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(report_of(small_cluster(), report={"formats": ["html"]}))


def test_markup_from_the_cluster_stays_text_everywhere(evil_page: str) -> None:
    found = Page(evil_page)
    assert "script" not in {tag for tag, _ in found.tags}
    assert "img" not in {tag for tag, _ in found.tags}
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in evil_page
    assert "49" not in re.findall(r"\{\{.*?\}\}|\b49\b(?=</style>)", evil_page)


def test_nothing_from_the_cluster_gets_into_a_style(evil_page: str) -> None:
    styles = Page(evil_page).attributes("style")
    own = [style for style in styles if not re.fullmatch(r"(min-)?width:[0-9.]+(%|em)", style)]
    assert all(re.fullmatch(r"[a-z0-9 .;:#%,()'\"_-]*", style, re.IGNORECASE) and "url(" not in style.replace("url(#", "") for style in own)


def test_a_name_of_253_characters_is_there_in_full(evil_page: str) -> None:
    assert LONG in Page(evil_page).text


def test_the_page_opens_without_a_network(page: str) -> None:
    found = Page(page)
    assert not [value for value in found.attributes("src") if not value.startswith("data:")]
    assert not [tag for tag, _ in found.tags if tag in ("script", "link", "iframe", "object", "embed")]
    assert not re.findall(r"url\((?!data:|#|\"data:)", page)
    assert {value for value in found.attributes("href") if not value.startswith("#")} <= {
        f"tables/{name}.csv"
        for name in (
            *("nodes", "pools", "headroom", "losses", "emptyable-nodes", "fleets"),
            *(
                "gpu-nodes",
                "gpu-resources",
                "gpu-holders",
                "gpu-shares",
                "profile-all-pods-pods",
                "profile-all-pods-flavors",
                "scale-checks",
            ),
        )
    }


def test_every_picture_has_words_for_those_who_do_not_see_it(page: str) -> None:
    found = Page(page)
    labels = [attributes.get("aria-label") for tag, attributes in found.tags if attributes.get("role") == "img"]
    assert len(labels) == 12  # memory, CPU, odds, needs, fleets, allocation; each for wide and for narrow screens
    assert all(labels)


def test_ids_are_unique_and_links_within_the_page_arrive(page: str) -> None:
    found = Page(page)
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in found.attributes("href") if value.startswith("#") and "xlink:href" not in value} <= set(ids)


def test_unknown_is_a_dash_with_a_legend(page: str) -> None:
    assert "not known" in Page(page).text
    assert "None" not in Page(page).words


def test_a_long_table_ends_and_says_where_the_rest_is() -> None:
    shot = snapshot(nodes=[node("n1", pods=5000)], pods=pods(1100))
    text = Page(page_of(report_of(shot, report={"formats": ["html"]}))).text
    assert "The first 1,000 of 1,100 pods, largest first." in text
    assert "p00101" in text  # the 1,000th: 1,100 down to 101
    assert "p00100" not in text
