"""The two small pages by which people find reports: index.html of an output, and latest/index.html of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from html.parser import HTMLParser
from string import Template
from urllib.parse import quote

from batch.deliver import layout, manifest
from batch.deliver.manifest import Entry
from batch.deliver.model import Link

_SIGNED_RUNS = 100
"""Runs whose links are signed at most, the newest first: a page of years would otherwise be made of signatures."""

_UNKNOWN = "–"  # noqa: RUF001  an en dash stands for what is not known

_WORDS = {"report.html": "HTML", "report.pdf": "PDF", "report.json": "JSON"}

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>$title</title>
<style>
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 72rem; color: #16222e; background: #fff;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere; }
p { margin: .5rem 0 0; color: #4a5b6a; }
a { color: #0072b2; }
a:focus-visible { outline: 2px solid #0072b2; outline-offset: 2px; }
ul { margin: 1.5rem 0 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: .5rem; }
ul + p { margin-top: 1.5rem; }
li a { display: block; padding: .5rem .875rem; border: 1px solid #dbe2e8; border-radius: .375rem; text-decoration: none;
  overflow-wrap: anywhere; }
li a:hover { border-color: #0072b2; }
table { width: 100%; margin-top: 2rem; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid #dbe2e8; text-align: left; vertical-align: baseline; }
thead th { border-bottom: 2px solid #16222e; font-size: .875rem; }
tbody th { font-weight: 600; }
tbody th, .run { overflow-wrap: anywhere; }
.run { display: block; font-size: .8125rem; color: #4a5b6a; }
.number { text-align: right; white-space: nowrap; }
.findings { min-width: 16rem; font-size: .9375rem; }
.urgent { font-weight: 600; color: #a34700; }
thead .number { vertical-align: bottom; }
.note { white-space: nowrap; color: #a34700; }
td:nth-child(2), td:nth-child(3), .links { white-space: nowrap; }
.links a { display: inline-block; padding: .125rem 0; margin-right: .75rem; }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); }
  table, tbody, tr, th, td { display: block; }
  table { border-top: 2px solid #16222e; }
  tr { padding: .75rem 0; border-bottom: 1px solid #dbe2e8; }
  tbody th, td { padding: 0; border: 0; }
  td:nth-child(2), td:nth-child(3), .number { display: inline-block; margin-right: .75rem; }
  .number::after { content: " " attr(data-name); color: #4a5b6a; }
  td time::after { content: " UTC"; }
  .links a { padding: .5rem .5rem .5rem 0; }
}
</style>
</head>
<body>
$body
</body>
</html>
""")

_TABLE = Template("""<table>
<thead><tr><th scope="col">Cluster</th><th scope="col">Date</th><th scope="col">Time (UTC)</th><th scope="col" class="number">Nodes</th>\
<th scope="col" class="number">CPU<br>requested</th><th scope="col" class="number">Memory<br>requested</th>\
<th scope="col">Findings</th><th scope="col">Report</th></tr></thead>
<tbody>
$rows
</tbody>
</table>""")

_ROW = Template("""<tr data-entry="$entry"><th scope="row"><bdi>$cluster</bdi></th><td>$date</td><td>$time</td>\
<td class="number" data-name="nodes">$nodes</td><td class="number" data-name="CPU requested">$cpu</td>\
<td class="number" data-name="memory requested">$memory</td>\
<td class="findings">$note$findings<span class="run">$run</span></td><td class="links">$links</td></tr>""")


@dataclass
class Links:
    """How the pages link to keys: relative to themselves, or by `sign` where that gives a link. `until` is when the first of these ends."""

    sign: Callable[[str], Link | None] | None = None
    until: datetime | None = field(default=None, init=False)

    def to(self, key: str, above: str = "", *, signed: bool = True) -> str:
        """Give the address of a key from a page that is `above` ("../../") the root of the keys: a key's own percent signs are part of its name."""
        link = self.sign(key) if self.sign and signed else None
        if link is None:
            return quote(f"{above}{key}", safe="/=~")
        self.until = min(self.until or link.until, link.until)
        return link.url


RELATIVE = Links()
"""The way that works as a static site, in a folder, and wherever one may open the one page as well as the other."""


def page(entries: Iterable[Entry], links: Links = RELATIVE) -> bytes:
    """Make the page of every cluster and night, newest first, with a link to the newest report of each cluster."""
    runs = sorted(sorted(entries, key=lambda entry: entry.path), key=lambda entry: entry.moment, reverse=True)
    clusters = sorted({entry.cluster for entry in runs if entry.taken_at and entry.complete})
    newest = "".join(f"<li>{_link(links.to(layout.latest_keys(name)[1]), f'Newest of {name}')}</li>" for name in clusters)
    rows = "\n".join(_row(entry, links, signed=number < _SIGNED_RUNS) for number, entry in enumerate(runs))
    body = (
        "<h1>Capacity reports</h1>\n"
        f"<p>{_count(len(runs), 'run')} of {_count(len({entry.cluster for entry in runs}), 'cluster')}, newest first</p>\n"
        + (f"<ul>{newest}</ul>\n" if newest else "")
        + _TABLE.substitute(rows=rows)
        + _end(links)
    )
    return _PAGE.substitute(title="Capacity reports", body=body).encode()


def latest_page(entry: Entry, links: Links = RELATIVE) -> bytes:
    """Make the page to bookmark: links to the newest complete run of a cluster."""
    above = "../../"
    known = "".join(f"<li>{_link(links.to(entry.path + name, above), f'Report as {_WORDS[name]}')}</li>" for name in _known(entry))
    body = (
        f"<h1><bdi>{escape(entry.cluster)}</bdi></h1>\n"
        f"<p>Newest capacity report: {escape(entry.date)}, {_time(entry)} UTC</p>\n"
        f"<ul>{known}</ul>\n"
        f"<p>{_link(links.to(layout.INDEX, above), 'All clusters and nights')}</p>" + _end(links)
    )
    return _PAGE.substitute(title=f"Newest capacity report of {escape(entry.cluster)}", body=body).encode()


def _end(links: Links) -> str:
    """Say when signed links end."""
    return f"\n<p>The links on this page end on {links.until:%Y-%m-%d at %H:%M} UTC.</p>" if links.until else ""


def remembered(html: bytes) -> dict[str, Entry]:
    """Take back, by path, the entries that `page` wrote, so that of years of nights only new manifests need be read.

    What does not look like such an entry is left out.
    """
    reader = _Rows()
    reader.feed(html.decode(errors="replace"))
    return reader.entries


class _Rows(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[str, Entry] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        text = dict(attrs).get("data-entry")
        if tag != "tr" or text is None:
            return
        try:
            entry = manifest.from_fields(json.loads(text))
        except (ValueError, KeyError, TypeError):
            return
        self.entries[entry.path] = entry


def _row(entry: Entry, links: Links, *, signed: bool) -> str:
    note = "" if entry.complete else "stopped early" if entry.taken_at else "manifest damaged"
    figures = entry.key_figures
    return _ROW.substitute(
        entry=escape(json.dumps(manifest.to_fields(entry), ensure_ascii=False, separators=(",", ":"))),
        cluster=escape(entry.cluster),
        date=escape(entry.date),
        time=_time(entry),
        nodes=_number(figures.get("node_count"), "{:,}"),
        cpu=_number(figures.get("requests_cpu_ratio"), "{:.0%}"),
        memory=_number(figures.get("requests_memory_ratio"), "{:.0%}"),
        run=escape(entry.run_id),
        note=f'<span class="note">{note}</span> ' if note else "",
        findings=_findings(entry),
        links="".join(_link(links.to(entry.path + name, signed=signed), _WORDS[name]) for name in _known(entry)),
    )


def _number(value: object, form: str) -> str:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return form.format(value).replace("%", "\u00a0%") if known else _UNKNOWN


def _findings(entry: Entry) -> str:
    """Say how many findings are urgent, and the first of them."""
    counts = [(entry.key_figures.get(f"{severity}_count"), severity) for severity in ("critical", "warning")]
    urgent = [f"{count} {severity}" for count, severity in counts if isinstance(count, int) and count]
    first = entry.key_figures.get("first_finding")
    head = f'<span class="urgent">{", ".join(urgent)}</span> ' if urgent else ""
    return f"{head}{escape(str(first))} " if first else head


def _known(entry: Entry) -> tuple[str, ...]:
    return tuple(name for name in entry.reports if name in _WORDS)


def _time(entry: Entry) -> str:
    """Show the time, with its date where the run went past midnight and the two differ."""
    if not entry.taken_at:
        return _UNKNOWN
    same_day = f"{entry.taken_at:%Y-%m-%d}" == entry.date
    return (
        f'<time datetime="{entry.taken_at.isoformat()}">{entry.taken_at:%H:%M}{"" if same_day else f" ({entry.taken_at:%Y-%m-%d})"}</time>'
    )


def _link(address: str, text: str) -> str:
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
