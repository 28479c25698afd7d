"""Measure the assessment of Jobs: `./dev bench jobs`. CPU seconds of `assess` alone, on snapshots that are made first.

Each Job has a pod and its conditions; nine in ten belong to a CronJob, of which there is one for each twenty Jobs. Before the figures are
printed, the counts that the assessment gives are compared with those that were made.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from time import process_time
from typing import Any

from batch.jobs.assess import assess
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from batch.snapshot.schema import Schema
from batch.snapshot.schemas import SCHEMAS
from bench.dice import Dice
from bench.measure import print_table

SIZES = (1_000, 5_000, 20_000, 100_000)
TARGET_COUNT, TARGET_SECONDS = 20_000, 3.0
_TAKEN_AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
_JOBS_A_CRONJOB = 20
_SCHEDULES = ("0 * * * *", "*/15 * * * *", "0 3 * * *", "17 2 * * 1-5", "30 */6 * * *", "* * * * *", "0 0 1 * *")
_ENDS = ("Complete",) * 8 + ("Failed", "")

Row = dict[str, Any]


def make_snapshot(dice: Dice, job_count: int) -> tuple[Snapshot, Counter[str]]:
    """Make a snapshot of so many Jobs, and the counts that its assessment must give."""
    rows: dict[str, list[Row]] = {"jobs": [], "job_conditions": [], "pods": [], "containers": [], "cronjobs": []}
    counts: Counter[str] = Counter(job_count=job_count)
    for number in range(job_count):
        _add_job(rows, counts, dice, number)
    rows["cronjobs"] = [_cronjob(dice, number) for number in range(-(-job_count // _JOBS_A_CRONJOB))]
    tables = {name: _frame(SCHEMAS[name], made) for name, made in rows.items()}
    return Snapshot(_TAKEN_AT, "bench", "v1.36.0", "dump:bench", "bench", "2026-11-30", tables), counts


def _add_job(rows: dict[str, list[Row]], counts: Counter[str], dice: Dice, number: int) -> None:
    end, deadline = dice.pick(_ENDS), 3600 if dice.chance(0.6) else None
    started_at = _TAKEN_AT - timedelta(seconds=60 + dice.below(86_400))
    ended_at = started_at + timedelta(seconds=30 + dice.below(3_000))
    reason = "DeadlineExceeded" if end == "Failed" and dice.chance(0.5) else "BackoffLimitExceeded"
    key = {"namespace": f"team-{number % 40:02}", "job": f"job-{number}"}
    owner = {"owner_kind": "CronJob", "owner_name": f"cron-{number // _JOBS_A_CRONJOB}"} if dice.chance(0.9) else {}
    rows["jobs"].append(
        {**key, **owner, "uid": f"uid-{number}", "created_at": started_at, "started_at": started_at, "deadline_seconds": deadline}
        | {"completed_at": ended_at if end == "Complete" else None, "controlled": bool(owner), "active_pod_count": int(not end)}
    )
    if end:
        condition = {"condition": end, "status": "True", "reason": reason if end == "Failed" else None, "changed_at": ended_at}
        rows["job_conditions"].append({**key, **condition})
    pod = {"namespace": key["namespace"], "pod": f"{key['job']}-abcde"}
    phase = {"Complete": "Succeeded", "Failed": "Failed"}.get(end, "Running")
    rows["pods"].append(
        {**pod, "node": "n", "phase": phase, "started_at": started_at, "owner_kind": "Job", "owner_uid": f"uid-{number}"}
        | {"workload_kind": "Job", "workload": key["job"], "requests_cpu_nanocores": 10**9, "requests_memory_bytes": 2**30}
    )
    rows["containers"].append({**pod, "container": "main", "kind": "app", "restart_count": 0, "last_end_at": ended_at if end else None})
    counts["active_job_count"] += not end
    counts["without_deadline_count"] += not end and deadline is None
    counts["deadline_exceeded_count"] += end == "Failed" and reason == "DeadlineExceeded"
    counts["past_deadline_count"] += not end and deadline is not None and (_TAKEN_AT - started_at).total_seconds() >= deadline


def _cronjob(dice: Dice, number: int) -> Row:
    key = {"namespace": f"team-{number % 40:02}", "cronjob": f"cron-{number}", "uid": f"cron-uid-{number}"}
    last = _TAKEN_AT - timedelta(minutes=dice.below(180))
    return {**key, "schedule": dice.pick(_SCHEDULES), "time_zone": dice.pick((None, "Europe/Berlin")), "last_scheduled_at": last} | {
        "created_at": last,
        "concurrency_policy": "Allow",
        "template_requests_cpu_nanocores": 10**9,
        "template_requests_memory_bytes": 2**30,
    }


def _frame(schema: Schema, rows: list[Row]) -> Any:
    """Fill the columns that may not be missing with nothing of their kind."""
    empty = {"int64": 0, "bool": False, "string": ""}
    filled = {column.name: None if column.nullable else empty.get(str(column.type)) for column in schema.columns}
    return schema.frame([(filled | row)[column.name] for column in schema.columns] for row in rows)


def measure(job_count: int, rounds: int) -> float:
    """Give the median CPU time of an assessment; ends the program when a count is wrong."""
    snapshot, expected = make_snapshot(Dice(job_count), job_count)
    seconds = []
    for _ in range(rounds):
        began = process_time()
        found = assess(snapshot, Settings()).counts
        seconds.append(process_time() - began)
    if dict(found) != {name: expected[name] for name in found}:
        sys.exit(f"{job_count} Jobs: found {dict(found)}, expected {dict(expected)}")
    return statistics.median(seconds)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=SIZES, help="numbers of Jobs (default: 1000 5000 20000 100000)")
    parser.add_argument("--rounds", type=int, default=3, help="assessments of each size; the table has the medians (default: 3)")
    arguments = parser.parse_args()
    costs = {job_count: measure(job_count, arguments.rounds) for job_count in arguments.jobs}
    rows = [(f"{count:,}", f"{count // _JOBS_A_CRONJOB:,}", f"{cost:.2f}", f"{cost / count * 1e6:.0f}") for count, cost in costs.items()]
    print_table(("Jobs", "CronJobs", "CPU s", "CPU µs a Job"), rows)
    growth = [(f"from {a:,} to {b:,} Jobs", f"{(costs[b] - costs[a]) / (b - a) * 1e6:.0f}") for a, b in pairwise(costs)]
    print_table(("", "CPU µs for each further Job"), growth)
    if TARGET_COUNT in costs:
        print(f"{TARGET_COUNT:,} Jobs: {costs[TARGET_COUNT]:.2f} CPU s; the target is under {TARGET_SECONDS:g}")


if __name__ == "__main__":
    main()
