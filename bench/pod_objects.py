"""Pods and PodMetrics as JSON text, of the size and kind that real ones have.

All pods of a workload share one text in which %(name)s and the like stand for what differs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from bench.amounts import GPU, Container, quantities
from bench.dice import Dice
from bench.managed import Json, managed
from bench.pages import compact
from bench.workloads import Workload

VARIABLES = ("name", "uid", "version", "created", "started", "token", "node", "host_ip", "pod_ip", "container_id", "restarts", "last_state")
"""What differs between pods of one workload: the last two are JSON, the others what stands inside a string."""

_FINISHED = ("Succeeded", "Failed")
_CONTAINER_ID = "containerd://%(container_id)s"
_JSON = re.compile(r'"(%\((?:restarts|last_state)\)s)"')


def pod_text(workload: Workload, state: str, dice: Dice) -> str:
    """Give the text of the workload's pods in a state: Running, Starting, Crashing, Succeeded, Failed or Unschedulable."""
    spec, metadata = pod_spec(workload, dice), _metadata(workload, dice)
    if state != "Unschedulable":
        spec["nodeName"] = "%(node)s"
    if workload.kind == "DaemonSet":
        spec["affinity"] = _only_on("%(node)s")
    status = _pod_status(workload, state)
    metadata["managedFields"] = [
        managed("kube-controller-manager", "%(created)s", {"metadata": _set_fields(metadata), "spec": _owned(spec)}),
        managed("kubelet", "%(started)s", {"status": _reported(status)}, subresource="status"),
    ]
    return _JSON.sub(r"\1", compact({"metadata": metadata, "spec": spec, "status": status}))


def pod_metrics_text(workload: Workload, time: str) -> str:
    """Give the text of the workload's PodMetrics; %(cpu<i>)s and %(memory<i>)s are nanocores and KiB of the running container i."""
    usage = [{"name": c.name, "usage": {"cpu": f"%(cpu{i})sn", "memory": f"%(memory{i})sKi"}} for i, c in enumerate(workload.running)]
    metadata = {"name": "%(name)s", "namespace": workload.namespace, "creationTimestamp": time, "labels": labels_of(workload)}
    return compact({"metadata": metadata, "timestamp": time, "window": "15.02s", "containers": usage})


def _metadata(workload: Workload, dice: Dice) -> Json:
    labels = labels_of(workload)
    if workload.kind == "StatefulSet":
        labels |= {"statefulset.kubernetes.io/pod-name": "%(name)s", "apps.kubernetes.io/pod-index": "0"}
    api_version = "batch/v1" if workload.owner_kind == "Job" else "apps/v1"
    return {
        "name": "%(name)s",
        "generateName": f"{workload.owner_name}-",
        "namespace": workload.namespace,
        "uid": "%(uid)s",
        "resourceVersion": "%(version)s",
        "generation": 1,
        "creationTimestamp": "%(created)s",
        "labels": labels,
        "annotations": {"checksum/config": dice.hex(64), "prometheus.io/port": "9090", "prometheus.io/scrape": "true"},
        "ownerReferences": [owner_reference(api_version, workload.owner_kind, workload.owner_name, workload.uid)],
    }


def labels_of(workload: Workload) -> Json:
    """Give the labels of the workload's pods, without those that are the pod's own."""
    labels = {
        "app.kubernetes.io/name": workload.name,
        "app.kubernetes.io/instance": workload.name,
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/part-of": workload.namespace,
    }
    if workload.kind == "Deployment":
        return labels | {"pod-template-hash": workload.template_hash}
    if workload.owner_kind == "Job":
        return labels | {"batch.kubernetes.io/controller-uid": workload.uid, "batch.kubernetes.io/job-name": workload.name}
    return labels | {"controller-revision-hash": f"{workload.name}-{workload.template_hash}"}


def owner_reference(api_version: str, kind: str, name: str, uid: str) -> Json:
    """Name a controlling owner."""
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True, "blockOwnerDeletion": True}


def _set_fields(metadata: Json) -> Json:
    return {name: metadata[name] for name in ("generateName", "annotations", "labels", "ownerReferences")}


def _owned(spec: Json) -> Json:
    """Leave out what admission added: managedFields does not name it."""
    owned = {name: value for name, value in spec.items() if name not in ("nodeName", "priority", "tolerations", "preemptionPolicy")}
    owned["volumes"] = spec["volumes"][:-1]
    for name in {"containers", "initContainers"} & owned.keys():
        owned[name] = [container | {"volumeMounts": container["volumeMounts"][:-1]} for container in spec[name]]
    return owned


def _only_on(node: str) -> Json:
    """Give the affinity by which the controller of a DaemonSet chooses the node of each pod."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def pod_spec(workload: Workload, dice: Dice) -> Json:
    """Give the spec of the workload's pods, as its template has it."""
    spec: Json = {"volumes": _volumes(workload)}
    if workload.inits:
        spec["initContainers"] = [_container_spec(workload, c, dice) for c in workload.inits]
    spec |= {
        "containers": [_container_spec(workload, c, dice) for c in workload.containers],
        "restartPolicy": "Never" if workload.owner_kind == "Job" else "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": workload.name,
        "serviceAccount": workload.name,
        "securityContext": {"runAsUser": 10001, "fsGroup": 10001, "seccompProfile": {"type": "RuntimeDefault"}},
        "schedulerName": "default-scheduler",
        "tolerations": _tolerations(workload),
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    if workload.selects_nodes:
        spec["nodeSelector"] = {"kubernetes.io/os": "linux"}
    if workload.overhead:
        spec |= {"runtimeClassName": "sandboxed", "overhead": quantities(workload.overhead)}
    if workload.pod_level:
        spec["resources"] = {"requests": quantities(workload.pod_level)}
    return spec


def _reported(status: Json) -> Json:
    """Leave out what others than the kubelet set, and go into statuses of containers no deeper than managedFields does."""
    reported = {name: value for name, value in status.items() if name != "qosClass"}
    reported["conditions"] = [c for c in status["conditions"] if c["type"] != "PodScheduled"]
    return reported | {name: None for name in ("containerStatuses", "initContainerStatuses") if name in status}


def _volumes(workload: Workload) -> list[Json]:
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    authority = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    field = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [token, authority, {"downwardAPI": {"items": [field]}}]
    return [
        {"name": "config", "configMap": {"name": workload.name, "defaultMode": 420}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "kube-api-access-%(token)s", "projected": {"sources": sources, "defaultMode": 420}},
    ]


def _mounts(container: Container) -> list[Json]:
    """Give the container's own mounts, then the one that admission adds."""
    token = {"name": "kube-api-access-%(token)s", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    config, scratch = {"name": "config", "readOnly": True, "mountPath": "/etc/app"}, {"name": "scratch", "mountPath": "/scratch"}
    return [config, scratch, token] if container.name == "main" else [token]


def _tolerations(workload: Workload) -> list[Json]:
    if workload.kind == "DaemonSet":
        return [{"operator": "Exists"}]
    lasting = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    tolerations: list[Json] = [{"key": f"node.kubernetes.io/{trouble}", **lasting} for trouble in ("not-ready", "unreachable")]
    return tolerations + ([{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}] if GPU in workload.requests else [])


def _container_spec(workload: Workload, container: Container, dice: Dice) -> Json:
    spec: Json = {"name": container.name, "image": container.image}
    if container.name == "main" and workload.owner_kind != "Job":
        probe = {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10}
        spec["ports"] = [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]
        spec["readinessProbe"] = probe | {"successThreshold": 1, "failureThreshold": 3}
    spec["env"] = _environment(workload, container, dice)
    spec["resources"] = _resources(container.requests, container.limits)
    if container.sidecar:
        spec["restartPolicy"] = "Always"
    return spec | {
        "volumeMounts": _mounts(container),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True, "allowPrivilegeEscalation": False},
    }


def _environment(workload: Workload, container: Container, dice: Dice) -> list[Json]:
    env: list[Json] = [{"name": f"APP_{dice.suffix(5).upper()}", "value": dice.suffix(8 + dice.below(12))}]
    if container.name == "main":
        env.append({"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}})
        env.append({"name": "DB_TOKEN", "valueFrom": {"secretKeyRef": {"name": workload.name, "key": "token"}}})
    return env


def _resources(requests: Mapping[str, int], limits: Mapping[str, int]) -> Json:
    return {name: quantities(amounts) for name, amounts in (("limits", limits), ("requests", requests)) if amounts}


def _pod_status(workload: Workload, state: str) -> Json:
    if state == "Unschedulable":
        condition = _condition("PodScheduled", "False") | {
            "reason": "Unschedulable",
            "message": "0/%(node)s nodes are available: Insufficient cpu.",
        }
        return {"phase": "Pending", "conditions": [condition], "qosClass": "Burstable"}
    ready = "True" if state == "Running" else "False"
    conditions = [
        _condition("PodReadyToStartContainers", "False" if state in _FINISHED else "True"),
        _condition("Initialized", "True"),
        _condition("Ready", ready),
        _condition("ContainersReady", ready),
        _condition("PodScheduled", "True"),
    ]
    status: Json = {
        "observedGeneration": 1,
        "phase": {"Starting": "Pending", "Crashing": "Running"}.get(state, state),
        "conditions": conditions,
        "hostIP": "%(host_ip)s",
        "hostIPs": [{"ip": "%(host_ip)s"}],
        "podIP": "%(pod_ip)s",
        "podIPs": [{"ip": "%(pod_ip)s"}],
        "startTime": "%(created)s",
    }
    if workload.inits:
        status["initContainerStatuses"] = [_container_status(c, state if c.sidecar else "Succeeded") for c in workload.inits]
    status["containerStatuses"] = [_container_status(c, state) for c in workload.containers]
    return status | {"qosClass": "Burstable" if workload.requests else "BestEffort"}


def _condition(kind: str, value: str) -> Json:
    return {"type": kind, "observedGeneration": 1, "status": value, "lastProbeTime": None, "lastTransitionTime": "%(started)s"}


def _container_status(container: Container, state: str) -> Json:
    status: Json = {
        "name": container.name,
        "state": _container_state(state),
        "lastState": "%(last_state)s" if container.name == "main" else {},
        "ready": state == "Running",
        "restartCount": "%(restarts)s" if container.name == "main" else 0,
        "image": container.image,
        "imageID": f"{container.image.rpartition(':')[0]}@sha256:{hashlib.sha256(container.image.encode()).hexdigest()}",
        "containerID": _CONTAINER_ID,
        "started": state == "Running",
    }
    if state != "Running":
        return status
    held = container.allocated or container.requests
    if held:
        status["allocatedResources"] = quantities(held)
    return status | {"resources": _resources(held, container.limits)}


def _container_state(state: str) -> Json:
    if state == "Running":
        return {"running": {"startedAt": "%(started)s"}}
    if state in _FINISHED:
        code, reason = (0, "Completed") if state == "Succeeded" else (137, "OOMKilled")
        times = {"startedAt": "%(created)s", "finishedAt": "%(started)s"}
        return {"terminated": {"exitCode": code, "reason": reason, **times, "containerID": _CONTAINER_ID}}
    reason = "ImagePullBackOff" if state == "Starting" else "CrashLoopBackOff"
    return {"waiting": {"reason": reason, "message": "back-off 5m0s"}}


def last_state(time: str, dice: Dice) -> str:
    """Give the JSON of how a container ended before it was started again."""
    ended = {"exitCode": 137, "reason": "OOMKilled", "startedAt": time, "finishedAt": time, "containerID": f"containerd://{dice.hex(64)}"}
    return compact({"terminated": ended})
