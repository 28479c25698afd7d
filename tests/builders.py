"""Builds snapshots by hand: nodes, pods and usage with sensible values in every column that a test does not name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from batch.snapshot.job_schemas import CRONJOB_RESOURCES, CRONJOBS, JOB_CONDITIONS, JOB_RESOURCES, JOBS
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.schema import Schema
from batch.snapshot.schemas import (
    CONTAINER_USAGE,
    CONTAINERS,
    GPU_USAGE,
    LABEL_SETS,
    NODE_CONDITIONS,
    NODE_LABELS,
    NODE_REQUIREMENTS,
    NODE_RESOURCES,
    NODE_TAINTS,
    NODE_USAGE,
    NODES,
    POD_RESOURCES,
    PODS,
    SCHEDULING_SETS,
    TOLERATIONS,
)

CORE = 10**9
MIB = 1024**2
GIB = 1024**3
TAKEN_AT = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)


@dataclass(frozen=True)
class NodeRows:
    """One node: its row of `nodes`, and what other tables say of it."""

    columns: Mapping[str, Any]
    labels: Mapping[str, str]
    taints: Sequence[tuple[str, str]]
    resources: Mapping[str, tuple[int, int]]
    machine_usage: tuple[int | None, int | None] | None


@dataclass(frozen=True, order=True)
class Rules:
    """Where a pod may go: tolerations (key, operator, value, effect), node selector, alternatives of (label, operator, values)."""

    tolerations: tuple[tuple[str, str, str, str], ...] = ()
    selector: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...] = ()
    spread: bool = False


ANYWHERE = Rules()


@dataclass(frozen=True)
class PodRows:
    """One pod: its row of `pods`, and what other tables say of it."""

    columns: Mapping[str, Any]
    labels: Mapping[str, str]
    resources: Mapping[str, int]
    usage: tuple[int | None, int | None] | None
    rules: Rules
    containers: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class JobRows:
    """One Job or CronJob: its row, the conditions of a Job as (status, reason, changed_at), and further resources of its template."""

    columns: Mapping[str, Any]
    conditions: Mapping[str, tuple[str, str | None, datetime | None]]
    resources: Mapping[str, int]


@dataclass(frozen=True)
class GpuUsage:
    """One row of `gpu_usage`: one device as one container held it."""

    columns: Mapping[str, Any]


@dataclass(frozen=True)
class UsageRow:
    """One measurement of one container."""

    columns: Mapping[str, Any] = field(default_factory=dict)


def node(
    name: str,
    *,
    cpu: int | None = 4 * CORE,
    memory: int | None = 16 * GIB,
    pods: int | None = 110,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[tuple[str, str]] = (),
    resources: Mapping[str, tuple[int, int]] | None = None,
    machine_usage: tuple[int | None, int | None] | None = None,
    **columns: Any,
) -> NodeRows:
    """Build a Ready, schedulable node whose capacity is its allocatable.

    `taints` are pairs (key, effect), `resources` name -> (capacity, allocatable), `machine_usage` a pair (nanocores, bytes) measured at
    TAKEN_AT; any column of `nodes` can be given by its name.
    """
    row = {
        "node": name,
        "uid": f"uid-{name}",
        "created_at": TAKEN_AT - timedelta(days=10),
        "architecture": "amd64",
        "kubelet_version": "v1.36.2",
        "ready": True,
        "schedulable": True,
        "virtual": False,
        "capacity_cpu_nanocores": cpu,
        "capacity_memory_bytes": memory,
        "allocatable_cpu_nanocores": cpu,
        "allocatable_memory_bytes": memory,
        "allocatable_pod_count": pods,
    }
    return NodeRows({**row, **columns}, labels or {}, taints, resources or {}, machine_usage)


def pod(
    name: str,
    *,
    namespace: str = "default",
    on: str | None = "n1",
    cpu: int | None = 0,
    memory: int | None = 0,
    cpu_limit: int | None = None,
    memory_limit: int | None = None,
    labels: Mapping[str, str] | None = None,
    resources: Mapping[str, int] | None = None,
    usage: tuple[int | None, int | None] | None = None,
    rules: Rules = ANYWHERE,
    containers: Sequence[Mapping[str, Any]] = (),
    **columns: Any,
) -> PodRows:
    """Build a Running pod of one container, bound to the node `on`, that is its own workload.

    `cpu` and `memory` are its effective requests, `usage` a pair (nanocores, bytes) measured at TAKEN_AT; `containers` are columns of its
    rows of `containers` where it has others than "main"; any column of `pods` can be given by its name.
    """
    row = {
        "namespace": namespace,
        "pod": name,
        "uid": f"uid-{namespace}-{name}",
        "node": on,
        "phase": "Running",
        "created_at": TAKEN_AT - timedelta(days=1),
        "started_at": TAKEN_AT - timedelta(days=1),
        "workload_kind": "Pod",
        "workload": name,
        "priority": 0,
        "gated": False,
        "image": "registry.example/app:1",
        "container_count": 1,
        "requests_cpu_nanocores": cpu,
        "requests_memory_bytes": memory,
        "limits_cpu_nanocores": cpu_limit,
        "limits_memory_bytes": memory_limit,
        "cpu_limited": cpu_limit is not None,
        "memory_limited": memory_limit is not None,
        "host_network": False,
        "local_storage": False,
        "kept_apart": False,
    }
    return PodRows({**row, **columns}, labels or {}, resources or {}, usage, rules, containers)


def job(
    name: str,
    *,
    namespace: str = "default",
    conditions: Mapping[str, Any] | None = None,
    owner: tuple[str, str] | None = None,
    cpu: int | None = 0,
    memory: int | None = 0,
    resources: Mapping[str, int] | None = None,
    **columns: Any,
) -> JobRows:
    """Build a Job that runs since an hour before TAKEN_AT, without a deadline, with one active pod that no test sees unless it makes it.

    `conditions` are type -> reason of those that are True, changed at TAKEN_AT, or (status, reason, changed_at); `owner` is a controlling
    (kind, name); `cpu`, `memory` and `resources` are what one pod of its template asks for; any column of `jobs` can be given by its name.
    """
    row = {
        "namespace": namespace,
        "job": name,
        "uid": f"uid-{namespace}-{name}",
        "created_at": TAKEN_AT - timedelta(hours=1),
        "started_at": TAKEN_AT - timedelta(hours=1),
        "owner_kind": owner and owner[0],
        "owner_name": owner and owner[1],
        "controlled": owner is not None,
        "manual": False,
        "suspended": False,
        "parallelism": 1,
        "completions": 1,
        "indexed": False,
        "backoff_limit": 6,
        "active_pod_count": 0 if conditions else 1,
        "ready_pod_count": 0 if conditions else 1,
        "succeeded_pod_count": 0,
        "failed_pod_count": 0,
        "template_requests_cpu_nanocores": cpu,
        "template_requests_memory_bytes": memory,
    }
    given = {kind: value if isinstance(value, tuple) else ("True", value, TAKEN_AT) for kind, value in (conditions or {}).items()}
    return JobRows({**row, **columns}, given, resources or {})


def cronjob(
    name: str,
    schedule: str = "0 3 * * *",
    *,
    namespace: str = "default",
    cpu: int | None = 0,
    memory: int | None = 0,
    resources: Mapping[str, int] | None = None,
    **columns: Any,
) -> JobRows:
    """Build a CronJob that was made ten days before TAKEN_AT, has a deadline of an hour, and last started just then."""
    row = {
        "namespace": namespace,
        "cronjob": name,
        "uid": f"uid-{namespace}-{name}",
        "created_at": TAKEN_AT - timedelta(days=10),
        "schedule": schedule,
        "suspended": False,
        "concurrency_policy": "Allow",
        "last_scheduled_at": TAKEN_AT,
        "last_succeeded_at": TAKEN_AT,
        "active_job_count": 0,
        "parallelism": 1,
        "deadline_seconds": 3600,
        "template_requests_cpu_nanocores": cpu,
        "template_requests_memory_bytes": memory,
    }
    return JobRows({**row, **columns}, {}, resources or {})


def usage(
    name: str,
    cpu: int | None,
    memory: int | None,
    *,
    namespace: str = "default",
    container: str = "main",
    measured_at: datetime = TAKEN_AT,
) -> UsageRow:
    """Build one measurement, for pods with several containers or several instants."""
    return UsageRow(
        {
            "namespace": namespace,
            "pod": name,
            "container": container,
            "measured_at": measured_at,
            "window_seconds": 30,
            "usage_cpu_nanocores": cpu,
            "usage_memory_bytes": memory,
        }
    )


def gpu_usage(device: str, pod: str = "", *, mean: float | None = 0.5, samples: int = 60, idle: int = 0, **columns: Any) -> GpuUsage:
    """Build what Prometheus knows of one device over an hour of samples a minute; `pod` "" when nobody held it.

    The last half hour was as busy as the mean; any column of `gpu_usage` can be given by its name.
    """
    row = {
        "device": device,
        "mig_instance": "",
        "namespace": "default" if pod else "",
        "pod": pod,
        "container": "main" if pod else "",
        "metric": "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "step_seconds": 60,
        "sample_count": samples,
        "idle_sample_count": idle,
        "first_at": TAKEN_AT - timedelta(hours=1),
        "last_at": TAKEN_AT - timedelta(minutes=1),
        "last_active_at": TAKEN_AT - timedelta(minutes=1) if mean else None,
        "activity_mean_ratio": mean,
        "activity_p95_ratio": mean,
        "activity_max_ratio": mean,
        "recent_max_ratio": mean,
    }
    return GpuUsage({**row, **columns})


def snapshot(
    *,
    nodes: Sequence[NodeRows] = (),
    pods: Sequence[PodRows] = (),
    jobs: Sequence[JobRows] = (),
    cronjobs: Sequence[JobRows] = (),
    usage: Sequence[UsageRow] = (),
    gpus: Sequence[GpuUsage] | None = None,
    unread: Collection[str] = (),
    gaps: Sequence[Gap] = (),
    namespaces: tuple[str, ...] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Snapshot:
    """Put nodes, pods and measurements together into a checked snapshot taken at TAKEN_AT; `tables` are further ones, by name.

    `gpus` is what Prometheus knows of accelerators; None: it was not asked.
    """
    label_sets = sorted({tuple(sorted(p.labels.items())) for p in pods})
    return Snapshot(
        taken_at=TAKEN_AT,
        cluster="test",
        kubernetes_version="v1.36.2",
        source="dump:test",
        run_id="20260301T030000Z",
        date="2026-03-01",
        tables={
            **_node_tables(nodes),
            **_pod_tables(pods, label_sets),
            **_job_tables(jobs, cronjobs),
            "label_sets": LABEL_SETS.frame((i, k, v) for i, labels in enumerate(label_sets) for k, v in labels),
            "container_usage": _frame(CONTAINER_USAGE, [*(_own_usage(p) for p in pods if p.usage), *(u.columns for u in usage)]),
            "gpu_usage": _frame(GPU_USAGE, [one.columns for one in gpus or ()]),
            **(tables or {}),
        },
        gaps=tuple(gaps),
        namespaces=namespaces,
        unread=frozenset(unread) | (frozenset({"gpu_usage"}) if gpus is None else frozenset()),
    )


def _node_tables(nodes: Sequence[NodeRows]) -> dict[str, Any]:
    def name(one: NodeRows) -> str:
        return str(one.columns["node"])

    return {
        "nodes": _frame(NODES, [n.columns for n in nodes]),
        "node_labels": NODE_LABELS.frame((name(n), k, v) for n in nodes for k, v in n.labels.items()),
        "node_taints": NODE_TAINTS.frame((name(n), key, effect, None) for n in nodes for key, effect in n.taints),
        "node_conditions": NODE_CONDITIONS.frame(
            (name(n), "Ready", "True" if n.columns["ready"] else "False", None) for n in nodes if n.columns["ready"] is not None
        ),
        "node_resources": NODE_RESOURCES.frame((name(n), key, *counts) for n in nodes for key, counts in n.resources.items()),
        "node_usage": NODE_USAGE.frame((name(n), TAKEN_AT, 30, *n.machine_usage) for n in nodes if n.machine_usage),
    }


def _pod_tables(pods: Sequence[PodRows], label_sets: Sequence[tuple[tuple[str, str], ...]]) -> dict[str, Any]:
    rule_sets = sorted({p.rules for p in pods})
    numbered = [
        {**p.columns, "label_set": label_sets.index(tuple(sorted(p.labels.items()))), "scheduling_set": rule_sets.index(p.rules)}
        for p in pods
    ]
    return {
        **_rule_tables(rule_sets),
        "pods": _frame(PODS, numbered),
        "pod_resources": POD_RESOURCES.frame(
            (p.columns["namespace"], p.columns["pod"], key, count) for p in pods for key, count in p.resources.items()
        ),
        "containers": _frame(CONTAINERS, [row for p in pods for row in _containers(p)]),
    }


def _job_tables(jobs: Sequence[JobRows], cronjobs: Sequence[JobRows]) -> dict[str, Any]:
    def keys(rows: Sequence[JobRows], name: str) -> Iterator[tuple[JobRows, tuple[Any, Any]]]:
        return ((one, (one.columns["namespace"], one.columns[name])) for one in rows)

    return {
        "jobs": _frame(JOBS, [one.columns for one in jobs]),
        "job_conditions": JOB_CONDITIONS.frame(
            (*key, kind, *rest) for one, key in keys(jobs, "job") for kind, rest in one.conditions.items()
        ),
        "job_resources": JOB_RESOURCES.frame(
            (*key, name, count) for one, key in keys(jobs, "job") for name, count in one.resources.items()
        ),
        "cronjobs": _frame(CRONJOBS, [one.columns for one in cronjobs]),
        "cronjob_resources": CRONJOB_RESOURCES.frame(
            (*key, name, count) for one, key in keys(cronjobs, "cronjob") for name, count in one.resources.items()
        ),
    }


def _rule_tables(rule_sets: Sequence[Rules]) -> dict[str, Any]:
    terms = [(i, number, term) for i, rules in enumerate(rule_sets) for number, term in enumerate((_selector(rules), *rules.terms))]
    return {
        "scheduling_sets": SCHEDULING_SETS.frame((i, rules.spread) for i, rules in enumerate(rule_sets)),
        "tolerations": TOLERATIONS.frame(
            (i, number, *(text or None for text in one))
            for i, rules in enumerate(rule_sets)
            for number, one in enumerate(rules.tolerations)
        ),
        "node_requirements": NODE_REQUIREMENTS.frame(
            (i, number, place, position, label, operator, value)
            for i, number, term in terms
            for place, (label, operator, values) in enumerate(term)
            for position, value in enumerate(values or (None,))
        ),
    }


def _selector(rules: Rules) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple((key, "In", (value,)) for key, value in rules.selector)


def _containers(rows: PodRows) -> Sequence[Mapping[str, Any]]:
    name = {key: rows.columns[key] for key in ("namespace", "pod")}
    main = {**rows.columns, "container": "main", "kind": "app", "restart_count": 0}
    return [{**name, "kind": "app", "restart_count": 0, **columns} for columns in rows.containers] or [main]


def _own_usage(rows: PodRows) -> Mapping[str, Any]:
    cpu, memory = rows.usage or (None, None)
    return usage(rows.columns["pod"], cpu, memory, namespace=rows.columns["namespace"]).columns


def _frame(schema: Schema, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Build the table from rows by column name; a column that a row lacks is NA."""
    return schema.frame([row.get(column.name) for column in schema.columns] for row in rows)
