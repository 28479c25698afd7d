from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin

from batch.deliver import index
from batch.deliver.manifest import Entry
from batch.deliver.model import Link

NIGHT = datetime(2026, 11, 30, 2, 5, tzinfo=UTC)


def entry(cluster: str = "prod-1", nights: int = 0, path: str = "", **changes: object) -> Entry:
    taken_at = NIGHT + timedelta(days=nights)
    fields: dict[str, object] = {
        "path": path or f"cluster={cluster}/date={taken_at:%Y-%m-%d}/run=r/",
        "cluster": cluster,
        "run_id": "r",
        "date": f"{taken_at:%Y-%m-%d}",
        "taken_at": taken_at,
        "complete": True,
        "reports": ("report.html", "report.pdf", "report.json"),
        **changes,
    }
    return Entry(**fields)  # type: ignore[arg-type]


class Reader(HTMLParser):
    """Reads a page as a browser does: its links, tags and texts."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href" and value]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_every_cluster_and_night_is_listed_newest_first() -> None:
    page = index.page([entry("a"), entry("b", nights=1), entry("a", nights=2)])
    reports = [link for link in Reader(page).links if link.endswith("report.html")]
    assert reports == [
        "cluster=a/date=2026-12-02/run=r/report.html",
        "cluster=b/date=2026-12-01/run=r/report.html",
        "cluster=a/date=2026-11-30/run=r/report.html",
    ]
    assert "3 runs of 2 clusters, newest first" in Reader(page).texts


def test_links_lead_to_the_keys_also_where_these_have_percent_signs() -> None:
    key = "cluster=a%2Fb%20c/date=2026-11-30/run=r/"
    links = Reader(index.page([entry("a/b c", path=key)])).links
    assert [unquote(urljoin("https://host/prefix/index.html", link)) for link in links] == [
        "https://host/prefix/cluster=a%2Fb%20c/latest/index.html",
        *(f"https://host/prefix/{key}report.{ending}" for ending in ("html", "pdf", "json")),
    ]
    bookmark = Reader(index.latest_page(entry("a/b c", path=key))).links
    assert [unquote(urljoin("https://host/prefix/cluster=x/latest/index.html", link)) for link in bookmark] == [
        *(f"https://host/prefix/{key}report.{ending}" for ending in ("html", "pdf", "json")),
        "https://host/prefix/index.html",
    ]


def test_names_cannot_bring_markup() -> None:
    bad = '"><script>alert(1)</script>'
    for page in (index.page([entry(bad, path="cluster=x/", run_id=bad, date=bad)]), index.latest_page(entry(bad, date=bad))):
        assert "script" not in Reader(page).tags
        assert bad in "".join(Reader(page).texts)


def test_only_reports_that_exist_are_linked() -> None:
    links = Reader(index.page([entry(reports=("report.json",))])).links
    assert [link.rpartition("/")[2] for link in links] == ["index.html", "report.json"]


def test_a_run_says_when_it_stopped_early_or_cannot_be_read() -> None:
    texts = Reader(index.page([entry(complete=False), entry("b", taken_at=None, complete=False, reports=())])).texts
    assert "stopped early" in texts
    assert "manifest damaged" in texts


def test_a_run_past_midnight_shows_both_dates() -> None:
    page = index.page([entry(date="2026-11-29")])
    assert "02:05 (2026-11-30)" in Reader(page).texts
    assert "2026-11-29" in Reader(page).texts


def test_a_page_remembers_its_entries_but_no_damaged_one() -> None:
    whole, damaged = entry('a"&<b>'), entry("b", taken_at=None, complete=False)
    assert index.remembered(index.page([whole, damaged])) == {whole.path: whole}


def test_a_page_of_somebody_else_is_no_memory() -> None:
    assert index.remembered(b'\xff<tr data-entry="{}"><tr data-entry><tr data-entry=\'{"run":1}\'><p data-entry="x">') == {}


FIGURES = {
    "node_count": 1234,
    "requests_cpu_ratio": 0.734,
    "requests_memory_ratio": None,
    "critical_count": 1,
    "warning_count": 2,
    "first_finding": "Pool <b>a</b> is full",
}


def test_key_figures_stand_beside_each_night_and_what_is_not_known_is_no_zero() -> None:
    texts = Reader(index.page([entry(key_figures=FIGURES), entry("b")])).texts
    for words in ("1,234", "73\u00a0%", "1 critical, 2 warning", "Pool <b>a</b> is full"):
        assert words in map(str.strip, texts)
    assert texts.count("–") == 4  # noqa: RUF001  memory of one, everything of the other


def test_key_figures_are_remembered_but_nothing_that_is_no_figure() -> None:
    (kept,) = index.remembered(index.page([entry(key_figures={**FIGURES, "odd": [1], "node_count": {"x": 1}})])).values()
    assert kept.key_figures == {name: value for name, value in FIGURES.items() if name != "node_count"}


def signing(seconds: int = 3600) -> index.Links:
    return index.Links(lambda key: Link(f"https://store.example/{key}?X-Amz-Signature=a&b", NIGHT + timedelta(seconds=seconds)))


def test_signed_links_open_from_a_page_that_was_opened_by_one() -> None:
    reader = Reader(index.page([entry()], signing()))
    assert f"https://store.example/{entry().path}report.html?X-Amz-Signature=a&b" in reader.links
    assert all(link.startswith("https://store.example/") for link in reader.links)
    assert any("The links on this page end on 2026-11-30 at 03:05 UTC." in text for text in reader.texts)
    assert all(link.startswith("https://store.example/") for link in Reader(index.latest_page(entry(), signing())).links)


def test_only_the_newest_links_are_signed() -> None:
    links = Reader(index.page([entry(nights=-number) for number in range(110)], signing())).links
    assert len([link for link in links if link.startswith("https:") and link.endswith("&b")]) == 1 + 100 * 3
    assert len(links) == 1 + 110 * 3
