"""Owners: by reference, never by name."""

from __future__ import annotations

from typing import Any

import pytest

from batch.collect.jobs import JobCollector
from batch.collect.rejects import Rejects
from batch.collect.source import at_any_time
from tests.collect.objects_json import container, page, pod
from tests.collect.test_assemble import Fake, snapshot_of


def job(name: str, uid: str, *owners: dict[str, Any], spec: dict[str, Any] | None = None, manual: bool = False) -> dict[str, Any]:
    annotations = {"cronjob.kubernetes.io/instantiate": "manual"} if manual else {}
    metadata = {"name": name, "namespace": "default", "uid": uid, "ownerReferences": list(owners), "annotations": annotations}
    return {"metadata": metadata, "spec": spec or {}}


def reference(kind: str, name: str, uid: str = "u", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "name": name, "uid": uid, **more}


def workloads(source: Fake) -> dict[str, tuple[str, str]]:
    pods = snapshot_of(source).table("pods")
    return {p: (k, w) for p, k, w in zip(pods["pod"], pods["workload_kind"], pods["workload"], strict=True)}


def test_a_job_of_a_cronjob_belongs_to_it_also_when_started_by_hand() -> None:
    source = Fake(
        pods=[
            page(
                pod("scheduled", ownerReferences=[reference("Job", "nightly-29538870", "j1", controller=True)]),
                pod("manual", ownerReferences=[reference("Job", "rerun-1", "j2", controller=True)]),
                pod("alone", ownerReferences=[reference("Job", "backup-2024", "j3", controller=True)]),
            )
        ],
        jobs=[
            page(
                job("nightly-29538870", "j1", reference("CronJob", "nightly", controller=True)),
                job("rerun-1", "j2", reference("CronJob", "nightly"), manual=True),
                job("backup-2024", "j3"),
            )
        ],
    )
    assert workloads(source) == {"scheduled": ("CronJob", "nightly"), "manual": ("CronJob", "nightly"), "alone": ("Job", "backup-2024")}
    assert snapshot_of(source).table("jobs").set_index("job")["manual"].to_dict() == {
        "backup-2024": False,
        "nightly-29538870": False,
        "rerun-1": True,
    }


def test_replica_sets_are_asked_only_when_a_pod_leaves_a_question() -> None:
    asked: list[str] = []

    class Watched(Fake):
        def pages(self, kind: Any, before_page: Any = at_any_time) -> Any:
            asked.append(kind.name)
            return super().pages(kind, before_page)

    clear = pod("a", ownerReferences=[reference("ReplicaSet", "web-7d9c", controller=True)], labels={"pod-template-hash": "7d9c"})
    open_question = pod("b", ownerReferences=[reference("ReplicaSet", "canary-55", "r1", controller=True)])
    snapshot_of(Watched(pods=[page(clear)]))
    assert "replicasets" not in asked
    rollout = {"metadata": {"name": "canary-55", "uid": "r1", "ownerReferences": [reference("Rollout", "canary", controller=True)]}}
    assert workloads(Watched(pods=[page(clear, open_question)], replicasets=[page(rollout)])) == {
        "a": ("Deployment", "web"),
        "b": ("Rollout", "canary"),
    }


@pytest.mark.parametrize("owner", [[], [reference("ReplicaSet", "x", controller=False)]])
def test_a_pod_that_nothing_controls_is_its_own_workload(owner: list[dict[str, Any]]) -> None:
    assert workloads(Fake(pods=[page(pod("a", ownerReferences=owner))])) == {"a": ("Pod", "a")}


def test_a_suspended_job_says_what_it_will_ask_for() -> None:
    collector = JobCollector(Rejects())
    limits = {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "2"}
    template = {"spec": {"containers": [container(limits=limits)]}}
    collector.take(page(job("j", "u", spec={"suspend": True, "parallelism": 3, "template": template})))
    tables = collector.tables()
    row = tables["jobs"].iloc[0]
    assert (row["suspended"], row["parallelism"], row["template_requests_cpu_nanocores"]) == (True, 3, 2 * 10**9)
    assert row["template_requests_memory_bytes"] == 4 * 2**30
    assert tables["job_resources"]["requests_count"].tolist() == [2]
