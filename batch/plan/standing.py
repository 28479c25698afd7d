"""The cluster as it stands, for packing: open nodes with their room, and the pods on them that could run elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.packing.model import Bins, Flags, Integers, Items
from batch.plan.demand import Demand, demand, ordinary, rooms, unreadable
from batch.plan.nodes import TAINTED
from batch.plan.scheduling import accepted, places, rules
from batch.snapshot.model import Snapshot


@dataclass(frozen=True)
class Standing:
    """Physical nodes by position, and ordinary pods on them.

    `nodes` are their rows of NODE_CAPACITY, `open[node]` says which take new pods: ready and not cordoned. `rooms[node, resource]` is what no
    pod requests; `accepts[shape, node]` heeds rules and CPU architecture. `pods` are the ordinary pods whose requests are known, `node_of[pod]`
    the position of each one's node; their shapes are in `demand`.
    """

    nodes: pd.DataFrame
    open: Flags
    rooms: Integers
    pods: pd.DataFrame
    node_of: Integers
    demand: Demand
    accepts: Flags

    def items(self, counts: Integers) -> Items:
        """Give shapes in the numbers given, each node being a class of its own."""
        return Items(self.demand.sizes, counts, self.accepts)

    def bins(self, chosen: Flags, rooms_: Integers) -> Bins:
        """Give the chosen nodes as bins."""
        where = np.flatnonzero(chosen)
        return Bins(rooms_[where], where)

    @property
    def preemptible(self) -> Flags:
        """Pods of a negative priority: they make way for others and hold room until then."""
        return np.asarray((self.pods["priority"].fillna(0) < 0).to_numpy(dtype=np.bool_))


def standing(snapshot: Snapshot, bound: pd.DataFrame, nodes: pd.DataFrame) -> Standing:
    """Describe the physical nodes of NODE_CAPACITY and the bound pods (rows of `pods`) on them."""
    physical = nodes.loc[~nodes["virtual"]].reset_index(drop=True)
    movable = ordinary(bound.loc[bound["node"].isin(physical["node"]) & ~unreadable(bound)])
    wanted = demand(snapshot, movable)
    position = {node: number for number, node in enumerate(physical["node"])}
    return Standing(
        nodes=physical,
        open=np.asarray((physical["unusable"].isna() | physical["unusable"].eq(TAINTED)).to_numpy(dtype=np.bool_)),
        rooms=rooms(snapshot, physical, bound, wanted.resources),
        pods=movable,
        node_of=np.array([position[node] for node in movable["node"]], dtype=np.int64),
        demand=wanted,
        accepts=acceptance(snapshot, physical, wanted),
    )


def acceptance(snapshot: Snapshot, nodes: pd.DataFrame, wanted: Demand) -> Flags:
    """Say for each shape and node whether the pods' rules and CPU architecture allow them there."""
    known = rules(snapshot)
    numbers, set_of_shape = np.unique(wanted.scheduling_sets, return_inverse=True)
    rule_sets = [known[int(number)] for number in numbers]
    labels = {label for one in rule_sets for label in one.labels()}
    takes = accepted(rule_sets, places(snapshot, nodes["node"].tolist(), labels))[set_of_shape.reshape(-1)]
    return np.asarray(takes & _runs(snapshot, nodes, wanted))


def _runs(snapshot: Snapshot, nodes: pd.DataFrame, wanted: Demand) -> Flags:
    """Say for each shape and node whether pods like that run on its CPU architecture; one that a node does not tell counts as any."""
    of_node = snapshot.table("nodes").set_index("node")["architecture"].reindex(nodes["node"].tolist())
    texts = of_node.astype(object).to_numpy()
    flags = {
        known: np.array([known is None or not isinstance(text, str) or text in known for text in texts], dtype=np.bool_)
        for known in set(wanted.architectures)
    }
    return np.array([flags[known] for known in wanted.architectures], dtype=np.bool_).reshape(len(wanted.sizes), len(nodes))
