"""Answers that no healthy server gives, from a small one that gives what a test says."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from batch.deliver import s3
from batch.deliver.model import StorageError
from batch.deliver.s3 import BucketStore
from batch.errors import SettingsError
from batch.settings import S3Settings

pytestmark = pytest.mark.usefixtures("impatient")


@dataclass(frozen=True)
class Answer:
    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def error(status: int, code: str, inner: str = "", **headers: str) -> Answer:
    return Answer(status, f"<Error><Code>{code}</Code>{inner}</Error>", {name.replace("_", "-"): text for name, text in headers.items()})


@contextlib.contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], Answer]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # botocore waits for the 100 Continue that 1.0 does not have

        def _reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = answer(self)
            self.send_response(reply.status)
            for name, text in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body.encode())

        do_GET = do_PUT = do_HEAD = do_POST = _reply  # noqa: N815  http.server finds methods by these names

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def store(endpoint_url: str, **changes: object) -> BucketStore:
    keys = {"endpoint_url": endpoint_url, "region": "us-east-1", "access_key_id": "AK", "secret_access_key": "SK"}
    return BucketStore("rpt", "", s3.connect(S3Settings.model_validate({**keys, **changes})))


def refusal(answer: Answer) -> str:
    with answering(lambda _: answer) as url, pytest.raises(StorageError) as caught:
        store(url).write("report.pdf", b"pages", "application/pdf")
    return str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        error(400, "AuthorizationHeaderMalformed", "<Message>the region 'us-east-1' is wrong; expecting 'eu-west-3'</Message>"),
        error(400, "AuthorizationHeaderMalformed", "<Message>wrong</Message><Region>eu-west-3</Region>"),
        error(301, "PermanentRedirect", "<Message>use the right endpoint</Message>", x_amz_bucket_region="eu-west-3"),
    ],
)
def test_a_wrong_region_is_told_with_the_right_one(answer: Answer) -> None:
    words = refusal(answer)
    assert "wrong region: the request was made for us-east-1, the store expects eu-west-3" in words
    assert words.endswith("Set s3.region to eu-west-3.")


def test_a_wrong_region_is_told_also_where_the_right_one_is_not_known() -> None:
    words = refusal(error(307, "TemporaryRedirect"))
    assert "wrong region: the request was made for us-east-1 (TemporaryRedirect)" in words
    assert "Set s3.region" in words


def test_a_proxy_that_redirects_everything_to_tls_is_told() -> None:
    words = refusal(Answer(301, "<html>Moved</html>", {"Location": "https://store.example/rpt/report.pdf"}))
    assert "redirects to https://store.example/rpt/report.pdf" in words
    assert "Set s3.endpoint_url" in words


def skewed(minutes: int, *, by_header: bool = False) -> Callable[[BaseHTTPRequestHandler], Answer]:
    """Answer as a store whose clock is that far ahead of the time that was signed."""

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        signed_at = datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        theirs = signed_at + timedelta(minutes=minutes)
        if by_header:
            return error(403, "RequestTimeTooSkewed", Date=f"{theirs:%a, %d %b %Y %H:%M:%S} GMT")
        return error(403, "RequestTimeTooSkewed", f"<ServerTime>{theirs:%Y-%m-%dT%H:%M:%SZ}</ServerTime>")

    return answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (skewed(20), "this machine's clock is 20 minutes behind the store's"),
        (skewed(-20), "this machine's clock is 20 minutes ahead of the store's"),
        (skewed(60 * 24), "this machine's clock is 24 hours behind the store's"),
        (lambda _: error(403, "RequestTimeTooSkewed", "<RequestTime>20261130T020000Z</RequestTime><ServerTime>2026-11-30T02:17:00Z</ServerTime>"),
         "this machine's clock is 17 minutes behind the store's"),
    ],
)  # fmt: skip
def test_a_wrong_clock_is_told_with_the_difference(answer: Callable[[BaseHTTPRequestHandler], Answer], words: str) -> None:
    with answering(answer) as url, pytest.raises(StorageError, match=words) as caught:
        store(url).write("report.pdf", b"pages", "application/pdf")
    assert "access denied" not in str(caught.value)


def test_a_store_that_keeps_the_framing_of_an_upload_is_caught() -> None:
    def answer(request: BaseHTTPRequestHandler) -> Answer:
        return Answer(200, headers={"Content-Length": "91"} if request.command == "HEAD" else {})

    with answering(answer) as url, pytest.raises(StorageError, match="5 bytes were sent and the store says that it holds 91"):
        store(url).write("report.pdf", b"pages", "application/pdf")


def test_an_upload_is_plain_and_carries_its_checksum() -> None:
    seen: list[dict[str, str]] = []

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        seen.append({name.lower(): text for name, text in request.headers.items()})
        return Answer(200, headers={"Content-Length": "5"} if request.command == "HEAD" else {})

    with answering(answer) as url:
        store(url).write("report.pdf", b"pages", "application/pdf")
    put = seen[0]
    assert put["content-md5"] == "s7MqLUIiZc0lwzI+0BV/gQ=="  # printf pages | openssl md5 -binary | base64
    assert put["content-length"] == "5"
    assert "content-encoding" not in put
    assert not [name for name in put if name.startswith(("x-amz-checksum", "x-amz-trailer", "x-amz-sdk-checksum"))]


def test_a_key_that_may_write_but_not_read_is_told_which_right_it_lacks() -> None:
    words = r"could not check s3://rpt/a: access denied.* Grant s3:GetObject"
    writable = answering(lambda request: Answer(403 if request.command == "HEAD" else 200))
    with writable as url, pytest.raises(StorageError, match=words):
        store(url).write("a", b"1", "text/plain")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error(503, "SlowDown", "<Message>Reduce your request rate.</Message>"), "HTTP status 503 (SlowDown: Reduce your request rate). Try again later"),
        (Answer(502, "<html>Bad gateway</html>"), "HTTP status 502"),
        (error(501, "NotImplemented"), "HTTP status 501 (NotImplemented)"),
        (error(409, "OddCode", "<Message>because</Message>"), "HTTP status 409 (OddCode: because). Look the code up"),
    ],
)  # fmt: skip
def test_other_refusals_keep_the_stores_own_words(answer: Answer, words: str) -> None:
    assert words in refusal(answer)


def test_an_unreadable_listing_is_no_usable_answer() -> None:
    listing = Answer(200, "<ListBucketResult><Contents><Key>a</Key><LastModified>soon</LastModified></Contents></ListBucketResult>")
    with answering(lambda _: listing) as url, pytest.raises(StorageError, match=r"no usable answer from 127.*soon"):
        store(url).keys()


def test_a_dead_endpoint_is_told_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(StorageError, match=r"nothing answers at 127\.0\.0\.1:\d+: Connection refused\. .*Check s3\.endpoint_url"):
            store(url).keys()


def test_silence_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StorageError, match=r"127\.0\.0\.1:\d+ did not answer in time.* raise s3\.timeout_seconds"):
            store(url, timeout_seconds=0.05).keys()


def test_missing_credentials_are_told() -> None:
    with pytest.raises(StorageError, match=r"there are no usable credentials .*Unable to locate credentials.* s3\.access_key_id"):
        store("http://127.0.0.1:9", access_key_id=None, secret_access_key=None).keys()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"endpoint_url": "store:9000"}, "Invalid endpoint: store:9000"),
        ({"secret_access_key": None}, "only a part of the credentials is set"),
        ({"ca_file": Path("/no/such/ca.pem")}, "there is no file /no/such/ca.pem"),
        ({"region": "eu west"}, "eu west"),
    ],
)
def test_settings_that_make_no_client_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        store(**{"endpoint_url": "http://127.0.0.1:9", **changes})  # type: ignore[arg-type]
    assert caught.value.slug == "s3-settings"
