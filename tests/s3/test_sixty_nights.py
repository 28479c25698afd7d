"""Sixty nights into a real bucket, each made by running the tool: what the last of them knows, and what is left when old ones are deleted."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from batch.cli import main
from batch.deliver import index, s3
from batch.deliver.model import Store
from batch.deliver.storage import open_store
from batch.settings import Settings
from tests import nights
from tests.s3 import seaweed

LAST = 59


def moved(night: int) -> dict[str, int]:
    """Give the pods of the workloads that move: one grows on the last night, one comes and one goes within the last week."""
    return {
        "shop/checkout": 6 if night == LAST else 3,
        "ml/train": 8 if night < LAST - 3 else 0,
        "search/index": 5 if night > LAST - 3 else 0,
    }


@dataclass
class Sixty:
    """The bucket after the nights."""

    store: Store
    url: str
    folder: Path

    def run(self, night: int) -> None:
        folder = self.folder / str(night)
        if not folder.exists():
            nights.write(folder, night, moved(night))
        now = nights.moment(night).isoformat()
        assert main(["run", "--quiet", "--source", f"dump:{folder}", "--cluster", "c", "--now", now, "--output", self.url]) == 0

    def report(self, night: int) -> dict[str, Any]:
        at = nights.moment(night)
        document: dict[str, Any] = json.loads(self.store.read(f"cluster=c/date={at:%Y-%m-%d}/run={at:%Y%m%dT%H%M%SZ}/report.json"))
        return document


@pytest.fixture(scope="module")
def sixty(server: seaweed.Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sixty]:
    server.client().create_bucket(Bucket="sixty-nights")
    root, before = logging.getLogger(), logging.getLogger().handlers[:]
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("NIGHTCAP_", "AWS_")) or name.lower().endswith("_proxy")]:
            patch.delenv(name)
        client = server.client()
        patch.setattr(s3, "connect", lambda _: client)  # a client takes longer to make than everything that it sends in a night
        patch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
        patch.setenv("NIGHTCAP_PLAN__FLAVOR_NAMES", "m7i.2xlarge")  # no fleets of flavors that nobody asks about here
        url = "s3://sixty-nights/p"
        made = Sixty(open_store(url, Settings(s3=server.settings())), url, tmp_path_factory.mktemp("nights"))
        for night in range(LAST + 1):
            made.run(night)
        yield made
    root.handlers[:] = before


def test_the_forecast_holds_the_true_date(sixty: Sixty) -> None:
    forecast = {(one["pool"], one["resource"]): one for one in sixty.report(LAST)["trends"]["forecast"]}
    pods = sum(moved(LAST).values())
    for resource in ("cpu", "memory"):
        true = nights.full_after_days(resource, LAST, (pods * 1000, pods * 2 * 2**30))
        one = forecast[nights.POOL, resource]
        low, high = ((datetime.fromisoformat(one[name]) - nights.moment(LAST)).days for name in ("low", "high"))
        assert low - 1 <= true <= high
        assert high - low < 0.2 * true
        assert (one["night_count"], one["seasonal"], one["growth"]) == (60, True, "compound")
        assert one["step_dates"] == [f"{nights.moment(nights.STEP_NIGHT):%Y-%m-%d}"]
    assert forecast[nights.POOL, "pods"]["exhausted_at"] is None


def test_under_seven_nights_nothing_was_told(sixty: Sixty) -> None:
    assert {one["reason"] for one in sixty.report(5)["trends"]["forecast"]} == {"fewer than 7 nights"}
    assert sixty.report(5)["trends"]["nights"] == 6


def test_the_workloads_that_moved_are_named(sixty: Sixty) -> None:
    trends = sixty.report(LAST)["trends"]
    night, week = trends["since_last_night"], trends["since_last_week"]
    assert (night["date"], week["date"]) == ("2026-11-28", "2026-11-22")
    assert [(one["workload"], one["pod_count"]) for one in night["movers"][:1]] == [("checkout", [3, 6])]
    assert [(one["workload"], one["pod_count"]) for one in week["movers"][:3]] == [
        ("train", [8, None]),
        ("index", [None, 5]),
        ("checkout", [3, 6]),
    ]


def test_the_index_lists_every_night_and_latest_is_the_last(sixty: Sixty) -> None:
    listed = index.remembered(sixty.store.read("index.html")).values()
    assert [entry.date for entry in listed] == [f"{nights.moment(night):%Y-%m-%d}" for night in range(LAST, -1, -1)]
    assert all(entry.key_figures["node_count"] == nights.NODES for entry in listed)
    assert json.loads(sixty.store.read("cluster=c/latest.json"))["run"]["date"] == "2026-11-29"


def test_deleting_what_is_older_than_thirty_days_leaves_the_history_whole(sixty: Sixty, monkeypatch: pytest.MonkeyPatch) -> None:
    history = sixty.store.keys("cluster=c/history/")
    assert len(history) == 2 * 60
    before = sixty.report(LAST)
    monkeypatch.setenv("NIGHTCAP_RETENTION__DAYS", "30")
    sixty.run(LAST)
    dates = {key.split("/")[1] for key in sixty.store.keys("cluster=c/date=")}
    assert dates == {f"date={nights.moment(night):%Y-%m-%d}" for night in range(30, 60)}
    assert sixty.store.keys("cluster=c/history/") == history
    assert len(index.remembered(sixty.store.read("index.html"))) == 30
    assert sixty.report(LAST) == before
