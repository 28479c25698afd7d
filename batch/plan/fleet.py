"""How many nodes of each flavor would hold all ordinary pods: packing, one flavor at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from batch.packing.fleet import bound, pack
from batch.packing.model import Flags, Integers, Items, Packing
from batch.plan.demand import OWN_COLUMN, Demand, demand, ordinary, unreadable
from batch.plan.model import Flavor
from batch.plan.model_packing import NO_FLEETS, Fleet, Fleets, SkippedFlavor, Unplaced
from batch.plan.node_kinds import Daemon, Kinds, daemons, kinds
from batch.plan.offers import offers
from batch.plan.prices import Prices
from batch.plan.scheduling import Rules, rules
from batch.plan.sizes import NodeSize
from batch.snapshot import views
from batch.snapshot.model import Snapshot

TOO_LARGE, NO_RESOURCE, RULES, ARCHITECTURE = "too large", "resource", "rules", "architecture"
"""Why a pod can go on no node of a flavor: it is larger than a node; it asks for a resource that the flavor has not; its selector, affinity or
missing toleration; its workload runs on other CPU architectures. A flavor that takes no pod at all is skipped for the commonest of them."""

UNKNOWN_SIZE = "unknown size"
"""Why a flavor is skipped of which nothing tells what pods may use."""

DISK = ("ephemeral-storage",)
"""What is bought with a node and not decided by its flavor."""

MOST_SHAPES, FINEST_PARTS = 2000, 4096
"""Shapes with which packing takes a fraction of a second for each flavor. Where pods ask for more different amounts than that, these are rounded up
to a 4,096th of a node, or a 2,048th, and so on: the packing then needs at most as many nodes as it says."""

DEFAULT_POD_LIMIT = 110
"""Counted with where nothing tells how many pods a node takes: the kubelet's maxPods (KubeletConfiguration v1beta1)."""


_Known = dict[tuple[bytes, bytes], Packing]
"""Packings by the rooms of the nodes and what fits them."""


@dataclass(frozen=True)
class _Cluster:
    """What all flavors have in common. `set_of_shape[shape]` is the position in `rule_sets`."""

    wanted: Demand
    rule_sets: list[Rules]
    set_of_shape: Integers
    kinds: Kinds
    daemons: list[Daemon]
    offered: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class _Nodes:
    """Empty nodes of one flavor: what each has, what DaemonSets take of each kind, which shapes each kind accepts, and which the CPU runs."""

    capacity: Integers
    overhead: Integers
    accepts: Flags
    runs: Flags

    @property
    def rooms(self) -> Integers:
        """What pods may use of an empty node of each kind beside its DaemonSets."""
        return self.capacity - self.overhead

    def fitting(self, sizes: Integers) -> Flags:
        """Say for each shape and kind whether an empty node takes a pod."""
        fits = (sizes[:, np.newaxis, :] <= self.rooms[np.newaxis, :, :]).all(axis=2)
        return np.asarray(fits & self.accepts & self.runs[:, np.newaxis])


def fleets(
    snapshot: Snapshot,
    pods: pd.DataFrame,
    nodes: pd.DataFrame,
    flavors: Sequence[Flavor],
    sizes: Mapping[str, NodeSize],
    prices: Prices,
    *,
    right_sized: bool = False,
) -> Fleets:
    """Work out one fleet for each flavor whose size for pods is known. `nodes` has the schema NODE_CAPACITY.

    Placed are the ordinary pods (rows of table `pods`, with whatever requests they are to have): those bound to a physical node, and those
    pending that no gate holds back. DaemonSets are overhead of every node that takes them. Ephemeral storage is not looked at.
    Nothing is said when pods of some namespaces alone were read: the DaemonSets of the others are unknown.
    """
    if snapshot.namespaces is not None:
        return NO_FLEETS
    held = _candidates(snapshot, pods, nodes)
    unknown = unreadable(held)
    held = held.loc[~unknown]
    cluster = _cluster(snapshot, pods, held, nodes, offers(snapshot, nodes, flavors))
    known: _Known = {}
    found = [_fleet(cluster, flavor, sizes[flavor.name], prices, known, right_sized=right_sized) for flavor in flavors]
    spread = [number for number, one in enumerate(cluster.rule_sets) if one.spread]
    return Fleets(
        fleets=tuple(one for one in found if isinstance(one, Fleet)),
        skipped=tuple(one for one in found if isinstance(one, SkippedFlavor)),
        pod_count=len(held),
        spread_pod_count=int(cluster.wanted.counts()[np.isin(cluster.set_of_shape, spread)].sum()),
        unreadable_pod_count=int(unknown.sum()),
    )


def _candidates(snapshot: Snapshot, pods: pd.DataFrame, nodes: pd.DataFrame) -> pd.DataFrame:
    unfinished = ordinary(pods.loc[~pods["phase"].isin(views.FINISHED)])
    waiting = unfinished["node"].isna() & ~unfinished["gated"]
    on_machines = unfinished["node"].isin(nodes.loc[~nodes["virtual"], "node"]) if snapshot.has("nodes") else unfinished["node"].notna()
    return unfinished.loc[waiting | on_machines]


def _cluster(
    snapshot: Snapshot, pods: pd.DataFrame, held: pd.DataFrame, nodes: pd.DataFrame, offered: Mapping[str, Mapping[str, int]]
) -> _Cluster:
    wanted, known = demand(snapshot, held, without=DISK), rules(snapshot)
    of_daemons = daemons(pods.loc[pods["node"].notna()], known)
    numbers, set_of_shape = np.unique(wanted.scheduling_sets, return_inverse=True)
    rule_sets = [known[int(number)] for number in numbers]
    all_kinds = kinds(snapshot, nodes, [*rule_sets, *(daemon.rules for daemon in of_daemons)])
    return _Cluster(wanted, rule_sets, set_of_shape.reshape(-1), all_kinds, of_daemons, offered)


def _fleet(cluster: _Cluster, flavor: Flavor, size: NodeSize, prices: Prices, known: _Known, *, right_sized: bool) -> Fleet | SkippedFlavor:
    if size.source is None or size.allocatable_cpu_nanocores is None or size.allocatable_memory_bytes is None:
        return SkippedFlavor(flavor.name, UNKNOWN_SIZE)
    nodes, wanted = _nodes(cluster, flavor, size), cluster.wanted
    fitting = nodes.fitting(wanted.sizes)
    counts = np.where(fitting.any(axis=1), wanted.counts(), 0)
    unplaced = _unplaced(wanted, nodes, wanted.counts() - counts)
    if unplaced and not counts.any():
        return SkippedFlavor(flavor.name, max(unplaced, key=lambda part: part.pod_count).reason)
    packing = _packed(wanted.sizes, counts, fitting, nodes.rooms, known)
    overhead = nodes.overhead[[pattern.class_ for pattern in packing.patterns]]
    taken = counts @ wanted.sizes + np.array([pattern.bin_count for pattern in packing.patterns], dtype=np.int64) @ overhead
    ratios = _shares(wanted.resources, taken, nodes.capacity * packing.bin_count)
    largest = overhead.max(axis=0, initial=0)
    return Fleet(
        flavor=flavor.name,
        cpu_nanocores=flavor.cpu_nanocores,
        memory_bytes=flavor.memory_bytes,
        gpu_count=flavor.gpu_count,
        right_sized=right_sized,
        node_count=packing.bin_count,
        lower_bound_node_count=packing.lower_bound,
        placed_pod_count=int(counts.sum()),
        unplaced=unplaced,
        allocatable_cpu_nanocores=size.allocatable_cpu_nanocores,
        allocatable_memory_bytes=size.allocatable_memory_bytes,
        allocatable_source=size.source,
        pod_limit=size.pod_limit,
        daemonset_pod_count=int(largest[2]),
        daemonset_cpu_nanocores=int(largest[0]),
        daemonset_memory_bytes=int(largest[1]),
        requests_ratio=ratios,
        binding_resource=max(ratios, key=lambda name: ratios[name], default=None),
        monthly_cost=prices.monthly(flavor.name, packing.bin_count),
    )


def _shares(resources: Sequence[str], taken: Integers, whole: Integers) -> dict[str, float]:
    return {name: int(used) / int(all_) for name, used, all_ in zip(resources, taken, whole, strict=True) if all_}


def _nodes(cluster: _Cluster, flavor: Flavor, size: NodeSize) -> _Nodes:
    wanted = cluster.wanted
    offered = cluster.offered[flavor.name]
    own = (size.allocatable_cpu_nanocores, size.allocatable_memory_bytes, size.pod_limit or DEFAULT_POD_LIMIT)
    architecture = cluster.kinds.architecture(flavor)
    return _Nodes(
        capacity=np.array([*own, *(offered.get(name, 0) for name in wanted.resources[len(OWN_COLUMN) :])], dtype=np.int64),
        overhead=_overhead(cluster, flavor),
        accepts=cluster.kinds.accepting(cluster.rule_sets, flavor)[cluster.set_of_shape],
        runs=np.array([known is None or architecture in known for known in wanted.architectures], dtype=np.bool_),
    )


def _overhead(cluster: _Cluster, flavor: Flavor) -> Integers:
    """Add up for each kind of nodes what the DaemonSets ask for whose rules accept it."""
    run = cluster.kinds.accepting([daemon.rules for daemon in cluster.daemons], flavor)
    asked = np.zeros((len(cluster.daemons), len(cluster.wanted.resources)), dtype=np.int64)
    for number, daemon in enumerate(cluster.daemons):
        asked[number, : len(OWN_COLUMN)] = (daemon.cpu_nanocores, daemon.memory_bytes, 1)
    return run.T.astype(np.int64) @ asked


def _packed(sizes: Integers, counts: Integers, fitting: Flags, rooms: Integers, known: _Known) -> Packing:
    """Pack, once for all flavors whose nodes are equal to pods; the classes of the packing are positions in `rooms`."""
    key = (rooms.tobytes(), fitting.tobytes())
    if key not in known:
        kinds_ = np.unique(np.concatenate([fitting, rooms.T]), axis=1, return_index=True)[1]
        items = _merged(Items(sizes, counts, fitting[:, kinds_]))
        packing = replace(pack(_rounded(items, rooms[kinds_]), rooms[kinds_]), lower_bound=bound(items, rooms[kinds_]))
        patterns = tuple(replace(pattern, class_=int(kinds_[pattern.class_])) for pattern in packing.patterns)
        known[key] = replace(packing, patterns=patterns)
    return known[key]


def _rounded(items: Items, rooms: Integers) -> Items:
    """Round CPU and memory up as finely as leaves no more than MOST_SHAPES shapes; one that would not fit a node any more stays as it is."""
    parts = FINEST_PARTS
    rounded = items
    while len(rounded.counts) > MOST_SHAPES and parts > 1:
        grid = np.maximum(rooms[:, :2].max(axis=0) // parts, 1)
        sizes = items.sizes.copy()
        sizes[:, :2] = -(-sizes[:, :2] // grid) * grid
        still_fits = ((sizes[:, np.newaxis, :] <= rooms).all(axis=2) | ~items.accepts).all(axis=1)
        rounded = _merged(Items(np.where(np.expand_dims(still_fits, 1), sizes, items.sizes), items.counts, items.accepts))
        parts //= 2
    return rounded


def _merged(items: Items) -> Items:
    """Drop shapes of which there are none, and count shapes together that fit the same kinds alike."""
    table = pd.DataFrame(np.column_stack([items.sizes, items.accepts, items.counts])).loc[items.counts > 0]
    merged = table.groupby(list(table.columns[:-1]), sort=True)[table.columns[-1]].sum().reset_index().to_numpy(dtype=np.int64)
    resources = items.sizes.shape[1]
    return Items(merged[:, :resources], merged[:, -1], merged[:, resources:-1].astype(np.bool_))


def _unplaced(wanted: Demand, nodes: _Nodes, counts: Integers) -> tuple[Unplaced, ...]:
    """Say why pods are left over, most pods first; a pod counts under the first reason that applies to it."""
    found: Counter[tuple[str, str | None]] = Counter()
    roomiest = nodes.rooms.max(axis=0)
    for shape in np.flatnonzero(counts):
        size = wanted.sizes[shape]
        lacking = [name for name, asked, has in zip(wanted.resources, size, nodes.capacity, strict=True) if asked and not has]
        exceeded = [name for name, asked, room in zip(wanted.resources, size, roomiest, strict=True) if asked > room]
        if not nodes.runs[shape]:
            reason: tuple[str, str | None] = (ARCHITECTURE, None)
        elif lacking:
            reason = (NO_RESOURCE, lacking[0])
        elif exceeded or nodes.accepts[shape].any():
            reason = (TOO_LARGE, exceeded[0] if exceeded else None)
        else:
            reason = (RULES, None)
        found[reason] += int(counts[shape])
    return tuple(Unplaced(reason, count, resource) for (reason, resource), count in found.most_common())
