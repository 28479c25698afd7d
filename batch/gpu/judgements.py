"""What is wrong with the accelerators, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from batch.accelerators import LEGACY
from batch.findings import Finding, Message, Severity, message, plural
from batch.gpu.allocation import ROOM_CPU_NANOCORES, ROOM_MEMORY_BYTES
from batch.gpu.totals import advertising, idle

SECTION = "gpus"


def judge(nodes: pd.DataFrame, unknown_resources: Sequence[str]) -> tuple[Finding, ...]:
    """Give the findings about the table GPU_NODES and the names that look like accelerators of no known vendor.

    What is not known is not judged: a node whose requests are NA is neither idle nor stranded.
    """
    by_resource = [(str(resource), rows) for resource, rows in nodes.groupby("resource")]
    return (
        *_idle_nodes(nodes),
        *_silent_nodes(nodes),
        *(finding for resource, rows in by_resource for finding in _stranded(resource, rows)),
        *(finding for resource, rows in by_resource for finding in _broken(resource, rows)),
        *_legacy(nodes),
        *_unknown(unknown_resources),
    )


def _idle_nodes(nodes: pd.DataFrame) -> list[Finding]:
    busy = nodes.loc[(nodes["requests_count"] > 0).fillna(value=False), "node"]
    names = sorted(set(nodes.loc[idle(nodes), "node"]) - set(busy))
    if not names:
        return []
    total = nodes.loc[advertising(nodes), "node"].nunique()
    return [
        Finding(
            id="gpus.idle-nodes",
            severity=Severity.WARNING,
            section=SECTION,
            title=message("No pod requests a GPU on {idle:count} of {total:count} GPU nodes", idle=len(names), total=total),
            detail=message("Such a node costs as much as a busy one. Pods without a GPU may run there, but do not need a GPU node."),
            action=message(
                "Scale their node pools down, or drain them one by one: `kubectl drain {node:text} --ignore-daemonsets`", node=names[0]
            ),
            objects=tuple(names),
            worth=_nodes(len(names)),
            worth_of="without a GPU request",
            weight=len(names),
        )
    ]


def _silent_nodes(nodes: pd.DataFrame) -> list[Finding]:
    names = sorted(set(nodes["node"]) - set(nodes.loc[advertising(nodes), "node"]))
    if not names:
        return []
    many = message("{count:count} GPU nodes advertise no GPU, {node:text} among them", count=len(names), node=names[0])
    return [
        Finding(
            id="gpus.none-advertised",
            severity=Severity.WARNING,
            section=SECTION,
            title=many if len(names) > 1 else message("GPU node {node:text} advertises no GPU", node=names[0]),
            detail=message(
                "Labels or pods say that it has GPUs, but its capacity holds none: the device plugin or the driver does not run, "
                "or the GPUs are given out by dynamic resource allocation alone."
            ),
            action=message(
                "See `kubectl describe node {node:text}`, then the log of the device plugin's pod on that node; restart that pod",
                node=names[0],
            ),
            objects=tuple(names),
            worth=_nodes(len(names)),
            worth_of="advertising none",
            weight=len(names),
        )
    ]


def _stranded(resource: str, rows: pd.DataFrame) -> list[Finding]:
    stranded = rows.loc[(rows["free_reason"] == "stranded").fillna(value=False) & (rows["free_count"] > 0)]
    if stranded.empty:
        return []
    names, count, free = sorted(stranded["node"]), int(stranded["free_count"].sum()), int(rows["free_count"].sum())
    return [
        Finding(
            id=f"gpus.stranded/{resource}",
            severity=Severity.WARNING,
            section=SECTION,
            title=message(
                f"{{count:count}} of {{free:count}} free {{resource:text}} {plural(count, 'is', 'are')} stranded",
                count=count,
                free=free,
                resource=resource,
            ),
            detail=message(
                "Their nodes ({nodes:count}) have less than {cpu:nanocores} or less than {memory:bytes} left to request, or no pod slot: "
                "a pod that needs more does not start there.",
                nodes=len(names),
                cpu=ROOM_CPU_NANOCORES,
                memory=ROOM_MEMORY_BYTES,
            ),
            action=message(
                "Lower the CPU and memory requests of the pods in `kubectl describe node {node:text}`, or keep pods without a GPU off "
                "GPU nodes with a taint",
                node=names[0],
            ),
            objects=tuple(names),
            worth=_nodes(len(names)),
            worth_of="too full for their GPUs",
            weight=len(names),
        )
    ]


def _broken(resource: str, rows: pd.DataFrame) -> list[Finding]:
    broken = rows.loc[(rows["capacity_count"] > rows["allocatable_count"]).fillna(value=False)]
    if broken.empty:
        return []
    names, missing = sorted(broken["node"]), int((broken["capacity_count"] - broken["allocatable_count"]).sum())
    return [
        Finding(
            id=f"gpus.not-allocatable/{resource}",
            severity=Severity.WARNING,
            section=SECTION,
            title=message(
                "{missing:count} of {capacity:count} {resource:text} cannot be allocated",
                missing=missing,
                capacity=int(rows["capacity_count"].dropna().sum()),
                resource=resource,
            ),
            detail=message("The kubelet counts them as capacity, but the device plugin reports them as unhealthy or does not run."),
            action=message(
                "See `kubectl describe node {node:text}` and the log of the device plugin's pod on that node; replace the node if its GPU "
                "is broken",
                node=names[0],
            ),
            objects=tuple(names),
            worth=_nodes(len(names)),
            worth_of="with GPUs out of use",
            weight=len(names),
        )
    ]


def _legacy(nodes: pd.DataFrame) -> list[Finding]:
    names = sorted(nodes.loc[nodes["resource"] == LEGACY, "node"])
    if not names:
        return []
    return [
        Finding(
            id="gpus.legacy-resource",
            severity=Severity.ADVICE,
            section=SECTION,
            title=message("Nodes still advertise {resource:text}", resource=LEGACY),
            detail=message("Kubernetes 1.11 removed that name; pods that request nvidia.com/gpu do not find these GPUs."),
            action=message("Install NVIDIA's device plugin on {node:text} and request nvidia.com/gpu instead", node=names[0]),
            objects=tuple(names),
            worth=_nodes(len(names)),
            worth_of="with the old name",
            weight=len(names),
        )
    ]


def _unknown(resources: Sequence[str]) -> list[Finding]:
    if not resources:
        return []
    return [
        Finding(
            id="gpus.unknown-resources",
            severity=Severity.ADVICE,
            section=SECTION,
            title=message("Resources that may be accelerators are not counted: {resources:text}", resources=", ".join(resources)),
            detail=message("Their names belong to no vendor known here, so they are in none of the totals."),
            action=message(
                "Find out what advertises {resource:text}: `kubectl get nodes -o yaml` names the nodes; count it by hand until then",
                resource=resources[0],
            ),
            objects=tuple(resources),
            weight=len(resources),
        )
    ]


def _nodes(count: int) -> Message:
    return message("{count:count} nodes" if count != 1 else "{count:count} node", count=count)
