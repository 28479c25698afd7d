"""Which flavors the pods of a profile can run on, by CPU architecture and accelerators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from batch.accelerators import Kind, is_accelerator, kind
from batch.plan.model import Flavor
from batch.snapshot.model import Snapshot

OTHER_ARCHITECTURE, NOT_REQUESTED, NOT_OFFERED = "other architecture", "not requested", "not offered"
"""Why a flavor is left out: its CPU; accelerators that the pods do not request, as its memory says nothing about its cost; or too few of
those that they do."""


@dataclass(frozen=True)
class Accelerator:
    """The accelerator resource that most pods of a profile request: how many pods do, and how much a pod does, over all of the profile."""

    resource: str
    pod_count: int
    each: Fraction


@dataclass(frozen=True)
class Suits:
    """What decides which flavors suit. `architectures` are those that the pods now run on (none: unknown).

    `accelerator` is None where half of the pods or more request none; `requesting_pod_count` of them request some all the same.
    `offers` has for each flavor what its nodes offer (offers.py).
    """

    architectures: frozenset[str]
    accelerator: Accelerator | None
    requesting_pod_count: int
    offers: Mapping[str, Mapping[str, int]]
    pods_per_node: int

    def why_not(self, flavor: Flavor) -> str | None:
        """Say why the pods cannot or should not run on a flavor; None when they can."""
        if self.architectures and flavor.architecture and flavor.architecture not in self.architectures:
            return OTHER_ARCHITECTURE
        if self.accelerator is None:
            return NOT_REQUESTED if flavor.gpu_count else None
        return None if self.offered(flavor) >= self.needed else NOT_OFFERED

    def offered(self, flavor: Flavor) -> int:
        """Give how much of the requested accelerator a node of the flavor offers; 0 where none is requested."""
        return self.offers.get(flavor.name, {}).get(self.accelerator.resource, 0) if self.accelerator else 0

    @property
    def needed(self) -> int:
        """What the planned pods of a node request of the accelerator, rounded up."""
        return -(-self.accelerator.each * self.pods_per_node // 1) if self.accelerator else 0


def suits(snapshot: Snapshot, members: pd.DataFrame, offers: Mapping[str, Mapping[str, int]], pods_per_node: int) -> Suits:
    """Find out what the pods of a profile (rows of `pods`) need of a flavor."""
    asked = snapshot.table("pod_resources").merge(members[["namespace", "pod"]], on=["namespace", "pod"])
    asked = asked.loc[(asked["requests_count"] > 0) & asked["resource"].isin(_accelerators(asked["resource"]))]
    requesting = len(asked[["namespace", "pod"]].drop_duplicates())
    return Suits(
        architectures=_architectures(snapshot, members),
        accelerator=_commonest(asked, requesting, len(members)) if 2 * requesting > len(members) else None,
        requesting_pod_count=requesting,
        offers=offers,
        pods_per_node=pods_per_node,
    )


def _accelerators(resources: Iterable[str]) -> list[str]:
    return [name for name in set(resources) if is_accelerator(name)]


def _commonest(asked: pd.DataFrame, requesting: int, pod_count: int) -> Accelerator:
    """Choose the resource that most pods request; of equal ones one that counts devices, then the first by name."""
    pods = Counter[str](asked["resource"].tolist())
    resource = min(pods, key=lambda name: (-pods[name], kind(name) is not Kind.ACCELERATOR, name))
    amount = sum(int(count) for count in asked.loc[asked["resource"] == resource, "requests_count"])
    return Accelerator(resource, requesting, Fraction(amount, pod_count))


def _architectures(snapshot: Snapshot, members: pd.DataFrame) -> frozenset[str]:
    nodes = snapshot.table("nodes")
    return frozenset(nodes.loc[nodes["node"].isin(members["node"]), "architecture"].dropna().unique())
