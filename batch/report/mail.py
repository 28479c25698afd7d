"""The body of the mail: HTML that mail programs can show, and the same as plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import css_inline
import jinja2
from markupsafe import Markup

from batch import __version__
from batch.findings import Finding, Severity
from batch.report.format import NBSP, clean, figure, format_date, format_instant, format_value, render_html, render_message
from batch.report.model import Letter, Report, Tile
from batch.report.paths import TEMPLATES

MOST_FINDINGS = 8
"""Findings in a mail; the report has all. With texts of usual length they keep the HTML far below the 100 kB at which mail programs cut."""

_MOST_UNKNOWN = 8
_LONGEST_SUBJECT = 150
_TEXT_COLUMNS = 76

_WORDS = {Severity.CRITICAL: "Act now", Severity.WARNING: "Look into", Severity.ADVICE: "Consider"}
_INLINER = css_inline.CSSInliner(keep_at_rules=True, load_remote_stylesheets=False, apply_width_attributes=True)


@dataclass(frozen=True)
class Place:
    """Where the report can be found: `text` says it, `url` opens it (None: a folder, or no link could be made); `note` says how long, or what failed."""

    text: str
    url: str | None
    note: str = ""
    failed: bool = False


@dataclass(frozen=True)
class Body:
    """Both forms of the text."""

    html: str
    text: str


def subject(report: Report) -> str:
    """Name the cluster, the date and the most severe finding, on one line."""
    first = report.findings[0] if report.findings else None
    said = f"{first.severity.value}: {render_message(first.title)}" if first else "nothing needs attention"
    return clean(f"[{report.cluster}] {format_date(report.run.taken_at)}, {said}", _LONGEST_SUBJECT).replace(NBSP, " ")


def body(report: Report, letter: Letter, places: Sequence[Place], remarks: Sequence[str], picture_ids: Sequence[str]) -> Body:
    """Write the mail. `remarks` are said first, such as what failed or why nothing is attached; `picture_ids` are the Content-IDs of the pictures."""
    return Body(_html(report, letter, places, remarks, picture_ids), _text(report, letter, places, remarks))


def _html(report: Report, letter: Letter, places: Sequence[Place], remarks: Sequence[str], picture_ids: Sequence[str]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,  # by force, as for the report
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        say=render_html,
        plain=render_message,
        figure=figure,
        clean=clean,
        date=format_date,
        instant=format_instant,
        tell=_tell,
        share=_share,
    )
    page = environment.get_template(
        "mail.html.j2"
    ).render(
        style=Markup((TEMPLATES / "mail.css").read_text(encoding="utf-8")),  # noqa: S704  a file of this program
        cluster=clean(report.cluster),
        run=report.run,
        summary=letter.summary,
        findings=letter.summary.findings[:MOST_FINDINGS],
        more_count=max(0, len(letter.summary.findings) - MOST_FINDINGS),
        words=_WORDS,
        most_unknown=_MOST_UNKNOWN,
        pictures=list(zip(picture_ids, letter.pictures, strict=True)),
        places=places,
        remarks=remarks,
        version=__version__,
    )
    return _INLINER.inline(page)


def _tell(sentences: Sequence[object]) -> Markup:
    return Markup(" ").join(render_html(sentence) for sentence in sentences)  # type: ignore[arg-type]  # Messages, by the Section


def _share(ratio: float | None) -> int:
    """Write a ratio as whole percent: widths of table cells, the only bars that every mail program shows."""
    return round(100 * min(max(float(ratio or 0), 0), 1))


def _text(report: Report, letter: Letter, places: Sequence[Place], remarks: Sequence[str]) -> str:
    summary = letter.summary
    blocks = [
        f"{clean(report.cluster)}: Kubernetes capacity report of {format_instant(report.run.taken_at)}",
        *remarks,
        " ".join(map(render_message, summary.lede)),
        "\n".join(map(_tile_line, summary.tiles)),
        "What to do first" if summary.findings else "Nothing that was checked needs attention tonight.",
        *map(_finding_text, summary.findings[:MOST_FINDINGS]),
        *([f"{len(summary.findings) - MOST_FINDINGS} more are in the report."] if len(summary.findings) > MOST_FINDINGS else []),
        *(_listed(None, summary.sentences.get("changed", ()))),
        *(_listed("What its charts show", [picture.title for picture in letter.pictures])),
        *(_listed("Not known tonight", summary.sentences.get("unknown", ())[:_MOST_UNKNOWN])),
        "\n".join(
            [
                "The report",
                *(f"- {place.text}{f': {place.url}' if place.url else ''}{f' ({place.note})' if place.note else ''}" for place in places),
            ]
        ),
    ]
    signature = f"-- \nNightcap {__version__}, run {clean(report.run.id)}\n"
    return "\n\n".join([*(_wrapped(block) for block in blocks if block), signature])


def _tile_line(tile: Tile) -> str:
    return f"{tile.label}: {format_value(tile.value, tile.kind)} {render_message(tile.base)}"


def _listed(head: str | None, sentences: Sequence[object]) -> Iterator[str]:
    """Give sentences as a list; without a head the first of them is the head."""
    texts = [render_message(sentence) for sentence in sentences]  # type: ignore[arg-type]  # Messages, by the Section
    if texts:
        first, rest = (head, texts) if head else (texts[0], texts[1:])
        yield "\n".join([first, *(f"- {text}" for text in rest)])


def _finding_text(finding: Finding) -> str:
    title, action, detail = (render_message(sentence) for sentence in (finding.title, finding.action, finding.detail))
    return f"{_WORDS[finding.severity].upper()}: {title}\n{action}\n{detail}"


def _wrapped(block: str) -> str:
    """Wrap lines at words; an address stays whole, for mail programs to find it, and a dash stays before what it lists."""
    lines = [re.sub(r"^- ", f"-{NBSP}", line) for line in block.replace(NBSP, " ").split("\n")]
    return "\n".join(
        textwrap.fill(
            line,
            _TEXT_COLUMNS,
            break_long_words=False,
            break_on_hyphens=False,
            subsequent_indent="  " if line.startswith(f"-{NBSP}") else "",
        )
        for line in lines
    ).replace(NBSP, " ")
