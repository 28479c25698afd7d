"""Every message that can end a run is explained in docs/messages.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import batch
from batch import errors

ROOT = Path(batch.__file__).parent
NAMES = {name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, errors.BatchError)}


def raised_slugs() -> Iterator[str]:
    for path in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in NAMES and call.args:
                yield ast.unparse(call.args[0]).removeprefix("f").strip("'\"")


def test_every_slug_is_explained_and_every_explanation_is_of_a_slug() -> None:
    raised = {slug for found in raised_slugs() for slug in ({"pods-unreadable", "nodes-unreadable"} if "{" in found else {found})}
    page = (ROOT.parent / "docs" / "messages.md").read_text(encoding="utf-8")
    explained = {
        slug for group in re.findall(r"^(?:\*\*[a-z0-9-]+\.?\*\*,? ?)+", page, re.MULTILINE) for slug in re.findall(r"[a-z0-9-]+", group)
    }
    assert explained == raised
