"""Totals of each accelerator resource and product over all nodes."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from batch.accelerators import NEURON, THOUSANDTHS
from batch.gpu.allocation import FREE_REASONS
from batch.gpu.model import GpuResource
from batch.gpu.nodes import NO_RESOURCE
from batch.snapshot import views
from batch.snapshot.model import Snapshot


def gpu_resources(nodes: pd.DataFrame, snapshot: Snapshot) -> tuple[GpuResource, ...]:
    """Add up the table GPU_NODES for each resource and product, ordered by both; an unknown product comes last.

    A node counts when it advertises the resource: capacity or allocatable is above 0. Counts are Python integers in the resource's own unit.
    """
    cards = _cards(snapshot)
    groups = nodes.loc[nodes["resource"] != NO_RESOURCE].groupby(["resource", "product"], dropna=False)
    return tuple(_total(rows, cards) for _, rows in groups)


def advertising(nodes: pd.DataFrame) -> pd.Series:
    """Whether a row of GPU_NODES advertises its resource; False where the counts are not known."""
    return (nodes["capacity_count"] > 0).fillna(value=False) | (nodes["allocatable_count"] > 0).fillna(value=False)


def idle(nodes: pd.DataFrame) -> pd.Series:
    """Whether a row of GPU_NODES has allocatable ones and not a single request; False where requests are not known."""
    return ((nodes["allocatable_count"] > 0) & (nodes["requests_count"] == 0)).fillna(value=False)


def _total(rows: pd.DataFrame, cards: dict[tuple[str, str], int]) -> GpuResource:
    """Add up rows of one resource and product."""
    resource, product = rows["resource"].iloc[0], rows["product"].iloc[0]
    known = rows.loc[rows["free_count"].notna()]
    free = known.groupby("free_reason")["free_count"].sum()
    by_reason = {reason: int(free.get(reason, 0)) for reason in FREE_REASONS} if len(known) else {}
    here = rows.loc[advertising(rows)]
    blocks = Counter(here["free_count"].dropna())
    cards_here = [cards.get((node, resource)) for node in here["node"]]
    return GpuResource(
        resource=resource,
        product=None if pd.isna(product) else product,
        node_count=len(here),
        capacity_count=views.total(rows["capacity_count"]),
        allocatable_count=views.total(rows["allocatable_count"]) or 0,
        requests_count=views.total(rows["requests_count"]),
        unrequested_count=sum(by_reason.values()) if by_reason else None,
        stranded_count=by_reason.get("stranded"),
        free_by_reason=by_reason,
        idle_node_count=int(idle(here).sum()) if by_reason else None,
        largest_free_block=dict(sorted(blocks.items())),
        card_count=None if None in cards_here else views.total(cards_here),
    )


def _cards(snapshot: Snapshot) -> dict[tuple[str, str], int]:
    """Cards by node and resource where a number tells them: thousandths of cards, and Neuron's devices beside its cores."""
    offers = snapshot.table("node_resources")
    offers = offers.loc[offers["resource"].isin([THOUSANDTHS, *NEURON[1:]]) & (offers["capacity_count"] > 0).fillna(value=False)]
    cards: dict[tuple[str, str], int] = {}
    for node, resource, capacity in zip(offers["node"], offers["resource"], offers["capacity_count"], strict=True):
        if resource in NEURON:
            cards |= dict.fromkeys(((node, name) for name in NEURON), capacity)
        elif capacity % 1000 == 0:
            cards[node, resource] = capacity // 1000
    return cards
