"""Prices, as their user gives them: a file, an environment variable; what comes of them, and what is refused before the night's work."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batch import preflight
from batch.cli import main
from batch.settings import load
from tests.worlds import world

MYBINDER = f"dump:{Path(__file__).parent / 'data' / 'mybinder'}"
PRICES = "currency: EUR\ndate: 2026-11-01\nprices:\n  n1-highmem-8: 0.5\n  n1-standard-16: 0.25\n"


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    root = logging.getLogger()
    before = root.handlers[:]
    yield
    root.handlers[:] = before


def report() -> dict[str, Any]:
    (path,) = Path("out").glob("cluster=*/date=*/run=*/report.json")
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def run(monkeypatch: pytest.MonkeyPatch, text: str) -> int:
    Path("prices.yaml").write_text(text)
    monkeypatch.setenv("NIGHTCAP_PRICES__FILE", "prices.yaml")
    return main(["run", "--source", "sample", "--output", "out"])


def test_with_prices_the_cheapest_safe_flavor_is_taken_and_what_has_no_price_has_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, PRICES) == 0
    document = report()
    users = next(profile for profile in document["profiles"] if profile["name"] == "jupyterhub-users")
    assert users["recommended_flavor"]["name"] == "n1-standard-16"
    costs = {flavor["name"]: flavor["monthly_cost"] for flavor in users["flavors"]}
    assert costs["n1-highmem-8"] == 1095.0  # 0.5 an hour, 730 hours, 3 nodes for 239 pods
    assert costs["n1-standard-8"] is None
    assert (document["prices"]["currency"], document["prices"]["old_flavor_count"]) == ("EUR", 0)
    assert "prices" not in {gap["source"] for gap in document["gaps"]}


def test_old_prices_are_said_to_be_old_beside_the_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, PRICES.replace("2026-11-01", "2026-01-05")) == 0
    document = report()
    assert "prices.old" in {finding["id"] for finding in document["findings"]}
    (advice,) = [finding for finding in document["findings"] if finding["id"] == "profile.recommended-flavor/jupyterhub-users"]
    # 0.25 an hour, 730 hours, 3 nodes
    assert "548\u00a0EUR (old prices, of 5\u00a0January 2026) a month" in advice["action"]


def test_bad_prices_are_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"CURRENCY": "EUR", "DATE": "2026-11-01", "PER_HOUR": '{"n1-highmem-8": -1}'}.items():
        monkeypatch.setenv(f"NIGHTCAP_PRICES__{name}", value)
    assert main(["run", "--source", "dump:nowhere", "--output", "out"]) == 2
    said = capsys.readouterr().err
    assert "prices-invalid" in said
    assert "-1.0 is no price of an hour" in said


def test_the_preflight_tells_of_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    def line(**prices: object) -> preflight.Line | None:
        settings = load({"source": MYBINDER, **{f"prices.{name}": value for name, value in prices.items()}}, {}, None)
        lines = preflight.check(settings, world())
        return next((line for line in lines if line.what == "prices"), None)

    monkeypatch.setenv("HOME", str(Path.cwd()))
    assert line() is None
    good = line(currency="EUR", date="2026-11-01", per_hour={"a": 1.0})
    assert good
    assert (good.state, good.why) == ("ok", "of 1 flavors, in EUR, the oldest of 2026-11-01")
    bad = line(per_hour={"a": 1.0})
    assert bad
    assert (bad.state, bad.exit_code) == ("missing", 2)
