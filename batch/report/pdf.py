"""Makes the PDF in a process of its own, so that a page too large costs the PDF and not the report."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from batch.errors import RenderError
from batch.report.format import format_bytes, format_seconds
from batch.report.model import Artifact
from batch.report.paths import FONTS
from batch.settings import ReportSettings

WORKER = "batch.report.pdf_worker"

_ROOT = Path(__file__).resolve().parents[2]
_OUT_OF_MEMORY = 9
"""Exit code by which the process says that it reached its memory limit."""

_GLYPH = re.compile(r"\.notdef glyph rendered .*\(U\+([0-9A-F]{4,6})\)")
"""How WeasyPrint 70 reports a character for which no font has a glyph."""


@dataclass(frozen=True)
class Pdf:
    """The PDF, the characters that no font could show in it, and what else WeasyPrint had to say."""

    data: bytes
    missing_glyphs: tuple[str, ...]
    warnings: tuple[str, ...]


def make_pdf(page: str, attachments: Sequence[Artifact], made_at: datetime, settings: ReportSettings) -> Pdf:
    """Make a tagged PDF/A-3 from a page of html.print_page, with files attached.

    Raises RenderError pdf-failed when the process fails, takes longer than pdf_timeout_seconds or needs more than pdf_memory_bytes.
    """
    job = {
        "page": page,
        "fonts": str(FONTS),
        "made_at": made_at.isoformat(),
        "memory_bytes": settings.pdf_memory_bytes,
        "memory_exit_code": _OUT_OF_MEMORY,
        "attachments": [{"name": a.name.rpartition("/")[2], "data": base64.b64encode(a.data).decode("ascii")} for a in attachments],
    }
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(  # noqa: S603  this program's own module
            [sys.executable, "-m", WORKER],
            input=json.dumps(job).encode(),
            capture_output=True,
            timeout=settings.pdf_timeout_seconds,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _failure(f"it took longer than {format_seconds(settings.pdf_timeout_seconds)} (report.pdf_timeout_seconds)") from error
    except OSError as error:
        raise _failure(f"its process could not be started: {error}") from error
    if done.returncode:
        raise _failure(_why(done.returncode, done.stderr.decode(errors="replace"), settings))
    head, _, data = done.stdout.partition(b"\n")
    return _pdf(data, json.loads(head))


def _pdf(data: bytes, messages: Sequence[str]) -> Pdf:
    glyphs = [(message, _GLYPH.search(message)) for message in messages]
    return Pdf(
        data=data,
        missing_glyphs=tuple(sorted({f"U+{found[1]}" for _, found in glyphs if found})),
        warnings=tuple(dict.fromkeys(message for message, found in glyphs if not found)),
    )


def _why(returncode: int, errors: str, settings: ReportSettings) -> str:
    lines = errors.strip().splitlines()
    last = lines[-1] if lines else ""
    if settings.pdf_memory_bytes and (returncode == _OUT_OF_MEMORY or returncode < 0 or "memory" in errors.lower()):
        return f"it needed more than {format_bytes(settings.pdf_memory_bytes)} of memory (report.pdf_memory_bytes)"
    if returncode < 0:
        return f"its process was stopped by {signal.Signals(-returncode).name}, as happens when memory runs out"
    return f"WeasyPrint failed: {last or f'exit code {returncode}'}"


def _failure(why: str) -> RenderError:
    return RenderError("pdf-failed", attempted="make report.pdf", why=why, remedy="Lower report.top_rows, or allow it more time or memory.")
