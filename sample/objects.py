"""What every API object has: kind, metadata and an owner; and the list that kubectl prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sample.identity import TAKEN_AT, stamp, uid

Json = dict[str, Any]

API_VERSIONS = {
    "Node": "v1",
    "Pod": "v1",
    "Namespace": "v1",
    "Service": "v1",
    "ResourceQuota": "v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "PodDisruptionBudget": "policy/v1",
    "ResourceSlice": "resource.k8s.io/v1",
    "ResourceClaim": "resource.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
}


def api_object(
    kind: str,
    name: str,
    created: datetime,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: Json | None = None,
    generation: int | None = None,
    spec: Json,
    status: Json | None,
) -> Json:
    """Build an object; empty labels and the like are left out, as the API does, and the status of a kind that has none."""
    optional = {
        "namespace": namespace,
        "labels": dict(labels or {}),
        "annotations": dict(annotations or {}),
        "ownerReferences": [owner] if owner else None,
        "generation": generation,
    }
    metadata = {
        "name": name,
        "uid": uid(kind, namespace, name),
        "creationTimestamp": stamp(created),
        "resourceVersion": str(984_000_000 - int((TAKEN_AT - created).total_seconds())),
        **{key: value for key, value in optional.items() if value},
    }
    made = {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}
    return made if status is None else {**made, "status": status}


def owner_reference(owner: Json, *, controller: bool = True) -> Json:
    """Give the reference by which a controller owns what it made; without `controller` as kubectl create job --from sets it."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    return {**reference, "blockOwnerDeletion": True, "controller": True} if controller else reference


def kubectl_list(items: Sequence[Json]) -> bytes:
    """Print objects as `kubectl get -o json` does: one List, keys sorted, four spaces."""
    shown = {"apiVersion": "v1", "items": list(items), "kind": "List", "metadata": {"resourceVersion": ""}}
    return (json.dumps(shown, indent=4, sort_keys=True, ensure_ascii=False) + "\n").encode()
