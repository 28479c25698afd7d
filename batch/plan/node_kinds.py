"""Kinds of nodes: the labels and taints that a cluster gives its nodes, apart from the machine that is behind them.

A fleet of another flavor keeps the cluster's kinds: pods that ask for a pool still find it, and pods of two pools still do not share a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.packing.model import Flags
from batch.plan.demand import DAEMONSET
from batch.plan.model import Flavor
from batch.plan.scheduling import NODE_NAME, Places, Rules, Texts, accepted, places
from batch.snapshot.model import Snapshot

INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
ARCHITECTURE = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
SYSTEM = ("kubernetes.io/os", "beta.kubernetes.io/os")
LINUX = "linux"
HOSTNAME = "kubernetes.io/hostname"
OF_MACHINE = (
    *INSTANCE_TYPE,
    *ARCHITECTURE,
    *SYSTEM,
    HOSTNAME,
    "feature.node.kubernetes.io/",
    "nvidia.com/",
    "amd.com/gpu",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/machine-family",
    "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-",
    "karpenter.azure.com/sku-",
)
"""Labels, or beginnings of labels, that the machine decides: well-known labels of Kubernetes 1.36, of Node Feature Discovery, the GPU operators,
GKE, EKS and Karpenter. All others are given by whoever makes the pool."""

OF_CONDITION = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Beginnings of taints that the control plane sets and lifts by the node's condition."""


@dataclass(frozen=True)
class Daemon:
    """A DaemonSet as its pods show it: its rules, and the largest requests among its pods."""

    rules: Rules
    cpu_nanocores: int
    memory_bytes: int


@dataclass(frozen=True)
class Kinds:
    """The distinct kinds of the cluster's physical nodes, and what the machines of each instance type say of themselves."""

    places: Places
    machines: Mapping[str, Mapping[str, str]]
    commonest_architecture: str

    def accepting(self, rule_sets: list[Rules], flavor: Flavor) -> Flags:
        """Say for each set of rules and each kind whether nodes of that kind take the pods when `flavor` is the machine."""
        machine = {**self.machines.get(flavor.name, {}), **dict.fromkeys(INSTANCE_TYPE, flavor.name), **dict.fromkeys(SYSTEM, LINUX)}
        machine.update(dict.fromkeys(ARCHITECTURE, self.architecture(flavor)))
        filled = {label: np.full(self.places.count, value, dtype=object) for label, value in machine.items()}
        where = Places(self.places.count, {**self.places.labels, **filled}, self.places.taints, self.places.tainted)
        return accepted(rule_sets, where)

    def architecture(self, flavor: Flavor) -> str:
        """Give the flavor's CPU architecture; where nothing says it, the one that most nodes have."""
        return flavor.architecture or self.commonest_architecture


def kinds(snapshot: Snapshot, nodes: pd.DataFrame, rule_sets: Iterable[Rules]) -> Kinds:
    """Find the kinds among the physical nodes of NODE_CAPACITY, by the labels that the rules look at; one without any when there is no node."""
    looked_at = {label for one in rule_sets for label in one.labels()}
    physical = nodes.loc[~nodes["virtual"]]
    labels = sorted(label for label in looked_at - {NODE_NAME} if not label.startswith(OF_MACHINE))
    listed = places(snapshot, physical["node"].tolist(), labels)
    lasting = [number for number, taint in enumerate(listed.taints) if not taint.key.startswith(OF_CONDITION)]
    rows = zip(*(listed.labels[label].tolist() for label in labels), map(tuple, listed.tainted[:, lasting].tolist()), strict=True)
    distinct = list(dict.fromkeys(rows)) or [(*[None] * len(labels), ())]
    architectures = snapshot.table("nodes")["architecture"].dropna()
    return Kinds(
        Places(
            len(distinct),
            {label: _texts(row[number] for row in distinct) for number, label in enumerate(labels)},
            tuple(listed.taints[number] for number in lasting),
            np.array([row[-1] for row in distinct], dtype=np.bool_).reshape(len(distinct), len(lasting)),
        ),
        _machines(snapshot, physical, [label for label in looked_at if label.startswith(OF_MACHINE)]),
        str(architectures.mode().iloc[0]) if len(architectures) else "",
    )


def daemons(pods: pd.DataFrame, rule_sets: Mapping[int, Rules]) -> list[Daemon]:
    """Describe each DaemonSet by its bound pods (rows of `pods`); what could not be read of a request counts as 0."""
    own = pods.loc[pods["workload_kind"] == DAEMONSET]
    return [
        Daemon(
            rule_sets[int(group["scheduling_set"].iloc[0])],
            int(group["requests_cpu_nanocores"].fillna(0).max()),
            int(group["requests_memory_bytes"].fillna(0).max()),
        )
        for _, group in own.groupby(["namespace", "workload"], sort=True)
    ]


def _machines(snapshot: Snapshot, nodes: pd.DataFrame, labels: list[str]) -> dict[str, dict[str, str]]:
    """Give the labels that all nodes of an instance type agree on, by instance type."""
    typed = nodes.dropna(subset=["instance_type"])
    told = places(snapshot, typed["node"].tolist(), [label for label in labels if label != HOSTNAME])
    found: dict[str, dict[str, str]] = {}
    for name, positions in typed.reset_index(drop=True).groupby("instance_type").indices.items():
        values = {label: set(column[positions].tolist()) for label, column in told.labels.items()}
        found[str(name)] = {label: next(iter(one)) for label, one in values.items() if len(one) == 1 and None not in one}
    return found


def _texts(values: Iterable[object]) -> Texts:
    return np.array(list(values), dtype=object)
