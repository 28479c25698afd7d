"""Templates and autoscalers: what stands in a workload's template, and what an autoscaler depends on."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from batch.collect.autoscalers import AutoscalerCollector
from batch.collect.rejects import Rejects
from batch.collect.source import AUTOSCALERS, DEPLOYMENTS, STATEFUL_SETS, SourceError
from batch.collect.templates import TemplateCollector
from tests.collect.objects_json import container, page, pod
from tests.collect.test_assemble import Fake, snapshot_of


def workload(name: str, *containers: str, **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [container(c) for c in containers], "initContainers": [container("setup")]}
    return {"metadata": {"name": name, "namespace": "shop", **metadata}, "spec": {"template": {"spec": spec}}}


def autoscaler(**spec: Any) -> dict[str, Any]:
    target = {"kind": "Deployment", "name": "web"}
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 6, **spec},
        "status": {"currentReplicas": 4},
    }


def autoscalers(*items: dict[str, Any]) -> dict[str, pd.DataFrame]:
    collector = AutoscalerCollector(Rejects())
    assert collector.take(page(*items)) == len(items)
    return collector.tables()


def test_every_container_of_a_template_is_a_row_with_the_workloads_own_owner() -> None:
    collector = TemplateCollector(DEPLOYMENTS, Rejects())
    operator = {"kind": "Kafka", "name": "events", "uid": "u", "controller": True}
    collector.take(page(workload("api", "app"), workload("broker", "kafka", ownerReferences=[operator])))
    rows = collector.rows().frame()
    assert rows["container"].tolist() == ["app", "setup", "kafka", "setup"]
    assert rows.loc[rows["workload"] == "broker", ["owner_kind", "owner_name"]].to_numpy().tolist() == [["Kafka", "events"]] * 2
    assert rows.loc[rows["workload"] == "api", "owner_kind"].isna().all()


def test_only_the_namespaces_that_are_read_have_rows() -> None:
    collector = TemplateCollector(DEPLOYMENTS, Rejects(), ["other"])
    collector.take(page(workload("api", "app")))
    assert collector.rows().frame().empty


def test_kinds_that_cannot_be_read_are_gaps_and_the_others_stay() -> None:
    owners = [("ReplicaSet", "web"), ("StatefulSet", "redis"), ("DaemonSet", "agent")]
    references = {name: [{"kind": kind, "name": name, "uid": name, "controller": True}] for kind, name in owners}
    source = Fake(pods=[page(*(pod(name, ownerReferences=owner) for name, owner in references.items()))])
    source.serve(DEPLOYMENTS, [SourceError(DEPLOYMENTS, "forbidden", forbidden=True)])
    source.serve(STATEFUL_SETS, [page(workload("redis", "redis"))])
    source.serve(AUTOSCALERS, [SourceError(AUTOSCALERS, "not served", absent=True)])
    snapshot = snapshot_of(source)
    assert {g.source for g in snapshot.gaps} >= {"deployments", "horizontalpodautoscalers"}
    assert snapshot.table("workload_containers")["kind"].unique().tolist() == ["StatefulSet"]
    assert not snapshot.has("horizontalpodautoscalers")


def test_an_autoscaler_has_its_target_and_sizes() -> None:
    (row,) = autoscalers(autoscaler(minReplicas=3))["hpas"].to_dict("records")
    assert (row["target_kind"], row["target_name"]) == ("Deployment", "web")
    assert (row["min_replica_count"], row["max_replica_count"], row["current_replica_count"]) == (3, 6, 4)


CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
MEMORY_OF_APP = {"type": "ContainerResource", "containerResource": {"name": "memory", "container": "app", "target": {}}}
QUEUE = {"type": "External", "external": {"metric": {"name": "queue"}, "target": {}}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"metrics": [CPU, MEMORY_OF_APP]}, [["cpu", ""], ["memory", "app"]]),
        ({"metrics": [QUEUE]}, []),
        ({}, [["cpu", ""]]),  # the API server's default
        ({"targetCPUUtilizationPercentage": 80}, [["cpu", ""]]),  # autoscaling/v1
    ],
)
def test_the_resources_it_scales_by(spec: dict[str, Any], expected: list[list[str]]) -> None:
    assert autoscalers(autoscaler(**spec))["hpa_resources"][["resource", "container"]].to_numpy().tolist() == expected


def test_what_cannot_be_read_costs_itself() -> None:
    rejects = Rejects()
    collector = AutoscalerCollector(rejects)
    assert collector.take(page(autoscaler(maxReplicas="six"), autoscaler())) == 2
    assert (len(rejects), len(collector.tables()["hpas"])) == (1, 1)
