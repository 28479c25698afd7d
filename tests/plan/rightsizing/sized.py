"""Sizes hand-made workloads, each with one node of 64 cores and 256 GiB unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from batch.plan import measured
from batch.plan.nodes import node_capacity
from batch.plan.prices import NO_PRICES, Prices
from batch.plan.rightsizing.assess import rightsize
from batch.plan.rightsizing.model import Advice, Rightsizing
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.history import NO_HISTORY, History
from tests.builders import CORE, GIB, TAKEN_AT, NodeRows, PodRows, UsageRow, node, pod, snapshot, usage

MILLI = CORE // 1000


def settings(**own: Any) -> Settings:
    """Take samples of any age, and advice from any evidence unless told otherwise."""
    eager = {"samples_min": 1, "days_min": 1, "memory_hours_min": 1, "change_min_cpu_cores": 0, "change_min_memory_bytes": 0}
    return Settings.model_validate({"usage": {"max_age_seconds": 10_000_000}, "rightsizing": {**eager, **own}})


def deployed(name: str, **more: Any) -> PodRows:
    """Give a pod of the Deployment "web"."""
    return pod(name, **{"workload_kind": "Deployment", "workload": "web", **more})


def samples(
    name: str, cpu: Sequence[int | None], memory: Sequence[int | None], *, minutes: float = 1, container: str = "main"
) -> list[UsageRow]:
    """Give measurements of one container, the last one at TAKEN_AT, and the others `minutes` apart before it."""
    return [
        usage(name, c, m, container=container, measured_at=TAKEN_AT - timedelta(minutes=minutes * back))
        for back, (c, m) in enumerate(zip(reversed(cpu), reversed(memory), strict=True))
    ]


def at(*, hours: float) -> datetime:
    """Give the moment so many hours before TAKEN_AT."""
    return TAKEN_AT - timedelta(hours=hours)


def sized(
    pods: Sequence[PodRows],
    usage_rows: Sequence[UsageRow] = (),
    *,
    nodes: Sequence[NodeRows] | None = None,
    history: History = NO_HISTORY,
    given: Settings | None = None,
    prices: Prices = NO_PRICES,
    **parts: Any,
) -> Rightsizing:
    """Size them."""
    listed = [node("n1", cpu=64 * CORE, memory=256 * GIB)] if nodes is None else nodes
    shot = snapshot(nodes=listed, pods=pods, usage=usage_rows, **parts)
    own = given or settings()
    rows = measured.with_usage(shot, own.usage.max_age_seconds)
    bound = rows.loc[views.bound_pods(shot).index]
    return rightsize(shot, history, node_capacity(shot, bound, own), bound, own, prices)


def advice(pods: Sequence[PodRows], usage_rows: Sequence[UsageRow] = (), **parts: Any) -> Advice:
    """Size a single container."""
    (one,) = sized(pods, usage_rows, **parts).advice
    return one
