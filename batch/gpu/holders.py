"""The pods that hold accelerators now, by resource names or by claims, with what they do with them."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pandas as pd

from batch.accelerators import drives_accelerators
from batch.gpu.activity import Pod, PodActivity
from batch.gpu.cards import SOFTWARE, Cut
from batch.gpu.devices import Claimed, Device, device_shares
from batch.gpu.holdings import POD, bound_pods
from batch.gpu.model import Holder
from batch.snapshot.job_pods import has_deadline
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import LABEL_SETS, PODS

_CORES = "nvidia.com/gpucores"
"""Percent of each card that a pod takes of HAMi and the like."""


@dataclass(frozen=True)
class Floor:
    """What holders are put together from: products and cuts by (node, resource), and the pool of each node."""

    products: Mapping[tuple[str, str], str | None]
    cuts: Mapping[tuple[str, str], Cut]
    pools: Mapping[str, str]


def holders(snapshot: Snapshot, held: pd.DataFrame, claims: Claimed, floor: Floor, owner_labels: Sequence[str]) -> list[Holder]:
    """Give one holder for each pod and resource, and for each pod and driver of its claims; without activity.

    `held` are the holdings. The cards of a claim that several pods share are split between them, so that no sum has them twice.
    """
    facts = _Facts(snapshot, owner_labels)
    cores = _cores(snapshot)
    found = []
    for namespace, pod, node, resource, count in zip(
        *(held[name].to_numpy(object) for name in [*POD, "node", "resource", "requests_count"]), strict=True
    ):
        cut = floor.cuts.get((node, resource))
        cards = _cards(int(count), cut, cores.get((namespace, pod)), facts.containers((namespace, pod)))
        found.append(facts.holder((namespace, pod), node, resource, floor, int(count), cards, floor.products.get((node, resource))))
    return [*found, *_claim_holders(snapshot, claims, facts, floor)]


def with_activity(every: Sequence[Holder], activity: Mapping[Pod, PodActivity]) -> tuple[Holder, ...]:
    """Give the holders with what is known of their pods' activity, those with most idle hours first, then the largest."""
    seen = [_with(one, activity.get((one.namespace, one.pod))) for one in every]
    return tuple(sorted(seen, key=_rank))


def _rank(one: Holder) -> tuple[Any, ...]:
    return (-(one.idle_gpu_hours or 0.0), not one.idle, -(one.card_count or 0.0), -one.count, one.namespace, one.pod, one.resource)


def _with(one: Holder, own: PodActivity | None) -> Holder:
    if own is None:
        return one
    return replace(
        one,
        idle=own.idle,
        usage_ratio_mean=own.hours.usage_ratio_mean,
        usage_ratio_p95=own.p95,
        usage_ratio_max=own.max,
        gpu_hours=own.hours.gpu_hours,
        idle_gpu_hours=own.hours.idle_gpu_hours,
        last_active_at=own.last_active_at,
        memory_used_max_bytes=own.memory_max,
        memory_used_p95_bytes=own.memory_p95,
        activity_metric=own.metric,
    )


def _cards(count: int, cut: Cut | None, cores: int | None, container_count: int) -> float | None:
    """Give what a pod holds in whole cards. Percent of a card are for each of its slots, and are summed over containers."""
    if cut is not None and cut.sharing == SOFTWARE and cores is not None:
        each = Fraction(min(cores, 100 * count), 100)
        return float(min(each * count if container_count == 1 else each, Fraction(count)))
    return None if cut is None or cut.share is None else float(cut.share * count)


def _cores(snapshot: Snapshot) -> dict[Pod, int]:
    asks = snapshot.table("pod_resources")
    asks = asks.loc[asks["resource"] == _CORES]
    return {(namespace, pod): count for namespace, pod, _, count in asks.itertuples(index=False)}


class _Facts:
    """What tables say of the pods that hold something."""

    def __init__(self, snapshot: Snapshot, owner_labels: Sequence[str]) -> None:
        self._taken_at = snapshot.taken_at
        columns = [*POD, "node", "created_at", "started_at", "owner_kind", "owner_name", "workload_kind", "workload"]
        table = PODS.to_arrow(bound_pods(snapshot)).select([*columns, "label_set", "container_count"])
        self._pods = {(row["namespace"], row["pod"]): row for row in table.to_pylist()}
        bounded = has_deadline(snapshot).loc[bound_pods(snapshot).index]
        self._bounded = {pod: None if pd.isna(ends) else bool(ends) for pod, ends in zip(self._pods, bounded, strict=True)}
        labels = LABEL_SETS.to_arrow(snapshot.table("label_sets")).to_pylist()
        values = {(row["label_set"], row["label"]): row["value"] for row in labels if row["label"] in owner_labels}
        sets = {label_set for label_set, _ in values}
        self._owners = {one: next(values[one, label] for label in owner_labels if (one, label) in values) for one in sets}

    def containers(self, pod: Pod) -> int:
        return int(self._pods[pod]["container_count"])

    def knows(self, pod: Pod) -> bool:
        return pod in self._pods

    def node(self, pod: Pod) -> str:
        return str(self._pods[pod]["node"])

    def holder(self, pod: Pod, node: str, resource: str, floor: Floor, count: int, cards: float | None, product: str | None) -> Holder:
        row = self._pods[pod]
        since = row["started_at"] or row["created_at"]
        return Holder(
            namespace=pod[0],
            pod=pod[1],
            node=node,
            pool=floor.pools.get(node, "none"),
            workload=row["workload"],
            workload_kind=row["workload_kind"],
            owner=self._owners.get(row["label_set"]),
            resource=resource,
            product=product,
            count=count,
            card_count=cards,
            age_seconds=(self._taken_at - since).total_seconds() if since else None,
            has_deadline=self._bounded[pod],
            of_job=row["owner_kind"] == "Job",
        )


def _claim_holders(snapshot: Snapshot, claims: Claimed, facts: _Facts, floor: Floor) -> Iterator[Holder]:
    shares = device_shares(snapshot)
    owned: dict[tuple[Pod, str], dict[Device, int]] = defaultdict(dict)
    claim_counts = Counter(device for devices in claims.devices.values() for device in devices)
    for (namespace, claim), devices in claims.devices.items():
        pods = [(namespace, pod) for pod in claims.pods.get((namespace, claim), ()) if facts.knows((namespace, pod))]
        for pod, device in itertools.product(pods, devices):
            if drives_accelerators(device[0]):
                owned[pod, device[0]][device] = len(pods) * claim_counts[device]
    for (pod, driver), sharing in owned.items():
        parts = [(shares.get(device, (None, None, None)), count) for device, count in sharing.items()]
        known = [share / count for (_, share, _), count in parts if share is not None]
        cards = float(sum(known, Fraction(0))) if len(known) == len(parts) else None
        product = next((product for (product, _, _), _ in parts if product), None)
        one = facts.holder(pod, facts.node(pod), driver, floor, len(parts), cards, product)
        yield replace(one, shared_claim=max(sharing.values()) > 1)
