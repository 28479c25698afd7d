"""What a node of each flavor has for pods: by the cluster's nodes of that type, else by the provider's published formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.plan.demand import DAEMONSET
from batch.plan.flavors import PROVIDERS
from batch.plan.model import FORMULA, NODES, Flavor
from batch.plan.node_kinds import ARCHITECTURE, INSTANCE_TYPE, LINUX, SYSTEM
from batch.plan.reservations import Machine, allocatable, minor_version
from batch.plan.scheduling import Places, Rules, accepted, rules
from batch.snapshot.model import Snapshot

DEFAULT_POD_LIMITS = {"google": 110}
"""Pods a node takes where the provider has one default for all machines (GKE documentation, Configure maximum Pods per node, August 2026).
EKS's depend on the machine and are in the catalogue; AKS's depend on the network plugin, 250, 110 or 30."""

_SIZES = ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "allocatable_pod_count"]
_USES = {"usage_cpu_nanocores": "requests_cpu_nanocores", "usage_memory_bytes": "requests_memory_bytes"}
_COUNT = "pod_count"


@dataclass(frozen=True)
class Daemons:
    """What DaemonSet pods take of a node: of several nodes the largest. None: unknown, as where one of them is neither measured nor requests.

    `cpu_nanocores` and `memory_bytes` are their usage, where they were not measured their request.
    """

    pod_count: int | None
    cpu_nanocores: int | None
    memory_bytes: int | None
    requests_cpu_nanocores: int | None
    requests_memory_bytes: int | None


_UNKNOWN = Daemons(None, None, None, None, None)


@dataclass(frozen=True)
class NodeSize:
    """What pods may use of a node: the smallest of the cluster's nodes (`source` NODES), or worked out (FORMULA); None: unknown."""

    source: str | None
    node_count: int
    allocatable_cpu_nanocores: int | None
    allocatable_memory_bytes: int | None
    pod_limit: int | None
    daemons: Daemons

    @property
    def cpu_room(self) -> int | None:
        """CPU that DaemonSets leave (nanocores); negative when they use more than there is."""
        return less(self.allocatable_cpu_nanocores, self.daemons.cpu_nanocores)

    @property
    def memory_room(self) -> int | None:
        """Memory that DaemonSets leave (bytes)."""
        return less(self.allocatable_memory_bytes, self.daemons.memory_bytes)

    @property
    def slots(self) -> int | None:
        """Pods that fit beside DaemonSets."""
        left = less(self.pod_limit, self.daemons.pod_count)
        return None if left is None else max(0, left)


def node_sizes(snapshot: Snapshot, nodes: pd.DataFrame, bound: pd.DataFrame, flavors: Iterable[Flavor]) -> dict[str, NodeSize]:
    """Give the size of each flavor. `nodes` has NODE_CAPACITY, `bound` are the bound pods with their usage.

    On a flavor that the cluster has no node of run the DaemonSets whose rules accept a node without labels of its own and without taints;
    they take there what they take on the fullest of the cluster's nodes. What they take is unknown when only some namespaces were read.
    """
    listed = list(flavors)
    physical = nodes.loc[~nodes["virtual"]].set_index("node")
    own = bound.loc[bound["workload_kind"] == DAEMONSET]
    limits = _pod_limits(snapshot, physical, listed)
    everything_read = snapshot.namespaces is None
    elsewhere = _Elsewhere(rules(snapshot), own, physical if everything_read else physical.head(0))
    on_nodes = _per_node(own, physical.index)
    version = minor_version(snapshot.kubernetes_version)
    sizes = {}
    for flavor in listed:
        same = physical["instance_type"].eq(flavor.name).fillna(value=False)
        if same.any():
            reported = _of_nodes(physical.loc[same], _largest(on_nodes.loc[same]) if everything_read else _UNKNOWN)
            sizes[flavor.name] = (
                reported if reported.source else _worked_out(flavor, reported.pod_limit, reported.daemons, version, int(same.sum()))
            )
        else:
            sizes[flavor.name] = _worked_out(flavor, limits[flavor.name], elsewhere.daemons(flavor), version, 0)
    return sizes


def less(whole: int | None, part: int | None) -> int | None:
    """Subtract; None when either is unknown."""
    return None if whole is None or part is None else whole - part


def _of_nodes(group: pd.DataFrame, daemons: Daemons) -> NodeSize:
    cpu, memory, pods = (_smallest(group[column].dropna()) for column in _SIZES)
    return NodeSize(None if cpu is None or memory is None else NODES, len(group), cpu, memory, pods, daemons)


def _worked_out(flavor: Flavor, pod_limit: int | None, daemons: Daemons, version: int | None, node_count: int) -> NodeSize:
    machine = Machine(flavor.name, flavor.cpu_nanocores, flavor.memory_bytes, flavor.architecture == "arm64", pod_limit, version)
    found = allocatable(flavor.provider, machine)
    if found is None:
        return NodeSize(None, node_count, None, None, pod_limit, daemons)
    return NodeSize(FORMULA, node_count, *found, pod_limit, daemons)


class _Elsewhere:
    """What DaemonSets take on machines that the cluster has not; worked out once for all on which the same ones run."""

    def __init__(self, known: Mapping[int, Rules], own: pd.DataFrame, physical: pd.DataFrame) -> None:
        self._numbers = sorted(own["scheduling_set"].unique().tolist())
        self._rule_sets = [known[number] for number in self._numbers]
        self._own, self._physical = own, physical
        self._found: dict[tuple[int, ...], Daemons] = {}

    def daemons(self, flavor: Flavor) -> Daemons:
        if self._physical.empty:
            return _UNKNOWN
        running = tuple(number for number, runs in zip(self._numbers, accepted(self._rule_sets, _plain(flavor))[:, 0], strict=True) if runs)
        if running not in self._found:
            there = self._own.loc[self._own["scheduling_set"].isin(running)]
            self._found[running] = _largest(_per_node(there, self._physical.index))
        return self._found[running]


def _plain(flavor: Flavor) -> Places:
    """Describe a new node of the flavor: it has the labels that every node has, and no taint.

    A DaemonSet that asks for any other label is not taken to run on a node that is not there yet.
    """
    texts = {INSTANCE_TYPE: flavor.name, ARCHITECTURE: flavor.architecture, SYSTEM: LINUX}
    labels = {label: np.array([text or None], dtype=object) for names, text in texts.items() for label in names}
    return Places(1, labels, (), np.zeros((1, 0), dtype=np.bool_))


def _per_node(own: pd.DataFrame, names: pd.Index) -> pd.DataFrame:
    """Add up what DaemonSet pods take of each node; NA where one of them has neither usage nor request, 0 where there is none."""
    weights = pd.DataFrame({use: own[use].fillna(own[request]) for use, request in _USES.items()} | {r: own[r] for r in _USES.values()})
    by_node = weights.groupby(own["node"])
    sizes = by_node.size()
    taken = by_node.sum().mask(by_node.count().lt(sizes, axis="index")).reindex(names)
    counts = sizes.reindex(names).fillna(0).astype("int64")
    return taken.mask(counts == 0, 0).assign(**{_COUNT: counts})


def _largest(taken: pd.DataFrame) -> Daemons:
    """Give the largest of each; None when one of them is unknown, for that one may be the largest."""
    columns = (_COUNT, *_USES, *_USES.values())
    return Daemons(*(None if taken[column].isna().any() else int(taken[column].max()) for column in columns))


def _smallest(values: pd.Series) -> int | None:
    return int(values.min()) if len(values) else None


def _pod_limits(snapshot: Snapshot, physical: pd.DataFrame, flavors: Sequence[Flavor]) -> dict[str, int | None]:
    """Say how many pods a new node takes: the flavor's own limit, else the smallest that the provider's nodes report, else the default.

    Nodes that contradict the limit of their own flavor (prefix delegation, another network plugin) outweigh the catalogue for all.
    """
    schemes = snapshot.table("nodes").set_index("node")["provider"]
    providers = schemes.map(PROVIDERS.get, na_action="ignore").reindex(physical.index)
    reported = physical["allocatable_pod_count"].dropna()
    stated = {flavor.name: flavor.pod_limit for flavor in flavors if flavor.pod_limit is not None}
    smallest, contradicted = dict(DEFAULT_POD_LIMITS), set()
    for provider, of_provider in reported.groupby(providers.reindex(reported.index)):
        smallest[str(provider)] = int(of_provider.min())
        types = physical["instance_type"].reindex(of_provider.index).dropna()
        if any(stated.get(name, count) != count for name, count in zip(types, of_provider.loc[types.index], strict=True)):
            contradicted.add(provider)
    return {
        flavor.name: flavor.pod_limit
        if flavor.pod_limit is not None and flavor.provider not in contradicted
        else smallest.get(flavor.provider or "")
        for flavor in flavors
    }
