"""The tables of the report as CSV files (RFC 4180), complete and with exact numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from batch.gpu.model import GPU_NODES, GpuAssessment
from batch.jobs.model import JobAssessment
from batch.plan.model import NODE_CAPACITY, PROFILE_PODS, CapacityPlan, FlavorFit, Pool, ProfilePlan
from batch.report.document import not_assessed
from batch.report.document_packing import fleet_row, room_row
from batch.report.document_profiles import odds_rows
from batch.report.document_scale import CHECK_COLUMNS, check_row
from batch.report.exports_gpu import GPU_RESOURCE_COLUMNS, gpu_resource, gpu_tables
from batch.report.exports_jobs import (
    CRONJOB_COLUMNS,
    JOB_COLUMNS,
    PILE_COLUMNS,
    START_COLUMNS,
    cronjob_row,
    job_row,
    pile_rows,
    start_row,
)
from batch.report.exports_rightsizing import RIGHTSIZING_COLUMNS, rightsizing_row
from batch.report.exports_trends import trend_tables
from batch.report.files import profile_file
from batch.report.model import Artifact
from batch.scale.model import ScaleAssessment
from batch.scale.tables import SCHEMAS as SCALE_TABLES
from batch.snapshot.model import Snapshot
from batch.snapshot.prometheus_schemas import MEASURED_CONTAINERS, NODE_WINDOWS
from batch.snapshot.schema import Schema
from batch.snapshot.schemas import API_REQUESTS, REJECTS

MEDIA_TYPE = "text/csv; charset=utf-8; header=present"

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 - the full-width forms are meant
"""A text that begins so runs as a formula in spreadsheets (OWASP, CSV injection; full-width forms included)."""

_NANO = 10**9


def tables(snapshot: Snapshot, plan: CapacityPlan, gpu: GpuAssessment, jobs: JobAssessment, scale: ScaleAssessment) -> tuple[Artifact, ...]:
    """Write every table behind the report's sections to tables/<name>.csv; a table without rows still has its header.

    Cores are exact decimal numbers, NA is an empty cell, flags are true or false. Text that a spreadsheet would run as a formula
    gets an apostrophe in front; numbers never do.
    """
    return (
        _table("nodes", _columns(NODE_CAPACITY, plan.nodes)),
        _table("pools", _rows(_POOL_COLUMNS, map(_pool, plan.pools))),
        *_packing_tables(plan),
        *(table for profile in plan.profiles for table in _profile_tables(profile)),
        _table("right-sizing", _rows(RIGHTSIZING_COLUMNS, map(rightsizing_row, plan.rightsizing.advice))),
        *(_table(name, columns) for name, columns in trend_tables(plan.trends)),
        _table("gpu-nodes", _columns(GPU_NODES, gpu.nodes)),
        _table("gpu-resources", _rows(GPU_RESOURCE_COLUMNS, map(gpu_resource, gpu.resources))),
        *(_table(name, _rows(columns, rows)) for name, columns, rows in gpu_tables(gpu)),
        *_job_tables(jobs),
        *_prometheus_tables(snapshot),
        _table("scale-checks", _rows(CHECK_COLUMNS, map(check_row, scale.checks))),
        *(_table(name, _columns(schema, scale.tables[name])) for name, schema in SCALE_TABLES.items()),
        _table("api-requests", _columns(API_REQUESTS, snapshot.table("api_requests"))),
        _table("rejects", _columns(REJECTS, snapshot.table("rejects"))),
        _table(
            "gaps",
            _rows(
                ("source", "reason", "effect"),
                map(vars, dict.fromkeys((*snapshot.gaps, *not_assessed(plan, gpu, snapshot, snapshot.gaps)))),
            ),
        ),
    )


_POOL_COLUMNS = (
    "name",
    "node_count",
    "unusable_node_count",
    "bound_pod_count",
    "allocatable_pod_count",
    "headroom_pod_count",
    *(f"{state}_cpu_nanocores" for state in ("allocatable", "requests", "usage", "headroom")),
    *(f"{state}_memory_bytes" for state in ("allocatable", "requests", "usage", "headroom")),
    "binding_resource",
)
_FLAVOR_COLUMNS = (
    "name",
    "provider",
    "architecture",
    "cpu_nanocores",
    "memory_bytes",
    "gpu_count",
    "gpu_product",
    "gpu_memory_bytes",
    "pod_limit",
    "in_cluster_node_count",
    "allocatable_source",
    "allocatable_cpu_nanocores",
    "allocatable_memory_bytes",
    "daemonset_pod_count",
    "daemonset_cpu_nanocores",
    "daemonset_memory_bytes",
    "cpu_fit_ratio",
    "memory_fit_ratio",
    "pods_by_requests",
    "pods_by_p95",
    "pods_by_limit",
    "binding",
    "safe_pods_per_node",
    "outliers_tolerated",
    "outlier_overflow_probability",
    "cpu_overrun_probability",
    "memory_overrun_probability",
    "cpu_overrun_probability_mean",
    "memory_overrun_probability_mean",
    "node_count",
    "node_monthly_cost",
    "monthly_cost",
    "recommended",
)
_ODDS_COLUMNS = ("flavor", "pods_per_node", "memory_overrun_probability", "cpu_overrun_probability")
_ROOM_COLUMNS = (
    "pool",
    "open_node_count",
    "typical_cpu_nanocores",
    "typical_memory_bytes",
    "typical_fit_count",
    "typical_fit_whole_count",
    "typical_binding_resource",
    *(f"largest_{resource}_fit_{part}" for resource in ("cpu", "memory") for part in ("node", "cpu_nanocores", "memory_bytes")),
)
_LOSS_COLUMNS = (
    "what",
    "name",
    "pool",
    "node_count",
    "remaining_node_count",
    "pod_count",
    "preemptible_pod_count",
    "requests_cpu_nanocores",
    "requests_memory_bytes",
    "unplaced_pod_count",
    "unplaced_requests_cpu_nanocores",
    "unplaced_requests_memory_bytes",
)
_EMPTYABLE_COLUMNS = ("node", "pool", "moved_pod_count", "allocatable_cpu_nanocores", "allocatable_memory_bytes")
_FLEET_COLUMNS = (
    "flavor",
    "right_sized",
    "cpu_nanocores",
    "memory_bytes",
    "gpu_count",
    "node_count",
    "lower_bound_node_count",
    "placed_pod_count",
    "unplaced_pod_count",
    "allocatable_cpu_nanocores",
    "allocatable_memory_bytes",
    "allocatable_source",
    "pod_limit",
    "daemonset_pod_count",
    "daemonset_cpu_nanocores",
    "daemonset_memory_bytes",
    "requests_cpu_ratio",
    "requests_memory_ratio",
    "requests_pods_ratio",
    "binding_resource",
    "monthly_cost",
)


def _packing_tables(plan: CapacityPlan) -> tuple[Artifact, ...]:
    fleets = (*plan.fleets.fleets, *plan.right_sized_fleets.fleets)
    return (
        _table("headroom", _rows(_ROOM_COLUMNS, map(room_row, plan.headroom.pools))),
        _table("losses", _rows(_LOSS_COLUMNS, map(vars, plan.headroom.losses))),
        _table("emptyable-nodes", _rows(_EMPTYABLE_COLUMNS, map(vars, plan.headroom.emptyable))),
        _table("fleets", _rows(_FLEET_COLUMNS, map(fleet_row, fleets))),
    )


def _prometheus_tables(snapshot: Snapshot) -> tuple[Artifact, ...]:
    """Write what Prometheus told of each container and node; instants and days are in the snapshot's own tables."""
    return tuple(
        _table(schema.name.replace("_", "-"), _columns(schema, snapshot.table(schema.name)))
        for schema in (MEASURED_CONTAINERS, NODE_WINDOWS)
    )


def _job_tables(jobs: JobAssessment) -> tuple[Artifact, ...]:
    return (
        _table("jobs", _rows(JOB_COLUMNS, map(job_row, jobs.jobs))),
        _table("cronjobs", _rows(CRONJOB_COLUMNS, map(cronjob_row, jobs.cronjobs))),
        _table("starts", _rows(START_COLUMNS, map(start_row, jobs.starts))),
        _table("never-deleted-jobs", _rows(PILE_COLUMNS, pile_rows(jobs))),
    )


def _profile_tables(profile: ProfilePlan) -> tuple[Artifact, ...]:
    pods, flavors, chances = (profile_file(profile.name, what) for what in ("pods", "flavors", "odds"))
    return (
        _file(pods, _columns(PROFILE_PODS, profile.pods)),
        _file(flavors, _rows(_FLAVOR_COLUMNS, (_flavor(fit, profile) for fit in profile.flavors))),
        _file(chances, _rows(_ODDS_COLUMNS, odds_rows(profile))),
    )


def _pool(pool: Pool) -> Mapping[str, Any]:
    return {**vars(pool), "unusable_node_count": sum(unusable.node_count for unusable in pool.unusable)}


def _flavor(fit: FlavorFit, profile: ProfilePlan) -> Mapping[str, Any]:
    recommended = profile.recommended is not None and profile.recommended.flavor == fit.flavor.name
    return {**vars(fit.flavor), **vars(fit), "recommended": recommended}


def _columns(schema: Schema, frame: pd.DataFrame) -> dict[str, list[Any]]:
    table = schema.to_arrow(frame)
    return {column.name: table.column(column.name).to_pylist() for column in schema.columns}


def _rows(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    every = list(rows)
    return {name: [row[name] for row in every] for name in names}


def _table(name: str, columns: Mapping[str, list[Any]]) -> Artifact:
    return _file(f"tables/{name}.csv", columns)


def _file(name: str, columns: Mapping[str, list[Any]]) -> Artifact:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(column.replace("nanocores", "cores") for column in columns)
    writer.writerows(zip(*(_cells(column, values) for column, values in columns.items()), strict=True))
    return Artifact(name, MEDIA_TYPE, text.getvalue().encode())


def _cells(column: str, values: list[Any]) -> list[Any]:
    if "nanocores" in column:
        return [None if value is None else _decimal_cores(value) for value in values]
    return [_cell(value) for value in values]


def _cell(value: object) -> object:
    """Give what csv.writer can write as it is: None becomes an empty cell, a number stays a number."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _decimal_cores(nanocores: int) -> str:
    """Write nanocores as cores, exactly: 250000000 is 0.25."""
    whole, rest = divmod(abs(nanocores), _NANO)
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    return f"{'-' if nanocores < 0 else ''}{whole}{fraction}"
