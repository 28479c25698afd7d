"""Puts a report at every output, each on its own, and keeps the lists by which it is found."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from batch.deliver import index, layout, manifest
from batch.deliver.manifest import Entry
from batch.deliver.model import Receipt, Store
from batch.deliver.prune import prune
from batch.deliver.storage import StorageError, locate, open_store, without_keys
from batch.errors import DeliverError, Interrupted, SettingsError
from batch.report.model import Artifact, Report
from batch.settings import Settings
from batch.snapshot.archive import BlobStore

log = logging.getLogger("nightcap")

_HTML = "text/html; charset=utf-8"
_LOOKS = 3
"""How often the runs are listed at most. A second look takes in runs that finished meanwhile; more would chase a busy bucket."""


def publish(report: Report, outputs: tuple[str, ...], settings: Settings) -> Iterator[Receipt]:
    """Serve output by output and yield what became of each; one that fails does not stop the others.

    Interrupted passes through; an output that has the whole report by then still gets its receipt first.
    """
    for url in outputs:
        yield from _serve(url, report, settings)


def failure(receipts: Sequence[Receipt], spool: Path | None) -> DeliverError:
    """Put the failed receipts into one error that says for each why and what to do, and where the files are kept."""
    failed = [receipt for receipt in receipts if receipt.error is not None]
    kept = f"The files are kept in {spool}." if spool else "The files could not be kept in the spool folder either; the log says why."
    return DeliverError(
        "destination-failed",
        attempted=f"deliver the report to {len(failed)} of {len(receipts)} destinations",
        why="; ".join(f"{receipt.destination}: {receipt.error}" for receipt in failed),
        remedy=" ".join([*dict.fromkeys(receipt.remedy for receipt in failed if receipt.remedy), kept]),
    )


def deliver(report: Report, store: Store) -> None:
    """Write every file of a run, its manifest last; that of an earlier try goes first, lest it list the files of two."""
    *files, last = layout.run_files(report)
    _withdraw(store, last)
    for file in (*files, last):
        store.write(file.name, file.data, file.media_type)


def _withdraw(store: Store, told: Artifact) -> None:
    """Delete the manifest of a run that is there already and is another. A key without the right to do so delivers all the same."""
    try:
        earlier = _read(store, told.name)
    except StorageError:
        return  # writing or listing, which come next, say why
    if earlier in (None, told.data):
        return
    try:
        store.delete(told.name)
    except StorageError as error:
        log.warning("an earlier try of this run stays listed while its files are replaced: %s", error)


def refresh(store: BlobStore, own: Entry, links: index.Links = index.RELATIVE) -> None:
    """Derive latest.json, latest/index.html and index.html from a listing of the runs that are there whole.

    After writing it looks again: whoever of several runs at the same time writes last has then seen all of them.
    """
    memory = index.remembered(_read(store, layout.INDEX) or b"")
    listed: frozenset[str] = frozenset()
    for _ in range(_LOOKS):
        paths = layout.whole_runs(store.keys(layout.CLUSTERS)) | {own.path}
        if paths == listed:
            return
        memory = {path: memory[path] for path in paths if path in memory} | {own.path: own}
        memory |= {entry.path: entry for entry in _entries(store, paths - memory.keys())}
        _write_latest(store, own.cluster, memory.values(), links)
        store.write(layout.INDEX, index.page(memory.values(), links), _HTML)
        listed = paths


def correct(report: Report, outputs: Iterable[str], settings: Settings) -> None:
    """Write what says of the run how it went once more, at outputs that have it: report.json, manifest.json and the run's row in the list.

    An output where that fails keeps what it has, which the log says.
    """
    path = layout.run_path(report)
    told = {path + name for name in ("report.json", manifest.NAME)}
    for url in outputs:
        try:
            store = open_store(url, settings)
            for file in layout.run_files(report):
                if file.name in told:
                    store.write(file.name, file.data, file.media_type)
            refresh(store, manifest.entry_of(report, path), _links(store, settings))
        except (StorageError, SettingsError) as error:
            log.warning("%s still says that the run is complete: %s", without_keys(url), error)


def _serve(url: str, report: Report, settings: Settings) -> Iterator[Receipt]:
    path, shown, arrived = layout.run_path(report), without_keys(url), False
    location = shown
    try:
        location = locate(url).at(path)
        store = open_store(url, settings)
        deliver(report, store)
        arrived = True
        _prune(store, shown, report, settings)
        refresh(store, manifest.entry_of(report, path), _links(store, settings))
    except Interrupted:
        if arrived:  # the next run lists it
            yield Receipt(shown, location)
        raise
    except (StorageError, SettingsError) as error:
        yield Receipt(shown, location, f"the report is there but could not be listed: {error.why}" if arrived else error.why, error.remedy)
    except Exception as error:
        log.exception("delivery to %s failed in a way nobody foresaw", shown)
        yield Receipt(shown, location, f"{type(error).__name__}: {error}", "This is a bug; the log has its trace.")
    else:
        yield Receipt(shown, location)


def _prune(store: Store, shown: str, report: Report, settings: Settings) -> None:
    """Delete what is older than reports are kept. When that fails the report is still there: it is said, and tried again the next night."""
    if settings.retention.days is None:
        return
    try:
        gone = prune(store, report.cluster, report.run.date, settings.retention.days)
    except StorageError as error:
        log.warning("old reports at %s stay: %s", shown, error)
    else:
        log.info("deleted %d old runs at %s", len(gone), shown)


def _links(store: Store, settings: Settings) -> index.Links:
    """Give the way in which pages link, as the settings have it; a folder has but one."""
    if settings.s3.index_links == "relative":
        return index.RELATIVE
    return index.Links(lambda key: store.link(key, settings.s3.link_seconds))


def _write_latest(store: BlobStore, cluster: str, entries: Iterable[Entry], links: index.Links) -> None:
    """Point at the newest complete run of a cluster, never at an older one than before: not even when that one was stopped after all."""
    pointer, bookmark = layout.latest_keys(cluster)
    before = _pointed_at(store, pointer)
    runs = {entry.path: entry for entry in (before, *entries) if entry}
    whole = [run for run in runs.values() if run.cluster == cluster and run.complete]
    if whole:
        newest = max(whole, key=lambda run: (run.moment, run.path))
        if before and newest.moment < before.moment:
            return
        fields = {"format_version": manifest.FORMAT_VERSION, **manifest.to_fields(newest)}
        store.write(pointer, manifest.to_json(fields), "application/json")
        store.write(bookmark, index.latest_page(newest, links), _HTML)


def _pointed_at(store: BlobStore, pointer: str) -> Entry | None:
    try:
        return manifest.from_fields(json.loads(_read(store, pointer) or b""))
    except (ValueError, KeyError, TypeError):
        return None  # absent or damaged: rebuilt from the listing


def _entries(store: BlobStore, paths: Iterable[str]) -> Iterator[Entry]:
    for path in sorted(paths):
        data = _read(store, path + manifest.NAME)
        if data is not None:  # else the run was deleted since it was listed
            yield manifest.decode(path, data)


def _read(store: BlobStore, key: str) -> bytes | None:
    try:
        return store.read(key)
    except KeyError:
        return None
