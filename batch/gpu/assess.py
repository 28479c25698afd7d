"""Are the accelerators allocated, do they work, and can the free ones be used."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from batch.accelerators import THOUSANDTHS, Kind, drives_accelerators, of_kind
from batch.gpu import activity
from batch.gpu.activity import Pod, Reading
from batch.gpu.attribution import Attribution
from batch.gpu.devices import claimed, device_pools
from batch.gpu.guests import guests, pods_of, strandings
from batch.gpu.holders import Floor as HolderFloor
from batch.gpu.holders import holders, with_activity
from batch.gpu.holdings import POD, devices_known, holdings, requested, unread_holdings
from batch.gpu.judgements import judge_nodes
from batch.gpu.judgements_room import judge_room
from batch.gpu.judgements_use import judge_use
from batch.gpu.model import GPU_NODES, DevicePool, GpuAssessment, GpuResource, Holder, Hours
from batch.gpu.money import costs
from batch.gpu.nodes import NO_RESOURCE, GpuNodes, Row, gpu_nodes
from batch.gpu.pending import Offer, waiting, waiting_pods
from batch.gpu.repack import Floor, floor, repacked_counts
from batch.gpu.room import Rooms, rooms
from batch.gpu.shares import shares
from batch.gpu.totals import Key, Parts, add_cards, gpu_resources
from batch.gpu.typical import Typical, typical_pods, unusable_for_typical
from batch.packing.model import Flags
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings) -> GpuAssessment:
    """Assess the accelerators of all machines, in the unit of each resource and in cards: a slot or a slice is not a card.

    Uses the settings gpu, pools.label and prices. A cluster without accelerators gives empty tables and no findings.
    """
    look = _look(snapshot, settings)
    readings, seen = _activity(look)
    usage = _by_node(readings)
    for row in look.nodes.rows:
        row["usage_ratio_mean"] = usage.get(row["node"])
    every = with_activity(look.holders, seen)
    resources = _resources(look, every, readings)
    unread = unread_holdings(snapshot)
    held_by = {(one.namespace, one.pod) for one in every} | _may_hold(snapshot, unread)
    pods = pods_of(
        snapshot, {row["node"] for row in look.nodes.rows} | {p.node for p in look.pools if p.accelerator and p.node in look.rooms}
    )
    beside = guests(pods, held_by, look.rooms, look.node_pools)
    stranded = strandings(look.nodes.rows, pods, look.rooms)
    pools_known = devices_known(snapshot)
    waits = waiting(snapshot, look.waits, _offers(look.nodes.rows), look.pools, look.rooms, _Repacking(look).could, pools_known=pools_known)
    free_hours = activity.unattributed_hours(readings)
    known = snapshot.has("gpu_usage")
    node_cards = _node_cards(look.nodes, look.pools)
    return GpuAssessment(
        resources=resources,
        nodes=_table(look.nodes.rows),
        unknown_resources=_unknown(snapshot),
        pending_pod_count=_pending_pod_count(snapshot, look.waits),
        findings=(
            *judge_nodes(look.nodes.rows, _unknown(snapshot), look.pools, pools_known=pools_known),
            *judge_room(look.nodes.rows, resources, stranded, beside, waits, settings),
            *judge_use(every, _card_memory(look.nodes.rows), free_hours, settings),
        ),
        card_count=_card_count(snapshot, node_cards, look.pools) if pools_known else None,
        requests_cards=_requests_cards(snapshot, every, look.pools) if pools_known and unread.empty else None,
        node_cards=node_cards,
        node_pools={node: look.node_pools[node] for node in node_cards if node in look.node_pools},
        node_usage=usage,
        hours=activity.hours(readings) if readings or not known or look.nodes.rows or look.pools else Hours(0.0, 0.0, None),
        activity_known=known,
        window_seconds=activity.window_seconds(readings),
        metrics=tuple(sorted({one.metric for one in readings if one.metric})),
        unattributed_hours=free_hours,
        pools=look.pools,
        pools_known=pools_known,
        unread_nodes=tuple(sorted(set(unread["node"]))),
        holders=every,
        shares=shares(
            every,
            readings,
            {node: look.node_pools[node] for node in node_cards if node in look.node_pools},
            _pool_cards(look.node_pools, node_cards),
        ),
        waiting=waits,
        guests=beside,
        strandings=stranded,
        costs=costs(look.nodes.rows, _by_product(readings, look.attribution), activity.window_seconds(readings), settings.prices),
    )


@dataclass(frozen=True)
class _Look:
    """What everything else is made from."""

    snapshot: Snapshot
    settings: Settings
    held: pd.DataFrame
    waits: pd.DataFrame
    rooms: Rooms
    pools: tuple[DevicePool, ...]
    nodes: GpuNodes
    node_pools: Mapping[str, str]
    typical: Mapping[str, Typical]
    holders: list[Holder]
    attribution: Attribution


def _look(snapshot: Snapshot, settings: Settings) -> _Look:
    held, waits, room = holdings(snapshot), waiting_pods(snapshot), rooms(snapshot)
    claims = claimed(snapshot)
    device = device_pools(snapshot, claims, room)
    nodes = gpu_nodes(
        snapshot,
        held,
        room,
        {pool.node for pool in device if pool.accelerator and pool.node},
        settings.pools.label,
        settings.gpu.slots_per_card,
    )
    typical = typical_pods(snapshot, held, requested(snapshot).merge(waits[["namespace", "pod"]], on=["namespace", "pod"]))
    for row in nodes.rows:
        row["unusable_for_typical_count"] = unusable_for_typical(row, room, typical.get(row["resource"])) if row["resource"] else None
    products = {(row["node"], row["resource"]): row["product"] for row in nodes.rows}
    products |= {(node, name): products[node, resource] for (node, name), resource in nodes.row_names().items()}
    pools = {str(node): pool for node, pool in views.pools(snapshot, settings.pools.label).items()}
    own = holders(snapshot, held, claims, HolderFloor(products, nodes.cuts, pools), settings.gpu.owner_labels)
    by_row = Attribution(nodes.rows, nodes.cuts, _by_row(own, nodes))
    return _Look(snapshot, settings, held, waits, room, device, nodes, pools, typical, own, by_row)


def _by_row(own: Sequence[Holder], nodes: GpuNodes) -> list[Holder]:
    """Give the holders in the unit of the row where what they hold is counted: of silicon with several names that of the finest."""
    names, found = nodes.row_names(), []
    for one in own:
        resource = names.get((one.node, one.resource))
        cut = nodes.cuts.get((one.node, resource)) if resource else None
        if resource and cut and cut.share and one.card_count is not None:
            found.append(replace(one, resource=resource, count=math.ceil(round(one.card_count / cut.share, 6))))
        else:
            found.append(one)
    return found


def _activity(look: _Look) -> tuple[tuple[Reading, ...], dict[Pod, activity.PodActivity]]:
    """Read what devices did, and sum it up for each pod."""
    if not look.snapshot.has("gpu_usage"):
        return (), {}
    readings = activity.read(look.snapshot, look.attribution.share)
    return readings, activity.of_pods(readings, look.settings.gpu.idle_ratio, look.attribution.device_counts)


def _by_node(readings: Sequence[Reading]) -> dict[str, float | None]:
    """Give the mean activity of the devices of each node."""
    by_node: dict[str, list[Reading]] = defaultdict(list)
    for one in readings:
        if one.node is not None:
            by_node[one.node].append(one)
    return {node: activity.hours(own).usage_ratio_mean for node, own in by_node.items()}


def _resources(look: _Look, every: Sequence[Holder], readings: Sequence[Reading]) -> tuple[GpuResource, ...]:
    by_holder: dict[Key, list[Holder]] = defaultdict(list)
    for one in _by_row(every, look.nodes):
        by_holder[one.resource, one.product].append(one)
    by_reading: dict[Key, list[Reading]] = defaultdict(list)
    for reading in readings:
        key = look.attribution.key(reading)
        if key is not None:
            by_reading[key].append(reading)
    return gpu_resources(look.nodes.rows, Parts(look.rooms, look.typical, by_holder, by_reading, _Repacking(look).counts))


class _Repacking:
    """Packs the pods of resources anew, each resource laid out once."""

    def __init__(self, look: _Look) -> None:
        self._look = look
        self._floors: dict[str, Floor | None] = {}
        self._allowed: dict[tuple[str, int], Flags] = {}

    def counts(self, resource: str, rows: Sequence[Row], now: dict[int, int]) -> dict[int, int]:
        """Say how many pods of each size would fit on the nodes of one product; of thousandths nothing is said, as cards cannot be split."""
        if resource == THOUSANDTHS:
            return {}
        laid = self._laid(resource, rows)
        if laid is None:
            return dict(now)
        free = sum(row["free_count"] for row in rows if row["free_reason"] in ("usable", "stranded"))
        return repacked_counts(laid, now, free, self._look.typical.get(resource))

    def could(self, resource: str, sizes: Sequence[int], scheduling_set: int) -> bool:
        """Whether one more pod of that size fits on all nodes of the resource that its rules allow."""
        if resource == THOUSANDTHS:
            return False
        if resource not in self._floors:
            self._floors[resource] = self._laid(resource, [row for row in self._look.nodes.rows if row["resource"] == resource])
        laid = self._floors[resource]
        if laid is None:
            return False
        key = (resource, scheduling_set)
        if key not in self._allowed:
            self._allowed[key] = laid.allowed(self._look.snapshot, scheduling_set)
        return laid.takes_one(np.array([*sizes, 1], dtype=np.int64), self._allowed[key])

    def _laid(self, resource: str, rows: Sequence[Row]) -> Floor | None:
        held = self._look.held
        return floor(self._look.snapshot, rows, held.loc[held["resource"] == resource], self._look.rooms)


def _table(rows: Sequence[Row]) -> pd.DataFrame:
    return GPU_NODES.from_columns({column.name: [row.get(column.name) for row in rows] for column in GPU_NODES.columns})


def _offers(rows: Sequence[Row]) -> dict[str, dict[str, Offer]]:
    """Give what each node has of each resource; of thousandths no card's rest is known, only the sum."""
    found: dict[str, dict[str, Offer]] = defaultdict(dict)
    for row in rows:
        if row["resource"] != NO_RESOURCE:
            found[row["resource"]][row["node"]] = Offer(row["allocatable_count"], row["free_count"])
    return found


def _may_hold(snapshot: Snapshot, unread: pd.DataFrame) -> set[Pod]:
    """Give the pods that may hold accelerators though it is not known: an amount that could not be read, or claims that could not."""
    claims = snapshot.table("pod_claims")
    claims = claims.iloc[:0] if snapshot.has("resourceclaims") else claims
    return {(str(namespace), str(pod)) for table in (unread, claims) for namespace, pod in table[POD].itertuples(index=False)}


def _pending_pod_count(snapshot: Snapshot, waits: pd.DataFrame) -> int | None:
    """Count the pods that wait for accelerators and are not held back; None where a pod waits whose claims could not be read."""
    pods = snapshot.table("pods")
    waiting_pods = pods.loc[pods["node"].isna() & (pods["phase"] == "Pending") & ~pods["gated"], POD]
    claims = snapshot.table("pod_claims")
    asking = waiting_pods.merge(claims.loc[claims["resource"] == "", POD], on=POD)
    if not snapshot.has("resourceclaims") and not asking.empty:
        return None
    return int((~waits["gated"]).sum())


def _unknown(snapshot: Snapshot) -> tuple[str, ...]:
    offers, requests = snapshot.table("node_resources"), snapshot.table("pod_resources")
    served = set(snapshot.table("device_classes")["extended_resource"].dropna())
    return tuple(of_kind({*offers["resource"].unique(), *requests["resource"].unique()} - served, Kind.UNKNOWN))


def _node_cards(nodes: GpuNodes, pools: Sequence[DevicePool]) -> dict[str, int | None]:
    """Give the cards of each node; where both a plugin and a driver offer some, the larger number, for they are the same silicon."""
    found = dict(nodes.node_cards)
    by_node: dict[str, list[int | None]] = defaultdict(list)
    for pool in pools:
        if pool.accelerator and pool.node:
            by_node[pool.node].append(pool.card_count)
    for node, counts in by_node.items():
        own = None if None in counts else sum(count for count in counts if count is not None)
        if node in found and own is not None and (before := found[node]) is not None:
            own = max(own, before)
        found[node] = own
    return found


def _card_count(snapshot: Snapshot, node_cards: Mapping[str, int | None], pools: Sequence[DevicePool]) -> int | None:
    """Add up all cards; None when nodes were not read, or when the cards of some node or pool are not known."""
    beside = [pool.card_count for pool in pools if pool.accelerator and not pool.node]
    counts = [*node_cards.values(), *beside]
    if not snapshot.has("nodes") or None in counts:
        return None
    return sum(count for count in counts if count is not None)


def _requests_cards(snapshot: Snapshot, every: Sequence[Holder], pools: Sequence[DevicePool]) -> float | None:
    counts: list[float | None] = [one.card_count for one in every if not drives_accelerators(one.resource)]
    counts += [pool.requests_cards for pool in pools if pool.accelerator]
    if snapshot.namespaces is not None or not snapshot.has("nodes"):
        return None
    return add_cards(counts)


def _pool_cards(pools: Mapping[str, str], node_cards: Mapping[str, int | None]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for node, cards in node_cards.items():
        pool = pools.get(node, "none")
        before = found.get(pool, 0)
        found[pool] = None if cards is None or before is None else before + cards
    return found


def _card_memory(rows: Sequence[Row]) -> dict[tuple[str, str], int | None]:
    return {(row["node"], row["resource"]): row.get("card_memory_bytes") for row in rows}


def _by_product(readings: Sequence[Reading], attribution: Attribution) -> dict[str | None, list[Reading]]:
    found: dict[str | None, list[Reading]] = defaultdict(list)
    for one in readings:
        key = attribution.key(one)
        found[key[1] if key else one.product].append(one)
    return found
