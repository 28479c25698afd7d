"""Whole nights with Prometheus: what reaches the report, and what does when it fails."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from batch import preflight
from batch.cli import main
from batch.settings import load
from tests.collect.objects_json import container, node, page, pod
from tests.kube.fake import FakeKube, write_kubeconfig
from tests.prometheus import proxy, week
from tests.prometheus.proxy import Reply
from tests.worlds import world

SCHEMA = json.loads((Path(__file__).parents[2] / "reports/schema/report-v1.schema.json").read_text())


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "html,json")
    before = logging.getLogger().handlers[:]
    yield
    logging.getLogger().handlers[:] = before


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """The pods of the made-up week as kubectl prints them, without any metrics."""
    folder = tmp_path / "shop"
    folder.mkdir()
    now = [life for life in week.lives() if life.end == int(week.AT.timestamp())]
    machine = {"capacity": {"cpu": "16", "memory": "64Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}
    (folder / "nodes.json").write_bytes(page(*(node(name, status=machine) for name in ("n1", "n2"))))
    asked = {"cpu": "1", "memory": "1Gi"}
    pods = [
        pod(
            life.pod,
            namespace=life.namespace,
            spec={"nodeName": life.node, "containers": [container(life.container, requests=asked)]},
            status={"phase": "Running", "startTime": f"2026-03-0{1 if life.begin == week.BEGIN else 7}T03:00:00Z"},
        )
        for life in now
    ]
    (folder / "pods.json").write_bytes(page(*pods))
    return folder


def run(source: str, output: str = "out", **environment: str) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(f"NIGHTCAP_PROMETHEUS__{name.upper()}", value)
        assert main(["run", "--source", source, "--now", week.AT.isoformat(), "--output", output, "--quiet"]) == 0
    (path,) = Path(output).glob("cluster=*/date=*/run=*/report.json")
    document: dict[str, Any] = json.loads(path.read_text())
    jsonschema.validate(document, SCHEMA)
    return document


def text_of(output: str = "out") -> str:
    (path,) = Path(output).glob("cluster=*/date=*/run=*/report.html")
    return path.read_text().replace("\u00a0", " ").replace("<b>", "").replace("</b>", "")


def test_a_week_reaches_the_report_and_each_figure_names_it(dump: Path, store: str) -> None:
    document = run(f"dump:{dump}", url=store)
    told = document["prometheus"]
    assert (told["window_seconds"], told["instant_count"], told["container_count"]) == (604_800, 168, 30)
    assert 0.9 < told["coverage_ratio"] < 1
    everything = document["profiles"][0]
    assert everything["at_once"]["instant_count"] == 168
    assert (everything["at_once"]["minimum"], everything["at_once"]["peak"]) == (5, 6)
    assert everything["measured_pod_count"] == 6
    assert document["totals"]["usage_memory_bytes"] > 0
    assert {one["source"] for one in document["rightsizing"]["workloads"]} == {"Prometheus"}
    (gap,) = (gap for gap in document["gaps"] if gap["source"] == "podmetrics")
    assert gap["effect"] == "Usage at the moment of the snapshot is taken from Prometheus."
    shown = text_of()
    assert shown.count("7 days, Prometheus, 95 % coverage") >= 4
    assert "one snapshot at 02:01 UTC, Prometheus" in shown


def test_a_stored_snapshot_gives_the_same_report_without_asking_again(dump: Path, store: str) -> None:
    with proxy.standing(lambda _: None, store) as way:
        direct = run(f"dump:{dump}", url=way.address)
        count = len(way.requests)
        (taken,) = Path("out").glob("cluster=*/date=*/run=*/snapshot")
        later = run(f"snapshot:{taken}", "later", url=way.address)
        assert len(way.requests) == count
    assert later == direct


def test_the_sample_is_never_asked_for() -> None:
    with proxy.standing(lambda _: Reply(200, b"{}")) as way:
        assert run("sample", url=way.address)["prometheus"] is None
    assert way.requests == []


def test_without_an_answer_the_report_is_that_of_the_metrics_api_with_a_gap(dump: Path) -> None:
    with proxy.standing(lambda _: Reply(403, b"not yours")) as way:
        document = run(f"dump:{dump}", url=way.address)
    assert document["prometheus"] is None
    assert document["profiles"][0]["at_once"] is None
    assert any(gap["source"] == "prometheus" and "403 not yours" in gap["reason"] for gap in document["gaps"])
    assert "prometheus: 403 not yours" in text_of()


def check(**settings: Any) -> preflight.Line | None:
    with FakeKube() as kube:
        chosen = {"report.formats": "json", "outputs": "out", "cluster.context": None}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))
            lines = preflight.check(load(chosen | {k.replace("__", "."): v for k, v in settings.items()}, {}, None), world())
    return next((line for line in lines if line.what == "prometheus"), None)


def test_check_tells_what_is_there_and_how_long_it_is_kept(store: str) -> None:
    line = check(prometheus__url=store, run__now=week.AT.isoformat())
    assert line is not None
    assert line.state == "ok"
    assert line.why == (
        "answers, with 6 containers at this moment; keeps samples for 100y and reaches back as far as prometheus.window_seconds (604800 s)"
    )


def test_check_says_what_is_wrong_and_that_a_run_works_without(store: str) -> None:
    wrong = check(prometheus__url=f"{store}/prefix")
    assert wrong is not None
    assert (wrong.state, wrong.required) == ("missing", False)
    assert "Give prometheus.url as it is without /api/v1" in wrong.remedy
    empty = check(prometheus__url=store, prometheus__selector='cluster="other"')
    assert empty is not None
    assert "no container's working set" in empty.why
    assert check() is None
