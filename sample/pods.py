"""Pods with the status that scheduler and kubelet write, in each phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sample.identity import digest, share, stamp
from sample.images import image_id
from sample.machines import Node
from sample.objects import Json, api_object
from sample.templates import Container, Template, mounts_of, pod_spec, qos_class


@dataclass(frozen=True)
class Identity:
    """Who a pod is: its name, owner, times, and what its controller adds."""

    name: str
    created: datetime
    owner: Json | None = None
    generate_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """How a pod ended: `reason` and `message` are the pod's own, as after an eviction."""

    at: datetime
    exit_code: int = 0
    reason: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Restart:
    """The last restart of a pod's first container: how often in all, when, and why."""

    count: int
    at: datetime
    reason: str
    exit_code: int


def running_pod(template: Template, identity: Identity, node: Node, address: str, restart: Restart | None = None) -> Json:
    """Build a pod that is Running and Ready."""
    began, started, ready = _times(identity)
    conditions = [
        _condition("PodReadyToStartContainers", "True", started),
        _condition("Initialized", "True", started),
        _condition("Ready", "True", ready),
        _condition("ContainersReady", "True", ready),
        _condition("PodScheduled", "True", began),
    ]
    statuses = [_running(template, identity, c, started, restart if n == 0 else None) for n, c in enumerate(_of_kind(template, "app"))]
    inits = [
        _running(template, identity, c, started, None) if c.kind == "sidecar" else _ended(template, identity, c, Ending(started), started)
        for c in template.containers
        if c.kind != "app"
    ]
    status = _status(template, node, address, "Running", conditions, statuses, inits, began)
    return _pod(template, identity, node, status)


def finished_pod(template: Template, identity: Identity, node: Node, address: str, ending: Ending) -> Json:
    """Build a pod that is Succeeded or, with an exit code, Failed."""
    began, started, _ = _times(identity)
    failed = bool(ending.exit_code)
    why = {"reason": "PodFailed" if failed else "PodCompleted"}
    conditions = [
        _condition("PodReadyToStartContainers", "False", ending.at + timedelta(seconds=1)),
        _condition("Initialized", "True", began, **({} if failed else why)),
        _condition("Ready", "False", ending.at, **why),
        _condition("ContainersReady", "False", ending.at, **why),
        _condition("PodScheduled", "True", began),
    ]
    if ending.message:
        conditions.insert(0, _condition("DisruptionTarget", "True", ending.at, message=ending.message, reason="TerminationByKubelet"))
    statuses = [_ended(template, identity, c, ending, started) for c in _of_kind(template, "app")]
    inits = [_ended(template, identity, c, Ending(started), began) for c in _of_kind(template, "init")]
    status = _status(template, node, address, "Failed" if failed else "Succeeded", conditions, statuses, inits, began)
    own = {key: text for key, text in (("reason", ending.reason), ("message", ending.message)) if text}
    return _pod(template, identity, node, {**status, **own})


def stuck_pod(template: Template, identity: Identity, node: Node, address: str, deleted: datetime, finalizers: list[str]) -> Json:
    """Build a pod that was deleted and that a finalizer keeps, its container still running."""
    pod = running_pod(template, identity, node, address)
    pod["metadata"] |= {"deletionGracePeriodSeconds": 30, "deletionTimestamp": stamp(deleted), "finalizers": finalizers}
    return pod


def unschedulable_pod(template: Template, identity: Identity, message: str) -> Json:
    """Build a pod for which the scheduler finds no node."""
    condition = _condition("PodScheduled", "False", identity.created, message=message, reason="Unschedulable")
    status = {"conditions": [condition], "observedGeneration": 1, "phase": "Pending", "qosClass": qos_class(template)}
    return _pod(template, identity, None, status)


def _times(identity: Identity) -> tuple[datetime, datetime, datetime]:
    """Give when the pod was bound, when its containers started and when it was ready."""
    started = identity.created + timedelta(seconds=2 + int(3 * share("start", identity.name)))
    return identity.created, started, started + timedelta(seconds=3 + int(9 * share("ready", identity.name)))


def _pod(template: Template, identity: Identity, node: Node | None, status: Json) -> Json:
    pod = api_object(
        "Pod",
        identity.name,
        identity.created,
        namespace=template.namespace,
        labels={**template.all_labels, **identity.labels},
        annotations={**template.annotations, **template.pod_annotations, **identity.annotations},
        owner=identity.owner,
        generation=1,
        spec={**pod_spec(template, identity.name, node.name if node else None), **identity.more},
        status=status,
    )
    if identity.generate_name:
        pod["metadata"]["generateName"] = identity.generate_name
    return pod


def _status(
    template: Template,
    node: Node,
    address: str,
    phase: str,
    conditions: list[Json],
    statuses: list[Json],
    inits: list[Json],
    began: datetime,
) -> Json:
    return {
        "conditions": conditions,
        "containerStatuses": statuses,
        "hostIP": node.address,
        "hostIPs": [{"ip": node.address}],
        **({"initContainerStatuses": inits} if inits else {}),
        "observedGeneration": 1,
        "phase": phase,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": qos_class(template),
        "startTime": stamp(began),
    }


def _condition(kind: str, status: str, at: datetime, **more: str) -> Json:
    return {"lastProbeTime": None, "lastTransitionTime": stamp(at), "observedGeneration": 1, "status": status, "type": kind, **more}


def _of_kind(template: Template, kind: str) -> list[Container]:
    return [c for c in template.containers if c.kind == kind]


def _running(template: Template, identity: Identity, container: Container, started: datetime, restart: Restart | None) -> Json:
    count, last, since = 0, {}, started
    if restart:
        count, since = restart.count, restart.at + timedelta(seconds=14)
        last = _terminated(template, identity, container, restart.exit_code, restart.reason, started, restart.at, "before")
    state = {"running": {"startedAt": stamp(since)}}
    return {
        **_container_status(template, identity, container),
        "lastState": last,
        "ready": True,
        "restartCount": count,
        "started": True,
        "state": state,
    }


def _ended(template: Template, identity: Identity, container: Container, ending: Ending, started: datetime) -> Json:
    reason = "Error" if ending.exit_code else "Completed"
    state = _terminated(template, identity, container, ending.exit_code, reason, started, ending.at)
    ready = container.kind == "init"
    more = {"lastState": {}, "ready": ready, "restartCount": 0, "started": False, "state": state}
    return {**_container_status(template, identity, container), **more}


def _terminated(
    template: Template,
    identity: Identity,
    container: Container,
    exit_code: int,
    reason: str,
    started: datetime,
    finished: datetime,
    which: str = "now",
) -> Json:
    times = {"startedAt": stamp(started), "finishedAt": stamp(finished)}
    return {
        "terminated": {"containerID": _container_id(template, identity, container, which), "exitCode": exit_code, "reason": reason, **times}
    }


def _container_id(template: Template, identity: Identity, container: Container, which: str = "now") -> str:
    return f"containerd://{digest('container', template.namespace, identity.name, container.name, which)}"


def _container_status(template: Template, identity: Identity, container: Container) -> Json:
    mounts = [
        {
            "mountPath": m["mountPath"],
            "name": m["name"],
            **({"readOnly": True, "recursiveReadOnly": "Disabled"} if m.get("readOnly") else {}),
        }
        for m in mounts_of(template, container, identity.name)
    ]
    uid = container.more.get("securityContext", {}).get("runAsUser", template.user)
    user = {"linux": {"gid": 0, "supplementalGroups": [0], "uid": uid}}
    return {
        "containerID": _container_id(template, identity, container),
        "image": container.image,
        "imageID": image_id(container.image),
        "name": container.name,
        "resources": container.resources,
        "user": user,
        **({"allocatedResources": dict(container.requests)} if container.requests else {}),
        **({"volumeMounts": mounts} if mounts else {}),
    }
