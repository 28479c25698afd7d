"""Pods on GPU nodes: ordinary ones that need no GPU there, and those that eat what free GPUs would need beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from batch.gpu.model import Guests, Stranding
from batch.gpu.nodes import Row
from batch.gpu.room import FREE_REASONS, Rooms
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import PODS

_NODE_BOUND = ("DaemonSet", "Node")
"""Owners of pods that belong to their node: another node has its own."""

_NAMED = 3
"""Pods that are named."""

_MEASURE = {"CPU": "requests_cpu_nanocores", "memory": "requests_memory_bytes"}

Pods = Mapping[str, list[dict[str, Any]]]
"""Bound pods by node."""


def pods_of(snapshot: Snapshot, nodes: set[str | None]) -> Pods:
    """Give the bound pods of these nodes."""
    bound = views.bound_pods(snapshot)
    columns = ["namespace", "pod", "node", "owner_kind", "requests_cpu_nanocores", "requests_memory_bytes"]
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in PODS.to_arrow(bound.loc[bound["node"].isin(nodes)]).select(columns).to_pylist():
        found[row["node"]].append(row)
    return found


def guests(pods: Pods, holding: set[tuple[str, str]], rooms: Rooms, pools: Mapping[str, str]) -> tuple[Guests, ...]:
    """Give the nodes with ordinary pods that hold no accelerator, those where they take most CPU first. `holding` are pods that do hold one."""
    found = [
        _guests(node, [p for p in own if p["owner_kind"] not in _NODE_BOUND and (p["namespace"], p["pod"]) not in holding], rooms, pools)
        for node, own in pods.items()
    ]
    return tuple(sorted((one for one in found if one.pod_count), key=lambda one: (-(one.cpu_ratio or 0), -one.pod_count, one.node)))


def _guests(node: str, own: list[dict[str, Any]], rooms: Rooms, pools: Mapping[str, str]) -> Guests:
    cpu, memory = (_sum(pod[name] for pod in own) for name in _MEASURE.values())
    whole_cpu, whole_memory, _ = rooms[node].allocatable
    return Guests(
        node=node,
        pool=pools.get(node, "none"),
        pod_count=len(own),
        requests_cpu_nanocores=cpu,
        requests_memory_bytes=memory,
        cpu_ratio=cpu / whole_cpu if cpu is not None and whole_cpu else None,
        memory_ratio=memory / whole_memory if memory is not None and whole_memory else None,
        pods=tuple(name for name, _ in _largest(own, "CPU")),
    )


def strandings(rows: Sequence[Row], pods: Pods, rooms: Rooms) -> tuple[Stranding, ...]:
    """Give every row of a stranded node with free ones: what it lacks first, and the pods that request most of that."""
    found = []
    for row in rows:
        if row.get("free_reason") == FREE_REASONS[1] and row["free_count"]:
            lacking = rooms[row["node"]].short_of[0]
            largest = tuple(_largest(pods.get(row["node"], []), lacking))
            found.append(Stranding(row["node"], row["pool"], row["resource"], row["product"], row["free_count"], row["short_of"], largest))
    return tuple(sorted(found, key=lambda one: (-one.free_count, one.node, one.resource)))


def _sum(amounts: Iterable[int | None]) -> int | None:
    """Add up; a part is not the whole, so None where one is not known."""
    listed = list(amounts)
    return None if None in listed else sum(amount for amount in listed if amount is not None)


def _largest(own: Sequence[dict[str, Any]], resource: str) -> list[tuple[str, int]]:
    """Name the pods that request most of a resource; where slots are short every pod takes one, and those that ask least are named."""
    column = _MEASURE.get(resource)
    if column is None:
        ordered = sorted(own, key=lambda pod: (pod["requests_cpu_nanocores"] or 0, pod["namespace"], pod["pod"]))
        return [(f"{pod['namespace']}/{pod['pod']}", 1) for pod in ordered[:_NAMED]]
    ordered = sorted(own, key=lambda pod: (-(pod[column] or 0), pod["namespace"], pod["pod"]))
    return [(f"{pod['namespace']}/{pod['pod']}", pod[column]) for pod in ordered[:_NAMED] if pod[column]]
