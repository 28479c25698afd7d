"""What pods share is worked out once; what tells them apart must never be lost by that."""

from __future__ import annotations

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
    "host network": like({"hostNetwork": True, "dnsPolicy": "Default"}),
    "no spec": {"metadata": {"name": "p1", "namespace": "default"}},
}


def facts(tables: dict[str, pd.DataFrame], rejects: Rejects, name: str) -> dict[str, Any]:
    """Give all that is known of one pod; what is numbered stands there itself."""
    one = tables["pods"].set_index("pod").loc[name]
    of_sets = {key: tables[key].loc[tables[key]["scheduling_set"] == one["scheduling_set"]] for key in ("tolerations", "node_requirements")}
    spread = tables["scheduling_sets"].set_index("scheduling_set")["spread"][one["scheduling_set"]]
    rows = {key: tables[key].loc[tables[key]["pod"] == name].drop(columns="pod") for key in ("containers", "pod_resources")}
    shown = {key: frame.drop(columns="scheduling_set", errors="ignore").to_csv(index=False) for key, frame in {**rows, **of_sets}.items()}
    refused = [(field, value, reason) for thing, field, value, reason in rejects.entries() if name in thing.replace("/", " ").split()]
    return {**one.drop(["label_set", "scheduling_set", "workload"]).astype(str), **shown, "spread": bool(spread), "refused": refused}


def facts_of(pods: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Read the pods in that order, twice over: the second is found among what is known."""
    rejects = Rejects()
    collector = PodCollector(rejects)
    named = {f"{name}-{turn}".replace(" ", "_"): value for turn in (1, 2) for name, value in pods.items()}
    collector.take(page(*({**value, "metadata": {**value["metadata"], "name": name}} for name, value in named.items())))
    tables = collector.tables()
    return {name: facts(tables, rejects, name) for name in named}


@pytest.mark.parametrize("order", [1, -1])
def test_each_pod_is_read_among_others_as_alone(order: int) -> None:
    together = facts_of(dict(list(NEAR_MISSES.items())[::order]))
    alone: dict[str, dict[str, Any]] = {}
    for name, value in NEAR_MISSES.items():
        alone |= facts_of({name: value})
    assert together == alone


def test_the_near_misses_do_differ() -> None:
    """Otherwise the test above would find nothing."""
    alike: dict[str, list[str]] = {}
    for name, one in facts_of(NEAR_MISSES).items():
        if name.endswith("-1"):
            alike.setdefault(str(sorted(one.items())), []).append(name.removesuffix("-1"))
    assert [names for names in alike.values() if len(names) > 1] == [
        ["plain", "resize_upward", "status_of_another", "empty_affinity"],
        ["tolerations'_words_as_constraints", "rather_apart"],
    ]
