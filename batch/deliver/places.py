"""Where the readers of a mail find the report: a link that says how long it lives, or the place itself, or what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from batch.deliver import layout, manifest
from batch.deliver.model import Link, Receipt, StorageError
from batch.deliver.storage import open_store
from batch.report.format import format_instant
from batch.report.mail import Place
from batch.report.model import Report
from batch.settings import Settings

_LINKED = {"report.html": "Report in the browser", "report.pdf": "Report as PDF"}


def places(report: Report, receipts: Sequence[Receipt], settings: Settings) -> Iterator[Place]:
    """Give every output: its readable files where it has the report, the reason where it does not."""
    for number, receipt in enumerate(receipts):
        if receipt.error is not None:
            yield Place(f"Not delivered to {receipt.destination}", None, receipt.error, failed=True)
        else:
            yield from _delivered(report, receipt, settings, address=settings.mail.report_url if number == 0 else None)


def _delivered(report: Report, receipt: Receipt, settings: Settings, address: str | None) -> Iterator[Place]:
    names = [name for name in manifest.entry_of(report, "").reports if name in _LINKED]
    if address:
        for name in names:
            yield Place(_LINKED[name], f"{address.rstrip('/')}/{quote(layout.run_path(report) + name, safe='/=~')}")
        return
    try:
        store = open_store(receipt.destination, settings)
        links = {name: store.link(layout.run_path(report) + name, settings.mail.link_seconds) for name in names}
    except StorageError as error:
        yield Place(receipt.location, None, f"no link could be made: {error.why}")
        return
    linked = [(name, link) for name, link in links.items() if link is not None]
    for name, link in linked:
        yield Place(_LINKED[name], link.url, _life(link))
    if not linked:
        yield Place(receipt.location, None)


def _life(link: Link) -> str:
    """Say until when a link opens: the truth, or the most that can be known."""
    until = f"the link opens without a login until {format_instant(link.until)}"
    return f"{until}, or until the credentials of the run end if that is earlier" if link.may_end_earlier else until
