"""Pods: phase, node, owner, containers, effective requests and limits."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

import msgspec
import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import ContainerStatus, OwnerReference, Pod, PodSpec, PodStatus, decode_labels
from batch.collect.pod_claims import pod_claims
from batch.collect.quantity import read_count, read_nanocores
from batch.collect.rejects import Rejects
from batch.collect.requests import is_sidecar
from batch.collect.scheduling import SchedulingSets
from batch.collect.shapes import Shape, Shapes
from batch.collect.times import read_instant
from batch.collect.traits import traits
from batch.snapshot.requests_rule import RequestsRule
from batch.snapshot.schemas import CONTAINERS, LABEL_SETS, POD_CLAIMS, POD_RESOURCES, PODS, UNREAD_REQUESTS

_NO_SPEC, _NO_POD_STATUS, _NO_STATUS = PodSpec(), PodStatus(), ContainerStatus()
_PROVISIONED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)vCPU ([0-9]{1,4}(?:\.[0-9]{1,4})?)GB")


class PodCollector:
    """Turns pages of the pod list into tables; only the rows are kept, so memory is bounded by the result."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = (), rule: RequestsRule = RequestsRule.PER_CONTAINER) -> None:
        self._items = Items(Pod, "Pod", rejects, namespaces)
        self._rejects = rejects
        self._shapes = Shapes(rule)
        self._labels = _Labels()
        self._scheduling = SchedulingSets()
        self._pods = PODS.builder()
        self._resources = POD_RESOURCES.builder()
        self._unread = UNREAD_REQUESTS.builder()
        self._containers = CONTAINERS.builder()
        self._claims = POD_CLAIMS.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many pods it held."""
        count, pods = self._items.of(page)
        for name, pod in pods:
            self._take_pod((pod.metadata.namespace or "default", name), pod)
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {
            "pods": self._pods.frame(),
            "pod_resources": self._resources.frame(),
            "unread_requests": self._unread.frame(),
            "containers": self._containers.frame(),
            "pod_claims": self._claims.frame(),
            "label_sets": self._labels.frame(),
            **self._scheduling.tables(),
        }

    def _take_pod(self, key: tuple[str, str], pod: Pod) -> None:
        shape = self._shapes.of(pod)
        for rest, field, value, reason in shape.refused:
            self._rejects.add(f"pod {key[0]}/{key[1]}{rest}", field, value, reason)
        try:
            label_set, template_hash = self._labels.number(pod.metadata.labels)
        except msgspec.ValidationError as error:
            self._rejects.add(f"pod {key[0]}/{key[1]}", "metadata.labels", "", str(error))
            return
        self._pods.add(
            (
                *key,
                *_identity(pod, template_hash),
                label_set,
                self._scheduling_set(key, pod),
                *shape.sums,
                *_provisioned(pod),
                *shape.limited,
                _gpu_index(pod),
                *traits(pod),
            )
        )
        for further in shape.further:
            self._resources.add((*key, *further))
        for resource in shape.unread:
            self._unread.add((*key, resource))
        self._take_containers(key, pod, shape)
        for reference, resource, claim in pod_claims(pod):
            self._claims.add((*key, reference, resource, claim))

    def _take_containers(self, key: tuple[str, str], pod: Pod, shape: Shape) -> None:
        spec, status = pod.spec or _NO_SPEC, pod.status or _NO_POD_STATUS
        statuses = {held.name: held for held in status.container_statuses or ()}
        if status.init_container_statuses:
            statuses.update({held.name: held for held in status.init_container_statuses})
        containers = [*(spec.containers or ()), *(spec.init_containers or ())]
        for container, (name, kind, amounts) in zip(containers, shape.containers, strict=True):
            held = statuses.get(name, _NO_STATUS)
            self._containers.add((*key, name, kind, container.image, *amounts, held.restart_count, *_last_end(held)))

    def _scheduling_set(self, key: tuple[str, str], pod: Pod) -> int:
        """Give the number of the rules on where the pod may go; rules that cannot be read are noted, and the pod stays as one without."""
        owner = _controller(pod.metadata.owner_references)
        try:
            return self._scheduling.number(pod.spec or _NO_SPEC, of_daemon_set=owner is not None and owner.kind == "DaemonSet")
        except msgspec.ValidationError as error:
            self._rejects.add(f"pod {key[0]}/{key[1]}", "spec, where it may go", "", str(error))
            return self._scheduling.unconstrained()


class _Labels:
    """Numbers the distinct sets of labels by the words in which they stand."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, str | None]] = {}
        self._table = LABEL_SETS.builder()

    def number(self, raw: msgspec.Raw) -> tuple[int, str | None]:
        """Give the number of a set and its pod-template-hash. Raises msgspec.ValidationError for what are no labels."""
        words = bytes(raw)
        known = self._known.get(words)
        if known is None:
            labels = decode_labels(raw)
            known = self._known[words] = (len(self._known), labels.get("pod-template-hash"))
            for label, value in labels.items():
                self._table.add((known[0], label, value))
        return known

    def frame(self) -> pd.DataFrame:
        return self._table.frame()


def _provisioned(pod: Pod) -> tuple[int | None, int | None]:
    """Read what AWS Fargate bought for the pod, e.g. "0.25vCPU 0.5GB"; its GB are 1024 MiB (ECS task sizes: 0.5 GB is 512)."""
    text = pod.metadata.annotations.capacity_provisioned if pod.metadata.annotations else None
    match = _PROVISIONED.fullmatch(text) if isinstance(text, str) else None
    return (read_nanocores(match[1]), read_count(f"{match[2]}Gi")) if match else (None, None)


def _gpu_index(pod: Pod) -> str | None:
    """Read the cards that Alibaba's GPU sharing gave to the pod, e.g. "0" or "2-3"."""
    text = pod.metadata.annotations.gpu_index if pod.metadata.annotations else None
    return text if isinstance(text, str) and text else None


def _identity(pod: Pod, template_hash: str | None) -> tuple[object, ...]:
    meta, spec, status = pod.metadata, pod.spec or _NO_SPEC, pod.status or _NO_POD_STATUS
    owner = _controller(meta.owner_references)
    scheduled = next((c for c in status.conditions or () if c.type == "PodScheduled" and c.status == "False"), None)
    containers = spec.containers or ()
    sidecar_count = sum(map(is_sidecar, spec.init_containers or ()))
    return (
        meta.uid,
        spec.node_name or None,
        status.phase or "Unknown",
        read_instant(meta.creation_timestamp),
        read_instant(status.start_time),
        read_instant(meta.deletion_timestamp),
        owner and owner.kind,
        owner and owner.name,
        owner and owner.uid,
        *_workload(str(meta.name), owner, template_hash, spec.node_name),
        spec.priority,
        status.qos_class,
        status.nominated_node_name or None,
        bool(spec.scheduling_gates) and not spec.node_name,
        scheduled and (scheduled.message or scheduled.reason),
        containers[0].image if containers else None,
        len(containers) + sidecar_count,
        spec.active_deadline_seconds,
        ", ".join(meta.finalizers) if meta.finalizers else None,
    )


def _controller(references: list[OwnerReference] | None) -> OwnerReference | None:
    for reference in references or ():
        if reference.controller:
            return reference
    return None


def _workload(name: str, owner: OwnerReference | None, template_hash: str | None, node: str | None) -> tuple[str, str]:
    """Tell the top owner as far as the pod itself says it.

    A Deployment names its ReplicaSets `<deployment>-<pod-template-hash>` and puts the hash into a label, so that label proves
    the name. A static pod's mirror is called `<name>-<node>`. Nothing else is read from names.
    """
    if owner is None:
        return "Pod", name
    if owner.kind == "ReplicaSet" and template_hash and owner.name.endswith(f"-{template_hash}"):
        return "Deployment", owner.name.removesuffix(f"-{template_hash}")
    if owner.kind == "Node":
        return "StaticPod", name.removesuffix(f"-{node}")
    return owner.kind, owner.name


def _last_end(held: ContainerStatus) -> tuple[str | None, datetime | None]:
    """Tell why and when a container last ended: now, or before it was started again."""
    for state in (held.state, held.last_state):
        if state is not None and state.terminated is not None:
            return state.terminated.reason, read_instant(state.terminated.finished_at)
    return None, None
