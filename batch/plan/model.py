"""CapacityPlan and its parts: what the plan says, in base units and exact integers.

Quantiles and means are floats because interpolation makes them so; everything that is added up is an int.
None means unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from batch.findings import Finding, Message
from batch.plan.forecast.model import Trends
from batch.plan.model_packing import NO_FLEETS, NO_HEADROOM, Fleets, Headroom
from batch.plan.prices import NO_PRICES, Prices
from batch.plan.rightsizing.model import NO_ADVICE, Rightsizing
from batch.snapshot.schema import FLAG, INTEGER, TEXT, Column, Schema

NODE_CAPACITY = Schema(
    "node_capacity",
    "one row for each node that was listed, virtual ones included",
    ("node",),
    (
        Column("node", TEXT, "name of the node"),
        Column("pool", TEXT, "node pool"),
        Column("instance_type", TEXT, "instance type", nullable=True),
        Column("zone", TEXT, "zone", nullable=True),
        Column("ready", FLAG, "Ready condition; NA when the node has none", nullable=True),
        Column("schedulable", FLAG, "false when cordoned"),
        Column("virtual", FLAG, "virtual-kubelet and Fargate nodes"),
        Column("unusable", TEXT, "why ordinary pods cannot use its room: not ready, cordoned, tainted; NA when they can", nullable=True),
        Column("pod_count", INTEGER, "bound pods; NA when only some namespaces were read", "count", nullable=True),
        Column("allocatable_pod_count", INTEGER, "pods that the node takes", "count", nullable=True),
        Column("allocatable_cpu_nanocores", INTEGER, "what pods may use", "nanocores", nullable=True),
        Column(
            "requests_cpu_nanocores",
            INTEGER,
            "effective requests of bound pods, as far as they could be read; NA as pod_count",
            "nanocores",
            nullable=True,
        ),
        Column("usage_cpu_nanocores", INTEGER, "usage of measured bound pods; NA when none was measured", "nanocores", nullable=True),
        Column("machine_usage_cpu_nanocores", INTEGER, "usage of the whole machine", "nanocores", nullable=True),
        Column("allocatable_memory_bytes", INTEGER, "what pods may use", "bytes", nullable=True),
        Column(
            "requests_memory_bytes",
            INTEGER,
            "effective requests of bound pods, as far as they could be read; NA as pod_count",
            "bytes",
            nullable=True,
        ),
        Column("usage_memory_bytes", INTEGER, "usage of measured bound pods; NA when none was measured", "bytes", nullable=True),
        Column("machine_usage_memory_bytes", INTEGER, "usage of the whole machine", "bytes", nullable=True),
        Column(
            "unreadable_pod_count", INTEGER, "bound pods whose requests could not be read: what is left of the node is unknown", "count"
        ),
    ),
)

PROFILE_PODS = Schema(
    "profile_pods",
    "one row for each pod of a profile, largest memory first, unmeasured pods last",
    ("namespace", "pod"),
    (
        Column("namespace", TEXT, "namespace of the pod"),
        Column("pod", TEXT, "name of the pod"),
        Column("workload_kind", TEXT, "kind of the top owner"),
        Column("workload", TEXT, "top owner, or for a JupyterHub user pod the user's image decoded from its name"),
        Column("image", TEXT, "image of the first container", nullable=True),
        Column("node", TEXT, "node that the pod is bound to", nullable=True),
        Column("usage_memory_bytes", INTEGER, "usage; NA when not measured", "bytes", nullable=True),
        Column("usage_cpu_nanocores", INTEGER, "usage; NA when not measured", "nanocores", nullable=True),
        Column("limits_memory_bytes", INTEGER, "effective memory limit; NA when a container has none", "bytes", nullable=True),
    ),
)


@dataclass(frozen=True)
class Totals:
    """The cluster in numbers: report.json's `totals`. Physical nodes that were listed, and the pods bound to them.

    Figures of nodes are None when nodes were not read, and so is the number of pods on nodes that were not listed.
    `measured_capacity_*` is the capacity of the nodes of which `machine_usage_*` is the use: its only honest base.
    Ratios are of allocatable over the nodes that state it (`sized_node_count` state both CPU and memory), for requests and usage on those
    nodes alone; usage is that of measured pods. They are None when only some namespaces were read, whose pods are then all that is summed.
    """

    node_count: int | None
    ready_node_count: int | None
    pod_count_by_phase: Mapping[str, int]
    bound_pod_count: int | None
    allocatable_pod_count: int | None
    capacity_cpu_nanocores: int | None
    allocatable_cpu_nanocores: int | None
    requests_cpu_nanocores: int | None
    limits_cpu_nanocores: int | None
    usage_cpu_nanocores: int | None
    machine_usage_cpu_nanocores: int | None
    capacity_memory_bytes: int | None
    allocatable_memory_bytes: int | None
    requests_memory_bytes: int | None
    limits_memory_bytes: int | None
    usage_memory_bytes: int | None
    machine_usage_memory_bytes: int | None
    measured_pod_count: int
    measured_node_count: int
    pending_pod_count: int
    gated_pod_count: int
    unknown_node_pod_count: int | None
    virtual_node_count: int | None
    measured_capacity_cpu_nanocores: int | None
    measured_capacity_memory_bytes: int | None
    preemptible_pod_count: int
    preemptible_requests_cpu_nanocores: int | None
    preemptible_requests_memory_bytes: int | None
    virtual_pod_count: int | None
    sized_node_count: int | None
    requests_cpu_ratio: float | None
    usage_cpu_ratio: float | None
    requests_memory_ratio: float | None
    usage_memory_ratio: float | None
    bound_pod_ratio: float | None


@dataclass(frozen=True)
class Waiting:
    """Pods that hold nothing yet and will: what they are ("pending", "gated", "nominated", "suspended Jobs"), and what they ask for.

    `pod_count` of suspended Jobs is parallelism summed over `object_count` Jobs. `resources` has every other resource by name.
    """

    what: str
    object_count: int
    pod_count: int
    requests_cpu_nanocores: int | None
    requests_memory_bytes: int | None
    resources: Mapping[str, int]


@dataclass(frozen=True)
class MinorResource:
    """Huge pages of one size, or ephemeral storage: bytes over the physical nodes that have it."""

    resource: str
    node_count: int
    allocatable_bytes: int | None
    requests_bytes: int | None


@dataclass(frozen=True)
class Unusable:
    """Room on nodes of a pool that ordinary pods cannot use, for one reason."""

    reason: str
    node_count: int
    headroom_cpu_nanocores: int | None
    headroom_memory_bytes: int | None
    headroom_pod_count: int | None


@dataclass(frozen=True)
class Pool:
    """One node pool. Headroom is what ordinary pods can still request; `binding_resource` is the one most requested.

    `binding_resource` is "cpu", "memory" or "pods": the largest requests / allocatable over the usable nodes. Ratios are as in Totals.
    What pods hold is None when only some namespaces were read.
    """

    name: str
    node_count: int
    bound_pod_count: int | None
    allocatable_pod_count: int | None
    headroom_pod_count: int | None
    allocatable_cpu_nanocores: int | None
    requests_cpu_nanocores: int | None
    usage_cpu_nanocores: int | None
    headroom_cpu_nanocores: int | None
    allocatable_memory_bytes: int | None
    requests_memory_bytes: int | None
    usage_memory_bytes: int | None
    headroom_memory_bytes: int | None
    unusable: tuple[Unusable, ...]
    binding_resource: str | None
    requests_cpu_ratio: float | None
    usage_cpu_ratio: float | None
    requests_memory_ratio: float | None
    usage_memory_ratio: float | None
    bound_pod_ratio: float | None


@dataclass(frozen=True)
class Distribution:
    """Usage of the measured pods of a profile in one resource (bytes or nanocores).

    `quantiles` are pairs (q, value) by linear interpolation; `over` pairs (threshold, pods strictly above it).
    `values` is sorted ascending: the charts draw it. All empty or None when no pod was measured.
    """

    values: tuple[int, ...]
    mean: float | None
    quantiles: tuple[tuple[float, float], ...]
    over: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class NodePlan:
    """What a node of `pods_per_node` pods needs when each pod needs what `quantile` says (None: the mean)."""

    quantile: float | None
    memory_bytes_per_pod: float
    cpu_nanocores_per_pod: float
    memory_bytes_per_node: float
    cpu_nanocores_per_node: float


@dataclass(frozen=True)
class Outliers:
    """The safety factor: memory that a node needs when h of its pods sit at the outlier level and the rest are typical.

    The level is the memory limit unless a setting says another. `memory_needed_bytes[h]` is h * level + (pods_per_node - h) * typical, for
    h = 0..20 (or pods_per_node, if fewer). `share` is the share of pods taken to reach the level, None when nothing tells it.
    """

    typical_quantile: float
    typical_memory_bytes: float
    memory_limit_bytes: int | None
    limit_source: str | None
    level_bytes: int
    level_source: str
    memory_needed_bytes: tuple[float, ...]
    share: float | None
    share_source: str | None


@dataclass(frozen=True)
class Flavor:
    """A node shape one can buy. `pod_limit` is that of the machine itself, None where it depends on the cluster or is unknown.

    `gpu_memory_bytes` is the memory of each GPU.
    """

    name: str
    provider: str | None
    cpu_nanocores: int
    memory_bytes: int
    gpu_count: int
    gpu_product: str | None
    architecture: str
    pod_limit: int | None
    gpu_memory_bytes: int | None = None


NODES, FORMULA = "nodes", "formula"
"""Where the allocatable of a flavor comes from: the cluster's nodes of that type, or the provider's published reservation."""


@dataclass(frozen=True)
class FlavorFit:
    """How a profile fits a flavor. Ratios are of measured pods and of the nominal size; None: unknown.

    `allocatable_*` and `pod_limit` come from nodes of that instance type in the cluster (the smallest of them), where there are none
    from the provider's formula; `allocatable_source` (NODES or FORMULA) says which. `daemonset_*` is what DaemonSet pods use on such a node
    (the largest of them), their request where they were not measured.

    `pods_by_requests` is how many pods of the mean request fit, `pods_by_p95` how many that use their 95th percentile, `pods_by_limit` the
    slots beside DaemonSets; None: nothing limits there, or unknown. `binding` names the smallest of them: "cpu_requests",
    "memory_requests", "cpu_p95", "memory_p95" or "pod_limit". `safe_pods_per_node` is the most pods, within the slots, whose chance of an
    overrun is accepted in memory and in CPU. `monthly_cost` is that of all nodes, `node_monthly_cost` that of one. `outlier_overflow_probability` is the chance that of `pods_per_node` pods more than
    `outliers_tolerated` reach the outlier level.
    """

    flavor: Flavor
    in_cluster_node_count: int
    allocatable_cpu_nanocores: int | None
    allocatable_memory_bytes: int | None
    pod_limit: int | None
    daemonset_pod_count: int | None
    daemonset_cpu_nanocores: int | None
    daemonset_memory_bytes: int | None
    cpu_fit_ratio: float | None
    memory_fit_ratio: float | None
    outliers_tolerated: int | None
    memory_overrun_probability: float | None
    cpu_overrun_probability: float | None
    node_count: int | None
    monthly_cost: float | None
    allocatable_source: str | None = None
    pods_by_requests: int | None = None
    pods_by_p95: int | None = None
    pods_by_limit: int | None = None
    binding: str | None = None
    safe_pods_per_node: int | None = None
    outlier_overflow_probability: float | None = None
    node_monthly_cost: float | None = None


@dataclass(frozen=True)
class Odds:
    """The chance of an overrun on a flavor by the number of pods on a node: three parallel tuples."""

    flavor: str
    pod_counts: tuple[int, ...]
    memory: tuple[float, ...]
    cpu: tuple[float, ...]


@dataclass(frozen=True)
class Recommendation:
    """The flavor to take and why, in words and numbers."""

    flavor: str
    reasons: tuple[Message, ...]


@dataclass(frozen=True)
class ProfilePlan:
    """The plan for one set of pods.

    `pods` has the schema PROFILE_PODS. `recommended` is None when no flavor can be recommended; then
    `refusal` says why. `odds` has the flavors worth comparing, not all.
    """

    name: str
    title: str
    namespace: str | None
    selector: str
    pods_per_node: int
    pods_per_node_reason: str
    pod_count: int
    measured_pod_count: int
    pods: pd.DataFrame
    memory: Distribution
    cpu: Distribution
    average_plan: NodePlan | None
    quantile_plans: tuple[NodePlan, ...]
    outliers: Outliers | None
    flavors: tuple[FlavorFit, ...]
    recommended: Recommendation | None
    refusal: Message | None
    odds: tuple[Odds, ...] = ()


@dataclass(frozen=True)
class CapacityPlan:
    """Everything that the plan says. `nodes` has the schema NODE_CAPACITY.

    `fleets` are for the pods as they ask now, `right_sized_fleets` for what is recommended to them; empty without a recommended change.
    `trends` is None where no history was looked at.
    """

    totals: Totals
    nodes: pd.DataFrame
    pools: tuple[Pool, ...]
    profiles: tuple[ProfilePlan, ...]
    findings: tuple[Finding, ...]
    waiting: tuple[Waiting, ...] = ()
    minor_resources: tuple[MinorResource, ...] = ()
    prices: Prices = NO_PRICES
    rightsizing: Rightsizing = NO_ADVICE
    fleets: Fleets = NO_FLEETS
    right_sized_fleets: Fleets = NO_FLEETS
    headroom: Headroom = NO_HEADROOM
    trends: Trends | None = None
