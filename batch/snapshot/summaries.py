"""A run in one row, and its workloads in one small table: what trends and the question "what changed?" read for years."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from batch.snapshot.schema import FLAG, INSTANT, INTEGER, REAL, TEXT, Column, Schema

VERSION = 1
"""Version of a summary and of its workloads. One of another version is not read."""

MEDIA_TYPE = "application/vnd.apache.parquet"

_HEAD = b"nightcap.summary"

_LEVEL = pa.struct(
    [
        ("pool", TEXT),
        ("resource", TEXT),
        ("allocatable", INTEGER),
        ("requests", INTEGER),
        ("usage", INTEGER),
    ]
)

SUMMARY = Schema(
    "summary",
    "one row for each run, in a file of its own",
    ("run_id",),
    (
        Column("run_id", TEXT, "id of the run"),
        Column("taken_at", INSTANT, "moment of its snapshot"),
        Column("complete", FLAG, "false when the run had to stop early"),
        Column("namespaces", pa.list_(TEXT), "namespaces that were read; NA for all of them", nullable=True),
        Column("node_count", INTEGER, "physical nodes", "count", nullable=True),
        Column("ready_node_count", INTEGER, "those that are ready", "count", nullable=True),
        Column("bound_pod_count", INTEGER, "bound pods", "count", nullable=True),
        Column("pending_pod_count", INTEGER, "pods that wait for a node", "count", nullable=True),
        Column("monthly_cost", REAL, "what the nodes cost in a month; NA unless all of them have a price", "currency", nullable=True),
        Column("currency", TEXT, "currency of the cost", nullable=True),
        Column(
            "levels",
            pa.list_(_LEVEL),
            "what may be promised, is promised and is used of each resource (cpu in nanocores, memory in bytes, pods and accelerators in counts), of each node pool and, where pool is NA, of the cluster",
        ),
    ),
)

WORKLOADS = Schema(
    "workloads",
    "one row for each workload with bound pods, in a file for each run; pods and Jobs without a lasting name are one row a namespace",
    ("kind", "namespace", "workload"),
    (
        Column("kind", TEXT, "kind of the workload"),
        Column("namespace", TEXT, "namespace of the workload"),
        Column("workload", TEXT, "name of the workload; empty for all bare pods, or all single Jobs, of a namespace"),
        Column("pod_count", INTEGER, "bound pods", "count"),
        Column("requests_cpu_nanocores", INTEGER, "their effective requests", "nanocores", nullable=True),
        Column("requests_memory_bytes", INTEGER, "their effective requests", "bytes", nullable=True),
        Column("usage_cpu_nanocores", INTEGER, "usage of those that were measured", "nanocores", nullable=True),
        Column("usage_memory_bytes", INTEGER, "usage of those that were measured", "bytes", nullable=True),
    ),
)


class ForeignSummaryError(ValueError):
    """The bytes are no summary or no workloads, or those of another version."""


@dataclass(frozen=True)
class Level:
    """One resource of one node pool, or of the cluster (`pool` None), in nanocores, bytes or counts. None is unknown."""

    pool: str | None
    resource: str
    allocatable: int | None
    requests: int | None
    usage: int | None = None


@dataclass(frozen=True)
class Summary:
    """One run in figures; the fields are those of SUMMARY, and the date under which the run is filed (YYYY-MM-DD)."""

    date: str
    run_id: str
    taken_at: datetime
    complete: bool
    namespaces: tuple[str, ...] | None
    node_count: int | None
    ready_node_count: int | None
    bound_pod_count: int | None
    pending_pod_count: int | None
    monthly_cost: float | None
    currency: str | None
    levels: tuple[Level, ...]

    def level(self, pool: str | None, resource: str) -> Level | None:
        """Give one resource of one pool; None when it was not there."""
        return next((one for one in self.levels if (one.pool, one.resource) == (pool, resource)), None)


@dataclass(frozen=True)
class Workloads:
    """The workloads of one run. `table` has the schema WORKLOADS."""

    date: str
    run_id: str
    table: pa.Table


def summary_name(run_id: str) -> str:
    """Give where a run's summary is kept, below the cluster's history of its date."""
    return f"{run_id}.parquet"


def workloads_name(run_id: str) -> str:
    """Give where a run's workloads are kept, below the cluster's history of its date."""
    return f"workloads/{run_id}.parquet"


def encode_summary(summary: Summary) -> bytes:
    """Write a summary as Parquet; equal summaries give equal bytes."""
    row = asdict(summary)
    date = row.pop("date")
    return _written(pa.Table.from_pylist([row], schema=SUMMARY.arrow), {"date": date, "run_id": summary.run_id})


def encode_workloads(workloads: Workloads) -> bytes:
    """Write workloads as Parquet; equal workloads give equal bytes."""
    return _written(workloads.table.cast(WORKLOADS.arrow), {"date": workloads.date, "run_id": workloads.run_id})


def decode_summary(data: bytes) -> Summary:
    """Read a summary. Raises ForeignSummaryError for anything else."""
    table, head = _read(data, SUMMARY)
    try:
        (row,) = table.to_pylist()
        levels = tuple(Level(**level) for level in row.pop("levels"))
        namespaces = row.pop("namespaces")
        return Summary(
            date=str(head["date"]), levels=levels, namespaces=None if namespaces is None else tuple(namespaces), **_own_fields(row)
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignSummaryError(f"it is no summary of a run: {error}") from error


def decode_workloads(data: bytes) -> Workloads:
    """Read workloads. Raises ForeignSummaryError for anything else."""
    table, head = _read(data, WORKLOADS)
    try:
        return Workloads(str(head["date"]), str(head["run_id"]), table)
    except KeyError as error:
        raise ForeignSummaryError(f"it is no table of workloads: {error}") from error


def _own_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(Summary)}
    return {name: value for name, value in row.items() if name in names}


def _written(table: pa.Table, head: Mapping[str, str]) -> bytes:
    """Write without Arrow's own description of the columns, which would be half of so small a file."""
    sink = io.BytesIO()
    options: dict[str, Any] = {"compression": "zstd", "compression_level": 9, "write_statistics": False, "store_schema": False}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_HEAD: json.dumps({"version": VERSION, **head})})
    return sink.getvalue()


def _read(data: bytes, schema: Schema) -> tuple[pa.Table, dict[str, Any]]:
    try:
        table = pq.read_table(io.BytesIO(data))
        head: dict[str, Any] = json.loads((table.schema.metadata or {})[_HEAD])
        version = head["version"]
        if version == VERSION:
            return table.select([column.name for column in schema.columns]).cast(schema.arrow).replace_schema_metadata(None), head
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ForeignSummaryError(f"it is no file of a run's {schema.name}: {error}") from error
    raise ForeignSummaryError(f"its version is {version}, and this one reads version {VERSION}")
