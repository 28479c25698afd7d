"""Jobs, CronJobs, Deployments, StatefulSets, DaemonSets and HorizontalPodAutoscalers as JSON text."""

from __future__ import annotations

from bench.dice import Dice
from bench.managed import Json, managed
from bench.pages import RESOURCE_VERSION, compact
from bench.pod_objects import labels_of, owner_reference, pod_spec
from bench.workloads import Workload

LISTS = {
    "Job": "jobs",
    "CronJob": "jobs",
    "Deployment": "deployments",
    "StatefulSet": "statefulsets",
    "DaemonSet": "daemonsets",
}
"""On which list the object stands that has the template of a workload's pods."""

_DAEMON_COUNTS = ("currentNumberScheduled", "desiredNumberScheduled", "numberReady", "numberAvailable", "updatedNumberScheduled")
_REPLICA_COUNTS = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")


def controller_text(workload: Workload, created: str, dice: Dice) -> str:
    """Give what has the template of the pods: for a CronJob the Job that it has made, which names it as its owner."""
    labels = labels_of(workload)
    template = {"metadata": {"labels": labels}, "spec": pod_spec(workload, dice)}
    api_version = "batch/v1" if workload.owner_kind == "Job" else "apps/v1"
    spec = (_job_spec(workload) if workload.owner_kind == "Job" else _spec(workload)) | {"template": template}
    metadata = _metadata(workload.name, workload.namespace, workload.uid, created) | {"labels": labels}
    if workload.kind == "CronJob":
        metadata["ownerReferences"] = [owner_reference("batch/v1", "CronJob", *_cronjob_of(workload))]
    metadata["managedFields"] = [managed("kube-controller-manager", created, {"spec": spec}, api_version)]
    return compact({"metadata": metadata, "spec": spec, "status": _status(workload)}).replace("%(token)s", "token")


def cronjob_text(workload: Workload, created: str, dice: Dice) -> str:
    """Give the CronJob that has made a workload's Job."""
    template = {"metadata": {"labels": labels_of(workload)}, "spec": pod_spec(workload, dice)}
    spec = {
        "schedule": f"{dice.below(60)} {dice.below(24)} * * *",
        "concurrencyPolicy": "Forbid",
        "suspend": False,
        "jobTemplate": {"spec": {"parallelism": workload.replicas, "backoffLimit": 6, "template": template}},
    }
    name, uid = _cronjob_of(workload)
    metadata = _metadata(name, workload.namespace, uid, created)
    metadata["managedFields"] = [managed("kube-controller-manager", created, {"spec": spec}, "batch/v1")]
    status = {"lastScheduleTime": created}
    return compact({"metadata": metadata, "spec": spec, "status": status}).replace("%(token)s", "token")


def _cronjob_of(workload: Workload) -> tuple[str, str]:
    """Give name and uid of the CronJob that has made a Job."""
    return workload.name.rpartition("-")[0], f"c{workload.uid[1:]}"


def autoscaler_text(workload: Workload, created: str) -> str:
    """Give an autoscaler of a Deployment, by the use of CPU."""
    target = {"apiVersion": "apps/v1", "kind": workload.kind, "name": workload.name}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 2 * workload.replicas, "metrics": [metric]}
    status = {"currentReplicas": workload.replicas, "desiredReplicas": workload.replicas}
    return compact({"metadata": _metadata(workload.name, workload.namespace, workload.uid, created), "spec": spec, "status": status})


def _metadata(name: str, namespace: str, uid: str, created: str) -> Json:
    return {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "resourceVersion": RESOURCE_VERSION,
        "generation": 1,
        "creationTimestamp": created,
    }


def _job_spec(workload: Workload) -> Json:
    return {
        "parallelism": workload.replicas,
        "completions": workload.replicas,
        "backoffLimit": 6,
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": workload.uid}},
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }


def _spec(workload: Workload) -> Json:
    selector = {"selector": {"matchLabels": {"app.kubernetes.io/name": workload.name}}, "revisionHistoryLimit": 10}
    if workload.kind == "DaemonSet":
        return selector | {"updateStrategy": {"type": "RollingUpdate"}}
    if workload.kind == "StatefulSet":
        return selector | {"replicas": workload.replicas, "serviceName": workload.name, "podManagementPolicy": "OrderedReady"}
    return selector | {"replicas": workload.replicas, "strategy": {"type": "RollingUpdate"}, "progressDeadlineSeconds": 600}


def _status(workload: Workload) -> Json:
    if workload.owner_kind == "Job":
        return {"active": workload.replicas, "ready": workload.replicas, "uncountedTerminatedPods": {}}
    if workload.kind == "DaemonSet":
        return dict.fromkeys(_DAEMON_COUNTS, workload.replicas) | {"numberMisscheduled": 0, "observedGeneration": 1}
    return dict.fromkeys(_REPLICA_COUNTS, workload.replicas) | {"observedGeneration": 1}
