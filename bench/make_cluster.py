"""Write a large cluster as pages of API answers, with the totals that a right reader finds in it.

    python -m bench.make_cluster --nodes 5000 --pods 150000 FOLDER

writes <list>-NNNN.json for the lists that a run reads, version.json and expected.json. The same arguments give the same bytes.
A pod is about 8 KB, as in real clusters: managedFields, environment, volumes, probes, statuses.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.amounts import GPU, KIB, MIB, Amounts, Container
from bench.controller_objects import LISTS, autoscaler_text, controller_text, cronjob_text
from bench.dice import Dice
from bench.node_objects import Node, draw_images, draw_node, node_metrics_text, node_text
from bench.pages import Pages
from bench.pod_objects import last_state, pod_metrics_text, pod_text
from bench.workloads import NODE_AGENTS, Workload, draw_workload, node_agent

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
"""When the cluster was like this. Runs on it are given this clock, or its measurements are too old to use."""

VERSION = "v1.36.2"
_NANO = 10**6
"""Nanocores in a millicore."""

_TRIES = 12
_LONGEST_AGE_SECONDS = 90 * 86400
_SHARE_SCALED = 0.2


_EMPTY = ("resourceslices", "resourceclaims", "deviceclasses", "services", "resourcequotas", "poddisruptionbudgets")
"""Lists that are there and hold nothing: no driver of dynamic resource allocation runs, and nothing limits what may be asked for."""


class ClusterWriter:
    """Draws nodes, then workloads and their pods until there are enough, and adds up while it writes."""

    def __init__(self, folder: Path, node_count: int, pod_count: int, seed: int) -> None:
        self._dice = Dice(seed)
        self._left = pod_count
        gpu_count = node_count // 20
        self._nodes = [draw_node(self._dice, i, gpu=i < gpu_count) for i in range(node_count)]
        self._pages = {
            "nodes": Pages(folder, "nodes", "NodeList", "v1"),
            "pods": Pages(folder, "pods", "PodList", "v1"),
            "podmetrics": Pages(folder, "podmetrics", "PodMetricsList", "metrics.k8s.io/v1beta1", paged=False),
            "nodemetrics": Pages(folder, "nodemetrics", "NodeMetricsList", "metrics.k8s.io/v1beta1", paged=False),
            "jobs": Pages(folder, "jobs", "JobList", "batch/v1"),
            "cronjobs": Pages(folder, "cronjobs", "CronJobList", "batch/v1"),
            "deployments": Pages(folder, "deployments", "DeploymentList", "apps/v1"),
            "statefulsets": Pages(folder, "statefulsets", "StatefulSetList", "apps/v1"),
            "daemonsets": Pages(folder, "daemonsets", "DaemonSetList", "apps/v1"),
            "horizontalpodautoscalers": Pages(folder, "horizontalpodautoscalers", "HorizontalPodAutoscalerList", "autoscaling/v2"),
        }
        self._totals: Counter[str] = Counter(pending_pod_count=0)
        self._phases: Counter[str] = Counter()
        self._addresses = 0

    def write(self) -> dict[str, object]:
        """Write everything; give the expected totals and the size of each list."""
        for name, millicores, mebibytes in NODE_AGENTS:
            replicas = min(len(self._nodes), self._left // 2)
            self._add_workload(node_agent(self._dice, name, millicores, mebibytes, replicas))
        number = 0
        while self._left:
            self._add_workload(draw_workload(self._dice, number))
            number += 1
        self._add_nodes()
        for pages in self._pages.values():
            pages.close()
        lists = {name: {"count": pages.count, "bytes": pages.byte_count} for name, pages in self._pages.items()}
        return {"totals": {**self._totals, "pod_count_by_phase": self._phases}, "lists": lists}

    def _add_nodes(self) -> None:
        images, time = draw_images(self._dice), _stamp(NOW)
        for node in self._nodes:
            self._pages["nodes"].add(node_text(node, images, time, self._dice))
            self._count_node(node)
            if node.ready:
                self._pages["nodemetrics"].add(node_metrics_text(node, time))

    def _count_node(self, node: Node) -> None:
        self._totals.update(node_count=1, ready_node_count=node.ready, allocatable_pod_count=node.allocatable["pods"])
        self._count_amounts("capacity", node.capacity)
        self._count_amounts("allocatable", node.allocatable)
        if node.ready:
            nanocores, kibibytes = node.usage
            self._totals.update(measured_node_count=1, machine_usage_cpu_nanocores=nanocores, machine_usage_memory_bytes=kibibytes * KIB)

    def _add_workload(self, workload: Workload) -> None:
        replicas = min(workload.replicas, self._left)
        self._left -= replicas
        writer = _PodWriter(workload, self._dice)
        for index in range(replicas):
            node = self._nodes[index] if workload.kind == "DaemonSet" else self._place(workload)
            self._add_pod(workload, writer, index, node)
        self._pages[LISTS[workload.kind]].add(controller_text(workload, _stamp(NOW - timedelta(hours=1)), self._dice))
        if workload.kind == "CronJob":
            self._pages["cronjobs"].add(cronjob_text(workload, _stamp(NOW - timedelta(hours=1)), self._dice))
        if workload.kind == "Deployment" and self._dice.chance(_SHARE_SCALED):
            self._pages["horizontalpodautoscalers"].add(autoscaler_text(workload, _stamp(NOW)))

    def _place(self, workload: Workload) -> Node | None:
        """Choose the first of a few nodes that has room; GPU nodes, which come first, take GPU pods alone."""
        gpu_count = len(self._nodes) // 20
        for _ in range(_TRIES):
            number = self._dice.below(gpu_count) if GPU in workload.requests else gpu_count + self._dice.below(len(self._nodes) - gpu_count)
            node = self._nodes[number]
            if node.fits(workload.requests) and node.ready and node.schedulable:
                return node
        return None

    def _add_pod(self, workload: Workload, writer: _PodWriter, index: int, node: Node | None) -> None:
        state = workload.state if node else "Unschedulable"
        self._addresses += 1
        pod, metrics, used = writer.write(state, index, node, self._addresses, self._nodes)
        self._pages["pods"].add(pod)
        self._phases[{"Starting": "Pending", "Crashing": "Running", "Unschedulable": "Pending"}.get(state, state)] += 1
        if node is None:
            self._totals["pending_pod_count"] += 1
        elif state not in ("Succeeded", "Failed"):
            node.hold(workload.requests)
            self._totals["bound_pod_count"] += 1
            self._count_amounts("requests", workload.requests)
            self._count_amounts("limits", workload.limits)
        if node and metrics:
            self._pages["podmetrics"].add(metrics)
            nanocores, kibibytes = used
            node.use(nanocores, kibibytes)
            self._totals.update(measured_pod_count=1, usage_cpu_nanocores=nanocores, usage_memory_bytes=kibibytes * KIB)

    def _count_amounts(self, what: str, amounts: Amounts) -> None:
        self._totals[f"{what}_cpu_nanocores"] += amounts.get("cpu", 0) * _NANO
        self._totals[f"{what}_memory_bytes"] += amounts.get("memory", 0)
        if what != "limits":
            self._totals[f"{what}_gpu_count"] += amounts.get(GPU, 0)


class _PodWriter:
    """Fills in the texts of one workload."""

    def __init__(self, workload: Workload, dice: Dice) -> None:
        self._workload, self._dice = workload, dice
        self._texts: dict[str, str] = {}
        self._suffixes: set[str] = set()
        self._metrics = pod_metrics_text(workload, _stamp(NOW - timedelta(seconds=20)))

    def write(self, state: str, index: int, node: Node | None, address: int, nodes: list[Node]) -> tuple[str, str | None, tuple[int, int]]:
        """Give a pod, its metrics (None when it has none) and its usage in nanocores and KiB."""
        dice = self._dice
        created = NOW - timedelta(seconds=120 + dice.below(_LONGEST_AGE_SECONDS))
        values: dict[str, object] = {
            "name": f"{self._workload.owner_name}-{index if self._workload.kind == 'StatefulSet' else self._new_suffix()}",
            "uid": dice.uid(),
            "version": str(800_000_000 + dice.below(10**8)),
            "created": _stamp(created),
            "started": _stamp(created + timedelta(seconds=5 + dice.below(60))),
            "token": dice.suffix(5),
            "node": node.name if node else str(len(nodes)),
            "host_ip": node.address if node else "",
            "pod_ip": f"10.{64 + address // 65536}.{address // 256 % 256}.{address % 256}",
            "container_id": dice.hex(64),
            "restarts": 0,
            "last_state": "{}",
        }
        if dice.chance(0.05) or state == "Crashing":
            values |= {"restarts": 1 + dice.below(6), "last_state": last_state(_stamp(created), dice)}
        if state not in self._texts:
            self._texts[state] = pod_text(self._workload, state, dice)
        if state != "Running" or (node and not node.ready) or dice.chance(0.01):
            return self._texts[state] % values, None, (0, 0)
        used = [self._use(container) for container in self._workload.running]
        for i, (nanocores, kibibytes) in enumerate(used):
            values |= {f"cpu{i}": nanocores, f"memory{i}": kibibytes}
        return self._texts[state] % values, self._metrics % values, (sum(cpu for cpu, _ in used), sum(memory for _, memory in used))

    def _new_suffix(self) -> str:
        suffix = self._dice.suffix(5)
        while suffix in self._suffixes:
            suffix = self._dice.suffix(5)
        self._suffixes.add(suffix)
        return suffix

    def _use(self, container: Container) -> tuple[int, int]:
        share = self._workload.load * (0.5 + self._dice.share())
        nanocores = int(container.requests.get("cpu", 20) * _NANO * share)
        return nanocores, int(container.requests.get("memory", 32 * MIB) * min(0.95, share)) // KIB


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def make_cluster(folder: Path, node_count: int, pod_count: int, seed: int = 1) -> None:
    """Write a cluster into a folder, which is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    expected = ClusterWriter(folder, node_count, pod_count, seed).write()
    for name in _EMPTY:
        (folder / f"{name}-0001.json").write_text('{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}\n')
    (folder / "version.json").write_text(json.dumps({"gitVersion": VERSION}) + "\n")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    make_cluster(arguments.folder, arguments.nodes, arguments.pods, arguments.seed)


if __name__ == "__main__":
    main()
