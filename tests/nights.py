"""Sixty nights of a small cluster that grows by 2 % a week, with one step and a few workloads that move, each as a folder of kubectl's lists."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.collect.objects_json import container, node, page, pod

FIRST = datetime(2026, 10, 1, 2, 0, tzinfo=UTC)
GROWTH_A_WEEK = 1.02
STEP_NIGHT = 25
NODES, NODE_CORES, NODE_GIB = 10, 16, 64
POOL = "general"

_START_CPU, _START_MEMORY = 90_000, 300.0
"""Millicores and GiB that the growing workload asks for on the first night, at the level after the step."""

_BEFORE_STEP = 0.9


def moment(night: int) -> datetime:
    """Give when a night's run is, night 0 being the first."""
    return FIRST + timedelta(days=night)


def growing(night: int) -> tuple[int, int]:
    """Give CPU (millicores) and memory (bytes) that the growing workload asks for."""
    factor = GROWTH_A_WEEK ** (night / 7) * (_BEFORE_STEP if night < STEP_NIGHT else 1)
    return round(_START_CPU * factor), round(_START_MEMORY * 2**30 * factor)


def full_after_days(resource: str, last_night: int, steady: tuple[int, int]) -> float:
    """Work out after how many days from the last night that workload and the `steady` rest (millicores, bytes) fill the pool, by the formula."""
    size = {"cpu": NODES * NODE_CORES * 1000 - steady[0], "memory": NODES * NODE_GIB * 2**30 - steady[1]}[resource]
    start = {"cpu": _START_CPU, "memory": _START_MEMORY * 2**30}[resource]
    return 7 * math.log(size / start) / math.log(GROWTH_A_WEEK) - last_night


def write(folder: Path, night: int, moved: dict[str, int]) -> Path:
    """Write what kubectl would give that night; `moved` are the pods of the workloads that move, of 1 core and 2 GiB each."""
    folder.mkdir(parents=True)
    cpu, memory = growing(night)
    size = {"cpu": str(NODE_CORES), "memory": f"{NODE_GIB}Gi", "pods": "110"}
    nodes = [
        node(f"n{number}", labels={"karpenter.sh/nodepool": POOL}, status={"capacity": size, "allocatable": size, "conditions": [_READY]})
        for number in range(NODES)
    ]
    pods = [_pod("shop", "web", number, f"{cpu // NODES}m", str(memory // NODES), f"n{number}") for number in range(NODES)]
    for name, count in moved.items():
        namespace, _, workload = name.partition("/")
        pods += [_pod(namespace, workload, number, "1", "2Gi", f"n{number % NODES}") for number in range(count)]
    (folder / "nodes.json").write_bytes(page(*nodes))
    (folder / "pods.json").write_bytes(page(*pods))
    return folder


_READY = {"type": "Ready", "status": "True"}


def _pod(namespace: str, workload: str, number: int, cpu: str, memory: str, on: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": workload, "uid": workload, "controller": True}
    asks = container(requests={"cpu": cpu, "memory": memory})
    return pod(
        f"{workload}-{number}",
        namespace=namespace,
        ownerReferences=[owner],
        spec={"nodeName": on, "containers": [asks]},
        status={"phase": "Running"},
    )
