from __future__ import annotations

from pathlib import Path

import pytest

from batch.deliver.storage import Location, locate, open_store
from batch.errors import SettingsError
from batch.settings import Settings


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("/srv/reports", Location(None, "/srv/reports")),
        ("file:///srv/my%20reports", Location(None, "/srv/my reports")),
        ("file:/srv/reports", Location(None, "/srv/reports")),
        ("file://localhost/srv/reports", Location(None, "/srv/reports")),
        ("s3://reports", Location("reports", "")),
        ("s3://my.reports/night/ly/", Location("my.reports", "night/ly")),
        ("S3://reports/a b?c#d", Location("reports", "a b?c#d")),
    ],
)
def test_urls_name_folders_and_buckets(url: str, location: Location) -> None:
    assert locate(url) == location


def test_a_relative_folder_is_below_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("out").at("index.html") == f"{tmp_path}/out/index.html"


def test_places_in_a_bucket_read_as_urls() -> None:
    assert locate("s3://reports/").at() == "s3://reports"
    assert locate("s3://reports").at("a/b") == "s3://reports/a/b"
    assert locate("s3://reports/nightly").at("a/b") == "s3://reports/nightly/a/b"


@pytest.mark.parametrize(
    "url",
    ["", "s3://", "s3:///prefix", "s3:reports/x", "s3://re:ports", "http://host/x", "gs://bucket/x", "file://host/x", "file:", "a\0b"],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"Give a folder .* or s3://bucket/prefix") as caught:
        locate(url)
    assert caught.value.slug == "output-url"


def test_keys_in_a_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsError, match="keys do not belong") as caught:
        locate("s3://AKID:hush@bucket/prefix")
    assert "hush" not in str(caught.value)


def test_a_folder_opens_as_a_store(tmp_path: Path) -> None:
    open_store(f"file://{tmp_path}/a", Settings()).write("b", b"1", "text/plain")
    assert (tmp_path / "a" / "b").read_bytes() == b"1"
