"""Deployments, StatefulSets, DaemonSets and static pods, with the pods that they own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sample.builder import Builder
from sample.identity import digest, share, stamp, suffix
from sample.machines import Node
from sample.objects import Json, api_object, owner_reference
from sample.pods import Identity, Restart
from sample.templates import Template, template_spec


def deployment(
    builder: Builder,
    template: Template,
    replicas: int,
    created: datetime,
    rolled_out: datetime,
    *,
    nodes: Sequence[Node] | None = None,
    strategy: str = "RollingUpdate",
    youngest: datetime | None = None,
    schedulable: bool = True,
) -> Json:
    """Add a Deployment with its ReplicaSets and running pods: on `nodes` one by one when given; the last replica made at `youngest`.

    Not `schedulable`: its pods fit nowhere and wait.
    """
    pod_hash = suffix(10, "hash", template.namespace, template.app)
    pod_labels = {**template.all_labels, "pod-template-hash": pod_hash}
    owner = _deployment(builder, template, replicas, created, rolled_out, strategy, available=schedulable)
    replica_set = _replica_set(builder, template, owner, pod_hash, replicas, rolled_out, replicas if schedulable else 0)
    if rolled_out > created:
        _replica_set(builder, template, owner, suffix(10, "before", template.namespace, template.app), 0, created, 0)
    for index in range(replicas):
        name = f"{replica_set['metadata']['name']}-{suffix(5, 'pod', template.namespace, template.app, index)}"
        late = youngest if youngest and index == replicas - 1 else None
        identity = Identity(
            name,
            late or rolled_out + timedelta(seconds=1 + 14 * index),
            owner_reference(replica_set),
            f"{replica_set['metadata']['name']}-",
            pod_labels,
        )
        if schedulable:
            builder.run(template, identity, nodes[index] if nodes else None, measured=late is None)
        else:
            builder.wait(template, identity)
    return owner


def statefulset(
    builder: Builder,
    template: Template,
    replicas: int,
    created: datetime,
    *,
    claim: str | None = None,
    nodes: Sequence[Node] | None = None,
    restart: Restart | None = None,
) -> Json:
    """Add a StatefulSet with its running pods; `claim` is the size of the volume that each has."""
    revision = f"{template.app}-{suffix(10, 'revision', template.namespace, template.app)}"
    spec: Json = {
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        "podManagementPolicy": "OrderedReady",
        "replicas": replicas,
        "revisionHistoryLimit": 10,
        "selector": _selector(template),
        "serviceName": template.app,
        "template": pod_template(template),
        "updateStrategy": {"rollingUpdate": {"partition": 0}, "type": "RollingUpdate"},
        **({"volumeClaimTemplates": [_claim_template(claim)]} if claim else {}),
    }
    same = dict.fromkeys(("availableReplicas", "currentReplicas", "readyReplicas", "replicas", "updatedReplicas"), replicas)
    status = {**same, "collisionCount": 0, "currentRevision": revision, "observedGeneration": 1, "updateRevision": revision}
    owner = builder.add("statefulsets", _controller("StatefulSet", template, created, spec, status))
    for index in range(replicas):
        name = f"{template.app}-{index}"
        labels = {
            "apps.kubernetes.io/pod-index": str(index),
            "controller-revision-hash": revision,
            "statefulset.kubernetes.io/pod-name": name,
        }
        volumes = [*template.volumes, {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}] if claim else []
        identity = Identity(name, created + timedelta(seconds=40 * index), owner_reference(owner), f"{template.app}-", labels)
        mine = _with_volumes(template, volumes) if claim else template
        builder.run(mine, identity, nodes[index] if nodes else None, restart=restart)
    return owner


def daemonset(builder: Builder, template: Template, nodes: Sequence[Node], created: datetime) -> Json:
    """Add a DaemonSet with a running pod on each of the nodes."""
    pod_hash = suffix(10, "revision", template.namespace, template.app)
    spec = {
        "revisionHistoryLimit": 10,
        "selector": _selector(template),
        "template": pod_template(template),
        "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"},
    }
    counted = ("currentNumberScheduled", "desiredNumberScheduled", "numberAvailable", "numberReady", "updatedNumberScheduled")
    status = {**dict.fromkeys(counted, len(nodes)), "numberMisscheduled": 0, "observedGeneration": 1}
    annotations = {"deprecated.daemonset.template.generation": "1"}
    owner = builder.add("daemonsets", _controller("DaemonSet", template, created, spec, status, annotations))
    labels = {"controller-revision-hash": pod_hash, "pod-template-generation": "1"}
    for node in nodes:
        name = f"{template.app}-{suffix(5, 'pod', template.namespace, template.app, node.number)}"
        began = max(created, node.created + timedelta(seconds=20)) + timedelta(seconds=int(20 * share("daemon", name)))
        more = {"affinity": _on_node(node.name), "tolerations": [*template.more.get("tolerations", []), *_daemon_tolerations()]}
        builder.run(template, Identity(name, began, owner_reference(owner), f"{template.app}-", labels, more=more), node)
    return owner


def static_pods(builder: Builder, template: Template, nodes: Sequence[Node], owners: Mapping[str, Json]) -> None:
    """Add the mirror pod of a static pod on each node; `owners` are the owner references by node name."""
    for node in nodes:
        config = digest("config", template.app, node.pool)[:32]
        seen = node.created + timedelta(seconds=9)
        annotations = {
            "kubernetes.io/config.hash": config,
            "kubernetes.io/config.mirror": config,
            "kubernetes.io/config.seen": seen.strftime("%Y-%m-%dT%H:%M:%S.000000000Z"),
            "kubernetes.io/config.source": "file",
        }
        identity = Identity(f"{template.app}-{node.name}", node.created + timedelta(seconds=34), owners[node.name], annotations=annotations)
        builder.run(template, identity, node)


def pod_template(template: Template, labels: Mapping[str, str] | None = None) -> Json:
    """Give the template as its owner's spec holds it."""
    metadata: Json = {"labels": {**template.all_labels, **(labels or {})}}
    if template.annotations:
        metadata["annotations"] = dict(template.annotations)
    return {"metadata": metadata, "spec": template_spec(template)}


def _controller(
    kind: str,
    template: Template,
    created: datetime,
    spec: Json,
    status: Json,
    annotations: Mapping[str, str] | None = None,
    generation: int = 1,
) -> Json:
    return api_object(
        kind,
        template.app,
        created,
        namespace=template.namespace,
        labels=template.all_labels,
        annotations=annotations,
        generation=generation,
        spec=spec,
        status=status,
    )


def _deployment(
    builder: Builder, template: Template, replicas: int, created: datetime, rolled_out: datetime, strategy: str, *, available: bool
) -> Json:
    rolling = {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}} if strategy == "RollingUpdate" else {}
    spec = {
        "progressDeadlineSeconds": 600,
        "replicas": replicas,
        "revisionHistoryLimit": 10,
        "selector": _selector(template),
        "strategy": {**rolling, "type": strategy},
        "template": pod_template(template),
    }
    revision = 2 if rolled_out > created else 1
    ready = dict.fromkeys(("availableReplicas", "readyReplicas"), replicas) if available else {"unavailableReplicas": replicas}
    status = {
        **ready,
        "conditions": _rollout_conditions(template, created, rolled_out, available=available),
        "observedGeneration": revision,
        "replicas": replicas,
        "terminatingReplicas": 0,
        "updatedReplicas": replicas,
    }
    annotations = {"deployment.kubernetes.io/revision": str(revision)}
    return builder.add("deployments", _controller("Deployment", template, created, spec, status, annotations, revision))


def _rollout_conditions(template: Template, created: datetime, rolled_out: datetime, *, available: bool) -> list[Json]:
    name = f"{template.app}-{suffix(10, 'hash', template.namespace, template.app)}"
    if available:
        words = [
            ("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
            ("Progressing", "True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.'),
        ]
    else:
        words = [
            ("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
            ("Progressing", "False", "ProgressDeadlineExceeded", f'ReplicaSet "{name}" has timed out progressing.'),
        ]
    updated = stamp(rolled_out + timedelta(seconds=70 if available else 601))
    since = stamp(created + timedelta(seconds=55 if available else 0))
    return [
        {"lastTransitionTime": since, "lastUpdateTime": updated, "message": message, "reason": reason, "status": status, "type": kind}
        for kind, status, reason, message in words
    ]


def _replica_set(builder: Builder, template: Template, owner: Json, pod_hash: str, replicas: int, created: datetime, ready: int) -> Json:
    labels = {"pod-template-hash": pod_hash}
    wanted = owner["spec"]["replicas"]
    annotations = {
        "deployment.kubernetes.io/desired-replicas": str(wanted),
        "deployment.kubernetes.io/max-replicas": str(wanted + -(-wanted // 4)),
        "deployment.kubernetes.io/revision": owner["metadata"]["annotations"]["deployment.kubernetes.io/revision"] if replicas else "1",
    }
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {**template.all_labels, **labels}},
        "template": pod_template(template, labels),
    }
    counts = {"availableReplicas": ready, "fullyLabeledReplicas": replicas, "readyReplicas": ready}
    status: dict[str, Any] = {"observedGeneration": 1, "replicas": replicas, "terminatingReplicas": 0}
    return builder.add(
        "replicasets",
        api_object(
            "ReplicaSet",
            f"{template.app}-{pod_hash}",
            created,
            namespace=template.namespace,
            labels={**template.all_labels, **labels},
            annotations=annotations,
            owner=owner_reference(owner),
            generation=1,
            spec=spec,
            status={**status, **{key: count for key, count in counts.items() if count}},
        ),
    )


def _selector(template: Template) -> Json:
    return {"matchLabels": template.all_labels}


def _with_volumes(template: Template, volumes: Sequence[Json]) -> Template:
    return replace(template, volumes=tuple(volumes))


def _claim_template(size: str) -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "volumeMode": "Filesystem"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec, "status": {"phase": "Pending"}}


def _on_node(name: str) -> Json:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def _daemon_tolerations() -> list[Json]:
    keys = (
        ("NoExecute", ("not-ready", "unreachable")),
        ("NoSchedule", ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")),
    )
    return [{"effect": effect, "key": f"node.kubernetes.io/{key}", "operator": "Exists"} for effect, names in keys for key in names]
