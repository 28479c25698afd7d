"""Delivery to a real S3 server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batch.deliver import layout, publish, s3
from batch.deliver.s3 import BucketStore
from batch.deliver.storage import StorageError, open_store
from batch.settings import Settings
from batch.snapshot.archive import BlobStore
from tests.deliver.reports import FILES, report
from tests.s3 import seaweed

RUN = "cluster=prod-1/date=2026-11-30/run=20261130T020500Z/"


def settings(server: seaweed.Server, keys: tuple[str, str] = seaweed.WRITER) -> Settings:
    return Settings(s3=server.settings(keys))


def store(server: seaweed.Server, bucket: str, keys: tuple[str, str] = seaweed.WRITER) -> BlobStore:
    return open_store(f"s3://{bucket}", settings(server, keys))


def test_a_whole_report_arrives_as_it_was_sent(server: seaweed.Server, bucket: str) -> None:
    (receipt,) = publish.publish(report(), (f"s3://{bucket}/nightly",), settings(server))
    assert receipt.error is None
    assert receipt.location == f"s3://{bucket}/nightly/{RUN}"
    there = open_store(f"s3://{bucket}/nightly", settings(server))
    files = {file.name: file.data for file in layout.run_files(report())}
    assert {key: there.read(key) for key in there.keys(RUN)} == files
    assert set(there.keys()) - set(files) == {"cluster=prod-1/latest.json", "cluster=prod-1/latest/index.html", "index.html"}
    assert json.loads(there.read("cluster=prod-1/latest.json"))["path"] == RUN


def test_objects_tell_a_browser_what_they_are(server: seaweed.Server, bucket: str) -> None:
    list(publish.publish(report("größe/1"), (f"s3://{bucket}",), settings(server)))
    seen = {}
    keys = store(server, bucket).keys()
    for key in keys:
        head = server.client().head_object(Bucket=bucket, Key=key)
        assert "ContentEncoding" not in head
        seen[key.rpartition("/")[2]] = (head["ContentType"], head["ContentDisposition"], head["CacheControl"])
    assert seen["report.pdf"] == ("application/pdf", 'inline; filename="report.pdf"', "max-age=86400, immutable")
    assert seen["pods.csv"] == ("text/csv; charset=utf-8", 'inline; filename="pods.csv"', "max-age=86400, immutable")
    assert seen["index.html"] == ("text/html; charset=utf-8", 'inline; filename="index.html"', "no-cache")
    assert seen["latest.json"] == ("application/json", 'inline; filename="latest.json"', "no-cache")


def test_a_retried_run_ends_in_the_same_state(server: seaweed.Server, bucket: str) -> None:
    def state() -> dict[str, bytes]:
        list(publish.publish(report(), (f"s3://{bucket}",), settings(server)))
        there = store(server, bucket)
        keys = there.keys()
        return {key: there.read(key) for key in keys}

    assert state() == state()


def test_odd_keys_and_more_than_a_page_of_them_are_listed(server: seaweed.Server, bucket: str) -> None:
    keys = sorted([*(f"run=1/{number:04}" for number in range(1001)), "run=1/a%2Fb c", "run=1/größe&<x>"])
    client = server.client()
    for key in keys:
        client.put_object(Bucket=bucket, Key=key, Body=b"")
    assert store(server, bucket).keys("run=1/") == keys
    assert store(server, bucket).keys("run=2/") == []
    assert open_store(f"s3://{bucket}/run=1", settings(server)).keys("a%") == ["a%2Fb c"]


def test_a_big_file_is_one_put(server: seaweed.Server, bucket: str) -> None:
    data = bytes(range(256)) * 40_000  # 10 MB: boto3 alone would send parts from 8 MiB on
    store(server, bucket).write("report.pdf", data, "application/pdf")
    assert store(server, bucket).read("report.pdf") == data
    etag = server.client().head_object(Bucket=bucket, Key="report.pdf")["ETag"]
    assert "-" not in etag  # S3 marks the ETag of an object in parts with their number


def test_a_missing_object_is_a_key_error(server: seaweed.Server, bucket: str) -> None:
    with pytest.raises(KeyError):
        store(server, bucket).read("absent")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (seaweed.READER, r"could not write s3://.*/a: access denied.*AccessDenied.* Grant s3:PutObject"),
        ((seaweed.WRITER[0], "wrong"), r"the secret key does not belong to the access key .*SignatureDoesNotMatch.* s3\.secret_access_key"),
        (("nobody", "wrong"), r"does not know this access key .*InvalidAccessKeyId.* Check s3\.access_key_id"),
    ],
)
def test_refused_keys_are_said_in_words(server: seaweed.Server, bucket: str, keys: tuple[str, str], words: str) -> None:
    with pytest.raises(StorageError, match=words):
        store(server, bucket, keys).write("a", b"1", "text/plain")


def test_a_key_that_may_only_read_can_read(server: seaweed.Server, bucket: str) -> None:
    store(server, bucket).write("a", b"1", "text/plain")
    reader = store(server, bucket, seaweed.READER)
    assert reader.keys() == ["a"]
    assert reader.read("a") == b"1"


def test_a_missing_bucket_is_said_in_words(server: seaweed.Server) -> None:
    absent = store(server, "absent")
    for ask in (lambda: absent.read("a"), lambda: absent.write("a", b"", "text/plain"), absent.keys):
        with pytest.raises(StorageError, match=r"there is no bucket absent at http://127\..* Create the bucket"):
            ask()


@pytest.mark.usefixtures("impatient")
def test_virtual_addressing_without_dns_is_no_endpoint_down(server: seaweed.Server) -> None:
    at_invalid = server.settings().model_copy(update={"addressing": "virtual", "endpoint_url": "http://store.invalid:9000"})
    with pytest.raises(StorageError, match=r"the host name rpt\.store\.invalid does not exist\. .*set s3\.addressing to path"):
        BucketStore("rpt", "", s3.connect(at_invalid)).keys()


def test_auto_addressing_puts_the_bucket_into_the_path_of_a_custom_endpoint(server: seaweed.Server) -> None:
    named = server.settings().model_copy(update={"endpoint_url": server.endpoint_url.replace("127.0.0.1", "localhost")})
    server.client().create_bucket(Bucket="rpt.dotted.name")
    assert BucketStore("rpt.dotted.name", "", s3.connect(named)).keys() == []


@pytest.mark.usefixtures("impatient")
def test_tls_to_a_plain_port_says_so(server: seaweed.Server) -> None:
    over_tls = server.settings().model_copy(update={"endpoint_url": server.endpoint_url.replace("http:", "https:")})
    with pytest.raises(StorageError, match=r"no TLS connection to 127\.0\.0\.1:\d+: .* begin s3\.endpoint_url with http://"):
        BucketStore("rpt", "", s3.connect(over_tls)).keys()


def test_of_two_outputs_the_failed_one_is_named_and_the_other_served(server: seaweed.Server, bucket: str, tmp_path: Path) -> None:
    receipts = tuple(publish.publish(report(), ("s3://absent/p", f"s3://{bucket}/p", str(tmp_path)), settings(server)))
    assert [receipt.error is None for receipt in receipts] == [False, True, True]
    assert "there is no bucket absent" in str(publish.failure(receipts, tmp_path))
    assert open_store(f"s3://{bucket}/p", settings(server)).read(RUN + "report.pdf") == FILES[0].data
