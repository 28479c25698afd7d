"""Packing: how evenly requests are spread, which nodes could go, and what keeps them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import PACKING
from batch.scale.facts import Facts
from batch.scale.model import Check, Emptying, Rule, fine, judged, unknown
from batch.scale.slots import sizeless, slot_shares

_LITTLE = 0.5
"""--scale-down-utilization-threshold of the cluster autoscaler (1.33): a node with less requested is a candidate to go."""

_HALF, _QUARTER, _TENTH = 0.5, 0.25, 0.1

SPREAD = Rule(
    id="packing.underused",
    area=PACKING,
    name="Nodes half requested or less",
    unit="ratio",
    measures="share of the machines of which less than half of CPU and less than half of memory is requested",
    threshold="warns above 50 %; fails never: it costs money and breaks nothing",
    source="cluster autoscaler 1.33, --scale-down-utilization-threshold 0.5; half of the nodes is our own",
    lesson="The scheduler prefers the least filled node, so pods spread evenly and no node ever becomes empty. An autoscaler that removes only empty nodes then never removes one.",
    action="Let an autoscaler consolidate, or score by `MostAllocated` in the scheduler's NodeResourcesFit.",
    needs=("list nodes", "list pods"),
)
EMPTYING = Rule(
    id="packing.emptyable",
    area=PACKING,
    name="Nodes that could be emptied",
    unit="ratio",
    measures="share of the nodes whose pods fit on the others, by the capacity plan (see Headroom)",
    threshold="warns above 25 %; fails never, for the same reason",
    source="the packing of this report; a quarter is our own",
    lesson="How few nodes would do is not seen in averages, only in a packing: free CPU here and free memory there are no room. What is spread evenly leaves every node half full, and none to spare.",
    action="Drain the nodes that nothing keeps, a few at a time.",
    needs=("list nodes", "list pods"),
)
KEPT = Rule(
    id="packing.kept",
    area=PACKING,
    name="Nodes kept though not needed",
    unit="count",
    measures="nodes that could be emptied and hold a pod that no autoscaler moves: without a controller, with local storage, marked, or protected by a PodDisruptionBudget without a disruption left",
    threshold="warns above 0; fails when all of them are kept and they are more than a tenth of the nodes",
    source='cluster autoscaler FAQ, "What types of pods can prevent CA from removing a node?"',
    lesson="One bare pod, or a budget that allows no disruption, keeps a whole machine for good. It also holds up every upgrade that has to drain that machine.",
    action="Give bare pods a controller, budgets a disruption to spare, and caches in `emptyDir` the annotation `safe-to-evict`.",
    needs=("list nodes", "list pods", "list poddisruptionbudgets.policy"),
)
RULES = (SPREAD, EMPTYING, KEPT)


def checks(facts: Facts, emptying: Emptying | None, drains: pd.DataFrame) -> Iterator[Check]:
    """Judge how the pods are packed; `drains` has the schema tables.DRAINS, one row for each node that could be emptied."""
    yield facts.in_part(SPREAD) or facts.without_nodes(SPREAD) or _spread(facts)
    yield _emptying(facts, emptying)
    yield facts.without(KEPT, "poddisruptionbudgets") or facts.not_kept(KEPT, "local_storage") or _kept(facts, emptying, drains)


def _spread(facts: Facts) -> Check:
    if not len(facts.nodes):
        return fine(SPREAD, message("There are no nodes"))
    shares = slot_shares(facts)
    if not len(shares):
        return sizeless(SPREAD)
    most = shares[["cpu_ratio", "memory_ratio"]].max(axis="columns")
    little = shares.loc[most < _LITTLE, "node"]
    found = message(
        f"{{count:count}} of {{all:count}} {plural(len(shares), 'node', 'nodes')} {plural(len(little), 'is', 'are')} less than half requested; half of the nodes lie between {{low:ratio}} and {{high:ratio}}",
        count=len(little),
        all=len(shares),
        low=float(most.quantile(0.25)),
        high=float(most.quantile(0.75)),
    )
    return judged(SPREAD, len(little) / len(shares), found, warn=_HALF, objects=tuple(map(str, little)))


def _unplanned(facts: Facts, rule: Rule) -> Check:
    return (
        facts.in_part(rule)
        or facts.without_nodes(rule)
        or unknown(rule, message("The capacity plan could not pack the pods"), message("A capacity plan of all nodes and pods"))
    )


def _emptying(facts: Facts, emptying: Emptying | None) -> Check:
    if emptying is None:
        return _unplanned(facts, EMPTYING)
    if not emptying.considered_node_count:
        return fine(
            EMPTYING, message("No node can be considered: each is needed by a pod that waits, cordoned, not ready, or of the control plane")
        )
    count, all_ = len(emptying.nodes), emptying.considered_node_count
    found = message(
        f"{{count:count}} of {{all:count}} {plural(all_, 'node', 'nodes')} could be emptied together; {{rest:count}} would do",
        count=count,
        all=all_,
        rest=all_ - count,
    )
    return judged(EMPTYING, count / all_, found, warn=_QUARTER, objects=emptying.nodes)


def _kept(facts: Facts, emptying: Emptying | None, drains: pd.DataFrame) -> Check:
    if emptying is None:
        return _unplanned(facts, KEPT)
    kept = drains.loc[drains["kept_by"].notna(), "node"]
    if not len(drains):
        return judged(KEPT, 0, message("No node could be emptied"), warn=0)
    found = message(
        f"{{kept:count}} of {{all:count}} {plural(len(drains), 'node', 'nodes')} that could be emptied {plural(len(kept), 'is', 'are')} kept by a pod that may not move",
        kept=len(kept),
        all=len(drains),
    )
    all_kept = len(kept) == len(drains) and len(kept) > _TENTH * emptying.considered_node_count
    return judged(KEPT, len(kept), found, warn=0, fail=0 if all_kept else None, objects=tuple(map(str, kept)))
