"""Who holds which accelerators by resource names; what dynamic resource allocation serves is not among them."""

from __future__ import annotations

import pandas as pd

from batch.accelerators import CLASS_RESOURCE, Kind, drives_accelerators, of_kind
from batch.snapshot import views
from batch.snapshot.model import Snapshot

POD = ["namespace", "pod"]


def requested(snapshot: Snapshot) -> pd.DataFrame:
    """Rows of pod_resources that ask for an accelerator of a device plugin: not those that a claim serves."""
    requests = snapshot.table("pod_resources")
    wanted = requests["resource"].isin(of_kind(requests["resource"].unique(), Kind.ACCELERATOR)) & (requests["requests_count"] > 0)
    return without_claimed(snapshot, requests.loc[wanted])


def bound_pods(snapshot: Snapshot) -> pd.DataFrame:
    """Rows of pods that hold what they request: on a listed node, or on any where nodes could not be read."""
    if snapshot.has("nodes"):
        return views.bound_pods(snapshot)
    pods = snapshot.table("pods")
    return pods.loc[pods["node"].notna() & ~pods["phase"].isin(views.FINISHED)]


def holdings(snapshot: Snapshot) -> pd.DataFrame:
    """Give namespace, pod, node, resource and requests_count of every bound pod that holds accelerators of a device plugin."""
    held = requested(snapshot).merge(bound_pods(snapshot)[[*POD, "node"]], on=POD)
    served = _served_by_classes(snapshot)
    if not served:
        return held
    offers = snapshot.table("node_resources")
    offered = offers.loc[(offers["capacity_count"] > 0) | (offers["allocatable_count"] > 0), ["node", "resource"]]
    plugged = held.merge(offered, on=["node", "resource"], how="left", indicator=True)["_merge"].eq("both").to_numpy()
    return held.loc[plugged | ~held["resource"].isin(served)].reset_index(drop=True)


def unread_holdings(snapshot: Snapshot) -> pd.DataFrame:
    """Give namespace, pod, node and resource of every bound pod whose request of an accelerator could not be read: how much it holds is unknown."""
    unread = snapshot.table("unread_requests")
    unread = unread.loc[unread["resource"].isin(of_kind(unread["resource"].unique(), Kind.ACCELERATOR))]
    return unread.merge(bound_pods(snapshot)[[*POD, "node"]], on=POD)


def without_claimed(snapshot: Snapshot, requests: pd.DataFrame) -> pd.DataFrame:
    """Leave out what a pod is given through a ResourceClaim: such a request counts there."""
    claims = snapshot.table("pod_claims")
    claims = claims.loc[claims["resource"] != "", [*POD, "resource"]]
    if claims.empty:
        return requests
    marked = requests.merge(claims, on=[*POD, "resource"], how="left", indicator=True)
    return marked.loc[marked["_merge"] == "left_only"].drop(columns="_merge")


def class_of_resource(snapshot: Snapshot) -> dict[str, str]:
    """Give the DeviceClass of an accelerator driver behind each resource name that asks for one."""
    names: dict[str, str] = {}
    for name, driver, resource in snapshot.table("device_classes").itertuples(index=False):
        if drives_accelerators(name if pd.isna(driver) else driver):
            names[CLASS_RESOURCE + name] = name
            if pd.notna(resource):
                names[resource] = name
    return names


def devices_known(snapshot: Snapshot) -> bool:
    """Whether ResourceSlices were read; without them, whether nothing else says that accelerators may be claimed here.

    That is a class, a claim that has some, or, where claims could not be read, a pod that refers to one.
    """
    if snapshot.has("resourceslices"):
        return True
    if class_of_resource(snapshot) or any(map(drives_accelerators, snapshot.table("claim_devices")["driver"].unique())):
        return False
    return snapshot.has("resourceclaims") or snapshot.table("pod_claims").empty


def _served_by_classes(snapshot: Snapshot) -> list[str]:
    return list(class_of_resource(snapshot))
