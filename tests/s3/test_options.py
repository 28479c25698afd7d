"""What a bucket can be asked for beside keeping bytes: encryption, tags, deletion, links; on a real server."""

from __future__ import annotations

import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from batch import preflight
from batch.deliver import publish, s3
from batch.deliver.model import StorageError, Store
from batch.deliver.storage import open_store
from batch.settings import RetentionSettings, Settings
from tests.deliver.reports import report
from tests.s3 import seaweed
from tests.worlds import world

RUN = "cluster=prod-1/date=2026-11-30/run=20261130T020500Z/"


def store(server: seaweed.Server, bucket: str, keys: tuple[str, str] = seaweed.WRITER, **more: object) -> Store:
    return open_store(f"s3://{bucket}", Settings(s3=server.settings(keys, **more)))


def head(server: seaweed.Server, bucket: str, key: str) -> dict[str, object]:
    found: dict[str, object] = server.client().head_object(Bucket=bucket, Key=key)
    return found


def test_encryption_is_asked_for_and_confirmed(server: seaweed.Server, bucket: str) -> None:
    store(server, bucket, sse="AES256").write("a", b"secret", "text/plain")
    assert head(server, bucket, "a")["ServerSideEncryption"] == "AES256"
    assert store(server, bucket).read("a") == b"secret"


@pytest.mark.usefixtures("impatient")
def test_a_store_that_fails_over_encryption_that_it_does_not_know_is_told_as_such(server: seaweed.Server, bucket: str) -> None:
    with pytest.raises(StorageError, match=r"HTTP status 500 .* try with s3\.sse, s3\.tags and s3\.storage_class unset\."):
        store(server, bucket, sse="aws:kms").write("a", b"b", "text/plain")


def test_tags_and_storage_class_are_set(server: seaweed.Server, bucket: str) -> None:
    store(server, bucket, tags={"team": "plat form", "cost-centre": "a&b=c"}, storage_class="STANDARD_IA").write("a", b"1", "text/plain")
    tags = server.client().get_object_tagging(Bucket=bucket, Key="a")["TagSet"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "plat form", "cost-centre": "a&b=c"}
    assert head(server, bucket, "a")["StorageClass"] == "STANDARD_IA"


def test_an_object_is_deleted_and_once_more_is_no_error(server: seaweed.Server, bucket: str) -> None:
    there = store(server, bucket)
    there.write("a", b"1", "text/plain")
    for _ in range(2):
        there.delete("a")
    assert there.keys() == []
    with pytest.raises(StorageError, match=r"could not delete .*access denied.* Grant s3:DeleteObject"):
        store(server, bucket, seaweed.READER).delete("a")


def test_a_file_that_one_put_cannot_take_is_refused_before_it_is_sent(
    server: seaweed.Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "_MOST_BYTES", 3)
    with pytest.raises(StorageError, match="it has 4 bytes, and one PUT takes 3"):
        store(server, bucket).write("a", b"1234", "text/plain")
    assert store(server, bucket).keys() == []


def opened(url: str) -> tuple[int, bytes, str]:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=20) as answer:
            return answer.status, answer.read(), answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), ""


def test_a_link_opens_without_a_login_and_says_when_it_ends(server: seaweed.Server, bucket: str) -> None:
    there = store(server, bucket)
    there.write("cluster=a%2Fb/report.html", b"<p>r", "text/html; charset=utf-8")
    link = there.link("cluster=a%2Fb/report.html", 600)
    assert link is not None
    assert opened(link.url) == (200, b"<p>r", "text/html; charset=utf-8")
    query = parse_qs(urlsplit(link.url).query)
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    signed_at = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert (link.until, link.may_end_earlier) == (signed_at + timedelta(seconds=600), False)
    assert opened(link.url.replace("report.html", "other.html"))[0] == 403


def test_an_index_with_signed_links_works_by_a_link_of_its_own(server: seaweed.Server, bucket: str) -> None:
    settings = Settings(s3=server.settings(index_links="presigned"))
    list(publish.publish(report(), (f"s3://{bucket}/p",), settings))
    there = open_store(f"s3://{bucket}/p", settings)
    index = there.link("index.html", 600)
    assert index is not None
    page = opened(index.url)[1].decode()
    links = [part.partition('"')[0].replace("&amp;", "&") for part in page.split('href="')[1:]]
    assert {opened(link)[0] for link in links} == {200}
    assert any(f"{RUN}report.pdf".replace("=", "%3D") in link for link in links)


def test_a_link_lives_no_longer_than_s3_takes(server: seaweed.Server, bucket: str) -> None:
    link = store(server, bucket).link("a", 604_801)
    assert link is not None
    assert "X-Amz-Expires=604800&" in link.url


def line_about_old_runs(server: seaweed.Server, bucket: str, keys: tuple[str, str], days: int | None, spool: Path) -> list[preflight.Line]:
    fields = {"source": "sample", "outputs": (f"s3://{bucket}/p",), "report": {"formats": ["json"]}, "run": {"spool_directory": spool}}
    settings = Settings.model_validate({**fields, "s3": server.settings(keys), "retention": RetentionSettings(days=days)})
    return [line for line in preflight.check(settings, world()) if "old runs" in line.what]


def test_check_tries_to_delete_only_where_runs_are_to_be_deleted(server: seaweed.Server, bucket: str, tmp_path: Path) -> None:
    assert line_about_old_runs(server, bucket, seaweed.WRITER, None, tmp_path) == []
    (line,) = line_about_old_runs(server, bucket, seaweed.WRITER, 30, tmp_path)
    assert (line.state, line.why) == ("ok", "a file can be deleted; runs are kept for 30 days")
    assert store(server, bucket).keys() == ["p/.nightcap-check"]
    (line,) = line_about_old_runs(server, bucket, seaweed.READER, 30, tmp_path)
    assert (line.state, line.exit_code) == ("missing", 0)
