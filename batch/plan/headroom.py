"""What still fits, what the loss of a node or a zone would do, and which nodes are not needed."""

from __future__ import annotations

import pandas as pd

from batch.plan.emptying import considered, emptyable
from batch.plan.losses import losses
from batch.plan.model_packing import NO_HEADROOM, Headroom
from batch.plan.pool_room import pool_rooms
from batch.plan.standing import standing
from batch.snapshot.model import Snapshot


def headroom(snapshot: Snapshot, bound: pd.DataFrame, nodes: pd.DataFrame) -> Headroom:
    """Answer for the physical nodes of NODE_CAPACITY and the bound pods (rows of `pods`), by packing shapes with counts.

    Nothing is said when pods of some namespaces alone were read: what the others hold of a node is unknown.
    """
    if snapshot.namespaces is not None:
        return NO_HEADROOM
    cluster = standing(snapshot, bound, nodes)
    tried = considered(snapshot, bound, cluster)
    return Headroom(
        pools=pool_rooms(cluster),
        losses=losses(cluster),
        emptyable=emptyable(cluster, tried),
        considered_node_count=int(tried.sum()),
    )
