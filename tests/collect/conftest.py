"""A fake API server, and clusters connected to it whose waits take no time."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from batch.collect.api import Cluster
from batch.deadline import Deadline
from batch.settings import load
from tests.collect.api_lists import Clock, Connect
from tests.kube.fake import FakeKube, write_kubeconfig


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kube() -> Iterator[FakeKube]:
    with FakeKube() as server:
        yield server


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that is its own CA, and its key."""
    folder = tmp_path_factory.mktemp("pki")
    certificate, key = folder / "ca.crt", folder / "tls.key"
    subject = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *new, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def secure_kube(certificate: tuple[Path, Path]) -> Iterator[FakeKube]:
    with FakeKube(certificate=certificate[0], key=certificate[1]) as server:
        yield server


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide what this machine says about clusters and proxies."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def connect(clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Connect to a fake (its kubeconfig is written first; None: as the surroundings say) with these settings."""
    with ExitStack() as stack:

        def connect(kube: FakeKube | None, *, deadline_seconds: float | None = None, **settings: object) -> Cluster:
            if kube:
                monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "kubeconfig", kube)))
            options = {name.replace("__", "."): value for name, value in settings.items()}
            deadline = Deadline(deadline_seconds, 0, clock.now, 0)
            cluster = Cluster.connect(load(options, {}, None), deadline, "1.2.3", sleep=clock.sleeps.append, chance=lambda: 1.0)
            stack.callback(cluster.close)
            return cluster

        yield connect
