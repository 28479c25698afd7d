"""Assemble: required and optional sources, restarts, and what makes a moment."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batch.collect.assemble import EFFECTS, Identity, Sampling, assemble
from batch.collect.dump import Dump
from batch.collect.source import (
    FILE_NAMES,
    JOBS,
    NODE_METRICS,
    NODES,
    OF_AUTOSCALERS,
    POD_METRICS,
    PODS,
    REPLICA_SETS,
    Kind,
    ListExpired,
    Source,
    SourceError,
    at_any_time,
)
from batch.deadline import Deadline
from batch.errors import CollectError
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from batch.snapshot.views import sampling
from tests.collect.objects_json import node, page, pod

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
ASKED_ONLY_FOR_PODS_THAT_NEED_IT = {"replicasets", "deployments", "statefulsets", "daemonsets", "horizontalpodautoscalers"}
ASKED_ONLY_WHEN_WANTED = {FILE_NAMES[kind] for kind in OF_AUTOSCALERS.values()}
OPTIONAL = {FILE_NAMES[kind] for kind in EFFECTS} - {"nodes"} - ASKED_ONLY_FOR_PODS_THAT_NEED_IT - ASKED_ONLY_WHEN_WANTED
USAGE = {
    "metadata": {"name": "p1", "namespace": "default"},
    "timestamp": "2026-12-01T02:00:00Z",
    "containers": [{"name": "app", "usage": {"cpu": "1"}}],
}


class Fake:
    """A source whose lists are pages and errors in order; `again` is what pods give when they are listed a second time."""

    def __init__(self, *, again: Sequence[bytes] = (), **lists: list[bytes | SourceError]) -> None:
        self._lists: dict[Kind, list[bytes | SourceError]] = {
            NODES: lists.get("nodes", [page(node())]),
            PODS: lists.get("pods", [page(pod())]),
            POD_METRICS: lists.get("podmetrics", [page(USAGE)]),
            NODE_METRICS: [page()],
            JOBS: lists.get("jobs", [page()]),
            REPLICA_SETS: lists.get("replicasets", [page()]),
        }
        self._again = again

    def serve(self, kind: Kind, steps: list[bytes | SourceError]) -> None:
        self._lists[kind] = steps

    def kubernetes_version(self) -> str | None:
        return "v1.36.2"

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        steps = self._lists.get(kind, [page()])
        if kind is PODS and self._again:
            self._lists[PODS] = list(self._again)
        for step in steps:
            before_page()
            if isinstance(step, SourceError):
                raise step
            yield step


def snapshot_of(
    source: Source,
    *,
    taken_at: datetime | None = None,
    namespaces: tuple[str, ...] = (),
    left: float | None = None,
    reserve: float = 0,
) -> Snapshot:
    return assemble(
        source,
        Identity("c", "cluster"),
        taken_at=taken_at,
        fallback_taken_at=lambda: NOON,
        deadline=Deadline(left, reserve, lambda: 0.0, 0.0),
        namespaces=namespaces,
    )


def test_an_absent_metrics_api_is_a_gap_and_usage_unknown() -> None:
    snapshot = snapshot_of(Fake(podmetrics=[SourceError(POD_METRICS, "metrics.k8s.io is not served (404)", absent=True)]))
    assert [g.reason for g in snapshot.gaps if g.source == "podmetrics"] == ["metrics.k8s.io is not served (404)"]
    assert not snapshot.has("podmetrics")
    assert snapshot.has("pods")


def test_what_autoscalers_may_do_is_asked_only_when_it_is_wanted() -> None:
    snapshot = snapshot_of(Fake())
    assert not snapshot.has("nodepools")
    assert "nodepools" not in {g.source for g in snapshot.gaps}


def test_an_empty_list_of_measurements_is_a_gap_too() -> None:
    snapshot = snapshot_of(Fake(podmetrics=[page()]))
    assert {g.source for g in snapshot.gaps} == {"podmetrics", "nodemetrics"}


@pytest.mark.parametrize("kind", [NODES, PODS])
def test_without_a_required_list_there_is_no_report(kind: Kind) -> None:
    name = kind.name
    error = SourceError(kind, f'the service account may not list "{name}" (403)', "Add it to the ClusterRole.", forbidden=True)
    with pytest.raises(CollectError, match=rf'could not list {name}: the service account may not list "{name}".*Add it to the ClusterRole'):
        snapshot_of(Fake(nodes=[error]) if kind is NODES else Fake(pods=[error]))


def test_with_namespaces_nodes_may_be_forbidden() -> None:
    snapshot = snapshot_of(Fake(nodes=[SourceError(NODES, "forbidden", forbidden=True)]), namespaces=("default",))
    assert not snapshot.has("nodes")
    assert "nodes" in {g.source for g in snapshot.gaps}
    assert snapshot.namespaces == ("default",)


def test_a_list_that_expired_is_begun_again_and_never_half_used() -> None:
    source = Fake(pods=[page(pod("old")), ListExpired(PODS, "expired")], again=[page(pod("new"))])
    assert snapshot_of(source).table("pods")["pod"].tolist() == ["new"]


def test_what_was_refused_in_a_list_that_is_begun_again_is_noted_once() -> None:
    broken = {"metadata": {"name": "broken"}, "spec": 7}
    snapshot = snapshot_of(Fake(pods=[page(broken), ListExpired(PODS, "expired")], again=[page(broken, pod("new"))]))
    assert snapshot.table("rejects")["object"].tolist() == ["pod broken"]


def test_a_list_that_expires_for_ever_is_given_up() -> None:
    with pytest.raises(CollectError, match="expired 3 times"):
        snapshot_of(Fake(pods=[page(pod()), ListExpired(PODS, "expired")]))


def test_no_time_left_skips_optional_sources_and_says_so() -> None:
    snapshot = snapshot_of(Fake(), left=90, reserve=90)  # what is required may use the reserve
    assert not snapshot.complete
    assert {g.source for g in snapshot.gaps} == OPTIONAL


@pytest.mark.parametrize("kind", [NODES, PODS])
def test_no_time_left_in_a_required_list_ends_the_run(kind: Kind) -> None:
    times = iter([0.0, 0.0] if kind is PODS else [0.0])

    with pytest.raises(CollectError, match=rf"could not list {kind.name}: the run's time was used up .* Raise run\.deadline_seconds"):
        assemble(
            Fake(pods=[page(pod("a")), page(pod("b"))], nodes=[page(node("a")), page(node("b"))] if kind is NODES else [page(node())]),
            Identity("c", "cluster"),
            taken_at=None,
            fallback_taken_at=lambda: NOON,
            deadline=Deadline(10, 0, lambda: next(times, 10.0), 0.0),
        )


def test_an_optional_list_that_does_not_end_in_time_is_never_half_used() -> None:
    times = iter([0.0] * 5)  # nodes, pods, nodemetrics, podmetrics, a first page of Jobs
    jobs: list[bytes | SourceError] = [page({"metadata": {"name": name, "namespace": "default"}}) for name in ("a", "b")]
    snapshot = assemble(
        Fake(jobs=jobs),
        Identity("c", "cluster"),
        taken_at=datetime(2026, 12, 1, 2, tzinfo=UTC),
        fallback_taken_at=lambda: NOON,
        deadline=Deadline(10, 0, lambda: next(times, 10.0), 0.0),
    )
    assert snapshot.table("jobs").empty
    assert not snapshot.complete
    assert "time was used up" in next(gap.reason for gap in snapshot.gaps if gap.source == "jobs")


def test_the_moment_is_given_or_that_of_the_newest_measurement_or_the_fallback() -> None:
    assert snapshot_of(Fake(), taken_at=NOON).taken_at == NOON
    assert snapshot_of(Fake()).taken_at == datetime(2026, 12, 1, 2, tzinfo=UTC)
    assert snapshot_of(Fake(podmetrics=[page()])).taken_at == NOON
    assert snapshot_of(Fake()).run_id == "20261201T020000Z"


def reading(second: int, memory: str) -> bytes:
    return page(
        {**USAGE, "timestamp": f"2026-12-01T02:00:{second:02}Z", "containers": [{"name": "app", "usage": {"cpu": "1", "memory": memory}}]}
    )


def sampled(*readings: list[bytes | SourceError], left: float | None = None) -> tuple[Snapshot, list[float]]:
    waits: list[float] = []
    source = Fake(podmetrics=readings[0])
    remaining = iter(readings[1:])

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        source.serve(POD_METRICS, next(remaining))

    snapshot = assemble(
        source,
        Identity("c", "cluster"),
        taken_at=None,
        fallback_taken_at=lambda: NOON,
        deadline=Deadline(left, 0, lambda: 0.0, 0.0),
        sampling=Sampling(len(readings), 30, sleep),
    )
    return snapshot, waits


def test_several_readings_are_kept_and_a_window_read_twice_counts_once() -> None:
    snapshot, waits = sampled([reading(0, "1Mi")], [reading(0, "1Mi")], [reading(30, "2Mi")])
    assert waits == [30, 30]
    assert len(snapshot.table("container_usage")) == 2
    assert sampling(snapshot, 600) == views.Sampling(2, datetime(2026, 12, 1, 2, tzinfo=UTC), datetime(2026, 12, 1, 2, 0, 30, tzinfo=UTC))


def test_a_reading_that_fails_ends_the_sampling_and_keeps_what_was_read() -> None:
    snapshot, _ = sampled([reading(0, "1Mi")], [SourceError(POD_METRICS, "503")], [reading(30, "2Mi")])
    assert [g.reason for g in snapshot.gaps if g.source == "podmetrics"] == ["1 of 3 readings were taken: 503"]
    assert snapshot.has("podmetrics")
    assert len(snapshot.table("container_usage")) == 1


def test_sampling_stops_when_the_time_is_used_up() -> None:
    snapshot, waits = sampled([reading(0, "1Mi")], [reading(30, "2Mi")], left=20)
    assert not waits
    assert "1 of 2 readings" in "".join(g.reason for g in snapshot.gaps)


def test_a_dump_is_read_page_by_page_plain_or_compressed(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods-1.json").write_bytes(page(pod("a")))
    (tmp_path / "pods-2.json.gz").write_bytes(gzip.compress(page(pod("b"))))
    (tmp_path / "ingresses.json").write_text("not read")
    (tmp_path / "version.json").write_text(json.dumps({"serverVersion": {"gitVersion": "v1.36.2"}}))
    snapshot = snapshot_of(Dump(tmp_path))
    assert snapshot.table("pods")["pod"].tolist() == ["a", "b"]
    assert snapshot.kubernetes_version == "v1.36.2"
    assert {g.reason for g in snapshot.gaps} == {f"there is no {name}*.json in the dump" for name in OPTIONAL}


def test_a_dump_that_powershell_wrote_is_read(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()).decode().encode("utf-16"))
    (tmp_path / "pods.json").write_bytes(b"\xef\xbb\xbf" + page(pod()))
    assert len(snapshot_of(Dump(tmp_path)).table("nodes")) == 1


NO_LISTS = [
    b"",
    b"Error from server",
    b"[]",
    b"{}",
    b'{"items": 3}',
    b'{"kind": "Status", "metadata": {}, "status": "Failure", "message": "no", "code": 403}',
    json.dumps({"kind": "Pod", **pod()}).encode(),
    b'{"kind": "NodeList", "items": []}',
    b'{"kind": "Table", "rows": []}',
]


@pytest.mark.parametrize("content", NO_LISTS)
def test_a_file_that_is_no_list_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json").write_bytes(content)
    with pytest.raises(CollectError, match="could not list pods: the answer is not a Kubernetes List"):
        snapshot_of(Dump(tmp_path))


@pytest.mark.parametrize("content", NO_LISTS)
def test_a_file_that_is_no_list_is_a_gap_where_the_report_can_do_without(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json").write_bytes(page(pod()))
    (tmp_path / "jobs.json").write_bytes(content.replace(b"Pod", b"Job"))
    snapshot = snapshot_of(Dump(tmp_path))
    assert "not a Kubernetes List" in next(gap.reason for gap in snapshot.gaps if gap.source == "jobs")
    assert not snapshot.has("jobs")


@pytest.mark.parametrize("head", [{}, {"metadata": None}, {"metadata": {}, "kind": "PodList"}, {"kind": None}])
def test_items_that_are_null_are_an_empty_list(tmp_path: Path, head: dict[str, object]) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node(), metadata=None))
    (tmp_path / "pods.json").write_bytes(json.dumps({**head, "items": None}).encode())
    snapshot = snapshot_of(Dump(tmp_path))
    assert (len(snapshot.table("nodes")), len(snapshot.table("pods")), snapshot.has("pods")) == (1, 0, True)


def test_of_a_list_of_several_kinds_each_file_takes_its_own(tmp_path: Path) -> None:
    nodes, pods = [{"kind": "Node", **node(f"n{i}")} for i in range(3)], [{"kind": "Pod", **pod(f"p{i}")} for i in range(2)]
    odd = {"kind": "Service", "metadata": {"name": "s"}, "spec": {"containers": "none"}, "status": {"conditions": 7}}
    for name in ("nodes", "pods"):
        (tmp_path / f"{name}.json").write_bytes(page(*nodes, *pods, odd))
    snapshot = snapshot_of(Dump(tmp_path))
    assert snapshot.table("nodes")["node"].tolist() == ["n0", "n1", "n2"]
    assert snapshot.table("pods")["pod"].tolist() == ["p0", "p1"]
    refused = snapshot.table("rejects")[["object", "value"]].to_numpy().tolist()
    assert sorted(refused) == [["node list", "Pod"], ["node list", "Service"], ["pod list", "Node"], ["pod list", "Service"]]
    assert snapshot.table("rejects")["reason"].str.extract(r"^(\d+) of another kind")[0].astype(int).sum() == 2 + 1 + 3 + 1


def test_a_dump_without_kinds_that_no_pod_needs_has_no_gap_about_them(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json").write_bytes(page(pod()))
    assert not {gap.source for gap in snapshot_of(Dump(tmp_path)).gaps} & ASKED_ONLY_FOR_PODS_THAT_NEED_IT


@pytest.mark.parametrize(
    ("owner", "labels", "expected"),
    [
        (("ReplicaSet", "web-7d9c"), {"pod-template-hash": "7d9c"}, {"deployments", "horizontalpodautoscalers"}),
        (("ReplicaSet", "bare"), {}, {"replicasets", "deployments", "horizontalpodautoscalers"}),
        (("StatefulSet", "db"), {}, {"statefulsets", "horizontalpodautoscalers"}),
        (("DaemonSet", "agent"), {}, {"daemonsets"}),
        (("Rollout", "canary"), {}, {"horizontalpodautoscalers"}),
        (("Job", "once"), {}, set()),
    ],
)
def test_kinds_are_listed_only_when_a_pod_belongs_to_one(
    tmp_path: Path, owner: tuple[str, str], labels: dict[str, str], expected: set[str]
) -> None:
    references = [{"kind": owner[0], "name": owner[1], "uid": "u", "controller": True}]
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json").write_bytes(page(pod(ownerReferences=references, labels=labels)))
    assert {gap.source for gap in snapshot_of(Dump(tmp_path)).gaps} & ASKED_ONLY_FOR_PODS_THAT_NEED_IT == expected


def test_one_measurement_from_the_future_does_not_move_the_moment_of_a_dump(tmp_path: Path) -> None:
    ahead = {**USAGE, "metadata": {"name": "p9", "namespace": "default"}, "timestamp": "2099-01-01T00:00:00Z"}
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json").write_bytes(page(pod()))
    others = [{**USAGE, "metadata": {"name": f"p{i}", "namespace": "default"}} for i in range(2)]
    (tmp_path / "podmetrics.json").write_bytes(page(*others, ahead))
    snapshot = snapshot_of(Dump(tmp_path))
    assert snapshot.taken_at == datetime(2026, 12, 1, 2, tzinfo=UTC)
    assert snapshot.table("rejects")["object"].tolist() == ["podmetrics default/p9"]


def test_measurements_that_agree_are_believed_whatever_our_clock_says() -> None:
    assert snapshot_of(Fake(), taken_at=datetime(2026, 12, 1, 1, tzinfo=UTC)).has("podmetrics")


def test_readings_taken_while_the_run_goes_on_are_not_from_the_future() -> None:
    late = {**USAGE, "metadata": {"name": "p2", "namespace": "default"}, "timestamp": "2026-12-01T03:00:00Z"}

    def read(elapsed_seconds: float) -> list[str]:
        snapshot = assemble(
            Fake(podmetrics=[page(USAGE, {**USAGE, "metadata": {"name": "p3", "namespace": "default"}}, late)]),
            Identity("c", "cluster"),
            taken_at=datetime(2026, 12, 1, 2, tzinfo=UTC),
            fallback_taken_at=lambda: NOON,
            deadline=Deadline(None, 0, lambda: elapsed_seconds, 0.0),
        )
        return snapshot.table("container_usage")["pod"].tolist()

    assert read(3600) == ["p1", "p2", "p3"]
    assert read(60) == ["p1", "p3"]


def test_a_dump_cut_in_the_middle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_bytes(page(node()))
    (tmp_path / "pods.json.gz").write_bytes(gzip.compress(page(pod()))[:-12])
    with pytest.raises(CollectError, match=r"pods\.json\.gz cannot be read"):
        snapshot_of(Dump(tmp_path))


def test_a_missing_folder_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match="there is no such folder"):
        Dump(tmp_path / "nowhere")


def test_with_namespaces_it_is_a_gap_that_others_were_not_read() -> None:
    (gap,) = [gap for gap in snapshot_of(Fake(), namespaces=("b", "a")).gaps if gap.source == "pods"]
    assert gap.reason == "only those of a, b were read"
    assert "pods" not in {gap.source for gap in snapshot_of(Fake()).gaps}
