"""What a node of each flavor offers beside CPU, memory and pod slots: what the cluster's nodes advertise, else the machine's GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from batch.plan.model import Flavor
from batch.snapshot.model import Snapshot


def offers(snapshot: Snapshot, nodes: pd.DataFrame, flavors: Iterable[Flavor]) -> dict[str, Mapping[str, int]]:
    """Give the count of each resource by flavor. `nodes` has the schema NODE_CAPACITY.

    Where the cluster has nodes of a flavor it is the least allocatable among those of them that have any; none is an offer too.
    """
    advertised = _advertised(snapshot, nodes)
    return {flavor.name: advertised.get(flavor.name, {_gpu_resource(flavor): flavor.gpu_count}) for flavor in flavors}


def _advertised(snapshot: Snapshot, nodes: pd.DataFrame) -> dict[str, dict[str, int]]:
    table = snapshot.table("node_resources").merge(nodes.loc[~nodes["virtual"], ["node", "instance_type"]], on="node")
    table = table.loc[table["instance_type"].notna() & (table["allocatable_count"].fillna(0) > 0)]
    found: dict[str, dict[str, int]] = {str(name): {} for name in nodes["instance_type"].dropna()}
    least = table.groupby(["instance_type", "resource"], as_index=False)["allocatable_count"].min()
    for instance_type, resource, count in least.itertuples(index=False):
        found[instance_type][resource] = int(count)
    return found


def _gpu_resource(flavor: Flavor) -> str:
    """Name the resource by which the device plugin of the GPUs' maker offers them."""
    return "amd.com/gpu" if (flavor.gpu_product or "").upper().startswith("AMD") else "nvidia.com/gpu"
