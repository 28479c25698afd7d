"""Pods as things to pack: grouped by what they ask for and where they may go, so that equal ones are one shape with a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.packing.model import Flags, Integers
from batch.snapshot.model import Snapshot

CPU, MEMORY, PODS = "cpu", "memory", "pods"
OWN_COLUMN = (CPU, MEMORY, PODS)
"""The resources that every pod counts in, in the order of the columns; others come after them by name."""

DAEMONSET = "DaemonSet"
BOUND_TO_NODES = (DAEMONSET, "StaticPod")
"""Workload kinds whose pods belong to their node and go nowhere else; a mirror pod's owner is the node (collect names it StaticPod)."""


@dataclass(frozen=True)
class Demand:
    """Shapes of pods: `sizes[shape, resource]`, and the scheduling set and CPU architectures of each (None: any).

    `shape_of[pod]` is the shape of each row of the frame that it was made of.
    """

    resources: tuple[str, ...]
    sizes: Integers
    scheduling_sets: Integers
    architectures: tuple[frozenset[str] | None, ...]
    shape_of: Integers

    def counts(self, chosen: Flags | None = None) -> Integers:
        """Count the pods of each shape, of all rows or of the chosen ones."""
        of_rows = self.shape_of if chosen is None else self.shape_of[chosen]
        return np.bincount(of_rows, minlength=len(self.sizes)).astype(np.int64)


def ordinary(pods: pd.DataFrame) -> pd.DataFrame:
    """Give the pods that could run on another node."""
    return pods.loc[~pods["workload_kind"].isin(BOUND_TO_NODES)]


def unreadable(pods: pd.DataFrame) -> pd.Series:
    """Tell which pods ask for an amount of CPU or memory that could not be read."""
    return pods[["requests_cpu_nanocores", "requests_memory_bytes"]].isna().any(axis="columns")


def demand(snapshot: Snapshot, pods: pd.DataFrame, without: Sequence[str] = ()) -> Demand:
    """Group pods, all of whose requests are known (rows of `pods`); resources named in `without` are not looked at."""
    asked = pods[["namespace", "pod"]].assign(row=np.arange(len(pods))).merge(_further(snapshot, without), on=["namespace", "pod"])
    names = (*OWN_COLUMN, *sorted(asked["resource"].unique()))
    amounts = np.zeros((len(pods), len(names)), dtype=np.int64)
    amounts[:, 0] = _integers(pods["requests_cpu_nanocores"])
    amounts[:, 1] = _integers(pods["requests_memory_bytes"])
    amounts[:, 2] = 1
    positions = asked["resource"].map({name: number for number, name in enumerate(names)})
    amounts[_integers(asked["row"]), _integers(positions)] = _integers(asked["requests_count"])
    kinds, architectures = _architectures(snapshot, pods)
    table = pd.DataFrame(np.column_stack([amounts, _integers(pods["scheduling_set"]), kinds]))
    shape_of = _integers(table.groupby(list(table.columns), sort=True).ngroup())
    first = np.unique(shape_of, return_index=True)[1]
    rows = table.to_numpy()[first]
    return Demand(names, rows[:, : len(names)], rows[:, -2], tuple(architectures[kind] for kind in rows[:, -1]), shape_of)


def rooms(snapshot: Snapshot, nodes: pd.DataFrame, bound: pd.DataFrame, resources: Sequence[str]) -> Integers:
    """Give allocatable less requests of bound pods for each node of NODE_CAPACITY, in its order; a resource that a node has not is 0.

    What a node does not state it does not give: unknown allocatable counts as 0. Neither does a node with pods whose requests could not be read.
    """
    room = np.zeros((len(nodes), len(resources)), dtype=np.int64)
    room[:, 0] = _integers(nodes["allocatable_cpu_nanocores"].fillna(0) - nodes["requests_cpu_nanocores"])
    room[:, 1] = _integers(nodes["allocatable_memory_bytes"].fillna(0) - nodes["requests_memory_bytes"])
    room[np.asarray((nodes["unreadable_pod_count"] > 0).to_numpy(dtype=np.bool_)), :2] = 0
    room[:, 2] = _integers(nodes["allocatable_pod_count"].fillna(0) - nodes["pod_count"])
    further = list(resources[len(OWN_COLUMN) :])
    if further:
        held = bound[["namespace", "pod", "node"]].merge(_further(snapshot, ()), on=["namespace", "pod"])
        taken = _by_node(held, "requests_count", nodes, further)
        room[:, len(OWN_COLUMN) :] = _by_node(snapshot.table("node_resources"), "allocatable_count", nodes, further) - taken
    return room


def _by_node(rows: pd.DataFrame, column: str, nodes: pd.DataFrame, resources: Sequence[str]) -> Integers:
    """Add up a column by node and resource; what is NA adds nothing."""
    known = rows.loc[rows["node"].isin(nodes["node"]) & rows["resource"].isin(resources) & rows[column].notna()]
    places = known["node"].map({node: number for number, node in enumerate(nodes["node"])})
    kinds = known["resource"].map({name: number for number, name in enumerate(resources)})
    table = np.zeros((len(nodes), len(resources)), dtype=np.int64)
    np.add.at(table, (_integers(places), _integers(kinds)), _integers(known[column]))
    return table


def _further(snapshot: Snapshot, without: Sequence[str]) -> pd.DataFrame:
    asked = snapshot.table("pod_resources")
    return asked.loc[~asked["resource"].isin(without)]


def _architectures(snapshot: Snapshot, pods: pd.DataFrame) -> tuple[Integers, tuple[frozenset[str] | None, ...]]:
    """Say for each pod on which CPU architectures pods of its workload run; those of a workload that runs nowhere may go where the nodes are.

    An image says nothing of its architectures in a pod, so what runs is what is known to work. None: no node says what it is.
    """
    nodes = snapshot.table("nodes")
    of_node = dict(zip(nodes["node"], nodes["architecture"], strict=True))
    everywhere = frozenset(nodes["architecture"].dropna().unique()) or None
    if everywhere is None or len(everywhere) == 1:
        return np.zeros(len(pods), dtype=np.int64), (everywhere,)
    workloads = list(zip(pods["namespace"], pods["workload_kind"], pods["workload"], strict=True))
    seen: dict[tuple[str, str, str], set[str]] = {workload: set() for workload in workloads}
    for workload, node in zip(workloads, pods["node"], strict=True):
        if isinstance(architecture := of_node.get(node), str):
            seen[workload].add(architecture)
    each = [frozenset(seen[workload]) or everywhere for workload in workloads]
    distinct = tuple(dict.fromkeys(each))
    numbers = {one: number for number, one in enumerate(distinct)}
    return np.array([numbers[one] for one in each], dtype=np.int64), distinct


def _integers(values: pd.Series) -> Integers:
    return np.asarray(values.to_numpy(dtype=np.int64))
