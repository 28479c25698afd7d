"""What keeps the nodes that could be emptied: pods that an autoscaler does not move, and kubectl drain not without being told."""

from __future__ import annotations

import pandas as pd

from batch.scale.facts import Facts
from batch.scale.model import Emptying
from batch.scale.tables import DRAINS
from batch.snapshot.model import Snapshot

_STAYING = ("DaemonSet", "StaticPod")
"""Pods that go with their node; nothing has to move them."""

_REASONS = {
    "budget": "spent budget",
    "bare": "bare pod",
    "marked": "marked pod",
    "local_storage": "local storage",
}
"""What keeps a node, the hardest first: a budget is enforced on everybody."""


def drains(facts: Facts, emptying: Emptying | None) -> pd.DataFrame:
    """Give the table DRAINS of the nodes that could be emptied."""
    names = emptying.nodes if emptying else ()
    pods = facts.bound.loc[facts.bound["node"].isin(names)]
    staying = pods["workload_kind"].isin(_STAYING)
    daemons = pods.loc[staying & (pods["workload_kind"] == "DaemonSet")].groupby("node").size()
    moving = _with_obstacles(facts.snapshot, pods.loc[~staying])
    by_node = dict(list(moving.groupby("node")))
    nothing = moving.iloc[:0]
    known = facts.snapshot.has("poddisruptionbudgets")
    rows = [
        _row(name, str(facts.pools.get(name, "none")), int(daemons.get(name, 0)), by_node.get(name, nothing), budgets_known=known)
        for name in names
    ]
    return DRAINS.frame(sorted(rows, key=lambda row: (row[-1] is not None, row[0])))


def _row(name: str, pool: str, daemon_count: int, moving: pd.DataFrame, *, budgets_known: bool) -> tuple[object, ...]:
    counts = [int(moving[obstacle].sum()) for obstacle in ("bare", "local_storage", "marked")]
    return (name, pool, daemon_count, len(moving), *counts, int(moving["budget"].sum()) if budgets_known else None, _kept_by(moving))


def _kept_by(moving: pd.DataFrame) -> str | None:
    for obstacle, words in _REASONS.items():
        kept = moving.loc[moving[obstacle]].sort_values(["namespace", "pod"])
        if len(kept):
            return f"{words}, {kept['namespace'].iloc[0]}/{kept['pod'].iloc[0]}"
    return None


def _with_obstacles(snapshot: Snapshot, pods: pd.DataFrame) -> pd.DataFrame:
    """Mark each pod by what is in the way of moving it. What is marked as safe to evict moves, but for a budget."""
    safe = pods["safe_to_evict"].fillna(value=False).astype(bool)
    bare = (pods["workload_kind"] == "Pod").astype(bool) & ~safe
    local = pods["local_storage"].fillna(value=False).astype(bool) & ~safe
    marked = (~pods["safe_to_evict"].fillna(value=True).astype(bool)).astype(bool)
    return pods.assign(bare=bare, local_storage=local, marked=marked, budget=_protected(snapshot, pods))


def _protected(snapshot: Snapshot, pods: pd.DataFrame) -> pd.Series:
    """Tell which pods a budget without a disruption left selects."""
    protected = pd.Series(data=False, index=pods.index)
    budgets = snapshot.table("disruption_budgets")
    spent = budgets.loc[(budgets["disruptions_allowed_count"] < 1).fillna(value=False).astype(bool)]
    labels = _labels(snapshot, pods)
    requirements = dict(list(snapshot.table("budget_requirements").groupby(["namespace", "budget"])))
    for namespace, budget in zip(spent["namespace"], spent["budget"], strict=True):
        own = pods["namespace"] == namespace
        rules = requirements.get((namespace, budget))
        chosen = {number for number, have in labels.items() if rules is None or _meets(have, rules)}
        protected |= (own & pods["label_set"].isin(chosen)).astype(bool)
    return protected


def _labels(snapshot: Snapshot, pods: pd.DataFrame) -> dict[int, dict[str, str]]:
    """Give the labels of each distinct set that these pods have."""
    table = snapshot.table("label_sets")
    found: dict[int, dict[str, str]] = {int(number): {} for number in pods["label_set"].unique()}
    own = table.loc[table["label_set"].isin(list(found))]
    for number, label, value in zip(own["label_set"], own["label"], own["value"], strict=True):
        found[int(number)][label] = value
    return found


def _meets(labels: dict[str, str], requirements: pd.DataFrame) -> bool:
    return all(_meets_one(labels, rows) for _, rows in requirements.groupby("requirement"))


def _meets_one(labels: dict[str, str], rows: pd.DataFrame) -> bool:
    """Hold labels against one requirement (kubernetes.io, "Labels and Selectors"); an operator that is not known is met by none."""
    have, operator = labels.get(rows["label"].iloc[0]), rows["operator"].iloc[0]
    values = set(rows["value"].dropna())
    if operator in ("Exists", "DoesNotExist"):
        return (have is not None) is (operator == "Exists")
    if operator in ("In", "NotIn"):
        return (have in values) is (operator == "In")
    return False
