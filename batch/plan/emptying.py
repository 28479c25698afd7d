"""Nodes that could be emptied together: those whose ordinary pods fit on others, tried from the least filled on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from batch.packing.model import Flags, Floats, Integers
from batch.plan.demand import demand, ordinary, rooms, unreadable
from batch.plan.model_packing import EmptyableNode
from batch.plan.standing import Standing, acceptance
from batch.snapshot.model import Snapshot

CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""Labels of nodes that are there for the control plane (kubernetes.io, "Well-Known Labels"; the second until 1.24)."""


def considered(snapshot: Snapshot, bound: pd.DataFrame, cluster: Standing) -> Flags:
    """Tell which nodes are tried: ready, not cordoned, of known size, not of the control plane, without pods whose requests could not be read.

    Nodes that a waiting pod could have if they were empty are not tried either: they are needed.
    """
    labels = snapshot.table("node_labels")
    of_control_plane = labels.loc[labels["label"].isin(CONTROL_PLANE), "node"]
    unclear = ordinary(bound.loc[unreadable(bound)])["node"]
    left_out = cluster.nodes["node"].isin([*of_control_plane, *unclear])
    left_out |= cluster.nodes[["allocatable_cpu_nanocores", "allocatable_memory_bytes"]].isna().any(axis="columns")
    return cluster.open & ~np.asarray(left_out.to_numpy(dtype=np.bool_)) & ~_awaited(snapshot, cluster.nodes)


def _awaited(snapshot: Snapshot, nodes: pd.DataFrame) -> Flags:
    """Tell which nodes would take one of the pods that wait if nothing else were on them."""
    pods = snapshot.table("pods")
    waiting = pods.loc[pods["node"].isna() & pods["phase"].eq("Pending") & ~pods["gated"] & ~unreadable(pods)]
    wanted = demand(snapshot, waiting)
    empty = nodes.assign(requests_cpu_nanocores=0, requests_memory_bytes=0, pod_count=0)
    whole = rooms(snapshot, empty, pods.head(0), wanted.resources)
    fits = (wanted.sizes[:, np.newaxis, :] <= whole[np.newaxis, :, :]).all(axis=2)
    return np.asarray((fits & acceptance(snapshot, nodes, wanted)).any(axis=0))


def emptyable(cluster: Standing, tried: Flags) -> tuple[EmptyableNode, ...]:
    """Empty node after node, from the least filled on, as long as all its pods find room on nodes that stay; the fullest are filled up first.

    A node that has taken pods stays. What a move would really meet is not looked at: disruption budgets, volumes, bare pods.
    """
    fill = _fill(cluster)
    order = np.argsort(fill, kind="stable")
    moves = _Moves(cluster, order[::-1][cluster.open[order[::-1]]])
    return tuple(_described(cluster, int(node)) for node in order if tried[node] and moves.empties(int(node)))


class _Moves:
    """Where the emptying has got to: the room on the nodes that stay, and which of them have taken pods."""

    def __init__(self, cluster: Standing, fullest_first: Integers) -> None:
        self._sizes = cluster.demand.sizes
        self._shapes = _shapes_on_nodes(cluster)
        self._rooms = np.ascontiguousarray(cluster.rooms[fullest_first].T)
        self._accepts = cluster.accepts[:, fullest_first]
        self._stays = np.ones(fullest_first.size, dtype=np.bool_)
        self._has_taken = np.zeros(fullest_first.size, dtype=np.bool_)
        self._place = {int(node): place for place, node in enumerate(fullest_first)}

    def empties(self, node: int) -> bool:
        """Move all pods of a node, the largest first, or none; True when the node is empty now."""
        place = self._place[node]
        if self._has_taken[place]:
            return False
        self._stays[place] = False
        moved: list[tuple[Integers, Integers]] = []
        for shape, count in self._shapes.get(node, ()):
            taken = self._take(shape, count)
            moved.append((self._sizes[shape], taken))
            if taken.sum() < count:
                self._undo(moved)
                self._stays[place] = True
                return False
        for _, taken in moved:
            self._has_taken |= taken > 0
        return True

    def _take(self, shape: int, count: int) -> Integers:
        """Put pods of one shape on the first nodes with room; say how many went on each."""
        fits = np.where(self._accepts[shape] & self._stays, count, 0)
        for resource in np.flatnonzero(self._sizes[shape]):
            np.minimum(fits, self._rooms[resource] // self._sizes[shape, resource], out=fits)
        fits = fits.clip(min=0)
        taken: Integers = (count - (fits.cumsum() - fits)).clip(min=0)
        np.minimum(taken, fits, out=taken)
        self._rooms -= self._sizes[shape][:, np.newaxis] * taken
        return taken

    def _undo(self, moved: list[tuple[Integers, Integers]]) -> None:
        for size, taken in moved:
            self._rooms += size[:, np.newaxis] * taken


def _shapes_on_nodes(cluster: Standing) -> dict[int, list[tuple[int, int]]]:
    """Give the shapes on each node with their counts, the largest share of a mean node first."""
    sizes = cluster.demand.sizes
    mean = cluster.rooms.clip(min=0).mean(axis=0) if len(cluster.rooms) else np.ones(sizes.shape[1])
    largest = (sizes / np.maximum(mean, 1)).max(axis=1, initial=0.0)
    pairs, counts = np.unique(np.stack([cluster.node_of, cluster.demand.shape_of], axis=1), axis=0, return_counts=True)
    found: dict[int, list[tuple[int, int]]] = {}
    for place in np.argsort(-largest[pairs[:, 1]], kind="stable"):
        found.setdefault(int(pairs[place, 0]), []).append((int(pairs[place, 1]), int(counts[place])))
    return found


def _fill(cluster: Standing) -> Floats:
    """Give the largest share of CPU, memory and pod slots that ordinary pods request of each node; infinite where its size is unknown."""
    asked = np.zeros((len(cluster.nodes), 3))
    np.add.at(asked, cluster.node_of, cluster.demand.sizes[cluster.demand.shape_of][:, :3])
    columns = ["allocatable_cpu_nanocores", "allocatable_memory_bytes", "allocatable_pod_count"]
    has = cluster.nodes[columns].fillna(0).to_numpy(dtype=np.float64)
    shares = np.divide(asked, has, out=np.full_like(asked, np.inf), where=has > 0)
    return np.asarray(shares.max(axis=1, initial=0.0))


def _described(cluster: Standing, node: int) -> EmptyableNode:
    row = cluster.nodes.iloc[node]
    return EmptyableNode(
        node=str(row["node"]),
        pool=str(row["pool"]),
        moved_pod_count=int((cluster.node_of == node).sum()),
        allocatable_cpu_nanocores=int(row["allocatable_cpu_nanocores"]),
        allocatable_memory_bytes=int(row["allocatable_memory_bytes"]),
    )
