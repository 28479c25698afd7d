"""DNS: how many pods answer, where they are, and what keeps them apart."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import DNS
from batch.scale.facts import Facts, most_first
from batch.scale.model import Check, Rule, fine, judged, unknown
from batch.scale.told import figures, untold
from batch.snapshot.control_plane import DNS_REQUESTS

_AUTOSCALE = 'Kubernetes documentation 1.36, "Autoscale the DNS Service in a Cluster"'
_CORES_A_REPLICA, _NODES_A_REPLICA = 256, 16
"""Linear parameters of the manifest on that page: replicas are at least cores / 256 and nodes / 16."""

_LEAST = 2
"""preventSinglePointFailure of the same manifest: with more than one node at least two replicas."""

SERVING = (
    ("k8s-app", "kube-dns"),
    ("k8s-app", "coredns"),
    ("app.kubernetes.io/name", "coredns"),
    ("dns.operator.openshift.io/daemonset-dns", "default"),
)
"""Labels of pods that answer DNS: of kubeadm, clouds and k3s; of charts; of OpenShift."""

CACHING = (("k8s-app", "node-local-dns"), ("k8s-app", "nodelocaldns"), ("app.kubernetes.io/name", "node-local-dns"))
"""Labels of the cache on each node (kubernetes.io, "Using NodeLocal DNSCache"; the second of Kubespray)."""

REPLICAS = Rule(
    id="dns.replicas",
    area=DNS,
    name="Pods that answer DNS",
    unit="count",
    measures="running pods that answer DNS, by their labels",
    threshold="fails below 2 where there is more than one node; warns below cores / 256 and nodes / 16 where no cache runs on the nodes",
    source=_AUTOSCALE,
    lesson="The number of DNS pods stays at two unless something scales it, however large the cluster grows. Lookups then fail at random, and every team looks for the fault in its own code.",
    action="Scale DNS with the cluster (cluster-proportional-autoscaler, or the autoscaling of your provider's add-on).",
    needs=("list pods", "list nodes"),
    falling=True,
)
SPREAD = Rule(
    id="dns.spread",
    area=DNS,
    name="DNS pods on one node",
    unit="count",
    measures="most DNS pods on one node",
    threshold="warns above 1, with more DNS pods than nodes above an even share; fails when all of several are on one of several nodes",
    source='"Scaling Kubernetes to 2,500 nodes" (OpenAI, 2018); Kubernetes documentation 1.36, "Pod Topology Spread Constraints"',
    lesson="DNS pods that started together were put on the same first node and never moved. One machine answered for thousands, and its loss took the cluster's DNS with it.",
    action="Give the DNS pods a topology spread over hostnames, then restart them: `kubectl -n kube-system rollout restart deployment coredns`.",
    needs=("list pods",),
)
APART = Rule(
    id="dns.constraints",
    area=DNS,
    name="DNS pods that may share a node",
    unit="count",
    measures="DNS pods of a Deployment without anti-affinity and without topology spread",
    threshold="warns above 0; fails when two of them are on one node already",
    source=SPREAD.source,
    lesson="Without a rule the scheduler may put every replica on the emptiest node. Nothing shows until that node is lost.",
    action="Add `topologySpreadConstraints` over `kubernetes.io/hostname` to the DNS Deployment.",
    needs=("list pods",),
)
CACHE = Rule(
    id="dns.cache",
    area=DNS,
    name="Nodes without a DNS cache",
    unit="ratio",
    measures="share of the machines without a pod of the cache that runs on each node",
    threshold="warns above 10 % from scale.dns_cache_nodes nodes (100) on; fails above 50 % from ten times as many on",
    source='Kubernetes documentation 1.36, "Using NodeLocal DNSCache in Kubernetes Clusters"; the numbers are our own',
    lesson="Every lookup crossed the network and filled connection tables until packets were dropped. A cache on each node answers most of them where they are asked.",
    action="Install NodeLocal DNSCache, or the one of your provider or network plugin.",
    needs=("list pods", "list nodes"),
)
REQUESTS = Rule(
    id="dns.requests",
    area=DNS,
    name="DNS requests of one pod",
    unit="requests per second",
    measures="most requests a second that one DNS pod answered in five minutes of the last day",
    threshold="warns above scale.dns_requests_per_second (200), fails above five times as many",
    source='"Scaling Kubernetes to 2,500 nodes" (OpenAI, 2018): a limit of 200 a second on the pods\' nodes; five times is our own',
    lesson="Nodes with a DNS pod met a limit of 200 queries a second that a cloud put on every machine. Lookups failed, and only on some nodes.",
    action="Add DNS pods on further nodes, a cache on each node, and fewer search domains (`ndots`) where a service asks most.",
    needs=("Prometheus: CoreDNS",),
)
RULES = (REPLICAS, SPREAD, APART, REQUESTS, CACHE)

_TENTH = 0.1
_LARGE = 10


def checks(facts: Facts) -> Iterator[Check]:
    """Judge the DNS pods that the API shows."""
    pods, caches = labelled(facts, SERVING), labelled(facts, CACHING)
    running = pods.loc[pods["phase"] == "Running"]
    unseen = not len(pods)
    yield _unseen(facts, REPLICAS) if unseen else facts.without_nodes(REPLICAS) or _replicas(facts, running, caches)
    yield _unseen(facts, SPREAD) if unseen else _spread(facts, running)
    yield _unseen(facts, APART) if unseen else facts.not_kept(APART, "kept_apart") or _apart(pods)
    yield _requests(facts)
    yield (
        facts.in_part(CACHE)
        or facts.without_nodes(CACHE)
        or (_unseen(facts, CACHE) if unseen and not len(caches) else _cache(facts, caches))
    )


def labelled(facts: Facts, labels: tuple[tuple[str, str], ...]) -> pd.DataFrame:
    """Give the pods that have not finished and have one of these labels."""
    sets = facts.snapshot.table("label_sets")
    pairs = pd.Series(list(zip(sets["label"], sets["value"], strict=True)), index=sets.index, dtype=object)
    return facts.living.loc[facts.living["label_set"].isin(sets.loc[pairs.isin(labels), "label_set"])]


def _unseen(facts: Facts, rule: Rule) -> Check:
    return facts.in_part(rule) or unknown(
        rule,
        message("No DNS pod is visible by its labels"),
        message("On a managed control plane DNS may run outside the cluster; else a pod labelled k8s-app=kube-dns"),
    )


def _replicas(facts: Facts, running: pd.DataFrame, caches: pd.DataFrame) -> Check:
    nodes, count = len(facts.nodes), len(running)
    cores = int(facts.nodes["allocatable_cpu_nanocores"].dropna().astype(object).sum() or 0) / 10**9
    wanted = max(math.ceil(cores / _CORES_A_REPLICA), math.ceil(nodes / _NODES_A_REPLICA), _LEAST)
    found = message(
        f"{{count:count}} DNS {plural(count, 'pod', 'pods')} for {{nodes:count}} {plural(nodes, 'node', 'nodes')} and {{cores:cores}}; the usual rule gives {{wanted:count}}",
        count=count,
        nodes=nodes,
        cores=cores,
        wanted=wanted if nodes > 1 else 1,
    )
    if nodes <= 1:
        return judged(REPLICAS, count, found, warn=1, fail=1)
    return judged(REPLICAS, count, found, warn=_LEAST if len(caches) else wanted, fail=_LEAST)


def _spread(facts: Facts, running: pd.DataFrame) -> Check:
    counts = most_first(running.loc[running["node"].notna()].groupby("node").size())
    if not len(counts):
        return unknown(SPREAD, message("No DNS pod runs"), message("A DNS pod that runs"))
    most, all_ = int(counts.iloc[0]), int(counts.sum())
    if all_ == 1:
        found = message("One DNS pod runs, on {node:text}", node=str(counts.index[0]))
    elif most == 1:
        found = message("No two of {all:count} DNS pods share a node", all=all_)
    else:
        found = message("{most:count} of {all:count} DNS pods run on {node:text}", most=most, all=all_, node=str(counts.index[0]))
    nodes = len(facts.nodes) if facts.snapshot.has("nodes") else all_
    even = math.ceil(all_ / max(nodes, 1))
    crowded = tuple(str(node) for node, count in counts.items() if count > even)
    return judged(SPREAD, most, found, warn=even, fail=even if most == all_ else None, objects=crowded)


def _apart(pods: pd.DataFrame) -> Check:
    spreadable = pods.loc[pods["workload_kind"] != "DaemonSet"]
    if not len(spreadable):
        return fine(APART, message("DNS runs as a DaemonSet, one pod on each node"))
    loose = spreadable.loc[~spreadable["kept_apart"].fillna(value=False).astype(bool)]
    found = message(
        f"{{loose:count}} of {{all:count}} DNS {plural(len(spreadable), 'pod', 'pods')} {plural(len(loose), 'has', 'have')} neither anti-affinity nor topology spread",
        loose=len(loose),
        all=len(spreadable),
    )
    together = bool(loose["node"].dropna().duplicated().any())
    workloads = sorted({f"{row.namespace}/{row.workload}" for row in loose.itertuples()})
    return judged(APART, len(loose), found, warn=0, fail=0 if together else None, objects=tuple(workloads))


def _requests(facts: Facts) -> Check:
    rows = figures(facts, DNS_REQUESTS)
    if not rows:
        return untold(facts, REQUESTS, "CoreDNS", ("coredns_dns_requests_total",))
    warn = facts.settings.scale.dns_requests_per_second
    busiest = rows[0].value
    found = message(
        "{busiest:count} requests a second at most, on the busiest of {count:count} DNS pods", busiest=round(busiest, 1), count=len(rows)
    )
    return judged(REQUESTS, busiest, found, warn=warn, fail=5 * warn, objects=tuple(row.instance for row in rows if row.value > warn))


def _cache(facts: Facts, caches: pd.DataFrame) -> Check:
    nodes, least = len(facts.nodes), facts.settings.scale.dns_cache_nodes
    if not nodes:
        return fine(CACHE, message("There are no nodes"))
    without = nodes - int(facts.nodes["node"].isin(caches["node"]).sum())
    found = message(
        "No cache for DNS runs on the nodes"
        if without == nodes
        else "{without:count} of {nodes:count} nodes have no DNS cache of their own",
        **({} if without == nodes else {"without": without, "nodes": nodes}),
    )
    if nodes < least:
        return judged(CACHE, without / nodes, found, warn=None)
    return judged(CACHE, without / nodes, found, warn=_TENTH, fail=0.5 if nodes >= _LARGE * least else None)
