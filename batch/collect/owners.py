"""Owners: from a pod's controller to the workload at the top, by reference and never by name."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa

from batch.collect.items import Items
from batch.collect.objects import Owned
from batch.collect.rejects import Rejects

Owner = tuple[str, str]
"""Kind and name."""

_TEXT = pd.ArrowDtype(pa.string())


class OwnerCollector:
    """Reads who owns each object of a list, by the object's uid."""

    def __init__(self, rejects: Rejects) -> None:
        self._items = Items(Owned, "ReplicaSet", rejects)
        self._owners: dict[str, Owner] = {}

    def take(self, page: bytes) -> int:
        """Read one page; return how many objects it held."""
        for _, item in self._items.of(page):
            owner = next((o for o in item.metadata.owner_references or [] if o.controller), None)
            if owner and item.metadata.uid:
                self._owners[item.metadata.uid] = (owner.kind, owner.name)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give no table: owners end up in table pods."""
        return {}

    def owners(self) -> Mapping[str, Owner]:
        """Give the owner of each uid that has one."""
        return self._owners


def job_owners(jobs: pd.DataFrame) -> dict[str, Owner]:
    """Give the owner of each Job that has one, by the Job's uid."""
    owned = jobs.loc[jobs["uid"].notna() & jobs["owner_kind"].notna() & jobs["owner_name"].notna()]
    return dict(zip(owned["uid"], zip(owned["owner_kind"], owned["owner_name"], strict=True), strict=True))


def has_unexplained_replica_sets(pods: pd.DataFrame) -> bool:
    """Tell whether some pod's ReplicaSet is not known to belong to a Deployment, so that ReplicaSets must be asked."""
    return bool((pods["workload_kind"] == "ReplicaSet").any())


def with_top_owners(pods: pd.DataFrame, owners: Mapping[str, Owner]) -> pd.DataFrame:
    """Give the pods with the owner of their owner as workload, where it is known."""
    asked = pods.loc[pods["workload_kind"].isin(["ReplicaSet", "Job"]), "owner_uid"]
    found = {row: owners[uid] for row, uid in asked.items() if uid in owners}
    if not found:
        return pods
    kinds, names = (pd.Series(texts, index=found.keys(), dtype=_TEXT) for texts in zip(*found.values(), strict=True))
    return pods.assign(workload_kind=kinds.combine_first(pods["workload_kind"]), workload=names.combine_first(pods["workload"]))
