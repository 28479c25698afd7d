from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.s3 import seaweed


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what the machine sets for AWS, certificates and proxies out of the tests."""
    for name in os.environ:
        if name.startswith("AWS_") or name.endswith("_CA_BUNDLE") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[seaweed.Server]:
    with seaweed.running(tmp_path_factory.mktemp("seaweed")) as running:
        yield running


@pytest.fixture
def bucket(server: seaweed.Server) -> str:
    name = f"reports-{uuid.uuid4().hex[:8]}"
    server.client().create_bucket(Bucket=name)
    return name


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let botocore repeat requests without the pauses in between."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
