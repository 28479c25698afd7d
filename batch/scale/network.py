"""Network: which plugin, who asks the wrong DNS server, and whether addresses run out before pod slots."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import NETWORK
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, Status, fine, judged, unknown

OVERLAY, ROUTED, EITHER = "overlay", "routed", "either"
PLUGINS = {
    "kube-flannel-ds": ("flannel", OVERLAY),
    "kube-flannel": ("flannel", OVERLAY),
    "weave-net": ("Weave Net", OVERLAY),
    "antrea-agent": ("Antrea", OVERLAY),
    "ovnkube-node": ("OVN-Kubernetes", OVERLAY),
    "sdn": ("OpenShift SDN", OVERLAY),
    "canal": ("Canal", OVERLAY),
    "rke2-canal": ("Canal", OVERLAY),
    "aws-node": ("Amazon VPC CNI", ROUTED),
    "netd": ("GKE", ROUTED),
    "anetd": ("GKE", ROUTED),
    "kindnet": ("kindnet", ROUTED),
    "kube-router": ("kube-router", ROUTED),
    "terway-eniip": ("Terway", ROUTED),
    "azure-cns": ("Azure CNI", EITHER),
    "azure-cni-networkmonitor": ("Azure CNI", EITHER),
    "calico-node": ("Calico", EITHER),
    "cilium": ("Cilium", EITHER),
}
"""Network plugins by the DaemonSet of their installation, and whether pods' packets are wrapped by default (their documentation, 2026)."""

_ON_TOP = frozenset({"Calico", "Cilium"})
"""Plugins that also run on top of another one, for policies alone: on EKS, AKS and GKE that is an ordinary installation (their documentation, 2026)."""

_SYSTEM = "kube-system"
_ROOM, _LEAST = 2.0, 1.0
"""Addresses for each pod slot: two as GKE plans for ("Configure maximum Pods per node"), and one without which a slot is of no use."""

PLUGIN = Rule(
    id="network.plugin",
    area=NETWORK,
    name="Network plugin",
    unit="count",
    measures="network plugins that connect pods, by the names of the DaemonSets of common installations",
    threshold="warns when it wraps packets (an overlay); fails when two run that both connect pods, while Calico and Cilium also work on top of another",
    source='"Scaling Kubernetes to 2,500 nodes" (OpenAI, 2018): 2 of 10 to 15 Gbit/s through an overlay; documentation of the plugins',
    lesson="An overlay moved a fifth of what the network cards could. Pods looked slow until somebody measured the network with and without it.",
    action="Measure the throughput between two pods and between their nodes (`iperf3`); give traffic that suffers `hostNetwork` or a routed mode.",
    needs=("list pods",),
)
HOST_DNS = Rule(
    id="network.host-dns",
    area=NETWORK,
    name="Wrong DNS on the host network",
    unit="count",
    measures=f"workloads outside {_SYSTEM} with `hostNetwork` and `dnsPolicy: ClusterFirst`, static pods left out",
    threshold="warns above 0; fails when it is more than a tenth of all workloads",
    source='Kubernetes documentation 1.36, "DNS for Services and Pods": with hostNetwork the policy has to be ClusterFirstWithHostNet',
    lesson="A pod on the host network with `ClusterFirst` quietly asks the node's own DNS server. It finds no Service, and the fault looks like a flaky network.",
    action="Set `dnsPolicy: ClusterFirstWithHostNet` where such a pod calls Services.",
    needs=("list pods",),
)
ADDRESSES = Rule(
    id="network.addresses",
    area=NETWORK,
    name="Addresses for each pod slot",
    unit="ratio",
    measures="on the node with fewest: addresses of the smallest range in spec.podCIDRs, divided by its pod slots",
    threshold="warns below 2, fails below 1",
    source='Google Kubernetes Engine, "Configure maximum Pods per node": a range of at least twice as many addresses as pods',
    lesson="With more pod slots than addresses, pods are bound to a node and stay in ContainerCreating for want of one. The scheduler does not know of it and sends more.",
    action="Lower `maxPods`, or give new nodes a larger range (`--node-cidr-mask-size` of the controller manager).",
    needs=("list nodes",),
    falling=True,
)
RULES = (PLUGIN, HOST_DNS, ADDRESSES)

_TENTH = 0.1


def checks(facts: Facts) -> Iterator[Check]:
    """Judge what the API shows of the network."""
    yield facts.in_part(PLUGIN) or _plugin(facts)
    yield facts.not_kept(HOST_DNS, "host_network") or _host_dns(facts)
    yield facts.without_nodes(ADDRESSES) or _addresses(facts)


def _plugin(facts: Facts) -> Check:
    agents = facts.living.loc[facts.living["workload_kind"] == "DaemonSet", "workload"].unique()
    running = {PLUGINS[name] for name in map(str, agents) if name in PLUGINS}
    if not running:
        return unknown(
            PLUGIN, message("No DaemonSet of a known network plugin has pods"), message("The documentation of your installation")
        )
    connecting = {one for one in running if one[0] not in _ON_TOP} or running
    if len(connecting) > 1:
        names = ", ".join(sorted(name for name, _ in connecting))
        return judged(PLUGIN, len(connecting), message("{names:text} run side by side", names=names), warn=1, fail=1)
    first, mode = next(iter(connecting))
    on_top = ", ".join(sorted(name for name, _ in running - connecting))
    name = f"{first} with {on_top} on top" if on_top else first
    words = {
        OVERLAY: "{name:text}, an overlay as it is installed by default",
        ROUTED: "{name:text}, without an overlay",
        EITHER: "{name:text}, which may be an overlay or not, as it is set up",
    }
    found = message(words[mode], name=name)
    status = Status.WARN if mode == OVERLAY else Status.OK
    return Check(PLUGIN, status, 1, 1, 1, found, (first,))


def _host_dns(facts: Facts) -> Check:
    pods = facts.living.loc[facts.living["workload_kind"] != "StaticPod"]
    wrong = pods.loc[(pods["host_network"].fillna(value=False) & pods["dns_policy"].eq("ClusterFirst").fillna(value=False)).astype(bool)]
    own = wrong.loc[wrong["namespace"] != _SYSTEM]
    names = _workloads(own)
    system = len(_workloads(wrong)) - len(names)
    found = message(
        f"{{count:count}} {plural(len(names), 'workload', 'workloads')} on the host network {plural(len(names), 'does', 'do')} not find Services by name"
        if names
        else f"No workload outside {_SYSTEM} is on the host network without finding Services; {{system:count}} in it, which seldom need to",
        **({"count": len(names)} if names else {"system": system}),
    )
    many = len(names) > _TENTH * len(_workloads(facts.living))
    return judged(HOST_DNS, len(names), found, warn=0, fail=0 if many else None, objects=names)


def _workloads(pods: pd.DataFrame) -> tuple[str, ...]:
    return tuple(sorted({f"{namespace}/{workload}" for namespace, workload in zip(pods["namespace"], pods["workload"], strict=True)}))


def _addresses(facts: Facts) -> Check:
    if not len(facts.nodes):
        return fine(ADDRESSES, message("There are no nodes"))
    nodes = facts.nodes.dropna(subset=["pod_cidrs", "allocatable_pod_count"])
    nodes = nodes.loc[nodes["allocatable_pod_count"] > 0]
    if not len(nodes):
        return unknown(
            ADDRESSES,
            message("No node has a range of addresses (spec.podCIDR): the network plugin hands them out itself"),
            message("The plugin's own figures, such as free addresses of a subnet"),
        )
    columns = (nodes[name].to_list() for name in ("pod_cidrs", "allocatable_pod_count", "node"))
    read = [(_smallest(ranges), int(slots), str(node)) for ranges, slots, node in zip(*columns, strict=True)]
    ratios = sorted((addresses / slots, node, addresses, slots) for addresses, slots, node in read if addresses is not None)
    if not ratios:
        return unknown(
            ADDRESSES,
            message("No range of addresses (spec.podCIDR) can be read"),
            message("A range in CIDR notation, such as 10.0.0.0/24"),
        )
    lowest, where, addresses, slots = ratios[0]
    found = message(
        "{addresses:count} addresses for {slots:count} pod slots on {node:text}, the fewest for a slot",
        addresses=min(addresses, _MANY),
        slots=slots,
        node=where,
    )
    return judged(ADDRESSES, lowest, found, warn=_ROOM, fail=_LEAST, objects=tuple(node for ratio, node, *_ in ratios if ratio < _ROOM))


_MANY = 2**32
"""More addresses than matter: so many are shown of a range of IPv6."""


def _smallest(ranges: str) -> int | None:
    """Give the addresses of the smallest range: a dual-stack pod needs one of each. A range that cannot be read does not count."""
    sizes = []
    for text in ranges.split(","):
        try:
            sizes.append(ipaddress.ip_network(text, strict=False).num_addresses)
        except ValueError:
            continue
    return min(sizes, default=None)
