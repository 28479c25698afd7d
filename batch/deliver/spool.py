"""Keeps the report on disk when a destination failed."""

from __future__ import annotations

import logging
from pathlib import Path

from batch.deliver import layout, publish
from batch.deliver.folder import FolderStore
from batch.deliver.model import StorageError
from batch.report.model import Report

log = logging.getLogger("nightcap")


def keep(report: Report, directory: Path) -> Path | None:
    """Write the run's files into the spool folder as at an output, and give their folder.

    None when that fails too: the log says why, and the error about the destination stays the one that is told.
    """
    root = directory.absolute()
    try:
        publish.deliver(report, FolderStore(root))
    except StorageError as error:
        log.error("%s", error)  # noqa: TRY400  the message says all; a trace would hide it
        return None
    return root / layout.run_path(report)
