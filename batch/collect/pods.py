"""Pods: phase, node, owner, containers, effective requests and limits."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from batch.collect.objects import Container, Decoder, Metadata, OwnerReference, Pod, PodSpec, PodStatus
from batch.collect.rejects import Rejects
from batch.collect.requests import effective_limits, effective_requests, is_sidecar, limited
from batch.collect.times import read_instant
from batch.snapshot.schemas import CONTAINERS, LABEL_SETS, POD_RESOURCES, PODS

_OWN_COLUMN = ("cpu", "memory")


class PodCollector:
    """Turns pages of the pod list into tables; only the rows are kept, so memory is bounded by the result."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._decoder = Decoder(Pod)
        self._rejects = rejects
        self._namespaces = frozenset(namespaces)
        self._pods: dict[tuple[str, str], tuple[object, ...]] = {}
        self._resources: dict[tuple[str, str], list[tuple[object, ...]]] = {}
        self._containers: dict[tuple[str, str], list[tuple[object, ...]]] = {}
        self._label_sets: dict[frozenset[tuple[str, str]], int] = {}

    def take(self, page: bytes) -> int:
        """Read one page; return how many pods it held."""
        count = 0
        for item in self._decoder.items(page):
            count += 1
            if isinstance(item, tuple):
                self._rejects.add(f"pod {item[0]}", "object", "", item[1])
            elif not item.metadata.name:
                self._rejects.add("pod without a name", "metadata.name", "", "missing")
            elif not self._namespaces or item.metadata.namespace in self._namespaces:
                self._take_pod(item)
        return count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        keys = sorted(self._pods)
        return {
            "pods": PODS.frame(self._pods[key] for key in keys),
            "pod_resources": POD_RESOURCES.frame(row for key in keys for row in self._resources.get(key, ())),
            "containers": CONTAINERS.frame(row for key in keys for row in self._containers[key]),
            "label_sets": LABEL_SETS.frame(
                (number, label, value) for labels, number in self._label_sets.items() for label, value in sorted(labels)
            ),
        }

    def _take_pod(self, pod: Pod) -> None:
        key = (pod.metadata.namespace or "default", str(pod.metadata.name))
        thing = f"pod {key[0]}/{key[1]}"
        requests = effective_requests(pod, thing, self._rejects)
        limits = effective_limits(pod, thing, self._rejects)
        labels = frozenset((pod.metadata.labels or {}).items())
        label_set = self._label_sets.setdefault(labels, len(self._label_sets))
        self._pods[key] = (
            *key,
            *_identity(pod),
            label_set,
            requests.get("cpu", 0),
            requests.get("memory", 0),
            limits.get("cpu"),
            limits.get("memory"),
            limited(pod, "cpu"),
            limited(pod, "memory"),
        )
        extended = [(*key, r, amount) for r, amount in sorted(requests.items()) if r not in _OWN_COLUMN and amount]
        if extended:
            self._resources[key] = list(extended)
        self._containers[key] = _container_rows(key, pod)


def _identity(pod: Pod) -> tuple[object, ...]:
    meta, spec, status = pod.metadata, pod.spec or PodSpec(), pod.status or PodStatus()
    owner = next((o for o in meta.owner_references or [] if o.controller), None)
    scheduled = next((c for c in status.conditions or [] if c.type == "PodScheduled" and c.status == "False"), None)
    sidecars = [c for c in spec.init_containers or [] if is_sidecar(c)]
    containers = spec.containers or []
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
        *_workload(meta, owner, spec.node_name),
        spec.priority,
        status.qos_class,
        status.nominated_node_name or None,
        bool(spec.scheduling_gates) and not spec.node_name,
        scheduled and (scheduled.message or scheduled.reason),
        containers[0].image if containers else None,
        len(containers) + len(sidecars),
    )


def _workload(meta: Metadata, owner: OwnerReference | None, node: str | None) -> tuple[str, str]:
    """Tell the top owner as far as the pod itself says it.

    A Deployment names its ReplicaSets `<deployment>-<pod-template-hash>` and puts the hash into a label, so that label proves
    the name. A static pod's mirror is called `<name>-<node>`. Nothing else is read from names.
    """
    name = str(meta.name)
    if owner is None:
        return "Pod", name
    template_hash = (meta.labels or {}).get("pod-template-hash")
    if owner.kind == "ReplicaSet" and template_hash and owner.name.endswith(f"-{template_hash}"):
        return "Deployment", owner.name.removesuffix(f"-{template_hash}")
    if owner.kind == "Node":
        return "StaticPod", name.removesuffix(f"-{node}")
    return owner.kind, owner.name


def _container_rows(key: tuple[str, str], pod: Pod) -> list[tuple[object, ...]]:
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    restarts = {s.name: s.restart_count for s in [*(status.container_statuses or []), *(status.init_container_statuses or [])]}
    kinds = [(c, "app") for c in spec.containers or []]
    kinds += [(c, "sidecar" if is_sidecar(c) else "init") for c in spec.init_containers or []]
    unique = {c.name: (c, kind) for c, kind in kinds}
    return [(*key, name, kind, c.image, *_own_amounts(c), restarts.get(name)) for name, (c, kind) in unique.items()]


def _own_amounts(container: Container) -> tuple[int | None, ...]:
    """CPU and memory requests and limits of the container alone; refused values were noted with the pod's sum."""
    resources = container.resources
    silent = Rejects()
    requests = silent.amounts(resources.requests if resources else None, "", "")
    limits = silent.amounts(resources.limits if resources else None, "", "")
    return requests.get("cpu"), requests.get("memory"), limits.get("cpu"), limits.get("memory")
