"""What a run itself costs the API server: counted by kind, and bounded."""

from datetime import UTC, datetime
from typing import Any

from batch.collect.api import Cluster
from batch.collect.assemble import Identity, assemble
from batch.collect.source import Footprint
from batch.deadline import Deadline
from batch.snapshot.model import Snapshot
from tests.collect.api_lists import Connect
from tests.kube.fake import FakeKube

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def read(cluster: Cluster) -> Snapshot:
    return assemble(
        cluster,
        Identity("c", "cluster"),
        taken_at=NOON,
        fallback_taken_at=lambda: NOON,
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
        footprint=lambda: Footprint(cluster.request_count, cluster.received_bytes),
        autoscalers=("cluster-autoscaler", "karpenter"),
    )


def fill(kube: FakeKube, kind: str, version: str, count: int, owner: dict[str, Any] | None = None, **parts: Any) -> None:
    for number in range(count):
        place: dict[str, Any] = {} if kind == "Node" else {"namespace": f"team-{number % 7}"}
        place |= {"ownerReferences": [owner]} if owner else {}
        kube.add({"apiVersion": version, "kind": kind, "metadata": {"name": f"{kind.lower()}-{number:05}", **place}, **parts})


def test_a_run_asks_less_than_two_requests_for_500_objects_and_40(kube: FakeKube, connect: Connect) -> None:
    fill(kube, "Node", "v1", 1203)
    owner = {"kind": "StatefulSet", "name": "web", "controller": True}
    fill(kube, "Pod", "v1", 5102, owner, spec={"containers": [{"name": "c"}]}, status={"phase": "Running"})
    for kind, version in (("Service", "v1"), ("Job", "batch/v1"), ("StatefulSet", "apps/v1"), ("PodDisruptionBudget", "policy/v1")):
        fill(kube, kind, version, 501)
    table = read(connect(kube)).table("api_requests")
    cost = {kind: (requests, objects) for kind, requests, _, objects in table.to_numpy().tolist()}

    objects = sum(count for _, count in cost.values())
    assert objects == 1203 + 5102 + 4 * 501
    assert len(kube.requests) == sum(count for count, _ in cost.values()) < 2 * objects / 500 + 40
    assert (cost["nodes"], cost["pods"], cost["services"]) == ((3, 1203), (11, 5102), (2, 501))
    assert cost["other"] == (1, 0)  # its version


def test_repeated_requests_and_refused_ones_count(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", 429, times=2, retry_after=1)
    kube.fail("/api/v1/services", 403)
    table = read(connect(kube)).table("api_requests")
    cost = dict(zip(table["kind"], table["request_count"], strict=True))
    assert (cost["pods"], cost["services"]) == (3, 1)
    assert sum(cost.values()) == len(kube.requests)


def test_bytes_are_those_of_the_answers(kube: FakeKube, connect: Connect) -> None:
    fill(kube, "Pod", "v1", 3)
    cluster = connect(kube)
    cost = read(cluster).table("api_requests")
    assert cost["received_bytes"].sum() == cluster.received_bytes > 0
