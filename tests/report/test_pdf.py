import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pikepdf
import pytest

from batch.errors import RenderError
from batch.report.model import Artifact, Report
from batch.report.pdf import Pdf, make_pdf
from batch.settings import ReportSettings
from tests.builders import TAKEN_AT, node, snapshot
from tests.report.clusters import named, pods, report_of, small_cluster

SECRET = "eyJhbGciOiJSUzI1NiJ9-planted"


def made(body: str, *attachments: Artifact, **settings: float) -> Pdf:
    page = f"<!doctype html><html lang=en><title>t</title><style>body {{ font-family: 'DejaVu Sans' }}</style><body>{body}"
    return make_pdf(page, attachments, TAKEN_AT, ReportSettings(**settings))  # type: ignore[arg-type]  # numbers, as the test gives them


def everything_in(data: bytes) -> Iterator[bytes]:
    """Give every stream of a PDF, decompressed, and the file itself."""
    yield data
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Stream):
                yield item.read_bytes()


def words_of(data: bytes) -> str:
    done = subprocess.run(["pdftotext", "-raw", "-", "-"], input=data, capture_output=True, check=True)
    return done.stdout.decode()


def pdf_of(report: Report) -> bytes:
    return next(artifact.data for artifact in report.artifacts if artifact.name == "report.pdf")


@pytest.fixture(scope="module")
def sample() -> bytes:
    return pdf_of(report_of(small_cluster()))


@pytest.mark.parametrize(
    "hostile",
    [
        '<link rel="attachment" href="{url}">',
        '<a rel="attachment" href="{url}">x</a>',
        '<img src="{url}" alt="x">',
        '<object data="{url}">x</object>',
        '<embed src="{url}">',
        '<style>@import url("{url}"); body {{ background: url({url}) }}</style>',
        '<link rel="stylesheet" href="{url}">',
        '<base href="file:///"><img src="{path}" alt="x">',
        '<img alt="x" src="asset:../../../..{path}">',
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image href='{url}' width='9' height='9'/></svg>",
    ],
)
def test_the_pdf_reads_no_file_of_the_machine(hostile: str, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(f"{SECRET} body {{ color: red }}", encoding="utf-8")
    pdf = made(hostile.format(url=secret.as_uri(), path=secret))
    assert not any(SECRET.encode() in stream for stream in everything_in(pdf.data))


def test_what_was_refused_is_told() -> None:
    assert any("refused" in warning for warning in made('<img src="http://169.254.169.254/latest/" alt="x">').warnings)


def test_fonts_and_pictures_of_the_page_itself_are_used() -> None:
    picture = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI5IiBoZWlnaHQ9IjkiLz4="
    pdf = made(
        f'<style>@font-face {{ font-family: Inter; src: url(asset:Inter-Regular.ttf) }} p {{ font-family: Inter }}</style><p>x</p><img alt="x" src="data:image/svg+xml;base64,{picture}">'
    )
    assert pdf.warnings == ()
    assert any(b"Inter" in stream for stream in everything_in(pdf.data))


def test_characters_without_a_glyph_are_told() -> None:
    assert made("<p>a \U0010fffd b 0123456789").missing_glyphs == ("U+10FFFD",)  # private use that no font of icons reaches


def test_files_are_attached_once_and_read_back() -> None:
    pdf = made("<p>x", Artifact("tables/nodes.csv", "text/csv", b"node\r\nn1\r\n"))
    with pikepdf.open(io.BytesIO(pdf.data)) as found:
        assert {name: spec.get_file().read_bytes() for name, spec in found.attachments.items()} == {"nodes.csv": b"node\r\nn1\r\n"}
        assert len(found.Root.AF) == 1


def test_a_page_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(RenderError, match=r"longer than 10\s*ms") as caught:
        made("<p>x", pdf_timeout_seconds=0.01)
    assert (caught.value.slug, caught.value.exit_code) == ("pdf-failed", 4)


def test_a_page_that_needs_too_much_memory_is_given_up() -> None:
    with pytest.raises(RenderError, match=r"more than 150\s*MiB of memory"):
        made("<p>x" * 50_000, pdf_memory_bytes=150 << 20)


def test_the_report_is_whole_and_nothing_in_it_is_amiss(sample: bytes) -> None:
    words = words_of(sample)
    assert "Nine in ten pods use less than" in words
    assert "What was not asked" in words
    with pikepdf.open(io.BytesIO(sample)) as pdf:
        assert pdf.Root.MarkInfo.Marked
        assert str(pdf.Root.Lang) == "en"
        assert "nodes.csv" in pdf.attachments
        metadata = pdf.open_metadata()
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"], metadata["pdfuaid:part"]) == ("3", "A", "1")
        scopes = [item.A.get("/Scope") for item in pdf.objects if isinstance(item, pikepdf.Dictionary) and item.get("/S") == "/TH"]
        assert scopes
        assert {str(scope) for scope in scopes} == {"/Column", "/Row"}


def test_the_fonts_in_the_pdf_are_the_report_s_own(sample: bytes, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(sample)
    fonts = subprocess.run(["pdffonts", str(file)], capture_output=True, check=True, text=True).stdout.splitlines()[2:]
    assert fonts
    assert all("Inter" in font for font in fonts)


def test_every_page_says_which_cluster_and_how_many_pages() -> None:
    pages = words_of(pdf_of(report_of(named("<b>prod</b>")))).split("\f")[:-1]
    assert all(f"{number} of {len(pages)}" in page for number, page in enumerate(pages, start=1))
    assert all("<b>prod</b> · 1 March 2026" in page for page in pages[1:])


def test_of_10_000_pods_the_pdf_shows_the_largest() -> None:
    words = words_of(pdf_of(report_of(snapshot(nodes=[node("n1", pods=20_000)], pods=pods(10_000)), report={"top_rows": 7})))
    assert "The first 7 of 10,000 pods, largest first." in words
    assert "p10000" in words
    assert "p09994" in words
    assert "p09993" not in words


def test_a_name_of_253_characters_is_on_the_page_in_full() -> None:
    name = "".join(f"{number:03d}." for number in range(63)) + "x"
    words = words_of(pdf_of(report_of(snapshot(nodes=[node(name)]))))
    assert "".join(f"{number:03d}." for number in range(63)) in "".join(words.split())
