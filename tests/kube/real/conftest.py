"""A real API server and the fake one, with the same objects, and the rights of k8s/base given by the same manifests."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

from batch.collect.api import Cluster
from batch.collect.source import PODS, Kind
from batch.deadline import Deadline
from batch.settings import load
from tests.kube.fake import FakeKube, rules_from_manifests, write_kubeconfig
from tests.kube.real import server as real

BASE = Path(__file__).parents[3] / "k8s" / "base"
VARIABLE = "TEST_APISERVER"
NOT_YET = {"CronJob"}
"""Kinds of k8s/base whose version the API server is too old for: batch/v1 has CronJob since 1.21."""

Json = dict[str, Any]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Side:
    """One of the two servers, with our login to it. `expire` makes its continue tokens too old."""

    kubeconfig: Path
    expire: Callable[[], None]


@dataclass(frozen=True)
class Both:
    real: Side
    fake: Side

    def ask(self, question: Callable[[Cluster, Side], Answer], **settings: object) -> Answer:
        """Ask both servers the same; give what the real one answers once the fake one has answered the same."""
        answers = [_ask(side, question, settings) for side in (self.real, self.fake)]
        assert answers[1] == answers[0]
        return answers[0]


def _ask(side: Side, question: Callable[[Cluster, Side], Answer], settings: dict[str, object]) -> Answer:
    with pytest.MonkeyPatch.context() as patch, closing(connect(side.kubeconfig, patch, **settings)) as cluster:
        return question(cluster, side)


def needs_server() -> None:
    """Skip the module that says so where there is no real API server: building it takes minutes."""
    if VARIABLE not in os.environ:
        pytest.skip(f"needs a real kube-apiserver, named by {VARIABLE}: ./dev real-api builds one", allow_module_level=True)


def connect(kubeconfig: Path, patch: pytest.MonkeyPatch, **settings: object) -> Cluster:
    patch.setenv("KUBECONFIG", str(kubeconfig))
    options = {name.replace("__", "."): value for name, value in settings.items()}
    return Cluster.connect(load(options, {}, None), Deadline(None, 0, time.monotonic, time.monotonic()), "test")


def rights() -> list[Json]:
    """Give the objects of k8s/base that this API server knows."""
    built = subprocess.run([real.KUBECTL, "kustomize", BASE], capture_output=True, text=True, check=True)
    return [thing for thing in yaml.safe_load_all(built.stdout) if thing["kind"] not in NOT_YET]


def objects() -> list[Json]:
    """Make what is listed: seven pods in two namespaces, two nodes, a Job, a ReplicaSet."""
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}
    deployed = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    return [
        *(_object("v1", "Node", f"n{number}", status={"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}) for number in range(2)),
        *(_object("v1", "Pod", f"p{number}", "team-b" if number % 3 else "team-a", spec=template["spec"]) for number in range(7)),
        _object("batch/v1", "Job", "j", "nightcap", spec={"template": template}),
        _object("apps/v1", "ReplicaSet", "r", "team-a", spec={"selector": {"matchLabels": {"app": "a"}}, "template": deployed}),
    ]


def _object(version: str, kind: str, name: str, namespace: str | None = None, **fields: object) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name} | ({"namespace": namespace} if namespace else {}), **fields}


def apply(server: real.Server, things: list[Json]) -> None:
    server.kubectl("apply", "--filename=-", given=yaml.safe_dump_all(things))


def wait_for_rights(server: real.Server, account: str, kind: Kind = PODS) -> None:
    """Wait until the authorizer has seen the binding of an account of namespace nightcap."""
    until = time.monotonic() + 30
    login = write_kubeconfig(server.folder / "waiting.kubeconfig", server.login_of(account, "nightcap"))
    with pytest.MonkeyPatch.context() as patch, closing(connect(login, patch)) as cluster:
        while not cluster.allowed("get", kind):
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real.Server]:
    with real.running(tmp_path_factory.mktemp("kube"), os.environ[VARIABLE]) as running:
        apply(running, [_object("v1", "Namespace", name) for name in ("team-a", "team-b")])
        apply(running, rights())
        apply(running, objects())
        wait_for_rights(running, "nightcap")
        yield running


@pytest.fixture(scope="session")
def both(server: real.Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Log in to both as the service account of k8s/base."""
    folder = tmp_path_factory.mktemp("logins")
    with ExitStack() as stack:
        fake = stack.enter_context(FakeKube(rules_from_manifests(rights()), version="v1.20.2"))
        fake.user = "system:serviceaccount:nightcap:nightcap"
        for thing in objects():
            fake.add({**thing, "metadata": {**thing["metadata"], "creationTimestamp": "2026-12-01T00:00:00Z"}})
        yield Both(
            Side(write_kubeconfig(folder / "real", server.login_of("nightcap", "nightcap")), server.compact),
            Side(write_kubeconfig(folder / "fake", fake), fake.expire),
        )


@pytest.fixture
def strangers(both: Both, server: real.Server, tmp_path: Path) -> Iterator[Both]:
    """Come to both with a token that they do not know."""
    with FakeKube() as fake:
        yield Both(
            Side(write_kubeconfig(tmp_path / "real", server.admin, token="unknown"), both.real.expire),
            Side(write_kubeconfig(tmp_path / "fake", fake, token="unknown"), fake.expire),
        )


@pytest.fixture
def admins(server: real.Server, tmp_path: Path) -> Iterator[Both]:
    """Come to both with every right."""
    with FakeKube(version="v1.20.2") as fake:
        yield Both(
            Side(write_kubeconfig(tmp_path / "real", server.admin), server.compact),
            Side(write_kubeconfig(tmp_path / "fake", fake), fake.expire),
        )
