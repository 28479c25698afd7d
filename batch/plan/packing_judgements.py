"""What packing says needs attention: losses that leave pods without a place, nodes that are not needed, a cheaper flavor."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import Finding, Severity, message, plural
from batch.plan.model_packing import Fleet, Fleets, Headroom, Loss
from batch.plan.prices import Prices

HEADROOM, FLEETS = "headroom", "fleets"
"""Sections of the report that these findings belong to."""

_NAMED = 20
_WORTHWHILE = 0.05
"""Share of the cost from which a cheaper flavor is worth telling: below it, prices of one month and the next differ as much."""


def judge(headroom: Headroom, fleets: Fleets, nodes: pd.DataFrame, prices: Prices) -> tuple[Finding, ...]:
    """Give the findings about losses, nodes that could be emptied and fleets. `nodes` has the schema NODE_CAPACITY."""
    return (*_node_losses(headroom), *_zone_loss(headroom), *_emptyable(headroom, nodes, prices), *_cheaper(fleets, nodes, prices))


def _node_losses(headroom: Headroom) -> Iterator[Finding]:
    tried = [loss for loss in headroom.losses if loss.what == "node"]
    bad = sorted(
        (loss for loss in tried if loss.unplaced_pod_count and loss.remaining_node_count),
        key=lambda loss: (-loss.unplaced_pod_count, loss.name),
    )
    if not bad:
        return
    worst = bad[0]
    yield Finding(
        id="capacity.loss-of-a-node",
        severity=Severity.WARNING,
        section=HEADROOM,
        title=message(
            f"The loss of one node would leave pods without a place in {{bad:count}} of {{all:count}} node {plural(len(tried), 'pool', 'pools')}",
            bad=len(bad),
            all=len(tried),
        ),
        detail=message(
            f"Of {{pods:count}} {plural(worst.pod_count, 'pod', 'pods')} on {{node:text}}, the largest node of {{pool:text}}, {{left:count}} would fit nowhere else: {{cpu:nanocores}} of CPU and {{memory:bytes}} of memory.",
            pods=worst.pod_count,
            node=worst.name,
            pool=worst.pool,
            **_left(worst),
        ),
        action=message("Keep room for the largest node of each pool, or make sure that an autoscaler adds a node in time."),
        objects=tuple(str(loss.pool) for loss in bad[:_NAMED]),
        worth=message("{left:count}", left=worst.unplaced_pod_count),
        worth_of=plural(worst.unplaced_pod_count, "pod without a place", "pods without a place"),
        weight=float(worst.unplaced_pod_count),
    )


def _zone_loss(headroom: Headroom) -> Iterator[Finding]:
    tried = [loss for loss in headroom.losses if loss.what == "zone"]
    bad = sorted(
        (loss for loss in tried if loss.unplaced_pod_count and loss.remaining_node_count),
        key=lambda loss: (-loss.unplaced_pod_count, loss.name),
    )
    if not bad:
        return
    worst = bad[0]
    yield Finding(
        id="capacity.loss-of-a-zone",
        severity=Severity.ADVICE,
        section=HEADROOM,
        title=message(
            f"The loss of zone {{zone:text}} would leave {{left:count}} of its {{pods:count}} {plural(worst.pod_count, 'pod', 'pods')} without a place",
            zone=worst.name,
            left=worst.unplaced_pod_count,
            pods=worst.pod_count,
        ),
        detail=message(
            "They need {cpu:nanocores} of CPU and {memory:bytes} of memory. Of {all:count} zones, the loss of {bad:count} would leave pods without a place.",
            bad=len(bad),
            all=len(tried),
            cpu=worst.unplaced_requests_cpu_nanocores,
            memory=worst.unplaced_requests_memory_bytes,
        ),
        action=message("Keep that much room in the other zones, or make sure that an autoscaler may add nodes there."),
        objects=tuple(f"{one.namespace}/{one.workload}" for one in worst.unplaced_workloads[:_NAMED]),
        worth=message("{left:count}", left=worst.unplaced_pod_count),
        worth_of=plural(worst.unplaced_pod_count, "pod without a place", "pods without a place"),
        weight=float(worst.unplaced_pod_count),
    )


def _left(loss: Loss) -> dict[str, int]:
    return {
        "left": loss.unplaced_pod_count,
        "cpu": loss.unplaced_requests_cpu_nanocores,
        "memory": loss.unplaced_requests_memory_bytes,
    }


def _emptyable(headroom: Headroom, nodes: pd.DataFrame, prices: Prices) -> Iterator[Finding]:
    found = headroom.emptyable
    if not found:
        return
    moved = sum(one.moved_pod_count for one in found)
    yield Finding(
        id="capacity.emptyable-nodes",
        severity=Severity.ADVICE,
        section=HEADROOM,
        title=message(
            f"{{some:count}} of {{all:count}} {plural(headroom.considered_node_count, 'node', 'nodes')} could be emptied",
            some=len(found),
            all=headroom.considered_node_count,
        ),
        detail=message(
            f"{{moved:count}} {plural(moved, 'pod', 'pods')} would move to the others. That frees {{cpu:nanocores}} and {{memory:bytes}}, and leaves less room for updates and losses.",
            moved=moved,
            cpu=sum(one.allocatable_cpu_nanocores for one in found),
            memory=sum(one.allocatable_memory_bytes for one in found),
        ),
        action=message("Drain the ones that are not spare room on purpose, or let an autoscaler consolidate nodes."),
        objects=tuple(one.node for one in found[:_NAMED]),
        worth=message("{count:count}", count=len(found)),
        worth_of=plural(len(found), "node not needed", "nodes not needed"),
        weight=float(len(found)),
        monthly_saving=_cost(nodes.loc[nodes["node"].isin([one.node for one in found])], prices),
    )


def _cost(nodes: pd.DataFrame, prices: Prices) -> float | None:
    """Add up what nodes cost in a month; None unless all of them have a price."""
    counts = nodes["instance_type"].value_counts()
    costs = [prices.monthly(str(name), int(count)) for name, count in counts.items()]
    return sum(cost for cost in costs if cost is not None) if int(counts.sum()) == len(nodes) and None not in costs else None


def _cheaper(fleets: Fleets, nodes: pd.DataFrame, prices: Prices) -> Iterator[Finding]:
    """Compare packed fleets with packed fleets: a flavor that the cluster has not, against the cheapest that it has, for as many pods."""
    here = set(nodes["instance_type"].dropna())
    priced = [fleet for fleet in fleets.fleets if fleet.monthly_cost is not None]
    own = min((fleet for fleet in priced if fleet.flavor in here), key=_left_then_cost, default=None)
    best = min((fleet for fleet in priced if own and fleet.unplaced_pod_count <= own.unplaced_pod_count), key=_cost_of, default=None)
    if own is None or best is None or own.monthly_cost is None or best.monthly_cost is None:
        return
    saving = own.monthly_cost - best.monthly_cost
    if best.flavor in here or saving < _WORTHWHILE * own.monthly_cost:
        return
    yield Finding(
        id="fleets.cheaper-flavor",
        severity=Severity.ADVICE,
        section=FLEETS,
        title=message(
            f"{{nodes:count}} {plural(best.node_count, 'node', 'nodes')} of {{flavor:text}} would hold the pods for less than any flavor in use",
            nodes=best.node_count,
            flavor=best.flavor,
        ),
        detail=message(
            f"Packed alike, {{own:text}} takes {{count:count}} {plural(own.node_count, 'node', 'nodes')} and {{own_cost:money}} a month, {{flavor:text}} {{cost:money}}.",
            own=own.flavor,
            count=own.node_count,
            own_cost=prices.amount(own.monthly_cost, (own.flavor,)),
            flavor=best.flavor,
            cost=prices.amount(best.monthly_cost, (best.flavor,)),
        ),
        action=message("Try {flavor:text} for new nodes.", flavor=best.flavor),
        objects=(best.flavor,),
        worth=message("{saving:money}", saving=prices.amount(saving, (own.flavor, best.flavor))),
        worth_of="less a month",
        weight=saving,
        monthly_saving=saving,
    )


def _left_then_cost(fleet: Fleet) -> tuple[int, float]:
    return fleet.unplaced_pod_count, _cost_of(fleet)


def _cost_of(fleet: Fleet) -> float:
    return fleet.monthly_cost or 0.0
