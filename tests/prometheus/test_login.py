"""Every way in which people guard their Prometheus."""

from __future__ import annotations

import base64
import hashlib
import hmac
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import PrometheusError
from batch.deadline import Deadline
from batch.settings import PrometheusSettings
from tests.prometheus import proxy, server
from tests.prometheus.proxy import Reply, Request

NOW = datetime(2026, 3, 8, tzinfo=UTC)
EMPTY = Reply(200, b'{"status":"success","data":{"resultType":"vector","result":[]}}')


def client(**settings: Any) -> Client:
    return Client(PrometheusSettings(**settings), Deadline(None, 0, time.monotonic, time.monotonic()), "test", lambda _: None)


def asked(**settings: Any) -> Request:
    with proxy.standing(lambda _: EMPTY) as way:
        client(url=way.address, **settings).query("up", NOW)
    return way.requests[-1]


def test_a_token_is_read_anew_for_every_request(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    with proxy.standing(lambda _: EMPTY) as way:
        one = client(url=way.address, token_file=token)
        one.query("up", NOW)
        token.write_text("second\n")
        one.query("up", NOW)
    assert [request.headers["Authorization"] for request in way.requests] == ["Bearer first", "Bearer second"]


def test_a_token_that_is_not_there_is_said_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(PrometheusError, match=f"{tmp_path}/token could not be read: No such file"):
        asked(token_file=tmp_path / "token")


def test_basic_authentication_headers_and_parameters_are_sent() -> None:
    request = asked(username="me", password="s:ecret", headers={"X-Scope-OrgID": "team"}, parameters={"dedup": "true"})
    assert base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")) == b"me:s:ecret"
    assert request.headers["X-Scope-OrgID"] == "team"
    assert request.parameters["dedup"] == "true"


def test_a_path_prefix_belongs_to_the_address() -> None:
    with proxy.standing(lambda _: EMPTY) as way:
        client(url=f"{way.address}/prometheus/").query("up", NOW)
    assert way.requests[0].path == "/prometheus/api/v1/query"


def test_what_takes_no_post_is_asked_with_get() -> None:
    with proxy.standing(lambda request: Reply(405) if request.method == "POST" else EMPTY) as way:
        one = client(url=way.address)
        one.query("up", NOW)
        one.query("up", NOW)
    assert [request.method for request in way.requests] == ["POST", "GET", "GET"]


def test_requests_to_managed_prometheus_are_signed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    request = asked(sigv4_region="eu-central-1", headers={"X-Other": "1"})
    assert request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/aps/aws4_request" in request.headers["Authorization"]
    assert {"X-Amz-Date", "X-Other"} <= set(request.headers)


@pytest.mark.parametrize("takes", ["GET", "POST"])
def test_the_signature_is_that_of_the_request_as_it_arrives(takes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work it out anew, by AWS's documented steps, from what arrived: blanks of a query are %20 in the canonical form, never +."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with proxy.standing(lambda request: EMPTY if request.method == takes else Reply(405)) as way:
        client(url=f"{way.address}/workspaces/ws-1", sigv4_region="eu-central-1").query('sum by (pod) (up{a="b"})', NOW)
    request = way.requests[-1]
    sent = urlencode(request.parameters, quote_via=quote)
    query, body = (sent, "") if takes == "GET" else ("", sent)
    assert request.headers["Authorization"].rpartition("Signature=")[2] == signature(request, "&".join(sorted(query.split("&"))), body)


def signature(request: Request, query: str, body: str) -> str:
    """Sign as AWS documents it (Signature Version 4)."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    names = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0]
    lines = [f"{name}:{headers[name]}" for name in names.split(";")]
    canonical = "\n".join([request.method, request.path, query, *lines, "", names, hashlib.sha256(body.encode()).hexdigest()])
    moment = headers["x-amz-date"]
    scope = (moment[:8], "eu-central-1", "aps", "aws4_request")
    text = "\n".join(["AWS4-HMAC-SHA256", moment, "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4secret"
    for part in scope:
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def test_without_credentials_nothing_is_signed_and_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(PrometheusError, match="there are no credentials"):
        client(url="http://127.0.0.1:9", sigv4_region="eu-central-1")


def test_a_certificate_that_is_not_there_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(PrometheusError, match=f"there is no file {tmp_path}/ca.pem"):
        client(url="https://127.0.0.1:9", ca_file=tmp_path / "ca.pem")


def test_mutual_tls_with_an_own_ca(tmp_path: Path) -> None:
    """A real Prometheus that shows a certificate of an own CA, and wants to see one."""
    server.need_programs()
    for command in (
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca -addext keyUsage=critical,keyCertSign",
        "req -newkey rsa:2048 -nodes -keyout own.key -out own.csr -subj /CN=127.0.0.1",
        "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out own.pem -days 2 -extfile san",
    ):
        (tmp_path / "san").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n")
        subprocess.run(["openssl", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "web.yml").write_text(
        "tls_server_config: {cert_file: own.pem, key_file: own.key, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert}\n"
    )
    data = tmp_path / "data"
    data.mkdir()
    ours = {"ca_file": tmp_path / "ca.pem", "client_certificate_file": tmp_path / "own.pem", "client_key_file": tmp_path / "own.key"}
    with server.running(data, f"--web.config.file={tmp_path / 'web.yml'}", probe=ours) as address:
        url = address.replace("http:", "https:")
        assert client(url=url, **ours).query("vector(1)", NOW).values() == [({}, 1.0)]
        with pytest.raises(PrometheusError, match="certificate"):
            client(url=url, client_certificate_file=ours["client_certificate_file"], client_key_file=ours["client_key_file"]).query(
                "up", NOW
            )
        with pytest.raises(PrometheusError):
            client(url=url, ca_file=ours["ca_file"], retry_seconds=0).query("up", NOW)
