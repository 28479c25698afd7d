"""The two small pages by which people find reports: index.html of an output, and latest/index.html of a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from html.parser import HTMLParser
from string import Template
from urllib.parse import quote

from batch.deliver import layout, manifest
from batch.deliver.manifest import Entry

_WORDS = {"report.html": "HTML", "report.pdf": "PDF", "report.json": "JSON"}

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>$title</title>
<style>
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; color: #16222e; background: #fff;
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
.run { font-size: .875rem; color: #4a5b6a; }
.note { white-space: nowrap; color: #a34700; }
td:nth-child(2), td:nth-child(3), .links { white-space: nowrap; }
.links a { display: inline-block; padding: .125rem 0; margin-right: .75rem; }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); }
  table, tbody, tr, th, td { display: block; }
  table { border-top: 2px solid #16222e; }
  tr { padding: .75rem 0; border-bottom: 1px solid #dbe2e8; }
  tbody th, td { padding: 0; border: 0; }
  td:nth-child(2), td:nth-child(3) { display: inline-block; margin-right: .75rem; }
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
<thead><tr><th scope="col">Cluster</th><th scope="col">Date</th><th scope="col">Time (UTC)</th><th scope="col">Run</th>\
<th scope="col">Report</th></tr></thead>
<tbody>
$rows
</tbody>
</table>""")

_ROW = Template("""<tr data-entry="$entry"><th scope="row"><bdi>$cluster</bdi></th><td>$date</td><td>$time</td>\
<td class="run">$run$note</td><td class="links">$links</td></tr>""")


def page(entries: Iterable[Entry]) -> bytes:
    """Make the page of every cluster and night, newest first, with a link to the newest report of each cluster."""
    runs = sorted(sorted(entries, key=lambda entry: entry.path), key=lambda entry: entry.moment, reverse=True)
    clusters = sorted({entry.cluster for entry in runs if entry.taken_at and entry.complete})
    newest = "".join(f"<li>{_link(layout.latest_keys(name)[1], f'Newest of {name}')}</li>" for name in clusters)
    body = (
        "<h1>Capacity reports</h1>\n"
        f"<p>{_count(len(runs), 'run')} of {_count(len({entry.cluster for entry in runs}), 'cluster')}, newest first</p>\n"
        + (f"<ul>{newest}</ul>\n" if newest else "")
        + _TABLE.substitute(rows="\n".join(map(_row, runs)))
    )
    return _PAGE.substitute(title="Capacity reports", body=body).encode()


def latest_page(entry: Entry) -> bytes:
    """Make the page to bookmark: links to the newest complete run of a cluster."""
    links = "".join(f"<li>{_link(f'../../{entry.path}{name}', f'Report as {_WORDS[name]}')}</li>" for name in _known(entry))
    body = (
        f"<h1><bdi>{escape(entry.cluster)}</bdi></h1>\n"
        f"<p>Newest capacity report: {escape(entry.date)}, {_time(entry)} UTC</p>\n"
        f"<ul>{links}</ul>\n"
        f"<p>{_link(f'../../{layout.INDEX}', 'All clusters and nights')}</p>"
    )
    return _PAGE.substitute(title=f"Newest capacity report of {escape(entry.cluster)}", body=body).encode()


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


def _row(entry: Entry) -> str:
    note = "" if entry.complete else "stopped early" if entry.taken_at else "manifest damaged"
    return _ROW.substitute(
        entry=escape(json.dumps(manifest.to_fields(entry), ensure_ascii=False, separators=(",", ":"))),
        cluster=escape(entry.cluster),
        date=escape(entry.date),
        time=_time(entry),
        run=escape(entry.run_id),
        note=f' <span class="note">{note}</span>' if note else "",
        links="".join(_link(entry.path + name, _WORDS[name]) for name in _known(entry)),
    )


def _known(entry: Entry) -> tuple[str, ...]:
    return tuple(name for name in entry.reports if name in _WORDS)


def _time(entry: Entry) -> str:
    """Show the time, with its date where the run went past midnight and the two differ."""
    if not entry.taken_at:
        return "–"  # noqa: RUF001  an en dash stands for what is not known
    same_day = f"{entry.taken_at:%Y-%m-%d}" == entry.date
    return (
        f'<time datetime="{entry.taken_at.isoformat()}">{entry.taken_at:%H:%M}{"" if same_day else f" ({entry.taken_at:%Y-%m-%d})"}</time>'
    )


def _link(key: str, text: str) -> str:
    """Link to a key: its own percent signs are part of the name and are encoded once more."""
    return f'<a href="{escape(quote(key, safe="/=~"))}">{escape(text)}</a>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
