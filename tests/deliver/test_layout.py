from __future__ import annotations

import hashlib
import json
from urllib.parse import unquote

import pytest

from batch.deliver import layout
from batch.report.model import Artifact
from tests.deliver.reports import FILES, report

RUN = "cluster=prod-1/date=2026-11-30/run=20261130T020500Z/"


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("prod-1_a.b~c", "prod-1_a.b~c"),
        ("arn:aws:eks:eu-west-1:1:cluster/prod", "arn%3Aaws%3Aeks%3Aeu-west-1%3A1%3Acluster%2Fprod"),
        ("my cluster", "my%20cluster"),
        ("100%", "100%25"),
        ("größe", "gr%C3%B6%C3%9Fe"),
        ("..", "%2E%2E"),
        ("a\nb", "a%0Ab"),
    ],
)
def test_names_are_percent_encoded_and_come_back(name: str, encoded: str) -> None:
    assert layout.encode(name) == encoded
    assert unquote(encoded) == name


@pytest.mark.parametrize("name", ["a" * 253, "集" * 253, "/" * 300])
def test_long_names_fit_a_file_name_and_stay_apart(name: str) -> None:
    folder = layout.cluster_path(name).rstrip("/")
    assert len(folder.encode()) <= 255
    assert folder != layout.cluster_path(name + "x").rstrip("/")
    unquote(folder, errors="strict")  # no character is cut in two


def test_the_manifest_is_the_last_file_and_lists_all_others() -> None:
    files = list(layout.run_files(report()))
    assert [file.name for file in files] == [RUN + each.name for each in FILES] + [RUN + "manifest.json"]
    manifest = json.loads(files[-1].data)
    assert manifest["cluster"] == "prod-1"
    assert manifest["run"] == {"id": "20261130T020500Z", "date": "2026-11-30", "taken_at": "2026-11-30T02:05:00+00:00", "complete": True}
    assert [each["name"] for each in manifest["artifacts"]] == [each.name for each in FILES]
    assert manifest["artifacts"][0] == {
        "name": "report.pdf",
        "path": "report.pdf",
        "media_type": "application/pdf",
        "bytes": 14,
        "sha256": hashlib.sha256(b"%PDF-1.7 pages").hexdigest(),
    }


def test_the_name_of_an_artifact_cannot_leave_the_runs_folder() -> None:
    odd = Artifact("tables/../../x y.csv", "text/csv", b"")
    files = list(layout.run_files(report(artifacts=(odd,))))
    assert files[0].name == RUN + "tables/%2E%2E/%2E%2E/x%20y.csv"
    assert json.loads(files[1].data)["artifacts"][0]["path"] == "tables/%2E%2E/%2E%2E/x%20y.csv"


def test_only_runs_with_their_own_manifest_are_whole() -> None:
    keys = [
        RUN + "manifest.json",
        "cluster=a/date=2026-11-30/run=1/report.pdf",
        "cluster=a/date=2026-11-30/run=2/snapshot/manifest.json",
        "cluster=a/latest.json",
        "cluster=a/history/date=2026-11-30/1.parquet",
    ]
    assert layout.whole_runs(keys) == {RUN}


def test_only_files_of_a_run_may_be_kept_by_a_browser() -> None:
    assert layout.cache_control(RUN + "report.pdf") == "max-age=86400, immutable"
    assert {layout.cache_control(key) for key in ("index.html", "cluster=a/latest.json", "nodes.parquet")} == {"no-cache"}
