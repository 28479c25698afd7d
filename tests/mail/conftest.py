from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.mail import exim


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep certificates that the machine sets out of the tests."""
    for name in os.environ:
        if name.endswith("_CA_BUNDLE") or name.startswith(("SSL_CERT", "AWS_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def server() -> Iterator[exim.Exim]:
    with exim.running() as running:
        yield running
