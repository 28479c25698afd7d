"""Pods: identity, owner, and the rows of their containers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import container, page, pod


def tables_of(*pods: dict[str, Any], namespaces: tuple[str, ...] = ()) -> dict[str, pd.DataFrame]:
    collector = PodCollector(Rejects(), namespaces)
    collector.take(page(*pods))
    return collector.tables()


def owner(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"kind": kind, "name": name, "uid": "u", "controller": True}]


def test_the_top_owner_as_far_as_the_pod_says_it() -> None:
    rows = tables_of(
        pod("a", ownerReferences=owner("ReplicaSet", "web-7d9c"), labels={"pod-template-hash": "7d9c"}),
        pod("b", ownerReferences=owner("ReplicaSet", "bare-7d9c")),
        pod("c", ownerReferences=owner("Job", "backup-2024")),
        pod("etcd-n1", ownerReferences=owner("Node", "n1")),
        pod("e"),
    )["pods"]
    assert rows[["workload_kind", "workload"]].to_numpy().tolist() == [
        ["Deployment", "web"],
        ["ReplicaSet", "bare-7d9c"],
        ["Job", "backup-2024"],
        ["Pod", "e"],
        ["StaticPod", "etcd"],
    ]


def test_sidecars_and_init_containers_have_their_rows() -> None:
    tables = tables_of(
        pod(spec={"initContainers": [container("setup"), container("mesh", restartPolicy="Always", requests={"cpu": "500m"})]})
    )
    assert dict(zip(tables["containers"]["container"], tables["containers"]["kind"], strict=True)) == {
        "app": "app",
        "setup": "init",
        "mesh": "sidecar",
    }
    assert tables["pods"]["container_count"].tolist() == [2]


def test_pods_with_resources_of_their_own_are_told_apart() -> None:
    rows = tables_of(pod("whole", spec={"resources": {"requests": {"cpu": "1"}}}), pod("empty", spec={"resources": {}}), pod("parts"))[
        "pods"
    ]
    assert dict(zip(rows["pod"], rows["sized_as_a_whole"], strict=True)) == {"whole": True, "empty": False, "parts": False}


def test_pods_of_equal_labels_share_one_set() -> None:
    tables = tables_of(pod("a", labels={"app": "x"}), pod("b", labels={"app": "x"}), pod("c"))
    assert tables["pods"]["label_set"].nunique() == 2
    assert tables["label_sets"][["label", "value"]].to_numpy().tolist() == [["app", "x"]]


def test_nothing_asked_for_is_zero_and_no_limit_is_unknown() -> None:
    row = tables_of(pod())["pods"].iloc[0]
    assert row["requests_cpu_nanocores"] == 0
    assert pd.isna(row["limits_memory_bytes"])


def test_a_gated_pod_and_why_a_pod_waits() -> None:
    rows = tables_of(
        pod("gated", spec={"nodeName": None, "schedulingGates": [{"name": "quota"}]}),
        pod(
            "waits",
            spec={"nodeName": ""},
            status={"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]},
        ),
    )["pods"].set_index("pod")
    assert rows["gated"].to_dict() == {"gated": True, "waits": False}
    assert rows.loc["waits", "unschedulable_reason"] == "0/3 nodes"
    assert rows["node"].isna().all()


def test_only_the_namespaces_that_were_asked_for() -> None:
    assert tables_of(pod("a"), pod("b", namespace="team"), namespaces=("team",))["pods"]["pod"].tolist() == ["b"]


def test_what_fargate_bought_for_a_pod() -> None:
    rows = tables_of(
        pod("a", annotations={"CapacityProvisioned": "0.25vCPU 0.5GB"}), pod("b", annotations={"CapacityProvisioned": "lots"}), pod("c")
    )["pods"].set_index("pod")
    assert (rows["provisioned_cpu_nanocores"]["a"], rows["provisioned_memory_bytes"]["a"]) == (250_000_000, 512 * 2**20)
    assert rows["provisioned_memory_bytes"].isna().to_dict() == {"a": False, "b": True, "c": True}


def test_the_same_pod_in_two_pages_counts_once_as_it_was_last() -> None:
    rows = tables_of(pod("a", status={"phase": "Pending"}), pod("b"), pod("a", status={"phase": "Running"}))["pods"]
    assert rows[["pod", "phase"]].to_numpy().tolist() == [["a", "Running"], ["b", "Running"]]


def test_labels_that_are_none_cost_the_pod_and_resources_that_are_none_cost_the_figures() -> None:
    rejects = Rejects()
    collector = PodCollector(rejects)
    collector.take(page(pod("a", labels={"n": 1}), pod("b", spec={"containers": [{"name": "app", "resources": "many"}]})))
    rows = collector.tables()["pods"]
    assert rows["pod"].tolist() == ["b"]
    assert rows["requests_cpu_nanocores"].isna().all()
    assert rejects.table()["object"].tolist() == ["pod default/a", "pod default/b/app"]


def test_an_amount_of_gpus_that_is_no_quantity_is_unread_and_not_absent() -> None:
    asks = [container(requests={"nvidia.com/gpu": "two", "memory": "1Gi"}), container("b", requests={"nvidia.com/gpu": "1"})]
    tables = tables_of(pod("a", spec={"containers": asks}), pod("b", spec={"containers": [container(requests={"nvidia.com/gpu": "1"})]}))
    assert tables["unread_requests"].to_numpy().tolist() == [["default", "a", "nvidia.com/gpu"]]
    assert tables["pod_resources"].to_numpy().tolist() == [["default", "b", "nvidia.com/gpu", 1]]


def test_environment_variables_and_annotations_are_not_kept() -> None:
    tables = tables_of(pod(annotations={"note": "s3cret"}, spec={"containers": [container(env=[{"name": "TOKEN", "value": "s3cret"}])]}))
    assert not any("s3cret" in frame.to_csv() for frame in tables.values())


def test_why_and_when_a_container_last_ended() -> None:
    def status(name: str, **states: Any) -> dict[str, Any]:
        return {"name": name, "restartCount": 1, **{state: {"terminated": end} for state, end in states.items()}}

    killed = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2026-11-26T23:43:00Z"}
    done = {"reason": "Completed", "exitCode": 0, "finishedAt": "2026-11-27T00:00:00Z"}
    containers = [container(name) for name in ("killed", "twice", "never")]
    statuses = [
        status("killed", lastState=killed),
        status("twice", lastState=killed, state=done),
        {"name": "never", "state": {"running": {}}},
    ]
    rows = tables_of(pod(spec={"containers": containers}, status={"containerStatuses": statuses}))["containers"].set_index("container")
    assert rows["last_end_reason"].dropna().to_dict() == {"killed": "OOMKilled", "twice": "Completed"}
    assert rows.loc["killed", "last_end_at"] == pd.Timestamp("2026-11-26T23:43:00Z")
    assert rows["last_end_at"].isna()["never"]


def test_no_table_holds_environment_commands_or_annotations_that_are_not_used() -> None:
    hidden: dict[str, Any] = {
        "env": [{"name": "TOKEN", "value": "s3cret"}, {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s3cret", "key": "s3cret"}}}],
        "envFrom": [{"secretRef": {"name": "s3cret"}}],
        "command": ["run", "--token=s3cret"],
        "args": ["s3cret"],
        "volumeMounts": [{"name": "s3cret", "mountPath": "/s3cret"}],
    }
    spec = {
        "containers": [container(requests={"cpu": "1K"}, **hidden)],
        "initContainers": [container("setup", **hidden)],
        "volumes": [{"name": "s3cret", "secret": {"secretName": "s3cret"}}],
        "imagePullSecrets": [{"name": "s3cret"}],
    }
    status = {
        "message": "s3cret",
        "containerStatuses": [{"name": "app", "state": {"terminated": {"reason": "Error", "message": "s3cret"}}}],
    }
    rejects = Rejects()
    collector = PodCollector(rejects)
    whole = pod(spec=spec, status=status, annotations={"s3cret": "s3cret"}, managedFields=[{"manager": "s3cret"}])
    broken = pod("broken", spec={"nodeName": 7, "containers": [container(**hidden)]}, annotations={"s3cret": "s3cret"})
    collector.take(page(whole, broken))
    tables = {**collector.tables(), "rejects": rejects.table()}
    assert len(tables["pods"]) == 1
    assert len(tables["rejects"]) == 2
    assert [name for name, table in tables.items() if "s3cret" in table.to_csv()] == []
