"""How much devices worked over the window, and for whom: the table gpu_usage in hours of cards."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from batch.gpu.mig import read_profile, slices_of_card
from batch.gpu.model import Hours
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import GPU_USAGE

Pod = tuple[str, str]
"""Namespace and name."""

_HOUR = 3600


class Reading(NamedTuple):
    """One device, or part of one, while one container held it (or nobody): `cards` is the part of a card that it counts for."""

    device: str
    part: str
    pod: Pod | None
    node: str | None
    product: str | None
    profile: str | None
    metric: str | None
    cards: float | None
    step: int
    seconds: int
    idle_seconds: int
    mean: float | None
    p95: float | None
    max: float | None
    recent_max: float | None
    first_at: datetime | None
    last_at: datetime | None
    last_active_at: datetime | None
    memory_max: int | None
    memory_p95: int | None


class PodActivity(NamedTuple):
    """What is known of the activity of one pod, over all its devices."""

    hours: Hours
    p95: float | None
    max: float | None
    idle: bool | None
    last_active_at: datetime | None
    memory_max: int | None
    memory_p95: int | None
    metric: str | None


def read(snapshot: Snapshot, shares: Callable[[Pod | None, str | None, int], float | None]) -> tuple[Reading, ...]:
    """Read the table. `shares` gives, by pod, node and the number of the pod's devices, which part of a whole device its pod holds.

    A part of MIG counts by its slices. Without the name of the node in the series that of the pod's node is taken.
    """
    pods = snapshot.table("pods")
    nodes = dict(zip(zip(pods["namespace"], pods["pod"], strict=True), pods["node"].to_numpy(object), strict=True))
    rows = GPU_USAGE.to_arrow(snapshot.table("gpu_usage")).to_pylist()
    devices: dict[Pod, set[tuple[str, str]]] = defaultdict(set)
    for row in rows:
        if row["pod"]:
            devices[row["namespace"], row["pod"]].add((row["device"], row["mig_instance"]))
    return tuple(_reading(row, nodes, devices, shares) for row in rows)


def _reading(
    row: Mapping[str, Any],
    nodes: Mapping[Pod, object],
    devices: Mapping[Pod, set[tuple[str, str]]],
    shares: Callable[[Pod | None, str | None, int], float | None],
) -> Reading:
    pod = (row["namespace"], row["pod"]) if row["pod"] else None
    bound = nodes.get(pod) if pod else None
    node = row["node"] or (bound if isinstance(bound, str) else None)
    if row["mig_instance"]:
        profile, slices = read_profile(row["mig_profile"]), slices_of_card(row["product"])
        cards = profile.slice_count / slices if profile and slices else None
    else:
        cards = shares(pod, node, len(devices[pod]) if pod else 0)
    step = row["step_seconds"]
    return Reading(
        device=row["device"],
        part=row["mig_instance"],
        pod=pod,
        node=node,
        product=row["product"],
        profile=row["mig_profile"],
        metric=row["metric"],
        cards=cards,
        step=step,
        seconds=row["sample_count"] * step,
        idle_seconds=row["idle_sample_count"] * step,
        mean=row["activity_mean_ratio"],
        p95=row["activity_p95_ratio"],
        max=row["activity_max_ratio"],
        recent_max=row["recent_max_ratio"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        last_active_at=row["last_active_at"],
        memory_max=row["memory_used_max_bytes"],
        memory_p95=row["memory_used_p95_bytes"],
    )


def hours(readings: Iterable[Reading]) -> Hours:
    """Add up readings: hours of those that pods held, mean activity of all.

    Unknown without readings, and where a part of unknown size was held: what is left out would look idle.
    """
    every = [one for one in readings if one.seconds]
    held = [one for one in every if one.pod]
    if not every or any(one.cards is None for one in every):
        return Hours()
    measured = [one for one in every if one.mean is not None]
    weight = _sum(one.seconds * (one.cards or 0) for one in measured)
    busy = _sum(one.seconds * (one.cards or 0) * (one.mean or 0) for one in measured)
    return Hours(
        gpu_hours=_sum(one.seconds * (one.cards or 0) for one in held) / _HOUR,
        idle_gpu_hours=_sum(one.idle_seconds * (one.cards or 0) for one in held) / _HOUR,
        usage_ratio_mean=busy / weight if weight else None,
    )


def of_pods(readings: Iterable[Reading], idle_ratio: float, cards_of: Mapping[Pod, int]) -> dict[Pod, PodActivity]:
    """Give the activity of each pod. `cards_of` says how many whole devices a pod holds: with fewer seen, it is not known to be idle."""
    by_pod: dict[Pod, list[Reading]] = defaultdict(list)
    for one in readings:
        if one.pod:
            by_pod[one.pod].append(one)
    return {pod: _of_pod(own, idle_ratio, cards_of.get(pod, 0)) for pod, own in by_pod.items()}


def _of_pod(own: list[Reading], idle_ratio: float, device_count: int) -> PodActivity:
    recent = [one.recent_max for one in own]
    missing = None in recent or len({(one.device, one.part) for one in own}) < device_count
    active = any(value is not None and value > idle_ratio for value in recent)
    return PodActivity(
        hours=hours(own),
        p95=max(_known(one.p95 for one in own), default=None),
        max=max(_known(one.max for one in own), default=None),
        idle=False if active else None if missing else True,
        last_active_at=max((one.last_active_at for one in own if one.last_active_at), default=None),
        memory_max=max(_known(one.memory_max for one in own), default=None),
        memory_p95=max(_known(one.memory_p95 for one in own), default=None),
        metric=", ".join(sorted({one.metric for one in own if one.metric})) or None,
    )


def window_seconds(readings: Iterable[Reading]) -> float | None:
    """Give the time from the first sample to the end of the last one; None without samples."""
    every = list(readings)
    first = min((one.first_at for one in every if one.first_at), default=None)
    last = max((one.last_at for one in every if one.last_at), default=None)
    if first is None or last is None:
        return None
    return (last - first) / timedelta(seconds=1) + max(one.step for one in every)


def unattributed_hours(readings: Iterable[Reading]) -> float | None:
    """Give the hours in which a device worked that no pod held; None when no such device is known."""
    free = [one for one in readings if not one.pod and one.seconds]
    return _sum(one.seconds - one.idle_seconds for one in free) / _HOUR if free else None


def _known(values: Iterable[Any]) -> Iterator[Any]:
    return (value for value in values if value is not None)


def _sum(values: Iterable[float]) -> float:
    """Add up without the drift of rounding, so that the order does not matter."""
    return math.fsum(values)
