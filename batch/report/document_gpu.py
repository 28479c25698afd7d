"""The part of report.json about accelerators, and what is not known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from batch.findings import message
from batch.gpu.model import GPU_NODES, Blocker, DevicePool, GpuAssessment, GpuResource, Guests, Holder, Hours, Share, Stranding, Waiting
from batch.report.format import render_message
from batch.snapshot.model import Gap, Snapshot

_CORE = 10**9
_NODES_NAMED = 50
"""Nodes of a waiting pod that are named; tables/gpu-waiting.csv has more."""

_ACTIVITY = "Whether requested accelerators work is unknown: usage, GPU-hours, and who holds idle ones."
_SOURCES = ("gpu_usage", "prometheus")
"""How a gap of the source of activity is called; then there is no need for another one."""


def gpu_gaps(gpu: GpuAssessment, snapshot: Snapshot) -> Iterator[Gap]:
    """Say what is not known of accelerators, and why."""
    there_are_none = snapshot.has("nodes") and not (gpu.resources or gpu.pools or gpu.holders)
    if not there_are_none and not gpu.activity_known and not any(gap.source in _SOURCES for gap in snapshot.gaps):
        yield Gap("GPU activity", "no Prometheus", _ACTIVITY)
    unknown = sorted(node for node, cards in gpu.node_cards.items() if cards is None)
    if unknown and snapshot.has("nodes"):
        reason = (
            f"node {unknown[0]} does not say how many cards are behind what it offers"
            if len(unknown) == 1
            else f"{len(unknown)} nodes do not say how many cards are behind what they offer, {unknown[0]} among them"
        )
        yield Gap("GPU cards", reason, "Totals in cards are unknown; gpu.slots_per_card can tell.")


def gpu_document(gpu: GpuAssessment) -> dict[str, Any]:
    """Put the part together: counts in the unit of each resource, cards as numbers, hours and ratios as floats, None for what is not known."""
    return {
        "card_count": gpu.card_count,
        "requests_card_equivalents": gpu.requests_cards,
        **_hours(gpu.hours),
        "window_seconds": gpu.window_seconds,
        "activity_metrics": list(gpu.metrics),
        "unattributed_hours": gpu.unattributed_hours,
        "pending_pod_count": gpu.pending_pod_count,
        "unknown_resources": list(gpu.unknown_resources),
        "resources": [_resource(resource) for resource in gpu.resources],
        "dra": [_pool(pool) for pool in gpu.pools],
        "nodes": _nodes(gpu),
        "holders": [holder_document(holder) for holder in gpu.holders],
        "shares": [share_document(share) for share in gpu.shares],
        "waiting": [_waiting(one) for one in gpu.waiting],
        "guests": [guests_document(one) for one in gpu.guests],
        "stranded": [_stranding(one) for one in gpu.strandings],
        "costs": {
            "currency": gpu.costs.currency or None,
            "products": [vars(cost) for cost in gpu.costs.by_product],
            "unpriced_products": list(gpu.costs.unpriced),
        },
    }


def holder_document(holder: Holder) -> dict[str, Any]:
    """Give one holder; `card_equivalents` are whole cards."""
    plain = {name: value for name, value in vars(holder).items() if name != "card_count"}
    return {**plain, "card_equivalents": holder.card_count, "last_active_at": _instant(holder.last_active_at)}


def share_document(share: Share) -> dict[str, Any]:
    """Give one share, its hours beside its counts."""
    plain = {name: value for name, value in vars(share).items() if name not in ("hours", "requests_cards", "allocatable_cards")}
    return {
        **plain,
        "card_count": share.allocatable_cards,
        "requests_card_equivalents": share.requests_cards,
        **_hours(share.hours),
    }


def guests_document(guests: Guests) -> dict[str, Any]:
    """Give the guests of one node, in cores and bytes."""
    plain = {name: value for name, value in vars(guests).items() if name != "requests_cpu_nanocores"}
    cpu = guests.requests_cpu_nanocores
    return {**plain, "requests_cpu_cores": None if cpu is None else cpu / _CORE, "pods": list(guests.pods)}


def blocker_text(one: Blocker) -> str:
    """Say in words why a node does not take a pod."""
    if one.kind == "taint":
        return f"taint {one.resource} is not tolerated"
    if one.kind == "unread":
        return f"how many {one.resource} are free is not known"
    if one.kind == "rules":
        return "node selector or affinity does not match"
    if one.kind not in ("short", "devices"):
        return one.kind
    kind = {"CPU": "nanocores", "memory": "bytes"}.get(one.resource, "count")
    what = f" of {one.resource}" if kind != "count" else f" {one.resource}"
    if one.never:
        return render_message(message(f"asks for {{asked:{kind}}}{what}, the node has {{whole:{kind}}}", asked=one.asked, whole=one.whole))
    return render_message(message(f"asks for {{asked:{kind}}}{what}, {{free:{kind}}} free", asked=one.asked, free=max(0, one.free or 0)))


def _hours(hours: Hours) -> dict[str, Any]:
    return {
        "usage_ratio_mean": hours.usage_ratio_mean,
        "gpu_hours": hours.gpu_hours,
        "idle_gpu_hours": hours.idle_gpu_hours,
    }


def _resource(resource: GpuResource) -> dict[str, Any]:
    cpu, memory = resource.typical or (None, None)
    own = (
        "hours",
        "typical",
        "requests_cards",
        "free_by_reason",
        "largest_free_block",
        "wholly_free_block",
        "fit_count",
        "repacked_fit_count",
    )
    return {
        **{name: value for name, value in vars(resource).items() if name not in own},
        "requests_card_equivalents": resource.requests_cards,
        "free_by_reason": dict(resource.free_by_reason),
        "largest_free_block": _by_size(resource.largest_free_block),
        "wholly_free_block": _by_size(resource.wholly_free_block),
        "fit_count": _by_size(resource.fit_count),
        "repacked_fit_count": _by_size(resource.repacked_fit_count),
        "typical_cpu_cores": None if cpu is None else cpu / _CORE,
        "typical_memory_bytes": memory,
        **_hours(resource.hours),
    }


def _by_size(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(size): count for size, count in sorted(counts.items())}


def _pool(pool: DevicePool) -> dict[str, Any]:
    plain = {name: value for name, value in vars(pool).items() if name != "requests_cards"}
    return {**plain, "requests_card_equivalents": pool.requests_cards}


def _nodes(gpu: GpuAssessment) -> list[dict[str, Any]]:
    """One entry for each node, with all its resources and drivers; a node that advertises none has only its problem."""
    nodes: dict[str, dict[str, Any]] = {}

    def entry(name: str, pool: str) -> dict[str, Any]:
        known = {"name": name, "pool": pool, "card_count": gpu.node_cards.get(name), "usage_ratio_mean": gpu.node_usage.get(name)}
        return nodes.setdefault(name, {**known, "resources": {}, "devices": {}, "problems": []})

    for row in GPU_NODES.to_arrow(gpu.nodes).to_pylist():
        node = entry(row["node"], row["pool"])
        if row["resource"]:
            node["resources"][row["resource"]] = {
                name: value for name, value in row.items() if name not in ("node", "pool", "resource", "usage_ratio_mean", "problem")
            }
        if row["problem"]:
            node["problems"].append(f"{row['resource']}: {row['problem']}" if row["resource"] else row["problem"])
    for pool in gpu.pools:
        if pool.node is not None and pool.accelerator:
            node = entry(pool.node, gpu.node_pools.get(pool.node, "none"))
            counts = {"device_count": pool.device_count, "allocated_count": pool.allocated_count, "free_count": pool.free_count}
            node["devices"][pool.driver] = {"product": pool.product, **counts}
            if not pool.complete:
                node["problems"].append(f"{pool.driver}: pool {pool.pool} is incomplete")
    return [nodes[name] for name in sorted(nodes)]


def _waiting(one: Waiting) -> dict[str, Any]:
    plain = {name: value for name, value in vars(one).items() if name not in ("cpu_nanocores", "nodes", "summary", "resources")}
    return {
        **plain,
        "resources": dict(one.resources),
        "requests_cpu_cores": None if one.cpu_nanocores is None else one.cpu_nanocores / _CORE,
        "reasons": [{"reason": kind, "resource": resource, "node_count": count} for (kind, resource), count in one.summary.items()],
        "nodes": [{"node": node, "reasons": [blocker_text(why) for why in whys]} for node, whys in one.nodes[:_NODES_NAMED]],
    }


def _stranding(one: Stranding) -> dict[str, Any]:
    amount = "cpu_cores" if one.short_of.startswith("CPU") else "memory_bytes" if one.short_of.startswith("memory") else "pod_count"
    scale = _CORE if amount == "cpu_cores" else 1
    pods = [{"pod": name, f"requests_{amount}": size / scale if scale > 1 else size} for name, size in one.pods]
    return {**vars(one), "pods": pods}


def _instant(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat().replace("+00:00", "Z")
