"""What pods of one template have in common: worked out and kept once for all that follow each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
import pandas as pd
import pyarrow as pa

from batch.collect.objects import OwnerReference, Pod, PodSpec, PodStatus
from batch.collect.pod_claims import pod_claims
from batch.collect.pod_own import controller
from batch.collect.quantity import read_count, read_nanocores
from batch.collect.requests import is_sidecar
from batch.collect.scheduling import SchedulingSets
from batch.collect.shapes import Shapes
from batch.collect.shared_rows import GROUP, SharedRows
from batch.collect.times import read_instant, read_instants
from batch.collect.traits import traits
from batch.snapshot.requests_rule import RequestsRule
from batch.snapshot.schema import INSTANT, TEXT, Column, Schema
from batch.snapshot.schemas import CONTAINERS, POD_CLAIMS, POD_RESOURCES, PODS, UNREAD_REQUESTS

_KEY = PODS.key
_OWN_OF_POD = ("uid", "node", "created_at", "started_at", "workload", "gated", "label_set")
_OWN_OF_CONTAINER = ("restart_count", "last_end_reason", "last_end_at")
_STATIC = "StaticPod"
_NO_SPEC, _NO_STATUS = PodSpec(), PodStatus()
_PROVISIONED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)vCPU ([0-9]{1,4}(?:\.[0-9]{1,4})?)GB")


def _columns(schema: Schema, names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(column for column in schema.columns if column.name in names)


MEMBERS = Schema(
    "members",
    "pods with what is their own; times in the words in which they stand",
    _KEY,
    (GROUP, *(replace(c, type=TEXT) if c.type == INSTANT else c for c in _columns(PODS, (*_KEY, *_OWN_OF_POD)))),
)
FATES = Schema("fates", "how the containers of the members fared, in order", (), _columns(CONTAINERS, _OWN_OF_CONTAINER))


@dataclass(frozen=True, slots=True)
class Common:
    """What a row of pods have in common. `pod` is any of them without its own (pod_own.take_own).

    `workload` is None where it is named after the pod itself. `positions` tells for each container which status is its own, of those of app
    containers, then of init containers; -1 for none. `refused` are (rest of the object's name, field, value, reason) of what could not be read.
    """

    group: int
    pod: Pod
    template_hash: str | None
    workload: str | None
    is_static: bool
    has_gates: bool
    positions: tuple[int, ...]
    refused: tuple[tuple[str, str, str, str], ...]


class Commons:
    """Keeps what pods have in common."""

    def __init__(self, rule: RequestsRule) -> None:
        self._shapes = Shapes(rule)
        self._scheduling = SchedulingSets()
        self._count = 0
        self._pods = SharedRows(PODS, (*_KEY, *_OWN_OF_POD))
        self._containers = SharedRows(CONTAINERS, (*_KEY, *_OWN_OF_CONTAINER))
        self._resources, self._unread, self._claims = (SharedRows(schema, _KEY) for schema in (POD_RESOURCES, UNREAD_REQUESTS, POD_CLAIMS))

    def add(self, pod: Pod, template_hash: str | None) -> Common:
        """Begin a group with a pod from which its own was taken."""
        group = self._count
        self._count += 1
        spec, status, owner = pod.spec or _NO_SPEC, pod.status or _NO_STATUS, controller(pod)
        shape = self._shapes.of(pod)
        scheduling_set, refused = self._scheduling_set(spec, owner)
        workload_kind, workload = _workload(owner, template_hash)
        sidecar_count = sum(map(is_sidecar, spec.init_containers or ()))
        self._pods.add(
            group,
            (
                status.phase or "Unknown",
                read_instant(pod.metadata.deletion_timestamp),
                owner and owner.kind,
                owner and owner.name,
                owner and owner.uid,
                workload_kind,
                spec.priority,
                status.qos_class,
                status.nominated_node_name or None,
                _why_it_waits(status),
                spec.containers[0].image if spec.containers else None,
                len(spec.containers or ()) + sidecar_count,
                spec.active_deadline_seconds,
                ", ".join(pod.metadata.finalizers) if pod.metadata.finalizers else None,
                scheduling_set,
                *shape.sums,
                *_provisioned(pod),
                *shape.limited,
                _gpu_index(pod),
                *traits(pod),
            ),
        )
        for further in shape.further:
            self._resources.add(group, further)
        for resource in shape.unread:
            self._unread.add(group, (resource,))
        for claim in pod_claims(pod):
            self._claims.add(group, claim)
        containers = [*(spec.containers or ()), *(spec.init_containers or ())]
        for container, (name, kind, amounts) in zip(containers, shape.containers, strict=True):
            self._containers.add(group, (name, kind, container.image, *amounts))
        statuses = [*(status.container_statuses or ()), *(status.init_container_statuses or ())]
        position = {held.name: number for number, held in enumerate(statuses)}
        positions = tuple(position.get(container.name, -1) for container in containers)
        return Common(
            group,
            pod,
            template_hash,
            workload,
            workload_kind == _STATIC,
            bool(spec.scheduling_gates),
            positions,
            (*shape.refused, *refused),
        )

    def tables(self, members: pa.Table, fates: pa.Table) -> Mapping[str, pd.DataFrame]:
        """Give the tables of all pods: MEMBERS in the order in which they were read, FATES those of their containers."""
        return {
            "pods": self._pods.frame(_with_instants(members)),
            "containers": self._containers.frame(members, fates),
            "pod_resources": self._resources.frame(members),
            "unread_requests": self._unread.frame(members),
            "pod_claims": self._claims.frame(members),
            **self._scheduling.tables(),
        }

    def _scheduling_set(self, spec: PodSpec, owner: OwnerReference | None) -> tuple[int, tuple[tuple[str, str, str, str], ...]]:
        """Give the number of the rules on where the pod may go; rules that cannot be read are refused, and the pod stays as one without."""
        try:
            return self._scheduling.number(spec, of_daemon_set=owner is not None and owner.kind == "DaemonSet"), ()
        except msgspec.ValidationError as error:
            return self._scheduling.unconstrained(), (("", "spec, where it may go", "", str(error)),)


def _with_instants(members: pa.Table) -> pa.Table:
    for column in ("created_at", "started_at"):
        members = members.set_column(members.column_names.index(column), column, read_instants(members[column]))
    return members


def _workload(owner: OwnerReference | None, template_hash: str | None) -> tuple[str, str | None]:
    """Tell the top owner as far as the pod itself says it; None for one that is named after the pod.

    A Deployment names its ReplicaSets `<deployment>-<pod-template-hash>` and puts the hash into a label, so that label proves
    the name. Nothing else is read from names.
    """
    if owner is None:
        return "Pod", None
    if owner.kind == "ReplicaSet" and template_hash and owner.name.endswith(f"-{template_hash}"):
        return "Deployment", owner.name.removesuffix(f"-{template_hash}")
    if owner.kind == "Node":
        return _STATIC, None
    return owner.kind, owner.name


def _why_it_waits(status: PodStatus) -> str | None:
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.message or condition.reason
    return None


def _provisioned(pod: Pod) -> tuple[int | None, int | None]:
    """Read what AWS Fargate bought for the pod, e.g. "0.25vCPU 0.5GB"; its GB are 1024 MiB (ECS task sizes: 0.5 GB is 512)."""
    text = pod.metadata.annotations.capacity_provisioned if pod.metadata.annotations else None
    match = _PROVISIONED.fullmatch(text) if isinstance(text, str) else None
    return (read_nanocores(match[1]), read_count(f"{match[2]}Gi")) if match else (None, None)


def _gpu_index(pod: Pod) -> str | None:
    """Read the cards that Alibaba's GPU sharing gave to the pod, e.g. "0" or "2-3"."""
    text = pod.metadata.annotations.gpu_index if pod.metadata.annotations else None
    return text if isinstance(text, str) and text else None
