"""Ways into the cluster: service account, kubeconfig, rotating tokens, TLS and proxies."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from kubernetes.config import incluster_config
from kubernetes.config.incluster_config import InClusterConfigLoader

from batch.collect.source import PODS, SourceError
from batch.errors import SettingsError
from tests.collect.api_lists import Connect, names
from tests.kube.fake import FakeKube, write_kubeconfig

DEAD_PROXY = "http://127.0.0.1:9"


@pytest.fixture
def in_cluster(secure_kube: FakeKube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKube:
    """Make this process look like a pod of the fake's cluster, with its token in tmp_path/token."""
    token = tmp_path / "token"
    token.write_text(secure_kube.token)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(secure_kube.certificate))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(secure_kube.port))
    return secure_kube


@pytest.mark.usefixtures("in_cluster")
def test_a_pod_uses_its_service_account(connect: Connect) -> None:
    cluster = connect(None)

    assert names(cluster) == [[]]
    assert cluster.context_name() is None


def test_a_token_that_rotates_is_read_again(in_cluster: FakeKube, connect: Connect, tmp_path: Path) -> None:
    cluster = connect(None)
    assert names(cluster) == [[]]
    in_cluster.token = "rotated"
    (tmp_path / "token").write_text("rotated")

    assert names(cluster) == [[]]
    assert names(cluster) == [[]]
    assert [request.headers["authorization"] for request in in_cluster.requests] == ["bearer test-token"] * 2 + ["bearer rotated"] * 2


def test_a_token_that_vanished_is_not_a_missing_right(in_cluster: FakeKube, connect: Connect, tmp_path: Path) -> None:
    cluster = connect(None)
    in_cluster.token = "rotated"
    (tmp_path / "token").unlink()

    with pytest.raises(SourceError, match=r"our credentials could not be read: Service token file does not exist") as caught:
        names(cluster)
    assert not caught.value.forbidden


@pytest.mark.usefixtures("in_cluster")
def test_a_token_file_that_is_empty_when_it_is_looked_at_again(connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = datetime.min  # noqa: DTZ901  # the client compares it with a naive time
    monkeypatch.setattr(InClusterConfigLoader, "token_expires_at", property(lambda _: long_ago, lambda *_: None), raising=False)
    cluster = connect(None)
    (tmp_path / "token").write_text("")

    with pytest.raises(SourceError, match=r"our credentials could not be read: Token file exists but empty"):
        names(cluster)


def test_a_context_asked_for_comes_before_the_service_account(in_cluster: FakeKube, kube: FakeKube, connect: Connect) -> None:
    cluster = connect(kube, cluster__context="fake")

    assert names(cluster) == [[]]
    assert cluster.context_name() == "fake"
    assert (len(kube.requests), len(in_cluster.requests)) == (1, 0)


def test_elsewhere_the_current_context_is_used(kube: FakeKube, connect: Connect) -> None:
    cluster = connect(kube)

    assert names(cluster) == [[]]
    assert cluster.context_name() == "fake"


def test_a_token_file_may_end_in_a_newline_and_may_rotate(
    kube: FakeKube, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("test-token\n")
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", kube, tokenFile="token")))
    cluster = connect(None)
    assert names(cluster) == [[]]
    kube.token = "rotated"
    token.write_text("rotated\n")

    assert names(cluster) == [[]]


def test_no_configuration_at_all_says_what_was_tried(connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))

    with pytest.raises(
        SettingsError, match=r"in-cluster: Service host/port is not set.*kubeconfig .*none: there is no such file"
    ) as caught:
        connect(None)
    assert caught.value.slug == "no-cluster"


@pytest.mark.parametrize("text", ["", "just text", "contexts: null", "a: [", '{"contexts": [{"name": "x"}], "current-context": "x"}'])
def test_a_kubeconfig_that_is_none_is_named(connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "config").write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))

    with pytest.raises(SettingsError, match=rf"kubeconfig {tmp_path}/config: ") as caught:
        connect(None)
    assert caught.value.slug == "no-cluster"


def test_an_unknown_context_lists_the_known(kube: FakeKube, connect: Connect) -> None:
    with pytest.raises(SettingsError, match=r"context 'prod' .*no such context.*Known there: fake\.") as caught:
        connect(kube, cluster__context="prod")
    assert caught.value.slug == "context-unknown"


def test_a_kubeconfig_without_a_current_context_asks_for_one(
    kube: FakeKube, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = json.loads(write_kubeconfig(tmp_path / "config", kube).read_text()) | {"current-context": ""}
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))

    with pytest.raises(SettingsError, match=r"none is set.*Known there: fake\."):
        connect(None)
    assert connect(None, cluster__context="fake").context_name() == "fake"


def test_the_ca_of_the_cluster_decides_not_that_of_other_programs(
    secure_kube: FakeKube, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "AWS_CA_BUNDLE"):
        monkeypatch.setenv(name, "/dev/null")

    assert names(connect(secure_kube)) == [[]]


def test_a_server_with_an_unknown_ca_is_not_trusted(secure_kube: FakeKube, connect: Connect) -> None:
    secure_kube.certificate = None

    with pytest.raises(SourceError, match=r"no connection to the API server: .*certificate verify failed") as caught:
        names(connect(secure_kube))
    assert "CA certificate" in caught.value.remedy


@pytest.mark.usefixtures("in_cluster")
def test_a_dead_proxy_does_not_matter_where_no_proxy_covers_the_server(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", DEAD_PROXY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.0/8,.svc")

    assert names(connect(None)) == [[]]


def test_elsewhere_the_proxy_is_used(in_cluster: FakeKube, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", DEAD_PROXY)
    monkeypatch.setenv("NO_PROXY", "10.0.0.0/8,.svc")

    with pytest.raises(SourceError, match=r"unavailable: Unable to connect to proxy: .*Connection refused$") as caught:
        list(connect(None, api__retry_seconds=0).pages(PODS))
    assert "NO_PROXY" in caught.value.remedy
    assert in_cluster.requests == []


def test_a_server_that_does_not_listen_is_named(kube: FakeKube, connect: Connect) -> None:
    kube.url = DEAD_PROXY

    with pytest.raises(SourceError, match=r"127\.0\.0\.1.*Connection refused"):
        list(connect(kube, api__retry_seconds=0).pages(PODS))
