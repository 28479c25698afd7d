import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batch.report.model import Artifact, Report
from tests.report.clusters import report_of, small_cluster

ROOT = Path(__file__).parents[2]


def names(report: Report) -> list[str]:
    return [artifact.name for artifact in report.artifacts]


def json_of(report: Report) -> dict[str, object]:
    found: dict[str, object] = json.loads(report.artifacts[-1].data)
    return found


@pytest.fixture(scope="module")
def whole() -> Report:
    return report_of(small_cluster())


def test_report_json_comes_last_and_lists_all_but_itself(whole: Report) -> None:
    assert names(whole)[:2] == ["report.pdf", "report.html"]
    assert names(whole)[-1] == "report.json"
    listed = json_of(whole)["artifacts"]
    assert listed == [{"name": a.name, "media_type": a.media_type, "bytes": len(a.data), "sha256": a.sha256} for a in whole.artifacts[:-1]]


def test_the_terminal_hears_what_was_found_and_what_was_missing(whole: Report) -> None:
    assert whole.headline.startswith("test: Pods request 25")
    assert whole.missing == "Not known: nodemetrics (forbidden)."
    assert whole.problem is None


def test_only_the_formats_asked_for_are_made_and_other_files_pass_through() -> None:
    extra = Artifact("snapshot/manifest.json", "application/json", b"{}")
    report = report_of(small_cluster(), extra, report={"formats": ["json"]})
    assert not {"report.pdf", "report.html"} & set(names(report))
    assert "snapshot/manifest.json" in names(report)


def test_a_pdf_that_cannot_be_made_is_a_gap_and_costs_nothing_else() -> None:
    report = report_of(small_cluster(), report={"pdf_timeout_seconds": 0.01})
    assert report.problem
    assert "report.pdf" not in names(report)
    assert {"report.html", "report.json", "tables/nodes.csv"} <= set(names(report))
    gap = {"source": "report.pdf", "reason": report.problem, "effect": "There is no PDF tonight; the other files are complete."}
    assert gap in json_of(report)["gaps"]  # type: ignore[operator]  # a list, by the schema
    assert b"There is no PDF tonight" in report.artifacts[0].data
    assert "report.pdf" in report.missing


def test_equal_input_gives_equal_bytes_in_another_process() -> None:
    def checksums(seed: str, zone: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tests.report.clusters"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    first = checksums("1", "UTC")
    assert "report.pdf" in first
    assert first == checksums("2", "Asia/Tokyo")
