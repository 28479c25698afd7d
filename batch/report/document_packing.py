"""The part of report.json about packing: fleets, what still fits into pools, losses, and nodes that could be emptied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batch.plan.model import CapacityPlan
from batch.plan.model_packing import Fleet, FreeNode, Loss, PoolRoom
from batch.report.document_profiles import base_units

NO_ROOM: Mapping[str, Any] = {
    "open_node_count": None,
    "largest_cpu_fit": None,
    "largest_memory_fit": None,
    "typical_pod": None,
    "typical_fit_count": None,
    "typical_fit_whole_count": None,
    "typical_fit_by_resource": {},
    "typical_binding_resource": None,
}
"""What is said of a pool whose nodes were not looked at."""


def pool_headroom(plan: CapacityPlan) -> dict[str, Mapping[str, Any]]:
    """Give the further keys of each pool in `pools`, by its name."""
    return {room.pool: _room(room) for room in plan.headroom.pools}


def packing_document(plan: CapacityPlan) -> dict[str, Any]:
    """Give `fleets`, `fleet_basis`, `losses` and `emptyable`."""
    fleets = plan.fleets
    return {
        "fleets": [_fleet(fleet) for fleet in (*fleets.fleets, *plan.right_sized_fleets.fleets)],
        "fleet_basis": {
            "pod_count": fleets.pod_count,
            "spread_pod_count": fleets.spread_pod_count,
            "unreadable_pod_count": fleets.unreadable_pod_count,
            "skipped": [vars(one) for one in fleets.skipped],
        },
        "losses": [_loss(loss) for loss in plan.headroom.losses],
        "emptyable": {
            "considered_node_count": plan.headroom.considered_node_count,
            "nodes": [base_units(vars(one)) for one in plan.headroom.emptyable],
        },
    }


def fleet_row(fleet: Fleet) -> dict[str, Any]:
    """Give a fleet as one flat row, in nanocores and bytes."""
    further = {name: value for name, value in vars(fleet).items() if name not in ("flavor", "unplaced", "requests_ratio")}
    ratios = {f"requests_{name}_ratio": fleet.requests_ratio.get(name) for name in ("cpu", "memory", "pods")}
    return {"flavor": fleet.flavor, "unplaced_pod_count": fleet.unplaced_pod_count, **further, **ratios}


def room_row(room: PoolRoom) -> dict[str, Any]:
    """Give what fits into a pool as one flat row, in nanocores and bytes."""
    typical = room.typical
    free = {"largest_cpu_fit": room.largest_cpu_fit, "largest_memory_fit": room.largest_memory_fit}
    return {
        "pool": room.pool,
        "open_node_count": room.open_node_count,
        "typical_cpu_nanocores": typical.cpu_nanocores if typical else None,
        "typical_memory_bytes": typical.memory_bytes if typical else None,
        "typical_fit_count": room.typical_fit_count,
        "typical_fit_whole_count": room.typical_fit_whole_count,
        "typical_binding_resource": room.typical_binding_resource,
        **{f"{name}_{key}": value for name, node in free.items() for key, value in _free(node).items()},
    }


def _free(node: FreeNode | None) -> Mapping[str, Any]:
    return vars(node) if node else dict.fromkeys(("node", "cpu_nanocores", "memory_bytes"))


def _fleet(fleet: Fleet) -> dict[str, Any]:
    own = {name: value for name, value in vars(fleet).items() if name not in ("flavor", "unplaced", "requests_ratio")}
    return base_units(
        {
            "flavors": [fleet.flavor],
            **own,
            "unplaced_pod_count": fleet.unplaced_pod_count,
            "unplaced": [vars(part) for part in fleet.unplaced],
            "requests_ratio": dict(fleet.requests_ratio),
        }
    )


def _room(room: PoolRoom) -> dict[str, Any]:
    typical = room.typical
    return {
        "open_node_count": room.open_node_count,
        "largest_cpu_fit": _node(room.largest_cpu_fit),
        "largest_memory_fit": _node(room.largest_memory_fit),
        "typical_pod": base_units({**vars(typical), "resources": dict(typical.resources)}) if typical else None,
        "typical_fit_count": room.typical_fit_count,
        "typical_fit_whole_count": room.typical_fit_whole_count,
        "typical_fit_by_resource": dict(room.typical_fit_by_resource),
        "typical_binding_resource": room.typical_binding_resource,
    }


def _node(node: FreeNode | None) -> dict[str, Any] | None:
    return base_units(vars(node)) if node else None


def _loss(loss: Loss) -> dict[str, Any]:
    return base_units({**vars(loss), "unplaced_workloads": [vars(one) for one in loss.unplaced_workloads]})
