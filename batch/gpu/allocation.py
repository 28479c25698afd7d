"""What each node advertises of each accelerator, what pods hold of it, and what becomes of the rest."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from batch.accelerators import NEURON, Kind, of_kind
from batch.gpu.holdings import unread_holdings
from batch.gpu.room import FREE_REASONS, Rooms
from batch.snapshot.model import Snapshot

COUNTS = ["capacity_count", "allocatable_count", "requests_count"]
INTEGER = pd.ArrowDtype(pa.int64())


def allocated(snapshot: Snapshot, held: pd.DataFrame) -> pd.DataFrame:
    """Give node, resource and COUNTS for each accelerator that a machine advertises, or that a pod on it holds.

    Virtual nodes are left out: what they advertise is no machine's. `held` are the holdings; `requests_count` is their sum, NA when only
    some namespaces were read, because pods of the others may hold more, and where the request of a pod on the node could not be read.
    """
    nodes, offers = snapshot.table("nodes"), snapshot.table("node_resources")
    machines = nodes.loc[~nodes["virtual"], ["node", "capacity_cpu_nanocores"]]
    offers = offers.loc[offers["resource"].isin(of_kind(offers["resource"].unique(), Kind.ACCELERATOR))]
    requests = held.groupby(["node", "resource"])["requests_count"].sum().reset_index()
    rows = offers.assign(listed=True).merge(requests, on=["node", "resource"], how="outer").merge(machines, on="node")
    not_listed = (rows["listed"].isna() & rows["capacity_cpu_nanocores"].notna()).to_numpy()
    rows = rows.drop(columns=["listed", "capacity_cpu_nanocores"])
    rows.loc[not_listed, COUNTS[:2]] = 0  # the node says what it has, and has none of it
    rows["requests_count"] = rows["requests_count"].fillna(0)
    unread = unread_holdings(snapshot)[["node", "resource"]].drop_duplicates().assign(unread=True)
    not_known = rows[["node", "resource"]].merge(unread, on=["node", "resource"], how="left")["unread"].notna().to_numpy()
    rows["requests_count"] = rows["requests_count"].mask(not_known)
    there = (rows[COUNTS] > 0).fillna(value=False).any(axis="columns") | rows["capacity_count"].isna()
    rows = rows.loc[there].reset_index(drop=True)
    rows = _one_name_for_each_silicon(rows)
    return rows if snapshot.namespaces is None else rows.assign(requests_count=pd.Series(pd.NA, index=rows.index, dtype=INTEGER))


def free_reasons(rooms: Rooms) -> dict[str, str]:
    """Say for each node what becomes of its free accelerators: the strongest of the reasons that hold."""
    return {
        node: FREE_REASONS[4 if not room.ready else 3 if not room.schedulable else 2 if room.tainted else 1 if room.short_of else 0]
        for node, room in rooms.items()
    }


def _one_name_for_each_silicon(rows: pd.DataFrame) -> pd.DataFrame:
    """Fold the names of AWS Neuron into the finest one that a node advertises: adding them up would count the silicon twice."""
    neuron = rows["resource"].isin(NEURON)
    if not neuron.any():
        return rows
    return pd.concat([rows.loc[~neuron], *(_fold(group) for _, group in rows.loc[neuron].groupby("node"))], ignore_index=True)


def _fold(names: pd.DataFrame) -> pd.DataFrame:
    """Keep the row of the finest name, with what is requested under the others at the node's own ratio (4 cores a device, or 2)."""
    finest = names.loc[names["resource"] == next(name for name in NEURON if (names["resource"] == name).any())]
    units = finest["capacity_count"].iloc[0]
    known = names["capacity_count"].gt(0).fillna(value=False) & pd.notna(units)
    in_finest = names["requests_count"].where(~known, -(-names["requests_count"] * units // names["capacity_count"]))
    return finest.assign(requests_count=in_finest.sum(skipna=False)).astype(names.dtypes)
