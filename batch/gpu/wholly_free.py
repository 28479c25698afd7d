"""Which cards pods share, by the annotation that Alibaba's GPU sharing leaves on them."""

from __future__ import annotations

import pandas as pd

from batch.accelerators import THOUSANDTHS
from batch.snapshot.model import Snapshot


def wholly_free(snapshot: Snapshot, held: pd.DataFrame) -> dict[str, int | None]:
    """Count for each node the cards of which pods hold thousandths; None when a pod does not say which.

    A node without such pods is not in it. `held` are the holdings.
    """
    sharing = held.loc[held["resource"] == THOUSANDTHS, ["namespace", "pod", "node"]]
    pods = snapshot.table("pods")[["namespace", "pod", "gpu_index"]]
    taken: dict[str, set[str] | None] = {}
    for node, index in sharing.merge(pods, on=["namespace", "pod"])[["node", "gpu_index"]].itertuples(index=False):
        cards = taken.setdefault(node, set())
        taken[node] = None if cards is None or pd.isna(index) else cards | set(index.split("-"))
    return {node: None if cards is None else len(cards) for node, cards in taken.items()}
