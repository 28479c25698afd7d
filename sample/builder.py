"""Builder: the lists of a dump while they are being filled, and the nodes that pods are put on."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from sample.identity import TAKEN_AT, share, stamp
from sample.machines import GPU, Node, build_nodes, node_labels, node_object
from sample.objects import Json
from sample.pods import Ending, Identity, Restart, finished_pod, running_pod, stuck_pod, unschedulable_pod
from sample.templates import Container, Template, requests_of

FILES = (
    "nodes",
    "pods",
    "podmetrics",
    "nodemetrics",
    "jobs",
    "cronjobs",
    "replicasets",
    "deployments",
    "daemonsets",
    "statefulsets",
    "horizontalpodautoscalers",
    "poddisruptionbudgets",
    "resourcequotas",
    "namespaces",
    "services",
    "resourceslices",
    "resourceclaims",
    "deviceclasses",
)
"""Lists of the dump; the last three stay empty: the cluster uses no dynamic resource allocation."""

_METRICS = "metrics.k8s.io/v1beta1"
_MIB = 1024
"""KiB in a MiB: working sets are kept in KiB, as metrics-server writes them."""


class Builder:
    """Collects objects, and lets pods take room on nodes as the scheduler would."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Json]] = {name: [] for name in FILES}
        self.nodes: list[Node] = build_nodes()

    def add(self, file: str, item: Json) -> Json:
        """Put an object on its list."""
        self.lists[file].append(item)
        return item

    def pool(self, name: str) -> list[Node]:
        """Give the nodes of a pool."""
        return [node for node in self.nodes if node.pool == name]

    def place(self, template: Template) -> Node:
        """Choose the node of the template's pool with the fewest pods of the same app, then the least requested CPU."""
        wanted = requests_of(template)
        open_nodes = [n for n in self.pool(template.pool) if n.fits(wanted) and not n.cordoned]
        return min(open_nodes, key=lambda n: (n.apps.count(template.app), n.requests.get("cpu", 0) / n.machine.cores, n.number))

    def run(
        self, template: Template, identity: Identity, node: Node | None = None, *, measured: bool = True, restart: Restart | None = None
    ) -> Json:
        """Add a running pod: on the given node or where there is room; not `measured` when metrics-server has not seen it yet."""
        node = node or self.place(template)
        address = self._address(template, node)
        node.hold(template.app, requests_of(template))
        node.images.update(c.image for c in template.containers)
        pod = self.add("pods", running_pod(template, identity, node, address, restart))
        if measured:
            self._measure(template, pod, node)
        return pod

    def end(self, template: Template, identity: Identity, ending: Ending, node: Node | None = None) -> Json:
        """Add a pod that has finished: it holds nothing any more, but its image is still on the node."""
        node = node or self.place(template)
        node.images.update(c.image for c in template.containers)
        address = f"10.60.{node.number}.{100 + int(120 * share('address', identity.name))}"
        return self.add("pods", finished_pod(template, identity, node, address, ending))

    def keep(self, template: Template, identity: Identity, deleted: datetime, finalizers: list[str]) -> Json:
        """Add a pod that was deleted and is not gone: it holds what it requests."""
        node = self.place(template)
        address = self._address(template, node)
        node.hold(template.app, requests_of(template))
        pod = self.add("pods", stuck_pod(template, identity, node, address, deleted, finalizers))
        self._measure(template, pod, node)
        return pod

    def wait(self, template: Template, identity: Identity) -> Json:
        """Add a pod that fits nowhere, with the scheduler's message."""
        return self.add("pods", unschedulable_pod(template, identity, self._refusal(template)))

    def finish(self) -> dict[str, list[Json]]:
        """Add the nodes and their metrics, and give all lists, each sorted as the API lists them."""
        for node in self.nodes:
            self.add("nodes", node_object(node))
            self.add("nodemetrics", self._node_metrics(node))
        return {name: sorted(items, key=_listed) for name, items in self.lists.items()}

    def _address(self, template: Template, node: Node) -> str:
        return node.address if template.more.get("hostNetwork") else node.pod_address(len(node.apps))

    def _measure(self, template: Template, pod: Json, node: Node) -> None:
        metadata = pod["metadata"]
        at = TAKEN_AT - timedelta(seconds=20 + int(20 * share("scraped", metadata["name"])))
        containers = [_container_metrics(c, metadata["uid"], node) for c in template.containers if c.kind != "init"]
        self.add("podmetrics", _metrics("PodMetrics", metadata, at, 10 + 10 * share("window", metadata["uid"]), containers=containers))

    def _node_metrics(self, node: Node) -> Json:
        """Give the use of the whole machine: the pods, and kubelet, runtime and kernel beside them."""
        busy = 90_000_000 + int(150_000_000 * share("system", node.number)) + 900_000 * len(node.apps)
        held = (780 + int(420 * share("cache", node.number)) + 3 * len(node.apps)) * _MIB
        usage = {"cpu": f"{node.usage[0] + busy}n", "memory": f"{node.usage[1] + held}Ki"}
        at = TAKEN_AT - timedelta(seconds=20 + int(20 * share("scraped", node.name)))
        metadata = {"name": node.name, "labels": node_labels(node)}
        return _metrics("NodeMetrics", metadata, at, 10 + 10 * share("window", node.name), usage=usage)

    def _refusal(self, template: Template) -> str:
        """Word the refusal as kube-scheduler 1.36 does: every reason with the number of its nodes."""
        counts = Counter(reason for node in self.nodes for reason in _reasons(node, template))
        reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))
        total = len(self.nodes)
        preemption = f"preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling."
        return f"0/{total} nodes are available: {reasons}. no new claims to deallocate, {preemption}"


def _reasons(node: Node, template: Template) -> list[str]:
    """Say why the pod does not fit on the node: the first filter that refuses speaks, in the scheduler's order."""
    tolerated = {t.get("key") for t in template.more.get("tolerations", ())}
    wanted_labels = template.more.get("nodeSelector", {})
    if node.cordoned:
        return ["node(s) were unschedulable"]
    if node.machine.gpu_count and GPU not in tolerated:
        return ["node(s) had untolerated taint(s)"]
    if not node_labels(node).items() >= wanted_labels.items():
        return ["node(s) didn't match Pod's node affinity/selector"]
    return [f"Insufficient {resource}" for resource in node.lacks(requests_of(template))]


def _container_metrics(container: Container, uid: str, node: Node) -> Json:
    cores, mebibytes = container.usage
    factor = 1 + container.spread * (2 * share("cpu", uid, container.name) - 1)
    nanocores = round(cores * 1_000_000 * factor)
    factor = 1 + container.spread * (2 * share("memory", uid, container.name) - 1) / 2
    kibibytes = round(mebibytes * _MIB * factor / 4) * 4
    node.usage[0] += nanocores
    node.usage[1] += kibibytes
    return {"name": container.name, "usage": {"cpu": f"{nanocores}n" if nanocores else "0", "memory": f"{kibibytes}Ki"}}


def _metrics(kind: str, of: Json, at: datetime, window: float, **values: object) -> Json:
    metadata = {key: of[key] for key in ("name", "namespace", "labels") if key in of}
    return {
        "apiVersion": _METRICS,
        "kind": kind,
        "metadata": {**metadata, "creationTimestamp": stamp(TAKEN_AT)},
        "timestamp": stamp(at),
        "window": f"{window:.3f}".rstrip("0").rstrip(".") + "s",
        **values,
    }


def _listed(item: Json) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]
