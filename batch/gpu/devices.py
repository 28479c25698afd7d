"""Dynamic resource allocation: pools of devices, what claims took of them, and which pods hold it.

resource.k8s.io/v1 (Kubernetes 1.34 to 1.37): the slices of the highest generation are the pool; it is complete when as many are there as
each of them says. Device names are unique in a pool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from batch.accelerators import drives_accelerators
from batch.gpu.mig import read_profile, slices_of_card
from batch.gpu.model import DevicePool
from batch.gpu.room import Room, Rooms
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import SCHEMAS

Place = tuple[str, str]
"""Driver and pool."""

Device = tuple[str, str, str]
"""Driver, pool and name."""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Claimed:
    """Devices of claims, each once: `pods` are the pods of each claim by its key, `devices` what a claim has, `admin` access beside others."""

    devices: Mapping[tuple[str, str], tuple[Device, ...]]
    pods: Mapping[tuple[str, str], tuple[str, ...]]
    admin: Mapping[Place, int]

    def taken(self) -> frozenset[Device]:
        """Give every device that some claim has."""
        return frozenset(device for own in self.devices.values() for device in own)


@dataclass
class _Pool:
    """The slices of one pool in its newest generation, with their devices and counters."""

    generation: int = -1
    slices: list[Record] = field(default_factory=list)
    devices: list[Record] = field(default_factory=list)
    there: dict[tuple[str, str], int] = field(default_factory=dict)
    takes: dict[str, dict[tuple[str, str], int]] = field(default_factory=lambda: defaultdict(dict))


def claimed(snapshot: Snapshot) -> Claimed:
    """Read which devices claims have and for which pods they are reserved."""
    devices: dict[tuple[str, str], list[Device]] = defaultdict(list)
    admin: dict[Place, int] = defaultdict(int)
    for row in _rows(snapshot, "claim_devices"):
        if row["admin"]:
            admin[row["driver"], row["pool"]] += 1
        else:
            devices[row["namespace"], row["claim"]].append((row["driver"], row["pool"], row["device"]))
    pods: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in _rows(snapshot, "claim_pods"):
        pods[row["namespace"], row["claim"]].append(row["pod"])
    return Claimed({key: tuple(dict.fromkeys(own)) for key, own in devices.items()}, {key: tuple(own) for key, own in pods.items()}, admin)


def device_pools(snapshot: Snapshot, claims: Claimed, rooms: Rooms) -> tuple[DevicePool, ...]:
    """Give every pool, ordered by driver and name. Counts are None where claims were not read; only some namespaces tell of only some claims."""
    taken: dict[Place, set[str]] = defaultdict(set)
    for driver, pool, device in claims.taken():
        taken[driver, pool].add(device)
    known = snapshot.has("resourceclaims") and snapshot.namespaces is None
    return tuple(
        _summary(place, own, frozenset(taken[place]) if known else None, claims.admin.get(place, 0), rooms)
        for place, own in sorted(_newest(snapshot).items())
    )


def device_shares(snapshot: Snapshot) -> dict[Device, tuple[str | None, Fraction | None, str | None]]:
    """Give of each device its product, the part of a card that it is (None: not known), and its node."""
    found = {}
    for (driver, pool), own in _newest(snapshot).items():
        nodes = {row["slice"]: row["node"] for row in own.slices}
        products = {row["uuid"]: row["product"] for row in own.devices if row["uuid"]}
        for row in own.devices:
            product = row["product"] or products.get(row["parent_uuid"])
            found[driver, pool, row["device"]] = (product, _share(row, product), row["node"] or nodes[row["slice"]])
    return found


def _newest(snapshot: Snapshot) -> dict[Place, _Pool]:
    pools: dict[Place, _Pool] = defaultdict(_Pool)
    where: dict[str, _Pool] = {}
    for row in _rows(snapshot, "device_slices"):
        pool = pools[row["driver"], row["pool"]]
        if row["generation"] > pool.generation:
            pool.generation, pool.slices = row["generation"], []
        if row["generation"] == pool.generation:
            pool.slices.append(row)
    for pool in pools.values():
        where |= {row["slice"]: pool for row in pool.slices}
    for row in _rows(snapshot, "devices"):
        if row["slice"] in where:
            where[row["slice"]].devices.append(row)
    for row in _rows(snapshot, "device_counters"):
        if row["slice"] in where:
            pool, counter = where[row["slice"]], (row["counter_set"], row["counter"])
            own = pool.takes[row["device"]] if row["device"] else pool.there
            own[counter] = row["amount"]
    return pools


def _summary(place: Place, own: _Pool, taken: frozenset[str] | None, admin: int, rooms: Rooms) -> DevicePool:
    cut_up = {row["parent_uuid"] for row in own.devices if row["parent_uuid"]}
    exclusive = [row for row in own.devices if row["device"] in own.takes]
    alone = [row for row in own.devices if row["device"] not in own.takes and not (row["uuid"] in cut_up and row["type"] != "mig")]
    units = [*alone, *exclusive]
    nodes = {row["node"] for row in own.slices} | {row["node"] for row in own.devices if row["node"]}
    node = next(iter(nodes - {None}), None) if len(nodes - {None}) == 1 else None
    held = None if taken is None else _held(own.devices, units, taken)
    accelerator = drives_accelerators(place[0])
    complete = len(own.slices) == max((row["slice_count"] for row in own.slices), default=0)
    return DevicePool(
        driver=place[0],
        pool=place[1],
        node=node,
        product=next((row["product"] for row in own.devices if row["product"]), None),
        device_count=len(alone) + _most_at_once(own, exclusive),
        allocated_count=None if held is None else len(held),
        free_count=None if held is None else sum(row["device"] not in held for row in alone) + _most_at_once(own, exclusive, held),
        complete=complete,
        generation=own.generation,
        slice_count=max((row["slice_count"] for row in own.slices), default=0),
        found_slice_count=len(own.slices),
        card_count=_cards(own, alone, exclusive) if accelerator else 0,
        part_count=sum(1 for row in alone if row["parent_uuid"]),
        up_to=bool(exclusive),
        admin_access_count=None if taken is None else admin,
        unusable_count=None if held is None else _unusable(units, held, rooms.get(node or ""), complete=complete),
        requests_cards=_cards_held(own, held) if accelerator else 0.0,
        accelerator=accelerator,
    )


def _held(devices: Iterable[Record], units: list[Record], taken: frozenset[str]) -> frozenset[str]:
    """Give the names of the units that are taken: a card that is taken as a whole takes its parts, which are the units then."""
    names = {row["device"] for row in units}
    cards = {row["uuid"] for row in devices if row["device"] in taken - names and row["uuid"]}
    return (taken & names) | {row["device"] for row in units if row["parent_uuid"] in cards} | (taken - {row["device"] for row in devices})


def _most_at_once(own: _Pool, exclusive: list[Record], held: frozenset[str] = frozenset()) -> int:
    """Say how many devices that share counters can be had together beside those that are held: the least demanding first, while counters last."""
    left = dict(own.there)
    for device in held & own.takes.keys():
        for counter, amount in own.takes[device].items():
            left[counter] = left.get(counter, 0) - amount
    count = 0
    for row in sorted(exclusive, key=lambda row: (sum(own.takes[row["device"]].values()), row["device"])):
        takes = own.takes[row["device"]]
        if row["device"] not in held and all(left.get(counter, 0) >= amount for counter, amount in takes.items()):
            count += 1
            for counter, amount in takes.items():
                left[counter] -= amount
    return count


def _cards(own: _Pool, alone: list[Record], exclusive: list[Record]) -> int | None:
    """Count cards: sets of counters, cards that are cut up, and devices that are whole cards."""
    sets = {counter_set for row in exclusive for counter_set, _ in own.takes[row["device"]]}
    parents = {row["parent_uuid"] for row in alone if row["parent_uuid"]}
    orphans = [row for row in alone if not row["parent_uuid"] and (row["type"] == "mig" or read_profile(row["profile"]))]
    if orphans:
        return None
    return len(sets) + len(parents) + sum(1 for row in alone if not row["parent_uuid"])


def _share(row: Record, product: str | None) -> Fraction | None:
    """Give which part of a card a device is: by its MIG profile; a device that is no part is a whole card."""
    profile = read_profile(row["profile"])
    if profile is None:
        return None if row["parent_uuid"] or row["type"] == "mig" else Fraction(1)
    slices = slices_of_card(product)
    return Fraction(profile.slice_count, slices) if slices else None


def _cards_held(own: _Pool, held: frozenset[str] | None) -> float | None:
    if held is None:
        return None
    products = {row["uuid"]: row["product"] for row in own.devices if row["uuid"]}
    shares = [_share(row, row["product"] or products.get(row["parent_uuid"])) for row in own.devices if row["device"] in held]
    known = [share for share in shares if share is not None]
    return float(sum(known, Fraction(0))) if len(known) == len(shares) else None


def _unusable(units: list[Record], held: frozenset[str], room: Room | None, *, complete: bool) -> int:
    """Count free devices that are tainted, on a node that is not ready, cordoned or tainted, or in an incomplete pool.

    A node that is not listed is not judged.
    """
    closed = not complete or (room is not None and not (room.ready and room.schedulable and not room.tainted))
    return sum(1 for row in units if row["device"] not in held and (closed or row["taint"]))


def _rows(snapshot: Snapshot, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = SCHEMAS[table].to_arrow(snapshot.table(table)).to_pylist()
    return rows
