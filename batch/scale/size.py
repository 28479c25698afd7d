"""Size: the cluster against what Kubernetes is tested with."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import SIZE
from batch.scale.facts import Facts, most_first
from batch.scale.model import Check, Rule, Status, fine, judged
from batch.scale.told import figures, untold
from batch.snapshot.control_plane import STORED_OBJECTS

_PAGE = 'Kubernetes documentation 1.36, "Considerations for large clusters"'
_THRESHOLDS = 'SIG Scalability, "Kubernetes Scalability thresholds" (kubernetes/community)'
_BEYOND = "warns above scale.warn_ratio of it (80 %)"

NODES = Rule(
    id="size.nodes",
    area=SIZE,
    name="Nodes",
    unit="count",
    measures="Node objects that are machines",
    threshold=f"fails above scale.nodes_max (5,000), {_BEYOND}",
    source=_PAGE,
    lesson="Teams that went to thousands of nodes broke etcd, DNS, image pulls and the network one after the other, long before machines were full. Beyond what is tested nobody has found the next limit for you.",
    action="Plan the next cluster before this one reaches the limit; test the control plane with as many nodes as you will have.",
    needs=("list nodes",),
)
PODS = Rule(
    id="size.pods",
    area=SIZE,
    name="Pods",
    unit="count",
    measures="Pod objects, finished ones included: each is stored and watched",
    threshold=f"fails above scale.pods_max (150,000), {_BEYOND}",
    source=_PAGE,
    lesson="Every pod is an object that the control plane stores, watches and lists, also after it has finished. Clusters with more of them than tested answer slowly to everybody.",
    action="Remove finished pods (`ttlSecondsAfterFinished` of Jobs), and split the cluster before it grows further.",
    needs=("list pods",),
)
CONTAINERS = Rule(
    id="size.containers",
    area=SIZE,
    name="Containers",
    unit="count",
    measures="app containers and sidecars of pods that have not finished",
    threshold=f"fails above scale.containers_max (300,000), {_BEYOND}",
    source=_PAGE,
    lesson="Sidecars double what kubelets start, watch and report without adding a pod. A mesh that injects one everywhere does it overnight.",
    action="Look for sidecars that one agent on each node could replace.",
    needs=("list pods",),
)
PODS_ON_NODE = Rule(
    id="size.pods-per-node",
    area=SIZE,
    name="Pods on one node",
    unit="count",
    measures="most pods bound to one node",
    threshold="warns above scale.pods_per_node_max (110); fails where a node holds more than its own limit",
    source=_PAGE,
    lesson="A kubelet with several hundred pods falls behind with probes and status, and its node flaps. Raising `maxPods` moves the limit and not what the kubelet can do.",
    action="Take smaller nodes, or test kubelet and container runtime at the density that you run.",
    needs=("list nodes", "list pods"),
)
PODS_IN_NAMESPACE = Rule(
    id="size.pods-per-namespace",
    area=SIZE,
    name="Pods in one namespace",
    unit="count",
    measures="most pods of one namespace",
    threshold=f"fails above scale.pods_per_namespace_max (3,000), {_BEYOND}",
    source=_THRESHOLDS,
    lesson="Controllers and quota checks work namespace by namespace, so one huge namespace is slow while the cluster is not. Lists of it are what times out first.",
    action="Spread its workloads over several namespaces.",
    needs=("list pods",),
)
SERVICES = Rule(
    id="size.services",
    area=SIZE,
    name="Services",
    unit="count",
    measures="Service objects",
    threshold=f"fails above scale.services_max (10,000), {_BEYOND}",
    source=_THRESHOLDS,
    lesson="Every node programs every Service, so their number is paid on each of them. Rule tables grow until a change takes minutes to arrive.",
    action="Remove Services that nobody calls; use nftables or eBPF in place of iptables.",
    needs=("list services",),
)
OBJECTS = Rule(
    id="size.stored-objects",
    area=SIZE,
    name="Stored objects of other kinds",
    unit="ratio",
    measures="objects of a kind by the API server's own count, divided by the number that is tested, where there is one; the fullest kind counts",
    threshold="fails above 1 (100 %), warns above scale.warn_ratio (80 %)",
    source=f"{_THRESHOLDS}: 5,000 nodes, 10,000 namespaces, 150,000 pods, 10,000 Services",
    lesson="Objects that nobody looks at fill etcd: events, Secrets of old releases, custom resources of an operator gone wild. Their number shows it weeks before the database is full.",
    action="Give the largest kinds a retention (history limits, `ttlSecondsAfterFinished`); clean up what no release refers to.",
    needs=("Prometheus: API servers",),
)
RULES = (NODES, PODS, CONTAINERS, PODS_ON_NODE, PODS_IN_NAMESPACE, SERVICES, OBJECTS)

_TESTED = {("", "nodes"): 5_000, ("", "namespaces"): 10_000, ("", "pods"): 150_000, ("", "services"): 10_000}
_MOST_KINDS = 5


def checks(facts: Facts) -> Iterator[Check]:
    """Judge what the API alone tells of the cluster's size."""
    limits = facts.settings.scale
    pods = facts.snapshot.table("pods")
    yield facts.without_nodes(NODES) or _counted(facts, NODES, len(facts.nodes), limits.nodes_max)
    yield facts.in_part(PODS) or _counted(facts, PODS, len(pods), limits.pods_max)
    containers = int(facts.living["container_count"].sum())
    yield facts.in_part(CONTAINERS) or _counted(facts, CONTAINERS, containers, limits.containers_max)
    yield facts.without_nodes(PODS_ON_NODE) or _on_one_node(facts)
    yield _in_one_namespace(facts)
    services = len(facts.snapshot.table("services"))
    yield facts.in_part(SERVICES) or facts.without(SERVICES, "services") or _counted(facts, SERVICES, services, limits.services_max)
    yield _objects(facts)


def _counted(facts: Facts, rule: Rule, count: int, limit: int) -> Check:
    """Hold a number of objects against the largest that is tested."""
    found = message(
        f"{{count:count}} {plural(count, rule.name.lower().removesuffix('s'), rule.name.lower())}, {{share:ratio}} of the {{limit:count}} that are tested",
        count=count,
        share=count / limit,
        limit=limit,
    )
    return judged(rule, count, found, warn=facts.settings.scale.warn_ratio * limit, fail=limit)


def _on_one_node(facts: Facts) -> Check:
    if not len(facts.nodes):
        return fine(PODS_ON_NODE, message("There are no nodes"))
    tested = facts.settings.scale.pods_per_node_max
    own = facts.nodes.set_index("node")["allocatable_pod_count"]
    over = most_first(facts.on_nodes[(facts.on_nodes > own).fillna(value=False).astype(bool)])
    ordered = most_first(facts.on_nodes)
    if len(over):
        node, count = str(over.index[0]), int(over.iloc[0])
        found = message(
            "{node:text} holds {count:count} pods, more than its own limit of {own:count}", node=node, count=count, own=own[node]
        )
        return judged(PODS_ON_NODE, count, found, warn=tested, fail=int(own[node]), objects=tuple(map(str, over.index)))
    found = message("At most {count:count} pods on one node; {tested:count} are tested", count=int(ordered.iloc[0]), tested=tested)
    return judged(PODS_ON_NODE, int(ordered.iloc[0]), found, warn=tested, objects=_beyond(ordered, tested))


def _in_one_namespace(facts: Facts) -> Check:
    counts = most_first(facts.snapshot.table("pods").groupby("namespace").size())
    if not len(counts):
        return fine(PODS_IN_NAMESPACE, message("There are no pods"))
    limit = facts.settings.scale.pods_per_namespace_max
    warn = facts.settings.scale.warn_ratio * limit
    found = message(
        f"{{count:count}} {plural(int(counts.iloc[0]), 'pod', 'pods')} in {{namespace:text}}, the largest namespace; {{limit:count}} are tested",
        count=int(counts.iloc[0]),
        namespace=str(counts.index[0]),
        limit=limit,
    )
    return judged(PODS_IN_NAMESPACE, int(counts.iloc[0]), found, warn=warn, fail=limit, objects=_beyond(counts, warn))


def _objects(facts: Facts) -> Check:
    rows = figures(facts, STORED_OBJECTS)
    if not rows:
        return untold(facts, OBJECTS, "API servers", ("apiserver_resource_objects", "apiserver_storage_objects"))
    counts = {(row.api_group, row.resource): row.value for row in rows}
    tested = max(((counts[kind] / limit, kind[1], limit) for kind, limit in _TESTED.items() if kind in counts), default=None)
    kinds = [f"{resource}.{group}" if group else resource for group, resource in counts]
    largest = {"largest": next(iter(counts.values())), "kind": kinds[0], "kinds": len(kinds)}
    words = f"{{largest:count}} {{kind:text}}, the most of {{kinds:count}} {plural(len(kinds), 'kind', 'kinds')}"
    objects = tuple(kinds[:_MOST_KINDS])
    if tested is None:
        return Check(OBJECTS, Status.OK, None, None, None, message(f"{words}; no number of them is tested", **largest), objects)
    share, fullest, limit = tested
    found = message(
        f"{words}; nearest to what is tested: {{count:count}} {{fullest:text}}, {{share:ratio}} of {{limit:count}}",
        count=counts["", fullest],
        fullest=fullest,
        share=share,
        limit=limit,
        **largest,
    )
    return judged(OBJECTS, share, found, warn=facts.settings.scale.warn_ratio, fail=1, objects=objects)


def _beyond(counts: pd.Series, limit: float) -> tuple[str, ...]:
    """Name what has more than that, of counts in order."""
    return tuple(str(name) for name, count in counts.items() if count > limit)
