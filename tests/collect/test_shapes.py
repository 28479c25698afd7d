"""What pods share is worked out once; what tells them apart must never be lost by that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from tests.collect.objects_json import container, page, pod

HELD = {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}
APP = container(requests={"cpu": "1"}, limits={"cpu": "1"})
INIT = container("init", requests={"cpu": "5"})
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}]}
BESIDE = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}


def like(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    return pod(spec={"containers": [APP], **(spec or {})}, status=status, **metadata)


def held(name: str = "app", **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": HELD, **more}


def ended(name: str, restarts: int) -> dict[str, Any]:
    return {"name": name, "restartCount": restarts, "lastState": {"terminated": {"reason": "Error", "finishedAt": "2026-01-02T00:00:00Z"}}}


LESS = {"name": "app", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "500m"}}}
INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
NEAR_MISSES = {
    "plain": like(),
    "other requests": like({"containers": [container(requests={"cpu": "7"}, limits={"cpu": "7"})]}),
    "other image": like({"containers": [{**APP, "image": "other:2"}]}),
    "two containers": like({"containers": [APP, container("beside", requests={"cpu": "2"})]}),
    "init container": like({"initContainers": [INIT]}),
    "the same as app container": like({"containers": [APP, INIT]}),
    "sidecar": like({"initContainers": [{**INIT, "restartPolicy": "Always"}]}),
    "overhead": like({"overhead": {"cpu": "1"}}),
    "overhead's words as pod-level resources": like({"resources": {"cpu": "1"}}),
    "pod-level resources": like({"resources": {"requests": {"cpu": "4"}}}),
    "resize in progress": like(status={"containerStatuses": [held()]}),
    "resize upward": like(status={"containerStatuses": [LESS]}),
    "resize upward refused": like(status={"containerStatuses": [LESS], "conditions": INFEASIBLE}),
    "status of another": like(status={"containerStatuses": [held("gone")]}),
    "allocated": like(status={"containerStatuses": [{"name": "app", "resources": HELD, "allocatedResources": {"cpu": "9"}}]}),
    "allocated to the pod": like({"resources": {"requests": {"cpu": "4"}}}, {"resources": HELD, "allocatedResources": {"cpu": "9"}}),
    "tolerations": like({"tolerations": [{"operator": "Exists"}]}),
    "tolerations' words as constraints": like({"topologySpreadConstraints": [{"operator": "Exists"}]}),
    "node selector": like({"nodeSelector": {"pool": "a"}}),
    "node affinity": like({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}}}),
    "beside others": like({"affinity": {"podAffinity": BESIDE}}),
    "apart from others": like({"affinity": {"podAntiAffinity": BESIDE}}),
    "rather apart": like({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}}),
    "empty affinity": like({"affinity": {}}),
    "of a DaemonSet": like(
        {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}}},
        ownerReferences=[{"kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}],
    ),
    "no quantity": like({"containers": [container(requests={"cpu": "many"})]}),
    "rules that are none": like({"tolerations": 7}),
    "another namespace": like(namespace="team"),
    "local storage": like({"volumes": [{"emptyDir": {}}]}),
    "waits": like(status={"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]}),
    "gated": pod(spec={"nodeName": None, "containers": [APP], "schedulingGates": [{"name": "g"}]}),
    "gates let go": like({"schedulingGates": [{"name": "g"}]}),
    "claim": like({"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}),
    "init container ended": like({"initContainers": [INIT]}, {"initContainerStatuses": [ended("init", 1)]}),
    "restarted": like(status={"containerStatuses": [ended("app", 3)]}),
    "priority": like({"priority": 7}),
    "deadline": like({"activeDeadlineSeconds": 60}),
    "deleted": like(deletionTimestamp="2026-01-01T00:00:00Z"),
    "finalizers": like(finalizers=["a/b"]),
    "other owner": like(ownerReferences=[{"kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}]),
    "owner proved by its hash": like(
        labels={"pod-template-hash": "1"}, ownerReferences=[{"kind": "ReplicaSet", "name": "web-1", "uid": "u", "controller": True}]
    ),
    "annotated": like(annotations={"CapacityProvisioned": "0.25vCPU 0.5GB", "alibabacloud.com/gpu-index": "0-1"}),
    "not to be evicted": like(annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
    "host network": like({"hostNetwork": True, "dnsPolicy": "Default"}),
    "no spec": {"metadata": {"name": "p1", "namespace": "default"}},
}


def facts(tables: dict[str, pd.DataFrame], rejects: Rejects, name: str) -> dict[str, Any]:
    """Give all that is known of one pod; what is numbered stands there itself."""
    one = tables["pods"].set_index("pod").loc[name]
    of_sets = {key: tables[key].loc[tables[key]["scheduling_set"] == one["scheduling_set"]] for key in ("tolerations", "node_requirements")}
    spread = tables["scheduling_sets"].set_index("scheduling_set")["spread"][one["scheduling_set"]]
    of_pod = ("containers", "pod_resources", "unread_requests", "pod_claims")
    rows = {key: tables[key].loc[tables[key]["pod"] == name].drop(columns="pod") for key in of_pod}
    shown = {key: frame.drop(columns="scheduling_set", errors="ignore").to_csv(index=False) for key, frame in {**rows, **of_sets}.items()}
    refused = [(field, value, reason) for thing, field, value, reason in rejects.entries() if name in thing.replace("/", " ").split()]
    return {**one.drop(["label_set", "scheduling_set", "workload"]).astype(str), **shown, "spread": bool(spread), "refused": refused}


def facts_of(pods: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Read the pods in that order, each under its name."""
    rejects = Rejects()
    collector = PodCollector(rejects)
    collector.take(page(*({**value, "metadata": {**value["metadata"], "name": name}} for name, value in pods)))
    tables = collector.tables()
    return {name: facts(tables, rejects, name) for name, _ in pods}


ALONE = {name: facts_of([("p", value)])["p"] for name, value in NEAR_MISSES.items()}


def named(kinds: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"p{number}", NEAR_MISSES[kind]) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize("order", [1, -1])
def test_each_pod_is_read_among_others_as_alone(order: int) -> None:
    kinds = list(NEAR_MISSES)[::order] * 2  # those of the second round are found among what is known
    assert list(facts_of(named(kinds)).values()) == [ALONE[kind] for kind in kinds]


@pytest.mark.parametrize("kind", NEAR_MISSES)
def test_each_pod_is_read_beside_its_like_as_alone(kind: str) -> None:
    kinds = ["plain", kind, kind, "plain", kind, "plain", "plain"]
    assert list(facts_of(named(kinds)).values()) == [ALONE[kind] for kind in kinds]


def test_what_is_a_pods_own_stays_its_own() -> None:
    def one(number: int) -> dict[str, Any]:
        owner = [{"kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}]
        more = {"uid": f"u{number}", "creationTimestamp": f"2026-01-01T00:00:0{number}Z", "labels": {"index": str(number)}}
        status = {"startTime": f"2026-01-01T00:01:0{number}Z", "containerStatuses": [ended("app", number)]}
        return pod(f"p{number}", ownerReferences=owner, spec={"nodeName": f"n{number}", "containers": [APP]}, status=status, **more)

    collector = PodCollector(Rejects())
    collector.take(page(*map(one, (2, 0, 1))))
    tables = collector.tables()
    assert tables["pods"][["pod", "uid", "node"]].to_numpy().tolist() == [[f"p{n}", f"u{n}", f"n{n}"] for n in range(3)]
    assert [
        (made.second, began.second) for made, began in zip(tables["pods"]["created_at"], tables["pods"]["started_at"], strict=True)
    ] == [(n, n) for n in range(3)]
    labels = tables["label_sets"].set_index("label_set")["value"]
    assert [labels[number] for number in tables["pods"]["label_set"]] == ["0", "1", "2"]
    assert tables["containers"]["restart_count"].tolist() == [0, 1, 2]


def test_statuses_go_by_name_and_a_container_without_one_fared_nobody_knows_how() -> None:
    containers = [container(name) for name in ("c", "a", "b")]
    status = {"containerStatuses": [ended("a", 1), ended("gone", 5)], "initContainerStatuses": [ended("setup", 2)]}
    collector = PodCollector(Rejects())
    collector.take(
        page(*(pod(f"p{n}", spec={"containers": containers, "initContainers": [INIT, container("setup")]}, status=status) for n in (1, 2)))
    )
    found = collector.tables()["containers"][["container", "restart_count"]].fillna(-1).to_numpy().tolist()
    assert found == 2 * [["a", 1], ["b", -1], ["c", -1], ["init", -1], ["setup", 2]]


def test_a_bare_pod_keeps_its_name_and_a_static_pod_leaves_that_of_its_node() -> None:
    mirror: dict[str, Any] = {"ownerReferences": [{"kind": "Node", "name": "n1", "uid": "u", "controller": True}]}
    collector = PodCollector(Rejects())
    collector.take(page(pod("bare-n1"), pod("proxy-n1", **mirror), pod("etcd-n1", **mirror)))
    assert collector.tables()["pods"]["workload"].tolist() == ["bare-n1", "etcd", "proxy"]


def test_pods_of_a_daemon_set_differ_in_the_name_of_their_node_alone() -> None:
    """The node that its controller wrote into a pod is left out; a name in other words is somebody's own, and stays."""

    def daemon(name: str, node: str, key: str) -> dict[str, Any]:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        if key:
            term["matchExpressions"] = [{"key": key, "operator": "In", "values": [node]}]
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
        owner = [{"kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}]
        return pod(name, ownerReferences=owner, spec={"nodeName": node, "affinity": affinity})

    pods = [daemon("a", "n1", ""), daemon("b", "n2", ""), daemon("c", "n1", "host"), daemon("d", "n2", "host")]
    collector = PodCollector(Rejects())
    collector.take(json.dumps({"items": pods}, separators=(",", ":")).encode())
    tables = collector.tables()
    assert tables["pods"]["scheduling_set"].nunique() == 3
    assert tables["node_requirements"][["label", "value"]].to_numpy().tolist() == [["host", "n1"], ["host", "n2"]]


def test_the_near_misses_do_differ() -> None:
    """Otherwise the test above would find nothing."""
    alike: dict[str, list[str]] = {}
    for name, one in ALONE.items():
        alike.setdefault(str(sorted(one.items())), []).append(name)
    assert [names for names in alike.values() if len(names) > 1] == [
        ["plain", "resize upward", "status of another", "empty affinity", "gates let go"],
        ["tolerations' words as constraints", "rather apart"],
    ]
