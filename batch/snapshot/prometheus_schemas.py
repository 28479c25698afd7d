"""Tables that Prometheus fills: what containers and nodes used in its window."""

from __future__ import annotations

from batch.snapshot.schema import FLAG, INSTANT, INTEGER, REAL, TEXT, Column, Schema

PROMETHEUS = Schema(
    "prometheus",
    "one row when Prometheus was asked and told what containers used; what it was asked, and what that cost",
    ("address",),
    (
        Column("address", TEXT, "address that was asked, without credentials"),
        Column("first_at", INSTANT, "begin of the window"),
        Column("last_at", INSTANT, "end of the window: the moment of the snapshot"),
        Column("scrape_seconds", INTEGER, "time between two samples in the store, as far as it could be told", "seconds", nullable=True),
        Column("step_seconds", INTEGER, "time that one sample of CPU stands for", "seconds"),
        Column("rate_seconds", INTEGER, "time over which each sample of CPU is averaged", "seconds"),
        Column("recorded_series", TEXT, "recorded series that CPU was read from; NA when from the counters themselves", nullable=True),
        Column("instant_seconds", INTEGER, "time between two instants", "seconds"),
        Column("instant_count", INTEGER, "instants at which all containers were looked at together", "count"),
        Column("request_count", INTEGER, "requests that were sent, repetitions included", "count"),
        Column("received_bytes", INTEGER, "size of the answers", "bytes"),
        Column("elapsed_seconds", REAL, "time that it took", "seconds"),
        Column(
            "dropped_count", INTEGER, "values that were left out because they are NaN or infinite, shares of nothing above all", "count"
        ),
    ),
)

MEASURED_CONTAINERS = Schema(
    "measured_containers",
    "one row for each container that Prometheus has usage of in the window, those of pods that are gone included",
    ("series",),
    (
        Column("series", INTEGER, "number of the container in the tables of Prometheus", "number"),
        Column("namespace", TEXT, "namespace of the pod"),
        Column("pod", TEXT, "name of the pod"),
        Column("container", TEXT, "name of the container"),
        Column("listed", FLAG, "whether the pod is still there, in table pods"),
        Column("workload_kind", TEXT, "kind of the top owner; NA when not known of a pod that is gone", nullable=True),
        Column("workload", TEXT, "name of the top owner; NA when not known of a pod that is gone", nullable=True),
        Column("first_at", INSTANT, "first instant with a value", nullable=True),
        Column("last_at", INSTANT, "last instant with a value", nullable=True),
        Column("expected_count", INTEGER, "samples of CPU there would be if none were missing while it ran", "count"),
        Column("cpu_sample_count", INTEGER, "samples of CPU", "count"),
        Column("cpu_p50_nanocores", INTEGER, "median of the samples", "nanocores", nullable=True),
        Column("cpu_p95_nanocores", INTEGER, "95th percentile of the samples", "nanocores", nullable=True),
        Column("cpu_max_nanocores", INTEGER, "largest sample", "nanocores", nullable=True),
        Column("memory_sample_count", INTEGER, "samples of memory, as the store has them", "count"),
        Column(
            "memory_p50_bytes",
            INTEGER,
            "median of the samples; of more than 400 pods with several incarnations that of the incarnation with the largest",
            "bytes",
            nullable=True,
        ),
        Column(
            "memory_p95_bytes",
            INTEGER,
            "95th percentile of the samples; of more than 400 pods with several incarnations that of the incarnation with the largest",
            "bytes",
            nullable=True,
        ),
        Column("memory_max_bytes", INTEGER, "largest sample", "bytes", nullable=True),
        Column(
            "oom_kill_count", INTEGER, "kills for memory, as far as the series tell; NA when none of them tells", "count", nullable=True
        ),
        Column(
            "throttled_ratio",
            REAL,
            "share of scheduling periods in which the CPU limit held it back; NA without a limit",
            "ratio",
            nullable=True,
        ),
    ),
)

CONTAINER_DAYS = Schema(
    "container_days",
    "one row for each container and each day of the window of Prometheus with a sample; days are 24 hours and end with the window",
    ("series", "day_end_at"),
    (
        Column("series", INTEGER, "number of the container", "number"),
        Column("day_end_at", INSTANT, "end of the day"),
        Column("cpu_p95_nanocores", INTEGER, "95th percentile of the samples of that day", "nanocores", nullable=True),
        Column("memory_max_bytes", INTEGER, "largest sample of that day", "bytes", nullable=True),
    ),
)

CONTAINER_INSTANTS = Schema(
    "container_instants",
    "one row for each container and each instant of the window of Prometheus at which it was measured",
    ("series", "at"),
    (
        Column("series", INTEGER, "number of the container", "number"),
        Column("at", INSTANT, "the instant, the same for all containers"),
        Column("usage_cpu_nanocores", INTEGER, "CPU used", "nanocores", nullable=True),
        Column("usage_memory_bytes", INTEGER, "working set", "bytes", nullable=True),
    ),
)

NODE_WINDOWS = Schema(
    "node_windows",
    "one row for each node whose use as a whole machine Prometheus has in the window",
    ("node",),
    (
        Column("node", TEXT, "name of the node"),
        Column("cpu_p95_nanocores", INTEGER, "95th percentile of CPU used", "nanocores", nullable=True),
        Column("cpu_max_nanocores", INTEGER, "most CPU used", "nanocores", nullable=True),
        Column("memory_p95_bytes", INTEGER, "95th percentile of the working set", "bytes", nullable=True),
        Column("memory_max_bytes", INTEGER, "largest working set", "bytes", nullable=True),
    ),
)
