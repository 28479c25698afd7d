"""Case group G: an API server as it is on a bad night, and the command that reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from batch.cli import main
from batch.collect.source import POD_METRICS, PODS, SourceError
from tests.cases.clusters import read, ready_node
from tests.collect.api_lists import Clock, Connect, names, pods
from tests.collect.objects_json import container, pod
from tests.collect.test_assemble import snapshot_of
from tests.kube.fake import FakeKube, write_kubeconfig
from tests.s3.test_answers import Answer, answering, store
from tests.worlds import in_an_empty_place

ROOT = Path(__file__).parents[2]
TOO_MANY = "Too many requests, please try again later.\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run the command in an empty folder, with JSON as the only format and waits that take no time."""
    with in_an_empty_place(tmp_path, monkeypatch):
        monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
        monkeypatch.setattr("time.sleep", lambda _seconds: None)
        yield tmp_path


def serve(kube: FakeKube, monkeypatch: pytest.MonkeyPatch, pod_count: int = 3) -> None:
    kube.add({"apiVersion": "v1", "kind": "Node", **ready_node()})
    for number in range(pod_count):
        kube.add({"apiVersion": "v1", "kind": "Pod", **pod(f"p{number:05}", spec={"containers": [container(requests={"cpu": "1m"})]})})
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))


def run() -> int:
    return main(["run", "--output", "out"])


def report() -> dict[str, Any]:
    (path,) = Path("out").glob("cluster=*/date=*/run=*/report.json")
    document: dict[str, Any] = json.loads(path.read_text())
    return document


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("retry_after", [1, None])
def test_g01_a_busy_server_is_waited_for_and_the_run_delivers(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, retry_after: int | None
) -> None:
    serve(kube, monkeypatch)
    kube.fail("/api/v1/pods", 429, times=2, retry_after=retry_after, body=TOO_MANY)
    assert run() == 0
    assert report()["totals"]["bound_pod_count"] == 3


@pytest.mark.usefixtures("place")
def test_g01_a_server_that_stays_busy_ends_the_run_with_a_clear_message(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(kube, monkeypatch)
    kube.fail("/api/v1/pods", 429, times=999, retry_after=1, body=TOO_MANY)
    assert run() == 3
    assert "could not list pods: API server unavailable: 429 Too many requests, please try again later. (tried" in capsys.readouterr().err


@pytest.mark.parametrize("trouble", ["cut", "cut chunks", "empty"])
def test_g02_a_body_that_stops_half_way_is_read_again_in_smaller_pages(kube: FakeKube, connect: Connect, trouble: Any) -> None:
    kube.add(pods(3))
    kube.fail("/api/v1/pods", trouble, times=1)
    assert list(chain(*names(connect(kube, api__page_size=4)))) == ["p00000", "p00001", "p00002"]
    assert [request.query["limit"] for request in kube.requests][:2] == ["4", "2"]


def test_g02_a_body_that_always_stops_names_the_list(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", "cut", times=99)
    with pytest.raises(SourceError, match=r"^pods: .*cut off.*tried 4 times"):
        names(connect(kube))


def test_g03_memory_is_bounded_by_the_result_and_not_by_the_json(tmp_path: Path) -> None:
    """20,000 pods of 7 KB in pages: 140 MB of JSON may cost less than a third of that above what a cluster of none costs."""
    program = """
import json, resource, sys
from datetime import UTC, datetime
from batch.collect.assemble import Identity, assemble
from batch.deadline import Deadline
from tests.cases.paged import Padded
count = int(sys.argv[1])
now = datetime(2026, 12, 1, tzinfo=UTC)
snapshot = assemble(Padded(count), Identity("c", "s"), taken_at=now, fallback_taken_at=lambda: now, deadline=Deadline(None, 0, lambda: 0.0, 0.0))
assert len(snapshot.table("pods")) == count
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

    def peak_kib(count: int) -> int:
        command = [sys.executable, "-c", program, str(count)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return int(subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, check=True).stdout)

    assert peak_kib(20_000) - peak_kib(500) < 140_000 // 3


def test_g04_a_token_that_rotates_is_read_again_once(
    kube: FakeKube, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text(kube.token)
    kube.add(pods(4))
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", kube, tokenFile="token")))
    pages = connect(None, api__page_size=1).pages(PODS)
    next(pages)
    next(pages)
    kube.token = "rotated"
    token.write_text("rotated")
    assert len(list(pages)) == 2
    assert [request.headers["authorization"].lower() for request in kube.requests] == ["bearer test-token"] * 3 + ["bearer rotated"] * 2


def test_g04_a_second_401_is_an_error_and_no_missing_right(kube: FakeKube, connect: Connect) -> None:
    cluster = connect(kube)
    kube.token = "another"
    with pytest.raises(SourceError, match=r"credentials are not accepted.*\(401\)") as caught:
        names(cluster)
    assert not caught.value.forbidden


def test_g05_the_api_server_is_reached_directly_and_the_bucket_through_the_proxy(
    kube: FakeKube, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def proxied(request: BaseHTTPRequestHandler) -> Answer:
        asked.append(f"{request.command} {request.path}")
        return Answer(200, "pages" if request.command == "HEAD" else "")

    kube.add(pods(1))
    with answering(proxied) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        monkeypatch.setenv("NO_PROXY", "10.0.0.0/8,.svc,127.0.0.1,localhost")
        assert names(connect(kube)) == [["p00000"]]
        store("http://store.example").write("report.pdf", b"pages", "application/pdf")
    assert len(kube.requests) == 1
    assert asked == ["PUT http://store.example/rpt/report.pdf", "HEAD http://store.example/rpt/report.pdf"]


def test_g05_a_dead_proxy_that_no_proxy_covers_does_not_matter(kube: FakeKube, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "10.0.0.0/8,.svc,127.0.0.1,localhost")
    assert names(connect(kube)) == [[]]


def test_g06_only_continue_says_whether_there_is_more(kube: FakeKube, connect: Connect) -> None:
    sizes = ((500, "t1"), (0, "t2"), (253, ""))
    kube.serve("/api/v1/pods", *({**pods(count), "metadata": {"continue": token}} for count, token in sizes))
    assert sum(len(page) for page in names(connect(kube))) == 753
    assert [request.query.get("continue") for request in kube.requests] == [None, "t1", "t2"]


def test_g06_the_metrics_api_gives_all_at_once(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(5000) | {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetricsList"})
    assert [len(page) for page in names(connect(kube), POD_METRICS)] == [5000]


def test_g07_items_that_are_null_are_none(kube: FakeKube, connect: Connect) -> None:
    kube.serve("/apis/metrics.k8s.io/v1beta1/pods", {"kind": "PodMetricsList", "metadata": {}, "items": None})
    snapshot = snapshot_of(connect(kube))
    assert snapshot.table("container_usage").empty
    assert snapshot.table("rejects").empty


def test_g07_metadata_of_a_list_that_is_null_is_the_end_of_it(kube: FakeKube, connect: Connect) -> None:
    kube.serve("/api/v1/pods", {**pods(2), "metadata": None})
    assert names(connect(kube)) == [["p00000", "p00001"]]


def test_g07_lists_of_a_pod_that_are_null_are_empty() -> None:
    nothing: dict[str, Any] = {"initContainers": None, "tolerations": None, "schedulingGates": None, "nodeSelector": None, "affinity": None}
    statuses = {"containerStatuses": None, "initContainerStatuses": None, "conditions": None}
    null = pod("null", spec={**nothing, "overhead": None}, status=statuses, labels=None, ownerReferences=None, annotations=None)
    bare = pod("bare", spec={"containers": None}, status=statuses)
    snapshot = read([ready_node()], [null, bare])
    assert snapshot.table("rejects").empty
    assert snapshot.table("pods")[["pod", "container_count", "requests_cpu_nanocores"]].to_numpy().tolist() == [
        ["bare", 0, 0],
        ["null", 1, 0],
    ]


def test_a_page_is_asked_for_only_after_asking_whether_it_may_be(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(3))
    asked: list[int] = []
    pages = connect(kube, api__page_size=1).pages(PODS, lambda: asked.append(len(kube.requests)))
    assert len(list(pages)) == 3
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("tokens", [["t1", "t1"], ["t1", "t2", "t1"]])
def test_a_continue_token_that_comes_again_ends_the_list(kube: FakeKube, connect: Connect, tokens: list[str]) -> None:
    kube.serve("/api/v1/pods", *({**pods(1), "metadata": {"continue": token}} for token in [*tokens, *["t1"] * 9]))
    with pytest.raises(SourceError, match=r"/api/v1/pods gave the same continue token twice"):
        names(connect(kube))
    assert len(kube.requests) == len(tokens)


@pytest.mark.parametrize("status", [499, 520])
def test_a_status_of_a_proxy_without_a_word_is_told_by_its_number(kube: FakeKube, connect: Connect, status: int) -> None:
    kube.fail("/api/v1/pods", status, times=99, body="")
    with pytest.raises(SourceError, match=f"API server answered {status}: without a word"):
        names(connect(kube))


def test_a_request_that_timed_out_at_the_server_is_repeated(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(1))
    kube.fail("/api/v1/pods", 408, times=1)
    assert names(connect(kube)) == [["p00000"]]


@pytest.mark.parametrize("words", ["²", "soon", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_retry_after_that_is_no_number_of_seconds_is_none(kube: FakeKube, connect: Connect, clock: Clock, words: Any) -> None:
    kube.fail("/api/v1/pods", 429, times=1, retry_after=words)
    assert names(connect(kube)) == [[]]
    assert clock.sleeps == [1]


@pytest.mark.usefixtures("place")
def test_a_server_that_dies_in_mid_list_leaves_no_file_of_a_report_anywhere(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(kube, monkeypatch, pod_count=5)
    monkeypatch.setenv("NIGHTCAP_API__PAGE_SIZE", "2")
    monkeypatch.setenv("NIGHTCAP_API__RETRY_SECONDS", "0")
    monkeypatch.setenv("NIGHTCAP_RUN__SPOOL_DIRECTORY", "spool")
    monkeypatch.delenv("NIGHTCAP_REPORT__FORMATS")
    answer = kube.answer

    def dies_after_a_page(request: Any, body: Any) -> Any:
        found = answer(request, body)
        if request.path == "/api/v1/pods":
            kube.fail("/", "drop", times=999)
        return found

    monkeypatch.setattr(kube, "answer", dies_after_a_page)
    before = sorted(Path().rglob("*"))
    assert run() == 3
    assert [r.query.get("continue") is None for r in kube.requests if r.path == "/api/v1/pods"] == [True, False]
    assert "could not list pods: API server unavailable" in capsys.readouterr().err
    assert sorted(Path().rglob("*")) == before


@pytest.mark.usefixtures("place")
def test_a_run_without_time_for_its_pods_says_so(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(kube, monkeypatch)
    ticks = iter(range(0, 10**6, 20))
    monkeypatch.setattr("time.monotonic", lambda: next(ticks))
    monkeypatch.setenv("NIGHTCAP_RUN__DEADLINE_SECONDS", "100")
    assert run() == 3
    said = capsys.readouterr().err
    assert "the run's time was used up before it was read to its end. Raise run.deadline_seconds" in said
    assert not Path("out").exists()
