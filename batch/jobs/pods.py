"""The pods of Jobs: what each holds and has held, and which of them outlive their time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
import pyarrow as pa

from batch.accelerators import THOUSANDTHS, Kind, kind
from batch.findings import Message, message
from batch.jobs.model import Held
from batch.snapshot.job_pods import job_uids
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import PODS
from batch.snapshot.views import FINISHED

_TRACKING = "batch.kubernetes.io/job-tracking"
"""Finalizer that the Job controller itself puts on its pods and takes away (Kubernetes documentation, Jobs, Job termination)."""

_SLACK_SECONDS = 60
"""The kubelet ends a pod by its own deadline at its next look, which is a minute away at most."""

_MILLI = 1000


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod of a Job. `held_seconds` is how long it has held what it requests: None when its end is not known."""

    name: str
    phase: str
    node: str | None
    node_ready: bool | None
    deleted_at: datetime | None
    started_at: datetime | None
    deadline_seconds: int | None
    finalizers: tuple[str, ...]
    waiting_for: str | None
    restart_count: int
    gpu_count: float
    cpu_nanocores: int | None
    memory_bytes: int | None
    held_seconds: float | None

    @property
    def alive(self) -> bool:
        """Whether it still holds what it requests."""
        return self.node is not None and self.phase not in FINISHED

    def in_grace(self, taken_at: datetime) -> bool:
        """Whether it is being deleted, and its node still has time to end it."""
        return self.node_ready is not False and self.deleted_at is not None and self.deleted_at >= taken_at

    @property
    def ended(self) -> bool:
        """Whether it has succeeded or failed."""
        return self.phase in FINISHED


def pods_of_jobs(snapshot: Snapshot) -> dict[str, list[PodView]]:
    """Give the pods of each Job by the Job's uid, in order of their names."""
    pods = snapshot.table("pods").assign(job_uid=job_uids(snapshot))
    pods = pods.loc[pods["job_uid"].notna()]
    if pods.empty:
        return {}
    ready = dict(zip(snapshot.table("nodes")["node"], snapshot.table("nodes")["ready"], strict=True))
    gpus = gpu_counts(snapshot.table("pod_resources"), "pod")
    ends, restarts = _containers(snapshot, pods)
    found: dict[str, list[PodView]] = defaultdict(list)
    for uid, row in zip(pods["job_uid"], PODS.to_arrow(pods.drop(columns="job_uid")).to_pylist(), strict=True):
        key = row["namespace"], row["pod"]
        end = ends.get(key) if row["phase"] in FINISHED else snapshot.taken_at
        found[uid].append(_view(row, ready, gpus.get(key, 0), end, restarts.get(key, 0)))
    return found


def gpu_counts(resources: pd.DataFrame, name: str) -> dict[tuple[str, str], float]:
    """Add up the accelerators that each row of a table of resources asks for, by namespace and the column `name`."""
    counts: dict[tuple[str, str], float] = defaultdict(float)
    kinds = {resource: kind(resource) for resource in resources["resource"].unique()}
    for namespace, owner, resource, count in zip(
        resources["namespace"], resources[name], resources["resource"], resources["requests_count"], strict=True
    ):
        if kinds[resource] is Kind.ACCELERATOR:
            counts[namespace, owner] += count / _MILLI if resource == THOUSANDTHS else count
    return counts


def held_by(pods: Sequence[PodView], ended_pod_count: int, template_gpu_count: float, template_cpu: int | None) -> Held:
    """Add up what the pods of a Job hold now, and what they have held.

    Of `ended_pod_count` that the Job has counted some may be gone: what they held is unknown, unless the template asks for nothing.
    """
    alive = [pod for pod in pods if pod.alive]
    gone = ended_pod_count > sum(pod.ended for pod in pods)
    return Held(
        pod_count=len(alive),
        gpu_count=sum(pod.gpu_count for pod in alive),
        cpu_nanocores=sum(pod.cpu_nanocores or 0 for pod in alive),
        memory_bytes=sum(pod.memory_bytes or 0 for pod in alive),
        gpu_seconds=None if gone and template_gpu_count else _integral((pod.gpu_count, pod.held_seconds) for pod in pods),
        cpu_nanocore_seconds=None if gone and template_cpu != 0 else _integral((pod.cpu_nanocores, pod.held_seconds) for pod in pods),
    )


def stuck_pods(pods: Sequence[PodView], taken_at: datetime, *, job_is_over: bool) -> Iterator[Message]:
    """Say of each living pod of a Job that is over, or past its deadline, what keeps it, but for those within their grace period.

    Of other Jobs say which pods are past their own deadline.
    """
    for pod in pods:
        if not pod.alive:
            continue
        if job_is_over:
            if not pod.in_grace(taken_at):
                yield _why_alive(pod, taken_at)
        elif pod.deadline_seconds is not None and pod.started_at is not None:
            beyond = (taken_at - pod.started_at).total_seconds() - pod.deadline_seconds
            if beyond > _SLACK_SECONDS:
                yield message("Pod {pod:text} is {beyond:seconds} past its own deadline.", pod=pod.name, beyond=beyond)


def _why_alive(pod: PodView, taken_at: datetime) -> Message:
    """Name what keeps a pod: a node that does not answer, somebody's finalizer, or a process that does not end."""
    if pod.node_ready is False:
        text = "Pod {pod:text} is on {node:text}, which is not ready: nothing can tell whether it has ended."
        return message(text, pod=pod.name, node=pod.node)
    if pod.deleted_at is None:
        return message("Pod {pod:text} runs on; nobody has deleted it.", pod=pod.name)
    since = (taken_at - pod.deleted_at).total_seconds()
    foreign = [finalizer for finalizer in pod.finalizers if finalizer != _TRACKING]
    if foreign:
        text = "Pod {pod:text} should be gone since {since:seconds}; it is kept by {finalizers:text}."
        return message(text, pod=pod.name, since=since, finalizers=", ".join(foreign))
    return message(
        "Pod {pod:text} should be gone since {since:seconds} and still runs on {node:text}.", pod=pod.name, since=since, node=pod.node
    )


def _view(row: Mapping[str, Any], ready: Mapping[str, Any], gpu_count: float, end: datetime | None, restart_count: int) -> PodView:
    node_ready = ready.get(row["node"])
    begun = row["started_at"]
    return PodView(
        name=row["pod"],
        phase=row["phase"],
        node=row["node"],
        node_ready=None if node_ready is None or node_ready is pd.NA else bool(node_ready),
        deleted_at=row["deleted_at"],
        started_at=begun,
        deadline_seconds=row["deadline_seconds"],
        finalizers=tuple(row["finalizers"].split(", ")) if row["finalizers"] else (),
        waiting_for="SchedulingGated" if row["gated"] else "Unschedulable" if row["unschedulable_reason"] else None,
        restart_count=restart_count,
        gpu_count=gpu_count,
        cpu_nanocores=row["requests_cpu_nanocores"],
        memory_bytes=row["requests_memory_bytes"],
        held_seconds=0.0 if row["node"] is None else None if begun is None or end is None else max(0.0, (end - begun).total_seconds()),
    )


def _containers(snapshot: Snapshot, pods: pd.DataFrame) -> tuple[dict[Hashable, datetime], dict[Hashable, int]]:
    """Give when the last container of each pod ended, and how often those that are no sidecars were started again."""
    containers = snapshot.table("containers")
    containers = containers.loc[containers["namespace"].isin(pods["namespace"].unique()) & containers["pod"].isin(pods["pod"])]
    by_pod = containers.loc[containers["last_end_at"].notna()].groupby(["namespace", "pod"])["last_end_at"].max()
    again = containers.loc[(containers["kind"] != "sidecar") & (containers["restart_count"] > 0).fillna(value=False)]
    restarts = again.groupby(["namespace", "pod"])["restart_count"].sum()
    return dict(zip(by_pod.index, pa.array(by_pod).to_pylist(), strict=True)), {key: int(n) for key, n in restarts.items()}


def _integral(amounts: Iterable[tuple[float | None, float | None]]) -> float | None:
    """Add up amounts times their seconds; None as soon as one that is not zero is not known."""
    total = 0.0
    for amount, seconds in amounts:
        if amount == 0:
            continue
        if amount is None or seconds is None:
            return None
        total += amount * seconds
    return total
