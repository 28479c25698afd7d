"""Imports point against the flow: a stage may import what it receives, never what comes after it, never its siblings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import batch

ROOT = Path(batch.__file__).parent

FOUNDATION = {"batch", "errors", "findings", "settings", "deadline", "memory", "accelerators"}
CHECKS = {"plan", "gpu", "jobs", "scale"}

ALLOWED = {
    "batch": set[str](),
    "errors": set[str](),
    "findings": set[str](),
    "accelerators": set[str](),
    "deadline": set[str](),
    "memory": set[str](),
    "settings": {"errors"},
    "settings_page": {"settings"},
    "snapshot": FOUNDATION,
    "collect": FOUNDATION | {"snapshot"},
    "packing": set[str](),
    "plan": FOUNDATION | {"snapshot", "packing"},
    "gpu": FOUNDATION | {"snapshot", "packing"},
    "jobs": FOUNDATION | {"snapshot"},
    "scale": FOUNDATION | {"snapshot", "packing"},
    "report": FOUNDATION | {"snapshot"} | CHECKS,
    "deliver": FOUNDATION | {"snapshot", "report"},
    "pipeline": FOUNDATION | {"snapshot", "collect", "report", "deliver"} | CHECKS,
    "preflight": FOUNDATION | {"plan", "collect", "report", "deliver", "pipeline"},
    "cli": FOUNDATION | {"settings_page", "pipeline", "preflight"},
    "__main__": {"memory", "cli"},
}
"""What each part may import of the others."""

OWNERS = {
    "kubernetes": {"collect"},
    "msgspec": {"collect"},
    "boto3": {"deliver"},
    "botocore": {"deliver"},
    "smtplib": {"deliver"},
    "jinja2": {"report"},
    "css_inline": {"report"},
    "matplotlib": {"report"},
    "weasyprint": {"report"},
    "tqdm": {"cli"},
    "argparse": {"cli"},
    "pydantic": {"settings", "settings_page"},
}
"""Libraries that one part owns."""

EXCEPTIONS = {("collect/prometheus/authentication.py", name) for name in ("botocore.auth", "botocore.awsrequest", "botocore.session")}
"""Modules of owned libraries that a single module elsewhere may import: requests to managed Prometheus are signed as AWS wants them."""

CLOCKS = re.compile(r"\b(?:datetime\.now|datetime\.utcnow|time\.time|time\.monotonic|date\.today|Timestamp\.now|Timestamp\.utcnow)\(")


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "batch" if first == "__init__" else first


def imports_of(path: Path) -> Iterator[str]:
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert not statement.level, f"{path}: imports are absolute"
            module = statement.module or ""
            yield from (f"batch.{alias.name}" for alias in statement.names) if module == "batch" else (module,)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_its_part_may(path: Path) -> None:
    part = part_of(path)
    for name in imports_of(path):
        top, _, rest = name.partition(".")
        if top == "batch":
            other = rest.partition(".")[0] if rest.partition(".")[0] in ALLOWED else "batch"
            assert other == part or other in ALLOWED[part], f"{part} imports {name}"
        own = part in OWNERS.get(top, {part}) or (path.relative_to(ROOT).as_posix(), name) in EXCEPTIONS
        assert own, f"{part} imports {top}, which {OWNERS.get(top)} own"


def test_every_part_stands_in_the_table() -> None:
    assert {part_of(path) for path in modules()} == set(ALLOWED)


@pytest.mark.parametrize("path", [p for p in modules() if part_of(p) != "cli"], ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_reads_the_clock(path: Path) -> None:
    assert not CLOCKS.search(path.read_text(encoding="utf-8"))
