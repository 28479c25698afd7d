"""What is wrong with GPU nodes and what they advertise, and what to do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from batch.accelerators import LEGACY
from batch.findings import Finding, Message, Severity, message, plural
from batch.gpu.model import DevicePool
from batch.gpu.nodes import Row
from batch.gpu.totals import advertises, idle

SECTION = "gpus"


def judge_nodes(
    rows: Sequence[Row], unknown_resources: Sequence[str], pools: Sequence[DevicePool], *, pools_known: bool
) -> Iterator[Finding]:
    """Give the findings about rows of GPU_NODES, names that look like accelerators of no known vendor, and pools of devices.

    What is not known is not judged: a node whose requests are not known is not idle, and none is silent while its devices may be claimed
    (`pools_known`).
    """
    by_resource: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_resource[row["resource"]].append(row)
    yield from _idle_nodes(rows)
    if pools_known:
        yield from _silent_nodes(rows)
    for resource, own in sorted(by_resource.items()):
        yield from _broken(resource, own)
    yield from _legacy(rows)
    yield from _unknown(unknown_resources)
    yield from _incomplete(pools)
    yield from _twice(rows, pools)


def nodes_worth(count: int) -> Message:
    """Say how many nodes a finding is about."""
    return message(f"{{count:count}} {plural(count, 'node', 'nodes')}", count=count)


def _idle_nodes(rows: Sequence[Row]) -> Iterator[Finding]:
    busy = {row["node"] for row in rows if row.get("requests_count")}
    names = sorted({row["node"] for row in rows if idle(row)} - busy)
    if not names:
        return
    yield Finding(
        id="gpus.idle-nodes",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            "No pod requests a GPU on {idle:count} of {total:count} GPU nodes",
            idle=len(names),
            total=len({row["node"] for row in rows if advertises(row)}),
        ),
        detail=message("Such a node costs as much as a busy one. Pods without a GPU may run there, but do not need a GPU node."),
        action=message(
            "Scale their node pools down, or drain them one by one: `kubectl drain {node:text} --ignore-daemonsets`", node=names[0]
        ),
        objects=tuple(names),
        worth=nodes_worth(len(names)),
        worth_of="without a GPU request",
        weight=len(names),
    )


def _silent_nodes(rows: Sequence[Row]) -> Iterator[Finding]:
    unknown = {row["node"] for row in rows if row["resource"] and row["capacity_count"] is None}
    names = sorted({row["node"] for row in rows} - {row["node"] for row in rows if advertises(row)} - unknown)
    if not names:
        return
    many = message("{count:count} GPU nodes advertise no GPU, {node:text} among them", count=len(names), node=names[0])
    yield Finding(
        id="gpus.none-advertised",
        severity=Severity.WARNING,
        section=SECTION,
        title=many if len(names) > 1 else message("GPU node {node:text} advertises no GPU", node=names[0]),
        detail=message(
            "Labels or pods say that it has GPUs, but its capacity holds none and no ResourceSlice names it: the device plugin or the driver "
            "does not run."
        ),
        action=message(
            "See `kubectl describe node {node:text}`, then the log of the device plugin's pod on that node; restart that pod", node=names[0]
        ),
        objects=tuple(names),
        worth=nodes_worth(len(names)),
        worth_of="advertising none",
        weight=len(names),
    )


def _broken(resource: str, rows: Sequence[Row]) -> Iterator[Finding]:
    broken = [row for row in rows if row.get("allocatable_count") is not None and (row["capacity_count"] or 0) > row["allocatable_count"]]
    if not broken:
        return
    names = sorted(row["node"] for row in broken)
    missing = sum(row["capacity_count"] - row["allocatable_count"] for row in broken)
    over = [row for row in broken if (row["requests_count"] or 0) > row["allocatable_count"]]
    yield Finding(
        id=f"gpus.not-allocatable/{resource}",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            "{missing:count} of {capacity:count} {resource:text} cannot be allocated",
            missing=missing,
            capacity=sum(row["capacity_count"] or 0 for row in rows),
            resource=resource,
        ),
        detail=_broken_detail(over),
        action=message(
            "See `kubectl describe node {node:text}` and the log of the device plugin's pod on that node; replace the node if its GPU is broken",
            node=names[0],
        ),
        objects=tuple(names),
        worth=nodes_worth(len(names)),
        worth_of="with GPUs out of use",
        weight=len(names),
    )


def _broken_detail(over: Sequence[Row]) -> Message:
    text = "The kubelet counts them as capacity, but the device plugin reports them as unhealthy or does not run."
    if not over:
        return message(text)
    return message(
        text + " On {node:text} pods still hold {held:count}, more than the {left:count} that are left.",
        node=over[0]["node"],
        held=over[0]["requests_count"],
        left=over[0]["allocatable_count"],
    )


def _legacy(rows: Sequence[Row]) -> Iterator[Finding]:
    names = sorted(row["node"] for row in rows if row["resource"] == LEGACY)
    if not names:
        return
    yield Finding(
        id="gpus.legacy-resource",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message("Nodes still advertise {resource:text}", resource=LEGACY),
        detail=message("Kubernetes 1.11 removed that name; pods that request nvidia.com/gpu do not find these GPUs."),
        action=message("Install NVIDIA's device plugin on {node:text} and request nvidia.com/gpu instead", node=names[0]),
        objects=tuple(names),
        worth=nodes_worth(len(names)),
        worth_of="with the old name",
        weight=len(names),
    )


def _unknown(resources: Sequence[str]) -> Iterator[Finding]:
    if not resources:
        return
    yield Finding(
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


def _incomplete(pools: Sequence[DevicePool]) -> Iterator[Finding]:
    broken = [pool for pool in pools if not pool.complete]
    if not broken:
        return
    first = broken[0]
    yield Finding(
        id="gpus.incomplete-pools",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(broken), 'pool', 'pools')} of devices {plural(len(broken), 'is', 'are')} incomplete, and no claim gets a device from {plural(len(broken), 'it', 'them')}",
            count=len(broken),
        ),
        detail=message(
            "Of pool {pool:text} of {driver:text} {found:count} of {all:count} ResourceSlices of generation {generation:text} are there. The scheduler waits for the others.",
            pool=first.pool,
            driver=first.driver,
            found=first.found_slice_count,
            all=first.slice_count,
            generation=str(first.generation),
        ),
        action=message(
            "See `kubectl get resourceslices` and the log of the driver's pod {where:text}",
            where=f"on {first.node}" if first.node else "there",
        ),
        objects=tuple(f"{pool.driver}/{pool.pool}" for pool in broken),
        weight=len(broken),
    )


def _twice(rows: Sequence[Row], pools: Sequence[DevicePool]) -> Iterator[Finding]:
    plugged: Mapping[str, str] = {row["node"]: row["resource"] for row in rows if advertises(row)}
    both = sorted({pool.node for pool in pools if pool.accelerator and pool.node in plugged and pool.node is not None})
    if not both:
        return
    yield Finding(
        id="gpus.advertised-twice",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(both), 'node offers', 'nodes offer')} accelerators both by a device plugin and by dynamic resource allocation",
            count=len(both),
        ),
        detail=message(
            "Where they are the same cards, two pods can be given one card. Their cards are counted once here: the larger of the two numbers."
        ),
        action=message(
            "Switch off one of the two on {node:text}: `kubectl describe node {node:text}`, `kubectl get resourceslices`", node=both[0]
        ),
        objects=tuple(both),
        worth=nodes_worth(len(both)),
        worth_of="with both",
        weight=len(both),
    )
