"""A night's usage in little room: for each workload and container, how many samples fell into each bucket. Written once, read for weeks.

Counts are whole numbers and nothing in them has decayed: sketches of any nights can be added up, and what is old counts less only where
they are read.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batch.snapshot.buckets import CPU, MEMORY
from batch.snapshot.schema import INTEGER, TEXT, Column, Schema

VERSION = 1
"""Version of a sketch: of the table, of its buckets, and of what a count means. A sketch of another version is not read."""

MEDIA_TYPE = "application/vnd.apache.parquet"

_HEAD = b"nightcap.sketch"
_BUCKETS, _COUNTS = pa.list_(pa.uint8()), pa.list_(pa.uint32())

SKETCHES = Schema(
    "sketches",
    "one row for each container of each workload whose pods ran that night; what has no lasting name (bare pods, single Jobs) is left out",
    ("kind", "namespace", "workload", "container"),
    (
        Column("kind", TEXT, "kind of the workload"),
        Column("namespace", TEXT, "namespace of the workload"),
        Column("workload", TEXT, "name of the workload"),
        Column("container", TEXT, "name of the container"),
        Column("expected_count", INTEGER, "samples there would be if every running pod had answered every reading", "count"),
        Column("sample_count", INTEGER, "samples of CPU", "count"),
        Column("cpu_peak_nanocores", INTEGER, "the busiest pod's 95th percentile of that night", "nanocores", nullable=True),
        Column("memory_peak_bytes", INTEGER, "the most that any sample of that night showed", "bytes", nullable=True),
        Column("cpu_buckets", _BUCKETS, "buckets (snapshot/buckets.py) with samples of CPU"),
        Column("cpu_counts", _COUNTS, "samples in each of them", "count"),
        Column("memory_buckets", _BUCKETS, "buckets with a pod's largest memory of that night"),
        Column("memory_counts", _COUNTS, "pods in each of them", "count"),
    ),
)


class ForeignSketchError(ValueError):
    """The bytes are no sketch, or one of another version."""


@dataclass(frozen=True)
class Night:
    """What one run measured. `sketches` has the schema SKETCHES; `first_at` and `last_at` are the times of its first and last sample."""

    date: str
    run_id: str
    taken_at: datetime
    first_at: datetime
    last_at: datetime
    sketches: pa.Table

    @property
    def sample_count(self) -> int:
        """Samples of CPU in all of them."""
        return pc.sum(self.sketches["sample_count"], min_count=0).as_py()  # type: ignore[no-any-return]  # an integer, by the schema


def name(run_id: str) -> str:
    """Give where a run's sketch is kept, below the cluster's history of its date."""
    return f"sketches/{run_id}.parquet"


def encode(night: Night) -> bytes:
    """Write a sketch as Parquet; equal nights give equal bytes."""
    head = {
        "version": VERSION,
        "date": night.date,
        "run_id": night.run_id,
        **{name: getattr(night, name).isoformat() for name in ("taken_at", "first_at", "last_at")},
    }
    table = night.sketches.cast(SKETCHES.arrow).replace_schema_metadata({_HEAD: json.dumps(head).encode()})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", compression_level=9)
    return sink.getvalue()


def decode(data: bytes) -> Night:
    """Read a sketch. Raises ForeignSketchError for anything else, and for a sketch of another version."""
    try:
        table = pq.read_table(io.BytesIO(data))
        head: dict[str, Any] = json.loads((table.schema.metadata or {})[_HEAD])
        version = head["version"]
        night = _night(head, table) if version == VERSION else None
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ForeignSketchError(f"it is no sketch: {error}") from error
    if night is None:
        raise ForeignSketchError(f"its version is {version}, and this one reads version {VERSION}")
    return night


def _night(head: dict[str, Any], table: pa.Table) -> Night:
    times = {name: datetime.fromisoformat(head[name]) for name in ("taken_at", "first_at", "last_at")}
    if not all(time.tzinfo for time in times.values()):
        raise ValueError("its times are in no time zone")
    sketches = table.select([column.name for column in SKETCHES.columns]).cast(SKETCHES.arrow).replace_schema_metadata(None)
    for name, buckets in (("cpu_buckets", CPU), ("memory_buckets", MEMORY)):
        if (pc.max(pc.list_flatten(sketches[name])).as_py() or 0) >= len(buckets.starts):
            raise ValueError(f"it has a bucket in {name} that there is not")
    return Night(date=head["date"], run_id=head["run_id"], sketches=sketches, **times)
