"""Pod slots: nodes that are full of pods before they are full of work."""

from __future__ import annotations

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import SLOTS
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, fine, judged, unknown

_HALF = 0.5
_TENTH = 0.1

BINDING = Rule(
    id="slots.binding",
    area=SLOTS,
    name="Nodes full of pods before work",
    unit="count",
    measures="nodes of which a larger share of pod slots is taken than of CPU or memory, and more than scale.warn_ratio of them (80 %)",
    threshold="warns above 0; fails when more than a tenth of the nodes have no slot left and are not half requested",
    source='Node allocatable `pods`, which the scheduler heeds (Kubernetes documentation 1.36, "Reserve Compute Resources for System Daemons"); a tenth and a half are our own',
    lesson="A node type with 29 pod slots, as some clouds' networks set them, is full with 29 small pods while most of it is idle. Pods wait, and every graph shows room.",
    action="Raise `maxPods` where the network has addresses for it (on AWS: prefix delegation), or take smaller nodes.",
    needs=("list nodes", "list pods"),
)
RULES = (BINDING,)


def check(facts: Facts) -> Check:
    """Judge on how many nodes the pod limit binds before CPU and memory do."""
    missing = facts.in_part(BINDING) or facts.without_nodes(BINDING)
    if missing:
        return missing
    if not len(facts.nodes):
        return fine(BINDING, message("There are no nodes"))
    shares = slot_shares(facts)
    if not len(shares):
        return sizeless(BINDING)
    work = shares[["cpu_ratio", "memory_ratio"]].max(axis="columns")
    first = shares["pods_ratio"] > work
    full = shares.loc[first & (shares["pods_ratio"] > facts.settings.scale.warn_ratio)]
    idle = int(((shares["pods_ratio"] >= 1) & (work < _HALF)).sum())
    count = len(full)
    found = message(
        f"{{count:count}} of {{all:count}} {plural(len(shares), 'node', 'nodes')} {plural(count, 'is', 'are')} nearly out of pod slots while CPU and memory are free"
        if count
        else "No node is nearly out of pod slots; they fill up first on {first:count} of {all:count}",
        all=len(shares),
        **({"count": count} if count else {"first": int(first.sum())}),
    )
    fails = 0.0 if idle > _TENTH * len(shares) else None
    return judged(BINDING, count, found, warn=0, fail=fails, objects=tuple(map(str, full["node"])))


def sizeless(rule: Rule) -> Check:
    """Say that no node tells what it has."""
    return unknown(rule, message("No node tells its size"), message("status.allocatable of the nodes, with CPU, memory and pods"))


def slot_shares(facts: Facts) -> pd.DataFrame:
    """Give node, pods_ratio, cpu_ratio and memory_ratio of machines whose size is known, those with most pods first."""
    asked = facts.bound.groupby("node")[["requests_cpu_nanocores", "requests_memory_bytes"]].sum()
    columns = ["allocatable_pod_count", "allocatable_cpu_nanocores", "allocatable_memory_bytes"]
    nodes = facts.nodes.dropna(subset=columns)
    nodes = nodes.loc[(nodes[columns] > 0).all(axis="columns")]
    taken = asked.reindex(nodes["node"], fill_value=0).astype(float)
    has = nodes.set_index("node")[columns].astype(float)
    shares = pd.DataFrame(
        {
            "pods_ratio": facts.on_nodes.reindex(has.index).astype(float) / has["allocatable_pod_count"],
            "cpu_ratio": taken["requests_cpu_nanocores"] / has["allocatable_cpu_nanocores"],
            "memory_ratio": taken["requests_memory_bytes"] / has["allocatable_memory_bytes"],
        }
    )
    return shares.rename_axis("node").reset_index().sort_values(["pods_ratio", "node"], ascending=[False, True]).reset_index(drop=True)
