"""Headroom: what still fits, what the loss of a node or a zone would do, and which nodes are not needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Message, message
from batch.plan.model_packing import Headroom, Loss
from batch.report.model import Section
from batch.report.sections.headroom_tables import tables
from batch.report.sections.material import Material, plural

SLUG = "headroom"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about what fits; without nodes its title says so."""
    found = material.plan.headroom
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Headroom",
            title=_title(material),
            lede=tuple(_lede(found)),
            how_to_read=_HOW_TO_READ if found.pools else (),
            findings=material.findings_of(SLUG),
            tables=tables(found) if found.pools else {},
        ),
    )


_HOW_TO_READ = (
    message(
        "A typical pod asks for the median of what the pool's ordinary pods ask for, resource by resource. How many still fit is counted node by node: free CPU on one node and free memory on another are no room. In one piece is what the same room would hold on a single node."
    ),
    message(
        "Counted are nodes that are ready, not cordoned, and may take at least half of the pool's own pods. The largest pods are two amounts that one node has free at once."
    ),
    message(
        "A loss is played through: every ordinary pod of the lost nodes is placed on the nodes that remain, large ones first, each where the free room has its proportions. Pods of negative priority make way and need no new place; DaemonSets and static pods go with their node."
    ),
    message(
        "Nodes are emptied one after the other, from the least filled on, each only if all its ordinary pods fit on nodes that stay. The list is therefore what could go together. Nodes of the control plane stay, and so do those that a waiting pod could use if they were empty."
    ),
    message(
        "Requests, pod slots, GPUs and other resources, node selectors, required node affinity, taints and CPU architecture are respected. Not looked at: topology spread and affinity between pods, volumes that are tied to a node or zone, host ports, disruption budgets."
    ),
)


def _title(material: Material) -> Message:
    found = material.plan.headroom
    if not found.pools:
        return _unknown_title(material)
    nodes, zones = _leaving_some(found.losses, "node"), _leaving_some(found.losses, "zone")
    if nodes and not nodes[0].remaining_node_count:
        return message("There is no other node that could take the pods of {node:text}", node=nodes[0].name)
    if nodes:
        worst = nodes[0]
        which = "" if worst.unplaced_pod_count == worst.pod_count else "{left:count} of "
        return message(
            f"The loss of one node of {{pool:text}} would leave {which}its {{pods:count}} {plural(worst.pod_count, 'pod')} without a place",
            pool=worst.pool,
            pods=worst.pod_count,
            **({} if not which else {"left": worst.unplaced_pod_count}),
        )
    if zones:
        return message(
            f"Each pool may lose its largest node; the loss of zone {{zone:text}} would leave {{left:count}} {plural(zones[0].unplaced_pod_count, 'pod')} without a place",
            zone=zones[0].name,
            left=zones[0].unplaced_pod_count,
        )
    if any(loss.what == "zone" for loss in found.losses):
        return message("The pods of each pool's largest node, and of any zone, would fit on the other nodes")
    return message("The pods of each pool's largest node would fit on the other nodes")


def _unknown_title(material: Material) -> Message:
    if material.snapshot.namespaces is not None:
        return message("What still fits is unknown, because only some namespaces were read")
    known = material.plan.totals.node_count is not None
    return message("There are no nodes that pods could fit on" if known else "What still fits is unknown, because nodes could not be read")


def _leaving_some(losses: Sequence[Loss], what: str) -> list[Loss]:
    return sorted(
        (loss for loss in losses if loss.what == what and loss.unplaced_pod_count), key=lambda loss: (-loss.unplaced_pod_count, loss.name)
    )


def _lede(found: Headroom) -> Iterator[Message]:
    if not found.pools:
        return
    room = [pool for pool in found.pools if pool.typical_fit_count is not None]
    full = [pool for pool in room if not pool.typical_fit_count]
    if room and len(full) == len(room):
        yield message("Not one more typical pod fits into any node pool.")
    elif full:
        yield message("Into {full:count} of {all:count} node pools not one more typical pod fits.", full=len(full), all=len(room))
    elif room:
        yield message("Every node pool takes more of its typical pods; the fewest, {fewest:count}, fit into {pool:text}.", **_fewest(found))
    if not found.emptyable:
        yield message("No node could be emptied." if found.considered_node_count else "No node is one that could be emptied.")
        return
    empty = sum(not one.moved_pod_count for one in found.emptyable)
    yield message(
        f"{{some:count}} of {{all:count}} {plural(found.considered_node_count, 'node')} could be emptied together{', {empty:count} of them hold no ordinary pod now' if empty else ''}.",
        some=len(found.emptyable),
        all=found.considered_node_count,
        **({"empty": empty} if empty else {}),
    )


def _fewest(found: Headroom) -> dict[str, object]:
    count, pool = min((pool.typical_fit_count, pool.pool) for pool in found.pools if pool.typical_fit_count is not None)
    return {"fewest": count, "pool": pool}
