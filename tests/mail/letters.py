"""Reports with a letter, and settings to mail them with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from batch.report.model import Artifact, Report
from batch.settings import MailSettings, Settings
from tests.report.clusters import report_of, small_cluster

PDF = b"%PDF-1.7 " + bytes(range(256)) * 40


@cache
def _rendered() -> Report:
    mail = {"host": "h", "sender": "a@example.com", "recipients": ("b@example.com",)}
    return report_of(small_cluster(), mail=mail, report={"formats": ["json"]})


def report(pdf: bytes | None = PDF, **changes: Any) -> Report:
    """Give the report of a small cluster, with a PDF that says nothing."""
    made = _rendered()
    files = (*((Artifact("report.pdf", "application/pdf", pdf),) if pdf is not None else ()), *made.artifacts)
    return replace(made, artifacts=files, **changes)


def settings(*recipients: str, **mail: Any) -> Settings:
    """Give settings for a server on the loopback, in clear unless told otherwise."""
    fields = {
        "host": "localhost",
        "security": "none",
        "sender": "nightcap@example.com",
        "recipients": recipients or ("ops@example.com",),
        "timeout_seconds": 20,
        **mail,
    }
    return Settings(mail=MailSettings.model_validate(fields))
