"""CSV files about accelerators beside those of nodes and resources: rows by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from batch.gpu.model import FIT_SIZES, GpuAssessment, GpuResource, Guests
from batch.report.document_gpu import blocker_text, holder_document, share_document

GPU_RESOURCE_COLUMNS = (
    "resource",
    "product",
    "node_count",
    "card_count",
    "healthy_card_count",
    "sharing",
    "capacity_count",
    "allocatable_count",
    "requests_count",
    "requests_card_equivalents",
    "active_count",
    "idle_count",
    "unrequested_count",
    "unknown_count",
    "usable_count",
    "stranded_count",
    "tainted_count",
    "cordoned_count",
    "not_ready_count",
    "unusable_for_typical_count",
    "wholly_free_device_count",
    "idle_node_count",
    *(f"fit_count_{size}" for size in FIT_SIZES),
    *(f"repacked_fit_count_{size}" for size in FIT_SIZES),
    "usage_ratio_mean",
    "gpu_hours",
    "idle_gpu_hours",
)
_HOLDER_COLUMNS = (
    "namespace",
    "pod",
    "node",
    "pool",
    "workload_kind",
    "workload",
    "owner",
    "resource",
    "product",
    "count",
    "card_equivalents",
    "shared_claim",
    "age_seconds",
    "has_deadline",
    "idle",
    "usage_ratio_mean",
    "usage_ratio_p95",
    "usage_ratio_max",
    "gpu_hours",
    "idle_gpu_hours",
    "last_active_at",
    "memory_used_max_bytes",
    "memory_used_p95_bytes",
    "activity_metric",
)
_SHARE_COLUMNS = (
    "by",
    "name",
    "kind",
    "pod_count",
    "card_count",
    "requests_card_equivalents",
    "idle_pod_count",
    "usage_ratio_mean",
    "gpu_hours",
    "idle_gpu_hours",
    "memory_used_max_bytes",
)
_DEVICE_COLUMNS = (
    "driver",
    "pool",
    "node",
    "product",
    "accelerator",
    "complete",
    "generation",
    "slice_count",
    "found_slice_count",
    "card_count",
    "device_count",
    "up_to",
    "part_count",
    "allocated_count",
    "admin_access_count",
    "free_count",
    "unusable_count",
)
_WAITING_COLUMNS = ("namespace", "pod", "pod_count", "resources", "verdict", "node", "reasons")
_GUEST_COLUMNS = (
    "node",
    "pool",
    "pod_count",
    "requests_cpu_nanocores",
    "requests_memory_bytes",
    "cpu_ratio",
    "memory_ratio",
    "pods",
)


def gpu_resource(resource: GpuResource) -> Mapping[str, Any]:
    """Give one row of gpu-resources.csv."""
    return {
        **dict.fromkeys(GPU_RESOURCE_COLUMNS),
        **vars(resource),
        **{f"{reason.replace(' ', '_')}_count": count for reason, count in resource.free_by_reason.items()},
        **{f"fit_count_{size}": count for size, count in resource.fit_count.items()},
        **{f"repacked_fit_count_{size}": count for size, count in resource.repacked_fit_count.items()},
        **vars(resource.hours),
        "requests_card_equivalents": resource.requests_cards,
    }


def gpu_tables(gpu: GpuAssessment) -> Iterator[tuple[str, tuple[str, ...], Iterable[Mapping[str, Any]]]]:
    """Yield name, columns and rows of each further table."""
    yield "gpu-holders", _HOLDER_COLUMNS, map(holder_document, gpu.holders)
    yield "gpu-shares", _SHARE_COLUMNS, map(share_document, gpu.shares)
    yield "gpu-devices", _DEVICE_COLUMNS, map(vars, gpu.pools)
    yield "gpu-waiting", _WAITING_COLUMNS, _waiting_rows(gpu)
    yield "gpu-guests", _GUEST_COLUMNS, map(_guests, gpu.guests)


def _waiting_rows(gpu: GpuAssessment) -> Iterator[Mapping[str, Any]]:
    """Give a row for each pod and node; one without node where none offers what is asked for, or where there are too many to name."""
    for one in gpu.waiting:
        asks = ", ".join(f"{count} {name}" for name, count in one.resources.items())
        plain = {"namespace": one.namespace, "pod": one.pod, "pod_count": one.pod_count, "resources": asks, "verdict": one.verdict}
        for node, whys in one.nodes:
            yield {**plain, "node": node, "reasons": "; ".join(map(blocker_text, whys))}
        if not one.nodes:
            reasons = (f"{count} nodes: {kind} {resource}".strip() for (kind, resource), count in one.summary.items())
            yield {**plain, "node": None, "reasons": "; ".join(reasons)}


def _guests(one: Guests) -> Mapping[str, Any]:
    return {**vars(one), "pods": ", ".join(one.pods)}
