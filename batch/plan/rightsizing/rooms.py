"""How far the containers of a pod may grow together, so that the pod still fits the largest node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from batch.snapshot.model import Snapshot

_AMOUNTS = ("cpu_nanocores", "memory_bytes")


@dataclass(frozen=True)
class Rooms:
    """What the largest node leaves to pods beside its DaemonSets; None where no node's size is known, or not all DaemonSets were read."""

    cpu: int | None
    memory: int | None


def rooms(snapshot: Snapshot, nodes: pd.DataFrame, bound: pd.DataFrame) -> Rooms:
    """Find it. `nodes` has NODE_CAPACITY, `bound` are the bound pods."""
    if snapshot.namespaces is not None:
        return Rooms(None, None)
    physical = nodes.loc[~nodes["virtual"]].set_index("node")
    held = bound.loc[bound["workload_kind"] == "DaemonSet"].groupby("node")[[f"requests_{amount}" for amount in _AMOUNTS]]
    # What a node leaves beside a DaemonSet of unknown size is unknown; one without DaemonSets leaves all.
    daemons = held.sum(skipna=False).reindex(physical.index, fill_value=0)
    left = [(physical[f"allocatable_{amount}"] - daemons[f"requests_{amount}"]).dropna().max() for amount in _AMOUNTS]
    return Rooms(*(None if pd.isna(most) else max(0, int(most)) for most in left))


def shares(largest: int | None, requests: Sequence[int], wanted: Sequence[int], step: int) -> list[int | None]:
    """Give what each container of one pod may ask for at most, in whole steps, with what they ask for and what their use calls for.

    What the largest node leaves beside the requests of today goes to those that want more, by how much more they want: so they fit together.
    None gets less than it asks for today, also where that fits no node any more.
    """
    if largest is None:
        return [None] * len(requests)
    left = max(0, largest - sum(requests))
    growths = [max(0, one - now) for now, one in zip(requests, wanted, strict=True)]
    whole = sum(growths)
    return [
        max(now, (now + (left * growth // whole if growth else left)) // step * step) for now, growth in zip(requests, growths, strict=True)
    ]
