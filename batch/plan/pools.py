"""The node pools: what ordinary pods can still request on each, and what stands in their way."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pandas as pd

from batch.plan.measured import total
from batch.plan.model import Pool, Unusable
from batch.plan.nodes import CORDONED, NOT_READY, TAINTED
from batch.snapshot import views

_TAKEN = {
    "requests_cpu_ratio": ("requests_cpu_nanocores", "allocatable_cpu_nanocores"),
    "usage_cpu_ratio": ("usage_cpu_nanocores", "allocatable_cpu_nanocores"),
    "requests_memory_ratio": ("requests_memory_bytes", "allocatable_memory_bytes"),
    "usage_memory_ratio": ("usage_memory_bytes", "allocatable_memory_bytes"),
    "bound_pod_ratio": ("pod_count", "allocatable_pod_count"),
}
"""What is taken of a whole, by the name of its ratio."""

_PAIRS = {
    "cpu": ("allocatable_cpu_nanocores", "requests_cpu_nanocores"),
    "memory": ("allocatable_memory_bytes", "requests_memory_bytes"),
    "pods": ("allocatable_pod_count", "pod_count"),
}
"""What a node may give and what is taken of it, by resource, in the order in which ties are settled."""


def pools(nodes: pd.DataFrame) -> tuple[Pool, ...]:
    """Group the physical nodes of NODE_CAPACITY by pool, in order of name."""
    physical = nodes.loc[~nodes["virtual"]]
    return tuple(_pool(str(name), group) for name, group in physical.groupby("pool", sort=True))


def headroom(nodes: pd.DataFrame, resource: str) -> int | None:
    """Sum max(0, allocatable - requests) over nodes of which both are known; None when they are known of none, 0 without nodes."""
    allocatable, taken = _PAIRS[resource]
    left = (nodes[allocatable] - nodes[taken]).clip(lower=0)
    return total(left if resource == "pods" else left.mask(nodes["unreadable_pod_count"] > 0))


def ratios(nodes: pd.DataFrame) -> dict[str, float | None]:
    """Give every ratio of Totals and Pool over rows of NODE_CAPACITY; None where nothing is known."""
    exact = {name: _share(nodes, taken, whole) for name, (taken, whole) in _TAKEN.items()}
    return {name: None if share is None else float(share) for name, share in exact.items()}


def requests_ratio(nodes: pd.DataFrame, resource: str) -> Fraction | None:
    """Share of the allocatable that is requested, over nodes whose allocatable is known; None when there is none to share."""
    allocatable, taken = _PAIRS[resource]
    return _share(nodes, taken, allocatable)


def _share(nodes: pd.DataFrame, taken: str, whole: str) -> Fraction | None:
    """Divide what is taken by the whole, both over the nodes whose whole is known; None without a whole, or when nothing taken is known."""
    known = nodes.loc[nodes[whole].notna()]
    part, all_ = views.total(known[taken]), views.total(known[whole])
    return Fraction(part, all_) if part is not None and all_ else None


def usable(nodes: pd.DataFrame) -> pd.DataFrame:
    """Rows of NODE_CAPACITY that ordinary pods can use."""
    return nodes.loc[nodes["unusable"].isna()]


def _pool(name: str, nodes: pd.DataFrame) -> Pool:
    free = usable(nodes)
    is_known = bool(nodes["pod_count"].notna().all())
    return Pool(
        name=name,
        node_count=len(nodes),
        bound_pod_count=total(nodes["pod_count"]),
        allocatable_pod_count=views.total(nodes["allocatable_pod_count"]),
        headroom_pod_count=headroom(free, "pods") if is_known else None,
        allocatable_cpu_nanocores=views.total(nodes["allocatable_cpu_nanocores"]),
        requests_cpu_nanocores=total(nodes["requests_cpu_nanocores"]),
        usage_cpu_nanocores=views.total(nodes["usage_cpu_nanocores"]),
        headroom_cpu_nanocores=headroom(free, "cpu") if is_known else None,
        allocatable_memory_bytes=views.total(nodes["allocatable_memory_bytes"]),
        requests_memory_bytes=total(nodes["requests_memory_bytes"]),
        usage_memory_bytes=views.total(nodes["usage_memory_bytes"]),
        headroom_memory_bytes=headroom(free, "memory") if is_known else None,
        unusable=tuple(_unusable(reason, nodes) for reason in _reasons(nodes)),
        binding_resource=_binding(free),
        **ratios(nodes),
    )


def _reasons(nodes: pd.DataFrame) -> Sequence[str]:
    met = set(nodes["unusable"].dropna())
    return [reason for reason in (NOT_READY, CORDONED, TAINTED) if reason in met]


def _unusable(reason: str, nodes: pd.DataFrame) -> Unusable:
    those = nodes.loc[nodes["unusable"].eq(reason).fillna(value=False)]
    return Unusable(reason, len(those), headroom(those, "cpu"), headroom(those, "memory"), headroom(those, "pods"))


def _binding(nodes: pd.DataFrame) -> str | None:
    """Name the resource of which the largest share is requested; None when nothing is requested or nothing is known."""
    ratios = {resource: requests_ratio(nodes, resource) or Fraction(0) for resource in _PAIRS}
    most = max(ratios, key=lambda resource: ratios[resource])
    return most if ratios[most] else None
