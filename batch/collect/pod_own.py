"""What tells pods of one template apart, taken out of them: what is left is the same in all, and read once."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from batch.collect.objects import NULL, ContainerStatus, OwnerReference, Pod, PodSpec, PodStatus
from batch.collect.times import read_instant

Fate = tuple[int | None, str | None, datetime | None]
"""How a container fared: restart count, why it last ended, and when."""

UNKNOWN_FATE: Fate = (None, None, None)


class Own(NamedTuple):
    """What is a pod's own. `fates` are of its statuses in their order, of app containers first; behind them stands the fate of a container without one."""

    uid: str | None
    created_at: str | None
    labels: msgspec.Raw
    node: str | None
    started_at: str | None
    fates: list[Fate]


def take_own(pod: Pod) -> Own:
    """Take a pod's own out of it, so that pods which are alike are equal. Afterwards it has a spec and a status.

    The pod belongs to the caller alone, which has just decoded it: 150,000 copies would cost more than all that is saved.
    """
    meta, spec, status = pod.metadata, pod.spec, pod.status
    if spec is None:
        spec = pod.spec = PodSpec()
    if status is None:
        status = pod.status = PodStatus()
    own = Own(meta.uid, meta.creation_timestamp, meta.labels, spec.node_name, status.start_time, _take_fates(status))
    meta.name = meta.uid = meta.creation_timestamp = None
    meta.labels = NULL
    spec.node_name = status.start_time = None
    if spec.affinity is not None and own.node:
        _take_node_of_daemon(pod, own.node)
    return own


def _take_fates(status: PodStatus) -> list[Fate]:
    fates: list[Fate] = []
    for held in status.container_statuses or ():
        fates.append(_take_fate(held))
    for held in status.init_container_statuses or ():
        fates.append(_take_fate(held))
    fates.append(UNKNOWN_FATE)
    return fates


def _take_fate(held: ContainerStatus) -> Fate:
    """Tell how often it was started again, and why and when it last ended: now, or before it was started again."""
    restart_count, state, last_state = held.restart_count, held.state, held.last_state
    held.restart_count = held.state = held.last_state = None
    for one in (state, last_state):
        if one is not None and one.terminated is not None:
            return restart_count, one.terminated.reason, read_instant(one.terminated.finished_at)
    return restart_count, None, None


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
