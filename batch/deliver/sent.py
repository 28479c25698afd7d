"""Remembers who got a run's mail, so that another try of the same Job does not send it to them again."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence

from batch.deliver import layout
from batch.deliver.model import Receipt, StorageError
from batch.deliver.storage import open_store
from batch.report.model import Report
from batch.settings import Settings

log = logging.getLogger("nightcap")


def already_sent(report: Report, receipts: Sequence[Receipt], settings: Settings) -> frozenset[str]:
    """Give the recipients that an earlier try served, as far as an output that has the report tells it. Outside of a Job there are no tries."""
    if not settings.run.job_uid:
        return frozenset()
    known: set[str] = set()
    for receipt in receipts:
        if receipt.error is None:
            known |= _read(receipt, report, settings)
    return frozenset(address for address in settings.mail.recipients if _mark(address) in known)


def remember(report: Report, receipts: Sequence[Receipt], settings: Settings, served: Iterable[str]) -> None:
    """Leave at every output that has the report who has the mail, as checksums: an output may be a public page, and addresses are not."""
    if not settings.run.job_uid:
        return
    marks = sorted(map(_mark, served))
    for receipt in receipts:
        if receipt.error is not None:
            continue
        try:
            store = open_store(receipt.destination, settings)
            store.write(_key(report), (json.dumps({"served": marks}) + "\n").encode(), "application/json")
        except StorageError as error:
            log.warning("another try would mail again: %s", error)


def _read(receipt: Receipt, report: Report, settings: Settings) -> set[str]:
    try:
        return set(json.loads(open_store(receipt.destination, settings).read(_key(report)))["served"])
    except (StorageError, KeyError, ValueError, TypeError):
        return set()


def _key(report: Report) -> str:
    return f"{layout.cluster_path(report.cluster)}mail/date={layout.encode(report.run.date)}/{layout.encode(report.run.id)}.json"


def _mark(address: str) -> str:
    return hashlib.sha256(address.lower().encode()).hexdigest()
