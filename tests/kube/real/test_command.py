"""The command against a real API server, with the rights of k8s/base and without some of them."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batch.collect.source import NODES
from tests.kube.fake import write_kubeconfig
from tests.kube.real.conftest import apply, needs_server, rights, wait_for_rights
from tests.kube.real.server import Login, Server

needs_server()

ROOT = Path(__file__).parents[3]


def batch(login: Login, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    kubeconfig = write_kubeconfig(folder / "kubeconfig", login, context="real")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NIGHTCAP_", "KUBE"))}
    environment = {**kept, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "batch", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def blind(server: Server) -> Login:
    """Log in as an account that has all rights of k8s/base but those on pods."""
    role, binding, account = (
        copy.deepcopy(thing)
        for kind in ("ClusterRole", "ClusterRoleBinding", "ServiceAccount")
        for thing in rights()
        if thing["kind"] == kind
    )
    for thing in (role, binding, account):
        thing["metadata"]["name"] = "blind"
    binding["roleRef"]["name"] = binding["subjects"][0]["name"] = "blind"
    role["rules"][0]["resources"].remove("pods")
    apply(server, [role, binding, account])
    wait_for_rights(server, "blind", NODES)
    return server.login_of("blind", "nightcap")


@pytest.fixture(scope="session")
def reader(server: Server) -> Login:
    return server.login_of("nightcap", "nightcap")


def test_the_rights_of_the_manifests_are_enough_for_the_preflight(reader: Login, tmp_path: Path) -> None:
    done = batch(reader, tmp_path, "check", "--output", "reports")

    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("+", "-", "x"))]
    assert [line for line in lines if " list " in line and not line.startswith("+ ok")] == []
    assert any(line.startswith("+ ok") and "Kubernetes v1.20.2, context real" in line for line in lines)
    assert any(line.startswith("- missing") and "/apis/metrics.k8s.io/v1beta1 is not served (404)" in line for line in lines)


def test_without_the_right_on_pods_the_preflight_and_the_run_end_with_3_and_name_it(blind: Login, tmp_path: Path) -> None:
    rule = 'Add to the ClusterRole: apiGroups [""], resources ["pods"], verbs ["get", "list"].'

    check = batch(blind, tmp_path, "check", "--output", "reports")
    assert check.returncode == 3
    assert [line.split()[3:] for line in check.stdout.splitlines() if line.startswith("x")] == [["pods", "no", "right."]]
    assert rule in check.stdout

    run = batch(blind, tmp_path, "run", "--output", "reports")
    assert run.returncode == 3
    assert 'User "system:serviceaccount:nightcap:blind" cannot list resource "pods" in API group "" at the cluster scope' in run.stderr
    assert rule in run.stderr
    assert run.stdout == ""


def test_without_a_metrics_api_a_report_is_delivered_with_the_gap(reader: Login, tmp_path: Path) -> None:
    done = batch(reader, tmp_path, "run", "--output", "reports")

    assert done.returncode == 0, done.stderr
    (delivered,) = done.stdout.split()
    report = json.loads((Path(delivered) / "report.json").read_text())
    reasons = {gap["source"]: gap["reason"] for gap in report["gaps"]}
    assert reasons["podmetrics"] == "/apis/metrics.k8s.io/v1beta1/pods is not served (404)"
    assert (report["cluster"]["name"], report["cluster"]["kubernetes_version"]) == ("real", "v1.20.2")
    assert report["totals"]["node_count"] == 2
    assert report["totals"]["usage_memory_bytes"] is None
    assert report["totals"]["pending_pod_count"] == 7
