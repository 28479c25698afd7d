"""The night from end to end, as its user runs it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from batch.cli import main
from tests.collect.objects_json import container, node, page, pod
from tests.kube.fake import FakeKube, rules_from_manifests, write_kubeconfig
from tests.worlds import in_an_empty_place

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "reports/schema/report-v1.schema.json").read_text())
NOW = "2026-11-30T02:00:00Z"  # when the sample was measured
JSON_ONLY = {"NIGHTCAP_REPORT__FORMATS": "json"}


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with in_an_empty_place(tmp_path, monkeypatch):
        yield


def run(*arguments: str) -> int:
    return main(["run", "--output", "out", *arguments])


def report() -> dict[str, Any]:
    (path,) = Path("out").glob("cluster=*/date=*/run=*/report.json")
    document: dict[str, Any] = json.loads(path.read_text())
    jsonschema.validate(document, SCHEMA)
    return document


def write_dump(folder: Path, nodes: list[dict[str, Any]], pods: list[dict[str, Any]], metrics: list[dict[str, Any]] | None = None) -> Path:
    folder.mkdir()
    (folder / "nodes.json").write_bytes(page(*nodes))
    (folder / "pods.json").write_bytes(page(*pods))
    if metrics is not None:
        (folder / "podmetrics.json").write_bytes(page(*metrics))
    return folder


def test_the_sample_becomes_a_whole_report_and_stdout_says_only_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--source", "sample", "--now", NOW) == 0
    said = capsys.readouterr()
    (folder,) = Path("out").glob("cluster=sample/date=2026-11-30/run=20261130T020000Z")
    assert [Path(line).resolve() for line in said.out.splitlines()] == [folder.resolve()]
    document = report()
    assert {"report.pdf", "report.html", "snapshot/manifest.json", "tables/nodes.csv"} <= {a["name"] for a in document["artifacts"]}
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert document["totals"]["node_count"] == 19
    assert [p["name"] for p in document["profiles"]] == ["all-pods", "jupyterhub-users"]
    assert "Every source answered" in said.err


def test_equal_input_and_clock_give_equal_bytes_whatever_the_process() -> None:
    def files(where: str, seed: str, zone: str) -> dict[str, bytes]:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "batch", "run", "--source", "sample", "--now", NOW, "--output", where, "--quiet"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return {str(p.relative_to(where)): p.read_bytes() for p in Path(where).rglob("*") if p.is_file()}

    one, other = files("a", "1", "UTC"), files("b", "2", "Asia/Kathmandu")
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


def test_a_snapshot_gives_the_same_report_as_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "html")
    assert main(["collect", "--source", "sample", "--now", NOW, "--to", "taken"]) == 0
    assert main(["run", "--source", "sample", "--now", NOW, "--output", "direct"]) == 0
    assert main(["run", "--source", "snapshot:taken", "--now", NOW, "--output", "later"]) == 0
    direct = {str(p.relative_to("direct")): p.read_bytes() for p in Path("direct").rglob("*") if p.is_file()}
    later = {str(p.relative_to("later")): p.read_bytes() for p in Path("later").rglob("*") if p.is_file()}
    assert direct == later


def usage_of_web(folder: Path, night: int) -> dict[str, Any]:
    """Report one pod of a StatefulSet, seen at 2 a.m. of that night of November with as many hundredths of a core; give its line of advice."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    web = pod("web-0", ownerReferences=[owner], spec={"nodeName": "n1", "containers": [container(requests={"cpu": "1", "memory": "1Gi"})]})
    usage = {"name": "app", "usage": {"cpu": f"{night}0m", "memory": "256Mi"}}
    sample = {"metadata": {"namespace": "default", "name": "web-0"}, "timestamp": f"2026-11-{night:02}T02:00:00Z", "window": "30s"}
    write_dump(folder, [node(status={"capacity": {"cpu": "4", "memory": "8Gi"}})], [web], [{**sample, "containers": [usage]}])
    assert run("--source", f"dump:{folder}", "--cluster", "c") == 0
    (path,) = Path("out").glob(f"cluster=c/date=2026-11-{night:02}/run=*/report.json")
    (advice,) = json.loads(path.read_text())["rightsizing"]["workloads"]
    return {"samples": advice["sample_count"], "nights": advice["night_count"], "peak": advice["candidates"]["peak"]["cpu_cores"]}


def test_each_night_rests_on_those_before_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    assert usage_of_web(tmp_path / "1", 10) == {"samples": 1, "nights": 1, "peak": 0.1}
    assert usage_of_web(tmp_path / "2", 20) == {"samples": 2, "nights": 2, "peak": 0.2}
    assert usage_of_web(tmp_path / "once more", 20) == {"samples": 2, "nights": 2, "peak": 0.2}
    (kept,) = Path("out/cluster=c/history/date=2026-11-20/sketches").iterdir()
    kept.write_bytes(b"damaged")
    assert usage_of_web(tmp_path / "3", 21) == {"samples": 2, "nights": 2, "peak": 0.21}
    assert any(
        gap["source"] == "history"
        for gap in json.loads(next(Path("out").glob("cluster=c/date=2026-11-21/run=*/report.json")).read_text())["gaps"]
    )


def test_a_dump_without_measurements_is_reported_without_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    folder = write_dump(tmp_path / "d", [node(status={"capacity": {"cpu": "4", "memory": "8Gi"}}), node("n2")], [pod()])
    assert run("--source", f"dump:{folder}") == 0
    document = report()
    assert document["totals"]["usage_cpu_cores"] is None
    assert document["totals"]["allocatable_cpu_cores"] == 4
    assert document["totals"]["node_count"] == 2
    assert document["profiles"][0]["measured_pod_count"] == 0
    assert {"podmetrics", "nodemetrics"} <= {gap["source"] for gap in document["gaps"]}


def test_measurements_that_are_too_old_are_a_gap_and_not_a_silence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    assert run("--source", "sample", "--now", "2026-12-01T02:00:00Z") == 0
    document = report()
    assert document["totals"]["usage_cpu_cores"] is None
    reasons = {gap["source"]: gap["reason"] for gap in document["gaps"]}
    assert reasons["nodemetrics"].startswith(
        "19 of 19 were measured more than 600 s before the report's time, the latest of them at 2026-11-30 01:59 UTC"
    )
    assert "podmetrics" in reasons
    assert "Not known: podmetrics" in capsys.readouterr().err


@pytest.mark.parametrize(("nodes", "pods"), [([], []), ([node()], [pod(str(i)) for i in range(3)])], ids=["empty", "three pods"])
def test_a_tiny_cluster_gets_a_report_in_every_format(nodes: list[dict[str, Any]], pods: list[dict[str, Any]], tmp_path: Path) -> None:
    assert run("--source", f"dump:{write_dump(tmp_path / 'd', nodes, pods)}") == 0
    document = report()
    assert document["totals"]["node_count"] == len(nodes)
    assert document["totals"]["bound_pod_count"] == len(pods)
    assert "report.pdf" in {a["name"] for a in document["artifacts"]}


def test_odd_objects_are_reported_right(tmp_path: Path) -> None:
    name = "n" * 253
    odd = pod(
        "forty",
        spec={"nodeName": name, "containers": [container(f"c{i}", requests={"cpu": "25m", "memory": "10Mi"}) for i in range(40)]},
        annotations={"team": "<script>alert(1)</script>"},
    )
    waits = pod("waits", spec={"nodeName": None}, status={"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "message": "<script>alert(2)</script>"}]})  # fmt: skip
    broken = pod("broken", spec={"containers": [container(requests={"cpu": "1K"})]})
    folder = write_dump(tmp_path / "d", [node(name, status={"capacity": {"cpu": "8", "memory": "8Gi", "pods": "9"}})], [odd, waits, broken])
    assert run("--source", f"dump:{folder}") == 0
    document = report()
    assert document["totals"]["requests_cpu_cores"] == 1
    assert document["totals"]["requests_memory_bytes"] == 400 * 2**20
    assert any("1K" in gap["reason"] for gap in document["gaps"])
    (html,) = Path("out").glob("cluster=*/date=*/run=*/report.html")
    text = html.read_text()
    assert "<script>alert" not in text
    assert name in text


def test_legal_objects_that_no_machine_could_hold_cost_themselves_and_never_the_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "html")
    ready = {"capacity": {"cpu": "8", "memory": "32Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}
    nameless = [{"names": None, "sizeBytes": 2**63 - 1}] * 2
    asked = {"cpu": "1", "memory": "1Gi"}
    pods = [
        pod("fine", spec={"nodeName": "n2", "containers": [container(requests=asked)]}),
        *(pod(f"limits-{i}", spec={"containers": [container(requests={"memory": "4Ei"}, limits={"memory": "4Ei"})]}) for i in range(3)),
        pod("cores", spec={"containers": [container(name, requests={"cpu": "5G", "nvidia.com/gpu": "4E"}) for name in "ab"]}),
        pod(
            "waits",
            spec={"nodeName": None, "containers": [container(requests={"cpu": "9G", "memory": "7Ei"})]},
            status={"phase": "Pending"},
        ),
        pod("restarts", status={"containerStatuses": [{"name": "app", "restartCount": 2**70}]}),
        pod("priority", spec={"priority": 10**30}),
        pod("dates", creationTimestamp="9999-12-31T23:59:59-14:00", deletionTimestamp="0001-01-01T00:00:00+14:00"),
    ]
    template = {"spec": {"containers": [container(requests={"cpu": "8k", "memory": "1Ti", "nvidia.com/gpu": "8"})]}}
    job = {
        "metadata": {"name": "j", "namespace": "d", "uid": "u"},
        "spec": {"suspend": True, "parallelism": 2147483647, "template": template},
    }
    time = {"timestamp": NOW, "window": "9" * 300 + "h"}
    usage = {"fine": {"cpu": "500m", "memory": "1Gi"}, "limits-0": {"cpu": "5G", "memory": "7Ei"}}
    metrics = [
        {"metadata": {"name": name, "namespace": "default"}, **time, "containers": [{"name": "app", "usage": one}]}
        for name, one in usage.items()
    ]
    nodes = [node("n1", status=ready), node("n2", status={**ready, "images": nameless})]
    folder = write_dump(tmp_path / "d", nodes, pods, metrics)
    (folder / "jobs.json").write_bytes(page(job))
    machines = [{"metadata": {"name": name}, **time, "usage": {"cpu": "9G", "memory": "7Ei"}} for name in ("n1", "n2")]
    (folder / "nodemetrics.json").write_bytes(page(*machines))
    assert run("--source", f"dump:{folder}") == 0
    document = report()
    totals = document["totals"]
    assert (totals["requests_cpu_cores"], totals["requests_memory_bytes"], totals["limits_memory_bytes"]) == (1, 2**30, 0)
    assert (totals["usage_cpu_cores"], totals["usage_memory_bytes"], totals["machine_usage_cpu_cores"]) == (0.5, 2**30, None)
    suspended = next(row for row in document["waiting"] if row["what"] == "suspended Jobs")
    assert suspended["requests_memory_bytes"] == 2**40 * 2147483647
    assert suspended["resources"] == {"nvidia.com/gpu": 8 * 2147483647}
    assert {one["name"]: one["unreadable_pod_count"] for one in document["nodes"]} == {"n1": 4, "n2": 0}


def in_namespace(kube: FakeKube) -> None:
    kube.add(json.loads(page(node(status={"capacity": {"cpu": "4", "memory": "8Gi"}}), apiVersion="v1", kind="NodeList")))
    kube.add(json.loads(page(pod(), apiVersion="v1", kind="PodList")))


def test_a_live_cluster_without_metrics_api_is_delivered_with_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    with FakeKube() as kube:
        in_namespace(kube)
        kube.fail("/apis/metrics.k8s.io/", 404, times=2)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))
        assert run() == 0
    document = report()
    assert document["cluster"]["name"] == "fake"
    assert document["run"]["source"] == "cluster"
    assert any("404" in gap["reason"] for gap in document["gaps"] if gap["source"] == "podmetrics")


def test_without_the_right_to_list_pods_it_exits_3_and_names_the_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    role = {
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}],
    }
    with FakeKube(rules_from_manifests([role])) as kube:
        in_namespace(kube)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))
        monkeypatch.setenv("NIGHTCAP_RUN__TERMINATION_MESSAGE_PATH", "message")
        Path("message").touch()
        assert run() == 3
    assert 'resources ["pods"], verbs ["get", "list"]' in capsys.readouterr().err
    assert "[pods-unreadable]" in Path("message").read_text()
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("profiles: [{name: hub, selector: '=x'}]", "[selector]"),
        ("profiles: [{name: a}, {name: a}]", "[profile-twice]"),
        ("flavor_names: [n1-himem-8]", "The nearest one is n1-highmem-8"),
    ],
)
def test_a_plan_that_cannot_be_made_exits_2_before_anything_is_collected(
    plan: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("settings.yaml").write_text(f"plan:\n  {plan}\n")
    with FakeKube() as kube:
        in_namespace(kube)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))
        assert run("--config", "settings.yaml") == 2
        assert not [request for request in kube.requests if request.path.endswith("/pods")]
    assert words in capsys.readouterr().err


def test_a_flavor_that_cannot_be_asked_for_is_looked_for_among_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("settings.yaml").write_text("plan:\n  flavor_names: [metal-9]\n")
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    labels = {"node.kubernetes.io/instance-type": "metal-9"}
    with FakeKube() as kube:
        kube.add(
            json.loads(page(node(labels=labels, status={"capacity": {"cpu": "4", "memory": "8Gi"}}), apiVersion="v1", kind="NodeList"))
        )
        kube.add(json.loads(page(pod(), apiVersion="v1", kind="PodList")))
        kube.fail("/api/v1/nodes", 400)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig").resolve(), kube)))
        assert run("--config", "settings.yaml") == 0
    assert [flavor["name"] for flavor in report()["profiles"][0]["flavors"]] == ["metal-9"]


def test_one_bad_output_exits_5_and_the_report_is_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    Path("file").touch()
    assert run("--source", "sample", "--output", "file") == 5
    assert list(Path("out").glob("cluster=sample/date=*/run=*/manifest.json"))
    assert list(Path("spool").rglob("report.json"))
    assert "spool" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--source", "ftp"], 2, "it is none of cluster, sample"),
        (["--source", "sample", "--output", "gopher://x"], 2, "gopher"),
        (["--source", "dump:nowhere"], 3, "there is no such folder"),
        (["--source", "snapshot:nowhere"], 3, "there is no manifest.json"),
        ([], 2, "kubeconfig"),
        (["--source", "sample", "--now", "yesterday"], 2, "run.now"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == code
    assert words in capsys.readouterr().err


def test_a_signal_before_delivery_leaves_nothing_behind() -> None:
    with FakeKube() as kube:
        in_namespace(kube)
        kube.fail("/api/v1/pods", "hang")
        config = write_kubeconfig(Path("kubeconfig").resolve(), kube)
        environment = {**os.environ, "KUBECONFIG": str(config), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "batch", "run", "--output", "out"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            assert kube.hanging.wait(60)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "stopped by signal 15 before anything was delivered" in said
    assert not Path("out").exists()


def test_a_signal_between_outputs_ends_well_and_says_what_is_missing_where() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        environment = {
            **os.environ,
            **JSON_ONLY,
            "PYTHONPATH": str(ROOT),
            "NIGHTCAP_S3__ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "NIGHTCAP_S3__ACCESS_KEY_ID": "key",
            "NIGHTCAP_S3__SECRET_ACCESS_KEY": "secret",
            "NIGHTCAP_RUN__TERMINATION_MESSAGE_PATH": "message",
        }
        Path("message").touch()
        command = [sys.executable, "-m", "batch", "run", "--source", "sample", "--now", NOW, "--output", "out", "--output", "s3://bucket/p"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            silent.settimeout(120)
            connection, _ = silent.accept()  # the first output is served, and the second one never answers
            process.send_signal(signal.SIGTERM)
            places, said = process.communicate(timeout=60)
            connection.close()
    run_path = "cluster=sample/date=2026-11-30/run=20261130T020000Z"
    kept = Path("spool").resolve() / run_path
    assert process.returncode == 0
    assert places.split() == [f"{Path('out').resolve()}/{run_path}/"]
    for told in (said, Path("message").read_text()):
        assert "stopped by signal 15 before s3://bucket/p had the report (complete: false)" in told
        assert f"the files are kept in {kept}" in told
    for folder in (Path("out") / run_path, kept):
        assert json.loads((folder / "report.json").read_text())["run"]["complete"] is False
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["run"]["complete"] is False
        for file in manifest["artifacts"]:
            assert hashlib.sha256((folder / file["path"]).read_bytes()).hexdigest() == file["sha256"]
    assert "stopped early" in Path("out/index.html").read_text()
    assert report()["run"]["complete"] is False


def test_log_lines_are_json_when_asked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    assert run("--source", "sample", "--log-format", "json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {"time", "level", "logger", "message"} <= lines[0].keys()
    assert lines[0]["message"] == "collect"
