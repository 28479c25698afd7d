"""Health and autoscaling: what stops an autoscaler, and what has reached its end."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import HEALTH
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, fine, judged, unknown

_TENTH, _HALF, _SEVERAL = 0.1, 0.5, 4
_FAILS_AFTER = 6
"""Multiples of scale.pending_seconds from which waiting is a failure, as that setting says."""

_FULL = 0.95
"""Share of a quota from which the next rollout fails: our own."""

NOT_READY = Rule(
    id="health.not-ready",
    area=HEALTH,
    name="Nodes not ready",
    unit="ratio",
    measures="share of the machines whose Ready condition is not True",
    threshold="warns above 10 % when more than scale.not_ready_count nodes (3) are not ready, fails above scale.not_ready_ratio (45 %)",
    source="cluster autoscaler 1.33, --max-total-unready-percentage 45 and --ok-total-unready-count 3; a tenth is our own",
    lesson="When etcd refused writes all nodes failed their health checks, and an autoscaler set out to terminate them. Autoscalers therefore stop when too much is not ready, and then nothing grows either.",
    action="Repair or remove the nodes that are not ready before anything has to scale.",
    needs=("list nodes",),
)
HPAS = Rule(
    id="health.hpas-at-maximum",
    area=HEALTH,
    name="Autoscalers at their maximum",
    unit="ratio",
    measures="share of the HorizontalPodAutoscalers with room between minimum and maximum that are at their maximum",
    threshold="warns above 0, fails above 50 % of at least four",
    source='Kubernetes documentation 1.36, "Horizontal Pod Autoscaling" (`maxReplicas`); a half is our own',
    lesson="An autoscaler at its maximum looks calm and no longer follows the load. The next peak meets a service that cannot grow.",
    action="Raise `maxReplicas`, after a look at whether the cluster has room for it.",
    needs=("list horizontalpodautoscalers.autoscaling",),
)
QUOTAS = Rule(
    id="health.quotas",
    area=HEALTH,
    name="Quotas nearly used",
    unit="ratio",
    measures="largest share of a ResourceQuota that is used",
    threshold="warns above scale.warn_ratio (80 %), fails above 95 %",
    source='Kubernetes documentation 1.36, "Resource Quotas"; the shares are our own',
    lesson="A namespace that hits its quota in the middle of a rollout stops there, however empty the cluster is. New pods are refused at creation, so nothing shows as pending.",
    action="Raise the quota, or lower what the namespace requests (see right-sizing).",
    needs=("list resourcequotas",),
)
PENDING = Rule(
    id="health.pending",
    area=HEALTH,
    name="Pods that wait for a node",
    unit="seconds",
    measures="longest time that a pod without scheduling gates has waited for a node",
    threshold="warns above scale.pending_seconds (600 s), fails above six times as long",
    source="our own: an autoscaler brings a node within minutes",
    lesson="Pods that wait for longer than a node takes to come wait for something that will not come. Most often a rule, a quota or the end of a node pool is behind it.",
    action="`kubectl describe pod` names what each node lacks; act on the most frequent reason.",
    needs=("list pods",),
)
POOLS = Rule(
    id="health.pools-at-maximum",
    area=HEALTH,
    name="Node pools at their maximum",
    unit="ratio",
    measures="share of the node groups and NodePools with a limit that have reached one",
    threshold="warns above 0, fails when all of several have",
    source="status of the cluster autoscaler (`maxSize`); Karpenter 1, NodePool (`spec.limits`)",
    lesson="At its maximum a pool stays as it is, and pods wait for a node that will not come. The autoscaler says so only in its own log and status.",
    action="Raise the maximum of the pools named, after a look at the cloud's own quotas.",
    needs=("scale.autoscalers, and its component of k8s/components",),
)
_OF_AUTOSCALERS = {"clusterautoscalerstatus": "the cluster autoscaler", "nodepools": "Karpenter"}
"""Sources of limits, and whose they are."""

RULES = (NOT_READY, POOLS, HPAS, QUOTAS, PENDING)


def checks(facts: Facts, quotas: pd.DataFrame, pending: pd.DataFrame) -> Iterator[Check]:
    """Judge readiness, autoscalers, quotas and waiting pods; the tables have the schemas tables.QUOTAS and tables.PENDING."""
    yield facts.without_nodes(NOT_READY) or _not_ready(facts)
    yield _pools(facts)
    yield facts.without(HPAS, "horizontalpodautoscalers") or _hpas(facts)
    yield facts.without(QUOTAS, "resourcequotas") or _quotas(facts, quotas)
    yield _pending(facts, pending)


def _not_ready(facts: Facts) -> Check:
    scale, all_ = facts.settings.scale, len(facts.nodes)
    if not all_:
        return fine(NOT_READY, message("There are no nodes"))
    names = sorted(facts.nodes.loc[~facts.nodes["ready"].fillna(value=False).astype(bool), "node"])
    share = len(names) / all_
    found = message(
        f"{{count:count}} of {{all:count}} {plural(all_, 'node', 'nodes')} {plural(len(names), 'is', 'are')} not ready",
        count=len(names),
        all=all_,
    )
    if len(names) <= scale.not_ready_count:
        return judged(NOT_READY, share, found, warn=None, objects=tuple(names))
    return judged(NOT_READY, share, found, warn=min(_TENTH, scale.not_ready_ratio), fail=scale.not_ready_ratio, objects=tuple(names))


def _pools(facts: Facts) -> Check:
    limited = facts.snapshot.table("node_groups").dropna(subset=["limit_amount"])
    groups = limited.dropna(subset=["used_amount"])
    if not any(map(facts.snapshot.has, _OF_AUTOSCALERS)) and not _refused(facts):
        return unknown(
            POOLS,
            message("No node autoscaler was asked for its limits"),
            message("Setting scale.autoscalers, with the right that it needs"),
        )
    at_end = groups.loc[(groups["used_amount"] >= groups["limit_amount"]).astype(bool)]
    if not len(at_end) and _refused(facts):
        return unknown(
            POOLS,
            message("The limits of {autoscalers:text} could not be read", autoscalers=" and ".join(_refused(facts))),
            message("The right that the component of k8s/components gives; Data quality has the answer that came instead"),
        )
    if not len(limited):
        return fine(POOLS, message("No node group has a limit"))
    if not len(groups):
        return unknown(
            POOLS, message("No node group with a limit tells its size"), message("A status that the node autoscaler has written")
        )
    names = tuple(dict.fromkeys(map(str, at_end["group"])))
    all_ = int(groups["group"].nunique())
    found = message(
        f"{{count:count}} of {{all:count}} node {plural(all_, 'pool', 'pools')} with a limit {plural(len(names), 'is', 'are')} at it",
        count=len(names),
        all=all_,
    )
    return judged(POOLS, len(names) / all_, found, warn=0, fail=1 - 1 / all_ if all_ > 1 else None, objects=names)


def _refused(facts: Facts) -> list[str]:
    """Name the autoscalers that were asked and told nothing."""
    failed = {gap.source for gap in facts.snapshot.gaps}
    return [name for source, name in _OF_AUTOSCALERS.items() if source in failed]


def _hpas(facts: Facts) -> Check:
    hpas = facts.snapshot.table("hpas")
    scaling = hpas.loc[(hpas["max_replica_count"] > hpas["min_replica_count"]).fillna(value=False).astype(bool)]
    if not len(scaling):
        return fine(HPAS, message("No HorizontalPodAutoscaler has room between its minimum and its maximum"))
    at_end = scaling.loc[(scaling["current_replica_count"] >= scaling["max_replica_count"]).fillna(value=False).astype(bool)]
    found = message(
        f"{{count:count}} of {{all:count}} {plural(len(scaling), 'autoscaler', 'autoscalers')} {plural(len(at_end), 'is', 'are')} at the maximum",
        count=len(at_end),
        all=len(scaling),
    )
    names = tuple(f"{row.namespace}/{row.hpa}" for row in at_end.itertuples())
    return judged(HPAS, len(at_end) / len(scaling), found, warn=0, fail=_HALF if len(scaling) >= _SEVERAL else None, objects=names)


def _quotas(facts: Facts, quotas: pd.DataFrame) -> Check:
    counted = quotas.dropna(subset="used_ratio")
    if not len(quotas):
        return fine(QUOTAS, message("There are no quotas"))
    if not len(counted) and quotas["used_amount"].isna().any():
        return unknown(
            QUOTAS, message("No quota tells what is used"), message("status.used of the quotas, which the controller manager counts")
        )
    if not len(counted):
        return fine(QUOTAS, message("The quotas allow nothing at all, which nothing can use up"))
    warn = facts.settings.scale.warn_ratio
    first = counted.iloc[0]
    near = counted.loc[counted["used_ratio"] > warn]
    found = message(
        "{share:ratio} of {resource:text} in {namespace:text} is used, the most of {all:count} limits",
        share=float(first["used_ratio"]),
        resource=first["resource"],
        namespace=first["namespace"],
        all=len(counted),
    )
    names = tuple(f"{row.namespace}/{row.quota} {row.resource}" for row in near.itertuples())
    return judged(QUOTAS, float(first["used_ratio"]), found, warn=warn, fail=max(warn, _FULL), objects=names)


def _pending(facts: Facts, pending: pd.DataFrame) -> Check:
    limit = facts.settings.scale.pending_seconds
    if not len(pending):
        return fine(PENDING, message("No pod waits for a node"))
    count, longest = int(pending["pod_count"].sum()), float(pending["longest_seconds"].max())
    late = int(pending["late_count"].sum())
    found = message(
        f"{{late:count}} of {{count:count}} waiting {plural(count, 'pod', 'pods')} {plural(late, 'has', 'have')} waited for more than {{limit:seconds}}, the longest for {{longest:seconds}}",
        late=late,
        count=count,
        limit=limit,
        longest=longest,
    )
    return judged(
        PENDING,
        longest,
        found,
        warn=limit,
        fail=_FAILS_AFTER * limit,
        objects=tuple(map(str, pending.loc[pending["late_count"] > 0, "example"])),
    )
