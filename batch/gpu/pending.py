"""Pods that wait for accelerators, and why each node does not take them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from batch.accelerators import Kind, of_kind
from batch.gpu.holdings import POD, class_of_resource
from batch.gpu.model import Blocker, DevicePool, Waiting
from batch.gpu.room import Rooms
from batch.snapshot.model import Snapshot
from batch.snapshot.scheduling import Places, Rules, accepted, places, rules
from batch.snapshot.schemas import PODS, SCHEMAS

_ENDLESS = 2**62

_MOST_LINES = 20_000
"""Lines of pod and node that are written out; beyond them nodes are only counted."""

_CORDON = "node.kubernetes.io/unschedulable"
"""Taint of a cordoned node."""

_UNREAD = "unread"
"""Kind of a check that cannot be made: how much of something is free is not known."""

_SIZES = ("requests_cpu_nanocores", "requests_memory_bytes")

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]

CouldRepack = Callable[[str, Sequence[int], int], bool]

Asks = tuple[tuple[str, int], ...]
"""Resource, or DeviceClass of a claim, and how many of it."""


@dataclass(frozen=True)
class Offer:
    """What a node has of one resource, and what of it is free; None is not known."""

    allocatable: int | None
    free: int | None


Offers = Mapping[str, Mapping[str, Offer]]
"""By resource and node."""


@dataclass(frozen=True)
class _Shape:
    """Pods that ask for the same and may go to the same nodes."""

    cpu: int | None
    memory: int | None
    resources: Asks
    claims: Asks
    scheduling_set: int
    gated: bool


def waiting_pods(snapshot: Snapshot) -> pd.DataFrame:
    """Rows of pods that are not bound, wait, and ask for accelerators by resource names or claims; gated ones too."""
    pods = snapshot.table("pods")
    waits = pods.loc[pods["node"].isna() & (pods["phase"] == "Pending")]
    asking = {key for key, _ in _asks(snapshot, waits)} | {key for key, _ in _claims(snapshot, waits)}
    keys = pd.Series(list(zip(waits["namespace"], waits["pod"], strict=True)), index=waits.index, dtype=object)
    return waits.loc[keys.isin(asking).astype(bool)]


def waiting(
    snapshot: Snapshot,
    waits: pd.DataFrame,
    offers: Offers,
    pools: Sequence[DevicePool],
    rooms: Rooms,
    could_repack: CouldRepack,
    *,
    pools_known: bool = True,
) -> tuple[Waiting, ...]:
    """Explain each shape of waiting pods, those of most pods first.

    `offers` are all accelerators by resource and node; `could_repack` says for a resource, (units, CPU, memory) and a scheduling set whether
    such a pod would fit if the pods that hold the resource were packed anew. `pools_known` says whether `pools` are all that there are.
    """
    groups = _groups(snapshot, waits)
    if not groups:
        return ()
    look = _Look(snapshot, offers, pools, rooms, [shape.scheduling_set for shape in groups], pools_known=pools_known)
    is_known = _is_known(snapshot)
    found, lines = [], 0
    for shape, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[1][0]["namespace"], item[1][0]["pod"])):
        nodes, checks = look.checks(shape)
        shown = lines + nodes.size <= _MOST_LINES
        lines += nodes.size if shown else 0
        one = _waiting(snapshot, shape, members, checks, look.names(nodes), could_repack, shown=shown, told=look.tells(shape))
        found.append(
            one if is_known(shape, one.verdict) else replace(one, verdict="unknown", fitting_node_count=None, summary={}, nodes=())
        )
    return tuple(found)


def _is_known(snapshot: Snapshot) -> Callable[[_Shape, str], bool]:
    """Give the test whether a verdict rests on what was read alone: on nodes and their devices, and on what all pods hold of them.

    That a pod would not even start on empty nodes is known without the pods of other namespaces.
    """
    of_devices = {*class_of_resource(snapshot)} if not snapshot.has("resourceslices") else set()

    def is_known(shape: _Shape, verdict: str) -> bool:
        if verdict == "gated":
            return True
        if not snapshot.has("nodes") or any(name in of_devices for name, _ in shape.resources):
            return False
        if shape.claims and not snapshot.has("resourceslices"):
            return False
        return snapshot.namespaces is None or verdict in ("never", "nowhere")

    return is_known


@dataclass(frozen=True)
class _Check:
    """One thing that may keep a pod off nodes: `fails` says of which, `never` where it would be so even on an empty node."""

    kind: str
    resource: str
    fails: Flags
    never: Flags
    asked: int | None = None
    free: Integers | None = None
    whole: Integers | None = None

    def blocker(self, place: int) -> Blocker:
        """Give it for one node."""
        free, whole = (None if amounts is None else int(amounts[place]) for amounts in (self.free, self.whole))
        return Blocker(self.kind, self.resource, self.asked, free, whole)


def _waiting(
    snapshot: Snapshot,
    shape: _Shape,
    members: Sequence[Mapping[str, Any]],
    checks: Sequence[_Check],
    nodes: Sequence[str],
    could_repack: CouldRepack,
    *,
    shown: bool,
    told: bool,
) -> Waiting:
    since = min((row["created_at"] for row in members if row["created_at"]), default=None)
    free = np.ones(len(nodes), dtype=np.bool_)
    summary: dict[tuple[str, str], int] = {}
    for check in checks:
        first = int((free & check.fails).sum())
        if first:
            summary[check.kind, check.resource] = first
        free &= ~check.fails
    verdict = _verdict(shape, checks, len(nodes), int(free.sum()), could_repack, told=told)
    return Waiting(
        namespace=members[0]["namespace"],
        pod=members[0]["pod"],
        pod_count=len(members),
        resources={**dict(shape.resources), **dict(shape.claims)},
        cpu_nanocores=shape.cpu,
        memory_bytes=shape.memory,
        waiting_seconds=(snapshot.taken_at - since).total_seconds() if since else None,
        verdict=verdict,
        fitting_node_count=None if verdict == "unknown" else int(free.sum()),
        summary=summary,
        nodes=tuple(
            (nodes[place], tuple(check.blocker(place) for check in checks if check.fails[place]))
            for place in (np.flatnonzero(~free).tolist() if shown else ())
        ),
    )


def _verdict(shape: _Shape, checks: Sequence[_Check], node_count: int, fitting_count: int, could_repack: CouldRepack, *, told: bool) -> str:
    """Say what would help: nothing but other nodes (nowhere, never), moving pods (repack), or waiting (full); `told` says whether all is known."""
    if shape.gated or fitting_count:
        return "gated" if shape.gated else "fits"
    kept_off = np.logical_or.reduce([check.fails for check in checks if check.kind != _UNREAD], axis=0, initial=False)
    if not told or (node_count and not kept_off.all()):
        return "unknown"
    if not node_count:
        return "nowhere"
    if np.any([check.never for check in checks], axis=0).all():
        return "never"
    if len(shape.resources) == 1 and not shape.claims:
        (resource, count) = shape.resources[0]
        if could_repack(resource, (count, shape.cpu or 0, shape.memory or 0), shape.scheduling_set):
            return "repack"
    return "full"


class _Look:
    """Looks at all nodes with accelerators at once as the scheduler does: condition, taints, rules, then what is free."""

    def __init__(
        self, snapshot: Snapshot, offers: Offers, pools: Sequence[DevicePool], rooms: Rooms, sets: Sequence[int], *, pools_known: bool
    ) -> None:
        self._offers = offers
        self._devices, self._nodeless = _devices(snapshot, pools)
        self._pools_known = pools_known
        self._nodes = sorted({node for of in (*offers.values(), *self._devices.values()) for node in of} & rooms.keys())
        self._positions = {node: position for position, node in enumerate(self._nodes)}
        self._any: dict[str, Flags] = {}
        self._known: dict[tuple[str, str], tuple[Integers, Integers]] = {}
        own = [rooms[node] for node in self._nodes]
        self._closed = (np.array([not r.ready for r in own], dtype=np.bool_), np.array([not r.schedulable for r in own], dtype=np.bool_))
        self._room = [
            (_amounts(room.allocatable[number] for room in own), _amounts(room.free[number] for room in own)) for number in range(3)
        ]
        every = rules(snapshot)
        self._rules: dict[int, Rules] = {number: every[number] for number in set(sets)}
        self._places: Places = places(snapshot, self._nodes, {label for one in self._rules.values() for label in one.labels()})
        untainted = Places(self._places.count, self._places.labels, (), np.zeros((self._places.count, 0), dtype=np.bool_))
        numbers = sorted(self._rules)
        self._meets = dict(zip(numbers, accepted([self._rules[number] for number in numbers], untainted), strict=True))

    def tells(self, shape: _Shape) -> bool:
        """Whether all that a pod asks for can be looked up node by node: not what drivers offer to many nodes, nor what was not read."""
        asked = {name for name, _ in (*shape.resources, *shape.claims)}
        return not (asked & self._nodeless) and (self._pools_known or asked <= self._offers.keys())

    def names(self, positions: Integers) -> list[str]:
        """Name nodes by their positions."""
        return [self._nodes[position] for position in positions]

    def checks(self, shape: _Shape) -> tuple[Integers, list[_Check]]:
        """Give the nodes that have any of what the pod asks for, and everything that may keep it off them, in the order of looking."""
        having = np.zeros(len(self._nodes), dtype=np.bool_)
        for name, _ in (*shape.resources, *shape.claims):
            having |= self._having(name)
        nodes = np.flatnonzero(having)
        every = (*self._conditions(shape, nodes), *self._short(shape, nodes))
        return nodes, [check for check in every if check.fails.any()]

    def _having(self, name: str) -> Flags:
        """Say which nodes have any of a resource or of the devices of a class, free or not."""
        if name not in self._any:
            own = self._offers.get(name, {}).keys() | self._devices.get(name, {}).keys()
            self._any[name] = np.array([node in own for node in self._nodes], dtype=np.bool_)
        return self._any[name]

    def _conditions(self, shape: _Shape, nodes: Integers) -> Iterator[_Check]:
        passing = np.zeros(nodes.size, dtype=np.bool_)
        not_ready, cordoned = (flags[nodes] for flags in self._closed)
        yield _Check("not ready", "", not_ready, passing)
        yield _Check("cordoned", "", cordoned, passing)
        for number, taint in enumerate(self._places.taints):
            if not any(one.accepts(taint) for one in self._rules[shape.scheduling_set].tolerations):
                has = self._places.tainted[nodes, number]
                fails = has & ~cordoned if taint.key == _CORDON else has
                yield _Check("taint", taint.key, fails, fails)
        refused = ~self._meets[shape.scheduling_set][nodes]
        yield _Check("rules", "", refused, refused)

    def _short(self, shape: _Shape, nodes: Integers) -> Iterator[_Check]:
        for kind, name, count in (*(("short", *ask) for ask in shape.resources), *(("devices", *ask) for ask in shape.claims)):
            free, whole = (amounts[nodes] for amounts in self._had(kind, name))
            yield _Check(kind, name, (free < count) | (whole < count), whole < count, count, free, whole)
            unread = (free == _ENDLESS) & ~(whole < count)
            yield _Check(_UNREAD, name, unread, np.zeros(nodes.size, dtype=np.bool_))
        for name, asked, (whole, free) in zip(("CPU", "memory", "pod slots"), (shape.cpu, shape.memory, 1), self._room, strict=True):
            if asked:
                yield _Check("short", name, free[nodes] < asked, whole[nodes] < asked, asked, free[nodes], whole[nodes])

    def _had(self, kind: str, name: str) -> tuple[Integers, Integers]:
        """Give what every node has free of a resource, and in all."""
        if (kind, name) not in self._known:
            own = [self._best(kind, name, node) for node in self._nodes]
            self._known[kind, name] = _amounts(one.free for one in own), _amounts(one.allocatable for one in own)
        return self._known[kind, name]

    def _best(self, kind: str, name: str, node: str) -> Offer:
        """Give what a node has of a resource: by its plugin or by claims, whichever has more that is free."""
        offer = self._offers.get(name, {}).get(node) if kind == "short" else None
        both = (one for one in (offer, self._devices.get(name, {}).get(node)) if one)
        return max(both, key=lambda one: _ENDLESS if one.free is None else one.free, default=Offer(0, 0))


def _amounts(values: Iterable[int | None]) -> Integers:
    """Give amounts as an array; what is not known is endless, so that it is not held against the node."""
    return np.array([_ENDLESS if value is None else value for value in values], dtype=np.int64)


def _groups(snapshot: Snapshot, waits: pd.DataFrame) -> dict[_Shape, list[Mapping[str, Any]]]:
    asks, claims = defaultdict(list), defaultdict(list)
    for key, ask in _asks(snapshot, waits):
        asks[key].append(ask)
    for key, ask in _claims(snapshot, waits):
        claims[key].append(ask)
    groups: dict[_Shape, list[Mapping[str, Any]]] = defaultdict(list)
    columns = [*POD, *_SIZES, "scheduling_set", "gated", "created_at"]
    for row in PODS.to_arrow(waits).select(columns).to_pylist():
        key = (row["namespace"], row["pod"])
        cpu, memory = (row[name] for name in _SIZES)
        shape = _Shape(cpu, memory, tuple(sorted(asks[key])), tuple(sorted(claims[key])), row["scheduling_set"], row["gated"])
        groups[shape].append(row)
    return groups


def _asks(snapshot: Snapshot, waits: pd.DataFrame) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """Yield what waiting pods ask for by the names of resources, those that a DeviceClass serves included."""
    requests = snapshot.table("pod_resources")
    names = {*of_kind(requests["resource"].unique(), Kind.ACCELERATOR), *class_of_resource(snapshot)}
    requests = requests.loc[requests["resource"].isin(names) & (requests["requests_count"] > 0)].merge(waits[POD], on=POD)
    for namespace, pod, resource, count in requests.itertuples(index=False):
        yield (namespace, pod), (resource, count)


def _claims(snapshot: Snapshot, waits: pd.DataFrame) -> Iterator[tuple[tuple[str, str], tuple[str, int]]]:
    """Yield what waiting pods ask for by claims that have no devices yet, by DeviceClass; a claim for all devices counts as one."""
    drivers = set(class_of_resource(snapshot).values())
    own = snapshot.table("pod_claims")
    own = own.loc[(own["resource"] == "") & own["claim"].notna()].merge(waits[POD], on=POD)
    if own.empty:
        return
    open_claims = snapshot.table("claims")
    open_claims = open_claims.loc[~open_claims["allocated"], ["namespace", "claim"]]
    requests = own.merge(open_claims, on=["namespace", "claim"]).merge(snapshot.table("claim_requests"), on=["namespace", "claim"])
    counted = requests.loc[requests["device_class"].isin(drivers) & ~requests["admin"]]
    sums = counted.assign(requests_count=counted["requests_count"].fillna(1)).groupby([*POD, "device_class"])["requests_count"].sum()
    for namespace, pod, device_class, count in sums.reset_index().itertuples(index=False):
        yield (namespace, pod), (device_class, int(count))


def _devices(snapshot: Snapshot, pools: Sequence[DevicePool]) -> tuple[dict[str, dict[str, Offer]], frozenset[str]]:
    """Give by DeviceClass, and by the resource names that stand for it, what each node has of its driver's devices.

    Of an incomplete pool nothing can be had. Then the names of which devices are in pools that belong to no single node.
    """
    by_driver: dict[str, dict[str, Offer]] = defaultdict(dict)
    for pool in pools:
        if pool.node is not None:
            by_driver[pool.driver][pool.node] = _with(by_driver[pool.driver].get(pool.node, Offer(0, 0)), pool)
    drivers = {
        row["device_class"]: row["driver"] for row in SCHEMAS["device_classes"].to_arrow(snapshot.table("device_classes")).to_pylist()
    }
    names = class_of_resource(snapshot)
    every = {**{name: name for name in names.values()}, **names}
    driver_of = {name: drivers.get(device_class) or device_class for name, device_class in every.items()}
    nodeless = {pool.driver for pool in pools if pool.node is None}
    found = {name: dict(by_driver.get(driver, {})) for name, driver in driver_of.items()}
    return found, frozenset(name for name, driver in driver_of.items() if driver in nodeless)


def _with(before: Offer, pool: DevicePool) -> Offer:
    """Add the devices of one pool; how many are free is unknown where it is of one pool."""
    usable = None if pool.free_count is None else max(0, pool.free_count - (pool.unusable_count or 0))
    free = 0 if not pool.complete else usable
    whole = (before.allocatable or 0) + pool.device_count
    return Offer(whole, None if before.free is None or free is None else before.free + free)
