"""What tells pods of one template apart, taken out of them: what is left is the same in all, and read once."""

from __future__ import annotations

from datetime import datetime

import msgspec

from batch.collect.objects import NULL, ContainerState, OwnerReference, Pod, PodSpec, PodStatus, Terminated
from batch.collect.times import read_instant

Fate = tuple[int | None, str | None, datetime | None]
"""How a container fared: restart count, why it last ended, and when."""

UNKNOWN_FATE: Fate = (None, None, None)


Own = tuple[str | None, str | None, msgspec.Raw, str | None, str | None, list[Fate]]
"""What is a pod's own: uid, creation time, labels, node, start time, and the fates of its containers in the order of their statuses, those of app
containers first; behind them stands the fate of a container without a status."""


def take_own(pod: Pod) -> Own:
    """Take a pod's own out of it, so that pods which are alike are equal. Afterwards it has a spec and a status.

    The pod belongs to the caller alone, which has just decoded it: 150,000 copies would cost more than all that is saved.
    """
    meta, spec, status = pod.metadata, pod.spec, pod.status
    if spec is None:
        spec = pod.spec = PodSpec()
    if status is None:
        status = pod.status = PodStatus()
    node = spec.node_name
    own = (meta.uid, meta.creation_timestamp, meta.labels, node, status.start_time, _take_fates(status))
    meta.name = meta.uid = meta.creation_timestamp = None
    meta.labels = NULL
    spec.node_name = status.start_time = None
    if spec.affinity is not None and node:
        _take_node_of_daemon(pod, node)
    return own


def _take_fates(status: PodStatus) -> list[Fate]:
    fates: list[Fate] = []
    for statuses in (status.container_statuses, status.init_container_statuses):
        for held in statuses or ():
            end = _end(held.state) or _end(held.last_state)  # how it ended now, or before it was started again
            fates.append((held.restart_count, end.reason, read_instant(end.finished_at)) if end else (held.restart_count, None, None))
            held.restart_count = held.state = held.last_state = None
    fates.append(UNKNOWN_FATE)
    return fates


def _end(state: ContainerState | None) -> Terminated | None:
    return state.terminated if state else None


def _take_node_of_daemon(pod: Pod, node: str) -> None:
    """Leave out the name of the node that the controller of a DaemonSet has written into its pod.

    It says where this one pod goes, not where such pods can go. Only its own words are looked for (kubernetes/kubernetes,
    pkg/controller/daemon/util/daemonset_util.go, ReplaceDaemonSetPodNodeNameNodeAffinity); whoever writes others has pods that are not alike.
    """
    affinity = pod.spec.affinity if pod.spec else None
    owner = controller(pod)
    if affinity is None or affinity.node_affinity is None or owner is None or owner.kind != "DaemonSet":
        return
    rules = affinity.node_affinity
    written = b'"matchFields":[{"key":"metadata.name","operator":"In","values":["%s"]}]' % node.encode()
    rules.required = msgspec.Raw(bytes(rules.required).replace(written, _ANY_NODE))


_ANY_NODE = b'"matchFields":[{"key":"metadata.name","operator":"In","values":[]}]'


def controller(pod: Pod) -> OwnerReference | None:
    """Give the owner that controls the pod."""
    for reference in pod.metadata.owner_references or ():
        if reference.controller:
            return reference
    return None
