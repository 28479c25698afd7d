from typing import Any

import pytest

from batch.scale.model import Status
from tests.builders import PodRows, node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, check, said


def agent(name: str) -> PodRows:
    return pod(f"{name}-x", namespace="kube-system", workload_kind="DaemonSet", workload=name)


@pytest.mark.parametrize(
    ("agents", "status", "says"),
    [
        (("aws-node", "kube-proxy"), OK, "Amazon VPC CNI, without an overlay"),
        (("calico-node",), OK, "Calico, which may be an overlay or not, as it is set up"),
        (("kube-flannel-ds",), WARN, "flannel, an overlay as it is installed by default"),
        (("kube-flannel-ds", "weave-net"), FAIL, "Weave Net, flannel run side by side"),
        (("aws-node", "calico-node"), OK, "Amazon VPC CNI with Calico on top, without an overlay"),  # policies on EKS
        (("azure-cns", "cilium"), OK, "Azure CNI with Cilium on top, which may be an overlay or not, as it is set up"),
        (("netd", "anetd"), OK, "GKE, without an overlay"),
        (("kube-flannel-ds", "cilium"), WARN, "flannel with Cilium on top, an overlay as it is installed by default"),
        (("calico-node", "cilium"), FAIL, "Calico, Cilium run side by side"),
        (("fluentd",), UNKNOWN, "No DaemonSet of a known network plugin has pods"),
    ],
)
def test_the_plugin_is_known_by_its_daemon_set(agents: tuple[str, ...], status: Status, says: str) -> None:
    found = check("network.plugin", nodes=[node("n1")], pods=list(map(agent, agents)))
    assert (found.status, said(found)) == (status, says)


def lost(name: str, **columns: Any) -> PodRows:
    return pod(name, **{"host_network": True, "dns_policy": "ClusterFirst", **columns})


@pytest.mark.parametrize(
    ("pods", "status", "names"),
    [
        ([lost("a", dns_policy="ClusterFirstWithHostNet"), lost("b", dns_policy="Default"), lost("c", host_network=False)], OK, ()),
        ([lost("proxy", namespace="kube-system"), lost("etcd", workload_kind="StaticPod")], OK, ()),
        ([lost("a"), *(pod(f"p{number}") for number in range(9))], WARN, ("default/a",)),
        ([lost("a"), pod("p")], FAIL, ("default/a",)),
        ([lost("a", phase="Succeeded")], OK, ()),
    ],
)
def test_pods_on_the_host_network_need_their_own_dns_policy(pods: list[PodRows], status: Status, names: tuple[str, ...]) -> None:
    found = check("network.host-dns", nodes=[node("n1")], pods=pods)
    assert (found.status, found.objects) == (status, names)


def test_an_older_snapshot_does_not_tell_who_is_on_the_host_network() -> None:
    assert check("network.host-dns", nodes=[node("n1")], pods=[pod("p", host_network=None)]).status is UNKNOWN


@pytest.mark.parametrize(
    ("ranges", "slots", "status", "value"),
    [
        ("10.0.0.0/24", 110, OK, 256 / 110),
        ("10.0.0.0/24", 250, WARN, 256 / 250),
        ("10.0.0.0/25", 250, FAIL, 128 / 250),
        ("10.0.0.0/24,fd00::/64", 110, OK, 256 / 110),  # dual stack: the smaller range decides
        ("10.0.0.0/24", 128, OK, 2.0),
    ],
)
def test_addresses_are_held_against_pod_slots(ranges: str, slots: int, status: Status, value: float) -> None:
    found = check("network.addresses", nodes=[node("n1", pod_cidrs=ranges, pods=slots), node("roomy", pod_cidrs="10.1.0.0/16", pods=110)])
    assert (found.status, found.value) == (status, value)


def test_nodes_without_a_range_leave_it_unknown() -> None:
    assert check("network.addresses", nodes=[node("n1")]).status is UNKNOWN
    assert check("network.addresses", nodes=[node("n1", pod_cidrs="nonsense")]).status is UNKNOWN
    assert check("network.addresses", nodes=[node("n1", pod_cidrs="nonsense"), node("n2", pod_cidrs="10.0.0.0/25")]).objects == ("n2",)
    assert check("network.addresses", unread=["nodes"]).status is UNKNOWN
    assert check("network.plugin", namespaces=("team",)).status is UNKNOWN
