"""How each Job stands, as the Job controller means it: conditions that are True decide, pods only fill in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from batch.jobs.model import Held, Indexes, Job, Key, Owner, State
from batch.jobs.pods import PodView
from batch.snapshot.job_schemas import JOB_CONDITIONS
from batch.snapshot.model import Snapshot

Row = Mapping[str, Any]
"""A row of table `jobs`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that is True."""

    reason: str | None
    changed_at: datetime | None


Conditions = Mapping[str, Condition]
_NONE: Conditions = {}
_SETTLED = ("FailureTarget", "SuccessCriteriaMet")
"""Conditions that say how a Job will end once its pods are gone (Kubernetes documentation, Jobs, Job termination)."""

_FAILED_INDEXES = "FailedIndexes"
"""Reason of a Job that went through all of its indexes, and failed for some (k8s.io/api/batch/v1, JobReasonFailedIndexes)."""

_CONDITION_OF = {State.FAILED: "Failed", State.SUCCEEDED: "Complete", State.SUSPENDED: "Suspended"}


def true_conditions(snapshot: Snapshot) -> dict[Key, dict[str, Condition]]:
    """Give the conditions of each Job whose status is True, by type; others say nothing."""
    found: dict[Key, dict[str, Condition]] = defaultdict(dict)
    for row in JOB_CONDITIONS.to_arrow(snapshot.table("job_conditions")).to_pylist():
        if row["status"] == "True":
            found[row["namespace"], row["job"]][row["condition"]] = Condition(row["reason"], row["changed_at"])
    return found


def job_of(row: Row, conditions: Conditions | None, pods: Sequence[PodView], held: Held, taken_at: datetime) -> Job:
    """Read one row of table `jobs`, with its conditions that are True and its pods."""
    given = conditions or _NONE
    state = _state(row, given, pods)
    ended_at = _ended_at(row, given, state)
    return Job(
        namespace=row["namespace"],
        name=row["job"],
        uid=row["uid"],
        owner=_owner(row),
        manual=row["manual"],
        state=state,
        reason=_reason(given, state, pods),
        ending=_ending(given, state),
        created_at=row["created_at"],
        deleted_at=row["deleted_at"],
        scheduled_at=row["scheduled_at"],
        started_at=row["started_at"],
        ended_at=ended_at,
        duration_seconds=_duration(row, state, ended_at, taken_at),
        deadline_seconds=row["deadline_seconds"],
        pod_deadline_seconds=row["pod_deadline_seconds"],
        remaining_seconds=_remaining(row, state, taken_at),
        retry_count=_retries(row, given) + sum(pod.restart_count for pod in pods),
        backoff_limit=row["backoff_limit"],
        backoff_limit_per_index=row["backoff_limit_per_index"],
        indexes=_indexes(row),
        ttl_seconds=row["ttl_seconds"],
        managed_by=row["managed_by"],
        held=held,
    )


def count_indexes(text: str | None) -> int | None:
    """Count the indexes of a compressed list such as "0-2,5"; None for what is no such list."""
    count = 0
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and int(last or first) >= int(first)):
            return None
        count += int(last or first) - int(first) + 1
    return count


def _owner(row: Row) -> Owner | None:
    if not row["owner_kind"] or not row["owner_name"]:
        return None
    return Owner(row["owner_kind"], row["namespace"], row["owner_name"], row["controlled"])


def _state(row: Row, conditions: Conditions, pods: Sequence[PodView]) -> State:
    """Failed before Complete: a Job cannot have both. FailureTarget and SuccessCriteriaMet announce an end, and are none."""
    if "Failed" in conditions:
        return State.FAILED
    if "Complete" in conditions:
        return State.SUCCEEDED
    if row["suspended"]:
        return State.SUSPENDED
    return State.RUNNING if _has_run(row, pods) or any(name in conditions for name in _SETTLED) else State.PENDING


def _has_run(row: Row, pods: Sequence[PodView]) -> bool:
    """Whether some pod of it has got as far as running."""
    if row["started_at"] is None and not row["active_pod_count"]:
        return False
    if row["failed_pod_count"] or row["succeeded_pod_count"] or row["terminating_pod_count"] or row["ready_pod_count"]:
        return True
    return any(pod.phase != "Pending" for pod in pods) if pods else bool(row["active_pod_count"])


def _reason(conditions: Conditions, state: State, pods: Sequence[PodView]) -> str | None:
    decided = conditions.get(_CONDITION_OF.get(state, ""))
    if decided is not None:
        return decided.reason
    if state is State.PENDING:
        return next((pod.waiting_for for pod in pods if pod.waiting_for), None)
    return _ending(conditions, state)


def _ending(conditions: Conditions, state: State) -> str | None:
    """Give why a Job is about to fail or to succeed, while its pods still end."""
    if state in (State.FAILED, State.SUCCEEDED):
        return None
    return next((conditions[name].reason or name for name in _SETTLED if name in conditions), None)


def _ended_at(row: Row, conditions: Conditions, state: State) -> datetime | None:
    """Give when it ended. A failed Job has no completionTime: its Failed condition tells."""
    if state is State.SUCCEEDED:
        return row["completed_at"] or conditions["Complete"].changed_at
    return conditions["Failed"].changed_at if state is State.FAILED else None


def _duration(row: Row, state: State, ended_at: datetime | None, taken_at: datetime) -> float | None:
    if row["started_at"] is None or state is State.SUSPENDED:
        return None
    end = ended_at if state in (State.SUCCEEDED, State.FAILED) else taken_at
    return None if end is None else max(0.0, (end - row["started_at"]).total_seconds())


def _remaining(row: Row, state: State, taken_at: datetime) -> float | None:
    """Give what is left until the deadline of a Job that has started: all of it where clocks differ and its start is yet to come.

    Suspending stops that clock and sets it back.
    """
    if row["deadline_seconds"] is None or row["started_at"] is None or state not in (State.PENDING, State.RUNNING):
        return None
    return float(row["deadline_seconds"] - max(0.0, (taken_at - row["started_at"]).total_seconds()))


def _retries(row: Row, conditions: Conditions) -> int:
    """Give how many pods were made in place of failed ones.

    Without a successor are the last one of each failed index, and those that a Job had when it was made to fail, one for each of its parallelism.
    """
    failed: int = row["failed_pod_count"]
    indexes = count_indexes(row["failed_indexes"]) or 0
    at_end = "Failed" in conditions and conditions["Failed"].reason != _FAILED_INDEXES
    return max(0, failed - indexes - (max(1, row["parallelism"]) if at_end else 0))


def _indexes(row: Row) -> Indexes | None:
    if not row["indexed"]:
        return None
    completed, failed = count_indexes(row["completed_indexes"]), count_indexes(row["failed_indexes"])
    if completed is None or failed is None:
        return None
    remaining = None if row["completions"] is None else max(0, row["completions"] - completed - failed)
    return Indexes(completed, failed, remaining)
