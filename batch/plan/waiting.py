"""What waits to run: pending, gated and nominated pods, and suspended Jobs, with what they will ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd

from batch.plan.measured import total
from batch.plan.model import Waiting
from batch.snapshot.model import Snapshot


def waiting(snapshot: Snapshot) -> tuple[Waiting, ...]:
    """Give one row for each kind of waiting that occurs. A pod counts once: gated, else nominated, else pending."""
    pods = snapshot.table("pods")
    unbound = pods.loc[pods["node"].isna() & pods["phase"].eq("Pending")]
    nominated = unbound["nominated_node"].notna() & ~unbound["gated"]
    rows = [
        _of_pods("pending", unbound.loc[~unbound["gated"] & ~nominated], snapshot),
        _of_pods("nominated", unbound.loc[nominated], snapshot),
        _of_pods("gated", unbound.loc[unbound["gated"]], snapshot),
        _of_suspended_jobs(snapshot),
    ]
    return tuple(row for row in rows if row.object_count)


def _of_pods(what: str, pods: pd.DataFrame, snapshot: Snapshot) -> Waiting:
    asked = pods[["namespace", "pod"]].merge(snapshot.table("pod_resources"), on=["namespace", "pod"])
    return Waiting(
        what,
        len(pods),
        len(pods),
        total(pods["requests_cpu_nanocores"]),
        total(pods["requests_memory_bytes"]),
        _by_resource(asked["resource"], asked["requests_count"]),
    )


def _of_suspended_jobs(snapshot: Snapshot) -> Waiting:
    jobs = snapshot.table("jobs")
    jobs = jobs.loc[jobs["suspended"]]
    asked = jobs[["namespace", "job", "parallelism"]].merge(snapshot.table("job_resources"), on=["namespace", "job"])
    return Waiting(
        "suspended Jobs",
        len(jobs),
        total(jobs["parallelism"]) or 0,
        total(_times(jobs["template_requests_cpu_nanocores"], jobs["parallelism"])),
        total(_times(jobs["template_requests_memory_bytes"], jobs["parallelism"])),
        _by_resource(asked["resource"], _times(asked["requests_count"], asked["parallelism"])),
    )


def _times(amounts: pd.Series, counts: pd.Series) -> list[int | None]:
    """Multiply in Python's integers: what suspended Jobs ask for is bounded by nothing, and may be beyond 64 bits."""
    return [None if amount is pd.NA else int(amount) * int(count) for amount, count in zip(amounts, counts, strict=True)]


def _by_resource(resources: Iterable[str], counts: Iterable[int | None]) -> Mapping[str, int]:
    sums: Counter[str] = Counter()
    for resource, count in zip(resources, counts, strict=True):
        sums[resource] += count or 0
    return dict(sorted(sums.items()))
