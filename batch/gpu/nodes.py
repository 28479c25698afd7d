"""The table of GPU nodes: their accelerators, product, cards, and what is wrong with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from batch.accelerators import ABSENT, NEURON, PRESENCE_LABELS, PRODUCT_LABELS, THOUSANDTHS, Kind, of_kind, vendor
from batch.gpu.allocation import COUNTS, allocated, free_reasons
from batch.gpu.cards import CARD_LABELS, Cut, Machine, cards_of_node, cuts, driver_version, memory_bytes
from batch.gpu.holdings import devices_known, unread_holdings
from batch.gpu.room import FREE_REASONS, Rooms
from batch.gpu.wholly_free import wholly_free
from batch.snapshot import views
from batch.snapshot.model import Snapshot

NO_RESOURCE = ""
"""Stands for the resource of a node that looks like a GPU node and advertises none."""

_NOT_TOLD = "labelled as a GPU node; whether a driver offers its devices could not be read"

_PARTS_OF_CARDS = ("nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage")
"""Amounts that HAMi and the like add: where pods ask for them, or nodes offer them, nvidia.com/gpu counts slots."""

Row = dict[str, Any]
"""One row of GPU_NODES in the making."""


@dataclass(frozen=True)
class GpuNodes:
    """The rows of GPU_NODES, the cards of each node (None: not known), and how each resource of a node relates to cards."""

    rows: list[Row]
    node_cards: Mapping[str, int | None]
    cuts: Mapping[tuple[str, str], Cut] = field(default_factory=dict)

    def row_names(self) -> dict[tuple[str, str], str]:
        """Give by node and further name of a silicon that has several the one under which it has its row."""
        silicon = [(row["node"], row["resource"]) for row in self.rows if row["resource"] in NEURON]
        return {(node, name): resource for node, resource in silicon for name in NEURON if name != resource}


def gpu_nodes(
    snapshot: Snapshot, held: pd.DataFrame, rooms: Rooms, device_nodes: Collection[str], pool_label: str | None, told: Mapping[str, int]
) -> GpuNodes:
    """Give one row for each node and resource, ordered by both; none in a cluster without accelerators.

    `held` are the holdings; `device_nodes` have devices of dynamic resource allocation, so that their silence is none. `pool_label` is the
    node label that names the pool (setting pools.label), `told` the slots a card by resource (gpu.slots_per_card). Requests, and what rests
    on them, are None when only some namespaces were read.
    """
    labels = _labels(snapshot)
    present = {node for node, own in labels.items() if any(own.get(key, "").lower() not in ABSENT for key in PRESENCE_LABELS)}
    counted = allocated(snapshot, held)
    counts = [[None if pd.isna(value) else value for value in counted[name].to_numpy(object)] for name in ("node", "resource", *COUNTS)]
    rows: list[Row] = [
        {"node": node, "resource": resource, "product": _product(labels.get(node, {}), resource), **dict(zip(COUNTS, numbers, strict=True))}
        for node, resource, *numbers in zip(*counts, strict=True)
    ]
    found, cards = _cut_up(snapshot, rows, labels, told)
    unread = {(node, resource) for node, resource in unread_holdings(snapshot)[["node", "resource"]].itertuples(index=False)}
    reasons, whole, pools = free_reasons(rooms), wholly_free(snapshot, held), views.pools(snapshot, pool_label).to_dict()
    for row in rows:
        place = (row["node"], row["resource"])
        _complete(row, found[place], reasons, rooms, whole, labels.get(row["node"], {}))
        row["problem"] = _problem(row, found[place], unread=place in unread)
    nodes = snapshot.table("nodes")
    silent = sorted(present & set(nodes.loc[~nodes["virtual"], "node"]) - _speaking(snapshot, rows) - set(device_nodes))
    problem = "labelled as a GPU node but advertises none" if devices_known(snapshot) else _NOT_TOLD
    rows += [_silent(node, _product(labels[node], NO_RESOURCE), problem) for node in silent]
    for row in rows:
        row["pool"] = pools[row["node"]]
    return GpuNodes(sorted(rows, key=lambda row: (row["node"], row["resource"])), cards, found)


def _complete(
    row: Row, cut: Cut, reasons: Mapping[str, str], rooms: Rooms, whole: Mapping[str, int | None], labels: Mapping[str, str]
) -> None:
    """Fill in what follows from the counts."""
    node, allocatable, requests = row["node"], row["allocatable_count"], row["requests_count"]
    known = allocatable is not None and requests is not None
    row["free_count"] = max(0, allocatable - requests) if known else None
    row["free_reason"] = reasons[node] if known else None
    row["short_of"] = " and ".join(rooms[node].short_of) if known and reasons[node] == FREE_REASONS[1] else None
    row["sharing"], row["card_count"], row["healthy_card_count"] = cut.sharing, cut.card_count, cut.healthy_card_count
    row["card_share_ratio"] = None if cut.share is None else float(cut.share)
    machine = Machine(labels, {})
    row["card_memory_bytes"], row["driver_version"] = memory_bytes(machine, cut), driver_version(machine)
    row["wholly_free_device_count"] = _wholly_free(row, cut, whole)


def _wholly_free(row: Row, cut: Cut, whole: Mapping[str, int | None]) -> int | None:
    """Count the cards of which nothing is requested: by the pods' annotation for thousandths, else where a unit is a card."""
    if row["free_count"] is None:
        return None
    if row["resource"] == THOUSANDTHS:
        taken = whole.get(row["node"], 0)
        return None if taken is None or cut.healthy_card_count is None else max(0, cut.healthy_card_count - taken)
    return row["free_count"] if cut.share == 1 else None


def _cut_up(
    snapshot: Snapshot, rows: list[Row], labels: Mapping[str, Mapping[str, str]], told: Mapping[str, int]
) -> tuple[dict[tuple[str, str], Cut], dict[str, int | None]]:
    """Give the cut of each row, and the cards of each node that advertises something."""
    listed: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for node, slots, healthy in snapshot.table("node_cards")[["node", "slot_count", "healthy"]].itertuples(index=False):
        listed[node].append((slots, healthy))
    sliced, offers = _sliced(snapshot), _offers(snapshot)
    by_node: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_node[row["node"]].append(row)
    found: dict[tuple[str, str], Cut] = {}
    cards: dict[str, int | None] = {}
    for node, own in by_node.items():
        products = {row["resource"]: row["product"] for row in own}
        machine = Machine(labels.get(node, {}), products, tuple(listed.get(node, ())), node in sliced)
        counts = {row["resource"]: (row["capacity_count"] or 0, row["allocatable_count"] or 0) for row in own} | offers.get(node, {})
        cut = cuts(machine, counts, told)
        found |= {(node, resource): one for resource, one in cut.items()}
        found |= {(node, row["resource"]): _as_far_as_known(cut[row["resource"]], row) for row in own}
        unknown = any(row["capacity_count"] is None and row["allocatable_count"] is None for row in own)
        cards[node] = None if unknown else cards_of_node({row["resource"]: cut[row["resource"]] for row in own}, counts, machine)
    return found, cards


def _as_far_as_known(cut: Cut, row: Row) -> Cut:
    """Give a cut without what rests on a count that is not known."""
    if row["allocatable_count"] is not None:
        return cut
    return replace(cut, healthy_card_count=None, card_count=cut.card_count if row["capacity_count"] is not None else None)


def _offers(snapshot: Snapshot) -> dict[str, dict[str, tuple[int, int]]]:
    """Capacity and allocatable of the accelerators of each node, every name of the same silicon included."""
    offers = snapshot.table("node_resources")
    offers = offers.loc[offers["resource"].isin(of_kind(offers["resource"].unique(), Kind.ACCELERATOR))]
    found: dict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    for node, resource, capacity, allocatable in zip(*(offers[name].to_numpy(object) for name in offers.columns), strict=True):
        found[node][resource] = (0 if pd.isna(capacity) else capacity, 0 if pd.isna(allocatable) else allocatable)
    return found


def _sliced(snapshot: Snapshot) -> frozenset[str]:
    """Nodes that offer parts of cards beside nvidia.com/gpu, or where a pod asks for them."""
    offers, asks = snapshot.table("node_resources"), snapshot.table("pod_resources")
    asking = asks.loc[asks["resource"].isin(_PARTS_OF_CARDS), ["namespace", "pod"]].drop_duplicates()
    bound = views.bound_pods(snapshot)[["namespace", "pod", "node"]].merge(asking, on=["namespace", "pod"])
    return frozenset(bound["node"]) | frozenset(offers.loc[offers["resource"].isin(_PARTS_OF_CARDS), "node"])


def _labels(snapshot: Snapshot) -> dict[str, dict[str, str]]:
    """Labels of each node that speak of accelerators."""
    table = snapshot.table("node_labels")
    parts = table["label"].str.startswith("nvidia.com/mig-")
    table = table.loc[table["label"].isin(PRESENCE_LABELS | CARD_LABELS) | parts]
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for node, label, value in zip(table["node"], table["label"], table["value"], strict=True):
        labels[node][label] = value
    return labels


def _speaking(snapshot: Snapshot, rows: list[Row]) -> set[str]:
    """Nodes that advertise something that looks like an accelerator."""
    offers = snapshot.table("node_resources")
    offers = offers.loc[(offers["capacity_count"] > 0) | (offers["allocatable_count"] > 0)]
    hints = of_kind(offers["resource"].unique(), Kind.ACCELERATOR, Kind.AMOUNT, Kind.UNKNOWN)
    return {*offers.loc[offers["resource"].isin(hints), "node"], *(row["node"] for row in rows)}


def _silent(node: str, product: str | None, problem: str) -> Row:
    return {"node": node, "resource": NO_RESOURCE, "product": product, "problem": problem}


def _product(labels: Mapping[str, str], resource: str) -> str | None:
    """Product by the labels of the resource's vendor; by any vendor's where the node advertises nothing."""
    own = PRODUCT_LABELS.get(vendor(resource) or "", [label for every in PRODUCT_LABELS.values() for label in every])
    return next((labels[label] for label in own if labels.get(label, "").lower() not in ABSENT), None)


def _problem(row: Row, cut: Cut, *, unread: bool) -> str | None:
    """Say what is wrong with the counts of one resource on one node; `unread` says that a pod's request there is no quantity."""
    capacity, allocatable, requests = (row[name] for name in COUNTS)
    problems = []
    if allocatable is None:
        problems.append("allocatable is not known" if capacity is not None else "neither capacity nor allocatable is known")
    elif capacity is not None and capacity > allocatable:
        problems.append(f"{capacity - allocatable} of {capacity} not allocatable")
    if requests is not None and allocatable is not None and requests > allocatable:
        problems.append(f"{requests} requested, {allocatable} allocatable")
    if unread:
        problems.append("what is requested is not known: an amount could not be read")
    if cut.hint:
        problems.append(cut.hint)
    return "; ".join(problems) or None
