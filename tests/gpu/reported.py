"""What a report says of accelerators: its part of report.json, and its section in words."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import jsonschema

from batch.snapshot.model import Snapshot
from tests.report.clusters import report_of
from tests.report.test_document import SCHEMA

Json = dict[str, Any]


def reported(shot: Snapshot, **settings: Any) -> tuple[Json, str]:
    """Make the report; give `gpu` of report.json, which fits the schema, and the words of the section without markup."""
    report = report_of(shot, report={"formats": ["html", "json"]}, **settings)
    files = {artifact.name: artifact.data.decode() for artifact in report.artifacts if artifact.name in ("report.html", "report.json")}
    document = json.loads(files["report.json"])
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    (section,) = re.findall(r'<section[^>]*id="gpus".*?</section>', files["report.html"], re.DOTALL)
    text = re.sub(r"<svg.*?</svg>", " ", section, flags=re.DOTALL)
    return document["gpu"], " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).replace("\u00a0", " ").split())
