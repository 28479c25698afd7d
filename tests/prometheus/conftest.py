from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batch.collect.prometheus.read import Measures, Prometheus
from batch.deadline import Deadline
from batch.settings import Settings
from tests.prometheus import server, week


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the machine sets for certificates, proxies and AWS out of the tests."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "NIGHTCAP_")) or name.endswith(("_CA_BUNDLE", "SSL_CERT_FILE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up week as a store."""
    return server.write_blocks(tmp_path_factory.mktemp("week"), week.store())


@pytest.fixture(scope="session")
def store(data: Path) -> Iterator[str]:
    """The made-up week in a running Prometheus."""
    with server.running(data) as address:
        yield address


def given(address: str, **more: Any) -> Settings:
    return Settings.model_validate({"prometheus": {"url": address, "retry_seconds": 1000, **more.pop("prometheus", {})}, **more})


def measure(address: str, tables: dict[str, pd.DataFrame] | None = None, namespaces: Sequence[str] = (), **settings: Any) -> Measures:
    """Ask about the made-up week, without pauses between tries."""
    asking = Prometheus(given(address, **settings), "test", lambda _: None)
    return asking.measure(week.AT, tables or week.tables(), {"podmetrics"}, Deadline(None, 0, time.monotonic, time.monotonic()), namespaces)


@pytest.fixture(scope="session")
def measured(store: str) -> Measures:
    """What is made of the week."""
    return measure(store)
