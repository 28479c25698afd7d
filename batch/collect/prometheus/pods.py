"""What the collected tables say of pods: which are there, since when, of what workload; and of what workload a pod was that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

Pod = tuple[str, str]
"""Namespace and name."""

Workload = tuple[str, str]
"""Kind and name."""

_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"
"""Characters of the random parts of names (k8s.io/apimachinery/pkg/util/rand)."""

_ENDINGS = {
    "Deployment": re.compile(rf"-{_RANDOM}{{1,10}}-{_RANDOM}{{5}}"),
    "ReplicaSet": re.compile(rf"-{_RANDOM}{{5}}"),
    "DaemonSet": re.compile(rf"-{_RANDOM}{{5}}"),
    "StatefulSet": re.compile("-[0-9]+"),
    "CronJob": re.compile(rf"-[0-9]{{8,10}}(-[0-9]+)?-{_RANDOM}{{5}}"),
    "Job": re.compile(rf"(-[0-9]+)?-{_RANDOM}{{5}}"),
}
"""What each controller puts after its own name: a Deployment its pod template's hash and five characters, a CronJob the minute."""

_OWNER_ENDINGS = {"ReplicaSet": ("Deployment", re.compile(rf"-{_RANDOM}{{1,10}}")), "Job": ("CronJob", re.compile("-[0-9]{8,10}"))}
"""Of owners that are owned themselves: what puts them there, and what it puts after its own name."""


@dataclass(frozen=True)
class Listed:
    """One pod of table `pods`. `started` is in seconds since 1970; None when it has not started."""

    workload: Workload
    phase: str
    started: float | None


class Pods:
    """The pods that are listed, and the workloads that they belong to."""

    def __init__(self, pods: pd.DataFrame) -> None:
        self._listed = dict(_rows(pods))
        self._workloads: dict[str, set[Workload]] = {}
        for (namespace, _), pod in self._listed.items():
            self._workloads.setdefault(namespace, set()).add(pod.workload)

    def get(self, pod: Pod) -> Listed | None:
        """Give a pod if it is listed."""
        return self._listed.get(pod)

    def running_since(self, moment: float) -> list[Pod]:
        """Give the running pods that had started by then, in order."""
        return sorted(
            pod for pod, one in self._listed.items() if one.phase == "Running" and one.started is not None and one.started <= moment
        )

    def former(self, pod: Pod, owner: Workload | None) -> Workload | None:
        """Give the workload of a pod that is gone, as far as it is there today: by its owner where that is known, else by how its name was made.

        Of several workloads that could have made the name the longest did: what it puts behind has no room for the rest.
        """
        namespace, name = pod
        there = self._workloads.get(namespace, set())
        if owner is not None:
            return _above(owner, there)
        made = [(kind, own) for kind, own in there if _could_make(kind, own, name)]
        return max(made, key=lambda workload: (len(workload[1]), workload), default=None)


def _above(owner: Workload, there: set[Workload]) -> Workload | None:
    kind, name = owner
    if owner in there or kind not in _OWNER_ENDINGS:
        return owner if owner in there else None
    top, ending = _OWNER_ENDINGS[kind]
    return next((w for w in sorted(there) if w[0] == top and name.startswith(w[1]) and ending.fullmatch(name, len(w[1]))), None)


def _could_make(kind: str, own: str, name: str) -> bool:
    ending = _ENDINGS.get(kind)
    return ending is not None and name.startswith(own) and ending.fullmatch(name, len(own)) is not None


def _rows(pods: pd.DataFrame) -> Iterator[tuple[Pod, Listed]]:
    columns = ("namespace", "pod", "workload_kind", "workload", "phase", "started_at")
    started = pods["started_at"].astype("int64[pyarrow]")
    for namespace, name, kind, workload, phase, at in zip(*(pods[c] for c in columns[:-1]), started, strict=True):
        yield (namespace, name), Listed((kind, workload), phase, None if pd.isna(at) else at / 1e6)
