"""How a profile fits each flavor: by its nominal size, and by what pods may use on the cluster's nodes of that type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from batch.plan.model import Distribution, Flavor, FlavorFit, Outliers
from batch.plan.outliers import tolerated
from batch.plan.overrun import CPU_BIN_NANOCORES, MEMORY_BIN_BYTES, overrun_probabilities
from batch.plan.usage import fit_ratio

_DAEMONSET = "DaemonSet"
_SIZES = ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "allocatable_pod_count"]
_RESOURCES = {"usage_cpu_nanocores": "requests_cpu_nanocores", "usage_memory_bytes": "requests_memory_bytes"}


@dataclass(frozen=True)
class InstanceType:
    """What the cluster's nodes of one type say of it: the smallest allocatable, and the largest share of DaemonSets."""

    node_count: int
    allocatable_cpu_nanocores: int | None
    allocatable_memory_bytes: int | None
    pod_limit: int | None
    daemonset_pod_count: int
    daemonset_cpu_nanocores: int | None
    daemonset_memory_bytes: int | None

    @property
    def cpu_room(self) -> int | None:
        """CPU that the pods of a profile may use (nanocores); negative when DaemonSets use more than there is."""
        return _difference(self.allocatable_cpu_nanocores, self.daemonset_cpu_nanocores)

    @property
    def memory_room(self) -> int | None:
        """Memory that the pods of a profile may use (bytes)."""
        return _difference(self.allocatable_memory_bytes, self.daemonset_memory_bytes)


def instance_types(nodes: pd.DataFrame, bound: pd.DataFrame) -> dict[str, InstanceType]:
    """Describe each instance type of the physical nodes. `nodes` has NODE_CAPACITY, `bound` are the bound pods with their usage.

    A DaemonSet pod counts with its usage, where it was not measured with its request; one of which neither is known leaves the sum unknown.
    """
    physical = nodes.loc[~nodes["virtual"]].set_index("node")
    own = bound.loc[bound["workload_kind"] == _DAEMONSET]
    weights = pd.DataFrame({usage: own[usage].fillna(own[request]) for usage, request in _RESOURCES.items()})
    by_node = weights.groupby(own["node"])
    sums, sizes = by_node.sum(), by_node.size()
    sums = sums.mask(by_node.count().lt(sizes, axis="index"))
    described = physical[["instance_type", *_SIZES]].join(sums)
    described["count"] = sizes.reindex(physical.index).fillna(0)
    without = described["count"] == 0
    described[list(_RESOURCES)] = described[list(_RESOURCES)].mask(without, 0)
    return {str(name): _instance_type(group) for name, group in described.groupby("instance_type", sort=True)}


def flavor_fits(
    flavors: Sequence[Flavor],
    types: Mapping[str, InstanceType],
    *,
    cpu: Distribution,
    memory: Distribution,
    outliers: Outliers | None,
    pods_per_node: int,
    pod_count: int,
) -> tuple[FlavorFit, ...]:
    """Fit a profile of `pod_count` pods to each flavor, `pods_per_node` on a node; what is not known of a flavor is None."""
    rooms = {flavor.name: types[flavor.name] for flavor in flavors if flavor.name in types}
    memory_risk = _risks({name: kind.memory_room for name, kind in rooms.items()}, memory, pods_per_node, MEMORY_BIN_BYTES)
    cpu_risk = _risks({name: kind.cpu_room for name, kind in rooms.items()}, cpu, pods_per_node, CPU_BIN_NANOCORES)
    fits = []
    for flavor in flavors:
        kind = types.get(flavor.name)
        fits.append(
            FlavorFit(
                flavor=flavor,
                in_cluster_node_count=kind.node_count if kind else 0,
                allocatable_cpu_nanocores=kind.allocatable_cpu_nanocores if kind else None,
                allocatable_memory_bytes=kind.allocatable_memory_bytes if kind else None,
                pod_limit=kind.pod_limit if kind else flavor.pod_limit,
                daemonset_pod_count=kind.daemonset_pod_count if kind else None,
                daemonset_cpu_nanocores=kind.daemonset_cpu_nanocores if kind else None,
                daemonset_memory_bytes=kind.daemonset_memory_bytes if kind else None,
                cpu_fit_ratio=fit_ratio(cpu, flavor.cpu_nanocores, pods_per_node),
                memory_fit_ratio=fit_ratio(memory, flavor.memory_bytes, pods_per_node),
                outliers_tolerated=tolerated(outliers, pods_per_node, flavor.memory_bytes) if outliers else None,
                memory_overrun_probability=memory_risk.get(flavor.name),
                cpu_overrun_probability=cpu_risk.get(flavor.name),
                node_count=-(-pod_count // pods_per_node),
                monthly_cost=None,
            )
        )
    return tuple(fits)


def _risks(rooms: Mapping[str, int | None], use: Distribution, pods_per_node: int, bin_width: int) -> dict[str, float]:
    """Give the chance of an overrun by flavor, where the room is known; computed once for all of them."""
    known = {name: room for name, room in rooms.items() if room is not None}
    if not known or not use.values:
        return {}
    chances = overrun_probabilities(use.values, pods_per_node, set(known.values()), bin_width)
    return {name: chances[room] for name, room in known.items()}


def _instance_type(group: pd.DataFrame) -> InstanceType:
    cpu, memory, pods = (_smallest(group[column].dropna()) for column in _SIZES)
    return InstanceType(
        node_count=len(group),
        allocatable_cpu_nanocores=cpu,
        allocatable_memory_bytes=memory,
        pod_limit=pods,
        daemonset_pod_count=int(group["count"].max()),
        daemonset_cpu_nanocores=_largest(group["usage_cpu_nanocores"]),
        daemonset_memory_bytes=_largest(group["usage_memory_bytes"]),
    )


def _smallest(values: pd.Series) -> int | None:
    return int(values.min()) if len(values) else None


def _largest(values: pd.Series) -> int | None:
    """Give the largest value; None when one of them is unknown, for that one may be the largest."""
    return None if values.isna().any() else int(values.max())


def _difference(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else whole - part
