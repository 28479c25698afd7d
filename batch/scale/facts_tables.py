"""Builds the tables behind the checks."""

from __future__ import annotations

import re

import pandas as pd

from batch.scale import dns
from batch.scale.facts import Facts
from batch.scale.images import pull_seconds
from batch.scale.tables import DNS_PODS, IMAGES, PENDING, QUOTAS, SYSTEMS, UNTOLD

_NODES_TRIED = re.compile(r"^0/\d+ nodes are available: ")
_COUNTED = re.compile(r"\b\d+ (?=[A-Za-z(])")
_PREEMPTION = re.compile(r"\s*(?:no new claims to deallocate, )?preemption: .*$", re.DOTALL)
_UNSAID = "the scheduler has not said why"
_SYSTEM = ["kubelet_version", "container_runtime", "kernel_version", "os_image"]


def images(facts: Facts) -> pd.DataFrame:
    """Give the table IMAGES of all machines."""
    reported = facts.snapshot.table("node_images")
    reported = reported.loc[reported["node"].isin(facts.nodes["node"])]
    by_image = reported.groupby("image").agg(size_bytes=("size_bytes", "max"), node_count=("node", "nunique")).reset_index()
    by_image["node_count"] = by_image["node_count"].astype("int64")
    by_image = by_image.sort_values(["size_bytes", "image"], ascending=[False, True])
    by_image["node_ratio"] = by_image["node_count"] / max(1, len(facts.nodes))
    by_image["pull_seconds"] = [pull_seconds(facts, int(size)) for size in by_image["size_bytes"]]
    return IMAGES.from_columns({column.name: list(by_image[column.name]) for column in IMAGES.columns})


def quotas(facts: Facts) -> pd.DataFrame:
    """Give the table QUOTAS; a limit of zero is used up by nothing and has no share."""
    table = facts.snapshot.table("resource_quotas")
    amounts = zip(table["used_amount"], table["hard_amount"], strict=True)
    shares = [
        used / hard if pd.notna(used) and pd.notna(hard) and hard else None for used, hard in amounts
    ]  # Arrow divides up to 2^53 alone
    ordered = table.assign(used_ratio=pd.Series(shares, table.index, "float64[pyarrow]")).sort_values(
        ["used_ratio", "namespace", "quota", "resource"], ascending=[False, True, True, True], na_position="last"
    )
    return QUOTAS.from_columns({column.name: list(ordered[column.name]) for column in QUOTAS.columns})


def pending(facts: Facts) -> pd.DataFrame:
    """Give the table PENDING of pods without scheduling gates."""
    pods = facts.living
    waiting = pods.loc[pods["node"].isna() & pods["phase"].eq("Pending") & ~pods["gated"]]
    ages = (facts.snapshot.taken_at - waiting["created_at"]).dt.total_seconds().fillna(0.0).astype(float)
    waiting = waiting.assign(
        reason=[_reason(text) for text in waiting["unschedulable_reason"]],
        age=ages,
        late=ages > facts.settings.scale.pending_seconds,
        name=waiting["namespace"].str.cat(waiting["pod"], sep="/"),
    ).sort_values(["age", "name"], ascending=[False, True])
    rows = [
        (str(reason), len(group), int(group["late"].sum()), float(group["age"].max()), str(group["name"].iloc[0]))
        for reason, group in waiting.groupby("reason")
    ]
    return PENDING.frame(sorted(rows, key=lambda row: (-row[1], row[0])))


def _reason(text: object) -> str:
    """Shorten the scheduler's message to its reasons, so that equal ones meet: "0/9 nodes are available: 9 Insufficient cpu. preemption: …"."""
    if not isinstance(text, str):
        return _UNSAID
    shown = _PREEMPTION.sub("", _NODES_TRIED.sub("", text))
    parts = sorted({_COUNTED.sub("", part).strip(" .") for part in shown.split(", ")})
    return ", ".join(part for part in parts if part) or _UNSAID


def systems(facts: Facts) -> pd.DataFrame:
    """Give the table SYSTEMS, pools in order of name and their systems by the number of nodes."""
    nodes = facts.nodes[["node", *_SYSTEM]].fillna(UNTOLD)
    nodes["pool"] = nodes["node"].map(facts.pools)
    counted = nodes.groupby(["pool", *_SYSTEM]).size().reset_index(name="node_count")
    counted = counted.sort_values(["pool", "node_count", *_SYSTEM], ascending=[True, False, True, True, True, True])
    return SYSTEMS.from_columns({column.name: list(counted[column.name]) for column in SYSTEMS.columns})


def dns_pods(facts: Facts) -> pd.DataFrame:
    """Give the table DNS_PODS, in order of node."""
    pods = dns.labelled(facts, dns.SERVING).sort_values(["node", "namespace", "pod"])
    return DNS_PODS.from_columns({column.name: list(pods[column.name]) for column in DNS_PODS.columns})
