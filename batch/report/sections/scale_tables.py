"""The tables of growth: all checks, what is not known, and what is behind those that can be looked into."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from batch.findings import Message, message
from batch.report.model import Column, Row, Table
from batch.report.sections.material import Material
from batch.scale.model import Check, ScaleAssessment, Status
from batch.scale.tables import SCHEMAS

_ROWS = 10
"""Rows of a table behind a check: enough to begin with; the files have all."""

_KINDS = {"count": "count", "ratio": "ratio", "bytes": "bytes", "seconds": "seconds"}
_SHOWN_AMOUNT = {"cpu": "nanocores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}


def tables(material: Material) -> dict[str, Table]:
    """Give the tables by name; what has no rows is left out."""
    found = material.scale
    made = {
        "checks": _checks([check for check in found.checks if check.status is not Status.UNKNOWN]),
        "unknown": _unknown([check for check in found.checks if check.status is Status.UNKNOWN]),
        "pending": _pending(found.tables["scale-pending"]),
        "quotas": _quotas(found.tables["scale-quotas"]),
        "dns": _dns(found),
        "images": _images(found.tables["scale-images"]),
        "drains": _drains(found.tables["scale-drains"]),
        "systems": _systems(found),
        "requests": _requests(material.snapshot.table("api_requests")),
    }
    return {name: table for name, table in made.items() if table.rows}


def _checks(checks: Sequence[Check]) -> Table:
    areas = [check.rule.area for check in checks]
    return Table(
        what="checks that were made",
        columns=(
            Column("About", "name"),
            Column("Check"),
            Column("Status", "status"),
            Column("Found", "message"),
            Column("Warns", "amount", "Beyond"),
            Column("Fails", "amount", "Beyond"),
        ),
        rows=tuple(_check_row(check, first=place == 0 or areas[place - 1] != areas[place]) for place, check in enumerate(checks)),
        row_count=len(checks),
        file="tables/scale-checks.csv",
        whole=True,
    )


def _check_row(check: Check, *, first: bool) -> Row:
    rule = check.rule
    cells = (rule.area if first else "", rule.name, check.status.value, check.found, _limit(check, check.warn), _limit(check, check.fail))
    return Row(cells)


def _limit(check: Check, limit: float | None) -> object:
    """Write a limit in the unit of its check, with the side that is bad."""
    if limit is None:
        return ""
    sign = "<" if check.rule.falling else ">"
    kind = _KINDS.get(check.rule.unit, "count")
    if check.rule.falling and check.rule.unit == "ratio":
        kind = "count"
    return message(f"{sign} {{limit:{kind}}}", limit=limit)


def _unknown(checks: Sequence[Check]) -> Table:
    """Put checks that lack the same thing into one row."""
    groups: dict[str, list[Check]] = {}
    for check in checks:
        groups.setdefault(f"{check.found} {check.known_by}", []).append(check)
    return Table(
        what="reasons",
        title=message("What could not be checked"),
        columns=(Column("Checks"), Column("Why", "message"), Column("What would make it known", "message")),
        rows=tuple(Row((_names(group), group[0].found, group[0].known_by or "")) for group in groups.values()),
        row_count=len(groups),
    )


def _names(checks: Sequence[Check]) -> str:
    return "; ".join(f"{check.rule.area}: {check.rule.name}" for check in checks)


def _rows(schema: str, frame: pd.DataFrame) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = SCHEMAS[schema].to_arrow(frame.head(_ROWS)).to_pylist()
    return rows


def _pending(frame: pd.DataFrame) -> Table:
    return Table(
        what="reasons",
        title=message("Why pods wait for a node"),
        order="those of most pods",
        columns=(
            Column("Reason"),
            Column("Pods", "count"),
            Column("Too long", "count"),
            Column("Longest", "amount"),
            Column("Such as", "name"),
        ),
        rows=tuple(
            Row(
                (row["reason"], row["pod_count"], row["late_count"], _seconds(row["longest_seconds"]), row["example"]),
                strained=frozenset({2} if row["late_count"] else ()),
            )
            for row in _rows("scale-pending", frame)
        ),
        row_count=len(frame),
        file="tables/scale-pending.csv",
    )


def _seconds(seconds: object) -> Message:
    return message("{seconds:seconds}", seconds=seconds)


def _quotas(frame: pd.DataFrame) -> Table:
    return Table(
        what="limits",
        title=message("How much of the quotas is used"),
        order="fullest",
        columns=(
            Column("Namespace", "name"),
            Column("Quota", "name"),
            Column("Resource"),
            Column("Used", "amount"),
            Column("Of", "amount"),
            Column("Share", "ratio"),
        ),
        rows=tuple(_quota_row(row) for row in _rows("scale-quotas", frame)),
        row_count=len(frame),
        file="tables/scale-quotas.csv",
    )


def _quota_row(row: dict[str, object]) -> Row:
    resource = str(row["resource"])
    kind = _SHOWN_AMOUNT.get(resource.removeprefix("requests.").removeprefix("limits."), "count")
    used, hard = (None if row[name] is None else message(f"{{amount:{kind}}}", amount=row[name]) for name in ("used_amount", "hard_amount"))
    return Row((row["namespace"], row["quota"], resource, used, hard, row["used_ratio"]))


def _dns(found: ScaleAssessment) -> Table:
    frame = found.tables["scale-dns"]
    named = {node for check in found.checks if check.rule.id == "dns.spread" for node in check.objects}
    rows = _rows("scale-dns", frame) if any(_is_bad(check) for check in found.checks if check.rule.id.startswith("dns.")) else []
    return Table(
        what="DNS pods",
        title=message("Where the DNS pods are"),
        columns=(Column("Pod", "name"), Column("Node", "name"), Column("Phase"), Column("Kept apart from others")),
        rows=tuple(
            Row(
                (row["pod"], row["node"], row["phase"], None if row["kept_apart"] is None else "yes" if row["kept_apart"] else "no"),
                strained=frozenset({1} if row["node"] in named else ()),
            )
            for row in rows
        ),
        row_count=len(frame),
        file="tables/scale-dns.csv",
    )


def _is_bad(check: Check) -> bool:
    return check.status in (Status.WARN, Status.FAIL)


def _images(frame: pd.DataFrame) -> Table:
    return Table(
        what="images",
        title=message("The largest images"),
        order="largest",
        columns=(
            Column("Image", "name"),
            Column("Size", "bytes"),
            Column("Nodes", "count"),
            Column("Of all", "ratio"),
            Column("Pull", "amount"),
        ),
        rows=tuple(
            Row((row["image"], row["size_bytes"], row["node_count"], row["node_ratio"], _seconds(row["pull_seconds"])))
            for row in _rows("scale-images", frame)
        ),
        row_count=len(frame),
        file="tables/scale-images.csv",
    )


def _drains(frame: pd.DataFrame) -> Table:
    free = int(frame["kept_by"].isna().sum())
    begin = "Disruption budgets aside, nothing" if frame["budget_count"].isna().any() else "Nothing"
    return Table(
        what="nodes that could be emptied",
        title=message(f"{begin} keeps {{free:count}} of {{all:count}} nodes that could be emptied", free=free, all=len(frame)),
        order="those that nothing keeps",
        notes=(
            message("Spent budget: a PodDisruptionBudget that allows no disruption now. Marked pod: not safe to evict, by its annotation"),
        ),
        columns=(
            Column("Node", "name"),
            Column("Pool", "name"),
            Column("DaemonSets", "count", "Pods"),
            Column("To move", "count", "Pods"),
            Column("Bare", "count", "Of these"),
            Column("Local data", "count", "Of these"),
            Column("Spent budget", "count", "Of these"),
            Column("Kept by"),
        ),
        rows=tuple(_drain_row(row) for row in _rows("scale-drains", _some_of_each(frame))),
        row_count=len(frame),
        file="tables/scale-drains.csv",
    )


def _some_of_each(frame: pd.DataFrame) -> pd.DataFrame:
    """Take as many nodes that nothing keeps as kept ones, as far as there are any."""
    free, kept = frame.loc[frame["kept_by"].isna()], frame.loc[frame["kept_by"].notna()]
    few = max(_ROWS // 2, _ROWS - len(kept))
    return pd.concat([free.head(few), kept])


def _drain_row(row: dict[str, object]) -> Row:
    cells = (
        row["node"],
        row["pool"],
        row["daemonset_pod_count"],
        row["moved_pod_count"],
        row["bare_count"],
        row["local_storage_count"],
        row["budget_count"],
        row["kept_by"] or "",
    )
    return Row(cells)


def _systems(found: ScaleAssessment) -> Table:
    mixed = {pool for check in found.checks if check.rule.id == "versions.node-systems" for pool in check.objects}
    frame = found.tables["scale-systems"]
    frame = frame.loc[frame["pool"].isin(mixed)]
    return Table(
        what="systems in pools that mix them",
        title=message("Systems in the node pools that mix them"),
        columns=(
            Column("Pool", "name"),
            Column("Kubelet"),
            Column("Runtime"),
            Column("Kernel"),
            Column("Operating system"),
            Column("Nodes", "count"),
        ),
        rows=tuple(Row(tuple(row.values())) for row in _rows("scale-systems", frame)),
        row_count=len(frame),
        file="tables/scale-systems.csv",
    )


def _requests(frame: pd.DataFrame) -> Table:
    ordered = frame.sort_values(["received_bytes", "kind"], ascending=[False, True])
    rows = ordered[["kind", "request_count", "object_count", "received_bytes"]].to_dict("records")
    return Table(
        what="kinds",
        title=message("What this report asked of the API server"),
        order="those of most bytes",
        columns=(Column("Kind", "name"), Column("Requests", "count"), Column("Objects", "count"), Column("Received", "bytes")),
        rows=tuple(Row(tuple(row.values())) for row in rows[:_ROWS]),
        row_count=len(frame),
        file="tables/api-requests.csv",
        total=Row(("All", *(int(frame[column].sum()) for column in ("request_count", "object_count", "received_bytes")))),
    )
