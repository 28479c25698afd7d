"""Tables of dynamic resource allocation, built by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batch.snapshot.schemas import (
    CLAIM_DEVICES,
    CLAIM_PODS,
    CLAIM_REQUESTS,
    CLAIMS,
    DEVICE_CLASSES,
    DEVICE_COUNTERS,
    DEVICE_SLICES,
    DEVICES,
    POD_CLAIMS,
)

DRIVER = "gpu.nvidia.com"
H100 = "NVIDIA H100 80GB HBM3"


def device(name: str, **columns: Any) -> dict[str, Any]:
    """Give a whole card that is its own."""
    return {"device": name, "type": "gpu", "product": H100, "uuid": f"U-{name}", "shared": False, **columns}


def part(name: str, parent: str, profile: str | None = None, **columns: Any) -> dict[str, Any]:
    """Give a MIG device of a card."""
    return device(name, type="mig", parent_uuid=f"U-{parent}", profile=profile, **columns)


def pool(node: str | None, devices: Sequence[Mapping[str, Any]], **columns: Any) -> dict[str, Any]:
    """Give one slice that is a whole pool; any column of `device_slices` can be given."""
    row = {"driver": DRIVER, "pool": node, "generation": 1, "slice_count": 1, "node": node, "slice": f"{node}-slice"}
    return {**row, **columns, "devices": devices}


def tables(
    *pools: Mapping[str, Any],
    claims: Mapping[str, Sequence[str]] | None = None,
    users: Mapping[str, Sequence[str]] | None = None,
    admin: Mapping[str, str] | None = None,
    classes: Sequence[tuple[str, str | None, str | None]] = (),
    served: Sequence[tuple[str, str]] = (),
    asks: Sequence[tuple[str, str, int]] = (),
    counters: Sequence[tuple[str, str, str, str, int]] = (),
) -> dict[str, Any]:
    """Build the tables.

    `claims` has devices ("pool/device") by claim, `users` pods by claim, `admin` a device by claim, `classes` (name, driver, resource),
    `served` pairs (pod, resource), `asks` open claims as (pod, class, count), `counters` rows of `device_counters`.
    """
    driver = {p["pool"]: p["driver"] for p in pools}
    given = [(claim, where) for claim, own in (claims or {}).items() for where in own]
    beside = list((admin or {}).items())
    rows = [
        ("default", claim, number, driver[where.split("/")[0]], *where.split("/"), number >= len(given))
        for number, (claim, where) in enumerate([*given, *beside])
    ]
    names = [*(claims or {}), *(admin or {})]
    return {
        "device_slices": _frame(DEVICE_SLICES, pools),
        "devices": _frame(DEVICES, [{"slice": p["slice"], **one} for p in pools for one in p["devices"]]),
        "device_counters": DEVICE_COUNTERS.frame(counters),
        "device_classes": DEVICE_CLASSES.frame(classes),
        "claims": CLAIMS.frame(
            [*(("default", name, None, True) for name in names), *(("default", f"of-{a[0]}", None, False) for a in asks)]
        ),
        "claim_requests": CLAIM_REQUESTS.frame(("default", f"of-{name}", "gpu", kind, count, False) for name, kind, count in asks),
        "claim_devices": CLAIM_DEVICES.frame(rows),
        "claim_pods": CLAIM_PODS.frame(("default", claim, name) for claim, own in (users or {}).items() for name in own),
        "pod_claims": POD_CLAIMS.frame(
            [
                *(("default", name, "", resource, "made") for name, resource in served),
                *(("default", name, "gpu", "", f"of-{name}") for name, _, _ in asks),
            ]
        ),
    }


def _frame(schema: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    return schema.frame([row.get(column.name) for column in schema.columns] for row in rows)
