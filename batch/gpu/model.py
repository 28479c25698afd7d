"""GpuAssessment and its parts. A count is of the resource as advertised: a slot is not a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pandas as pd

from batch.findings import Finding
from batch.snapshot.schema import INTEGER, REAL, TEXT, Column, Schema

GPU_NODES = Schema(
    "gpu_nodes",
    "one row for each node and accelerator resource that it advertises, and one without resource for a node that looks like a GPU node and advertises none",
    ("node", "resource"),
    (
        Column("node", TEXT, "name of the node"),
        Column("pool", TEXT, "node pool"),
        Column("resource", TEXT, "name of the resource; empty when the node advertises none"),
        Column("product", TEXT, "product by the node's labels", nullable=True),
        Column("capacity_count", INTEGER, "installed, in the resource's own unit", "count", nullable=True),
        Column("allocatable_count", INTEGER, "usable by pods", "count", nullable=True),
        Column("requests_count", INTEGER, "effective requests of bound pods", "count", nullable=True),
        Column("free_count", INTEGER, "max(0, allocatable - requests)", "count", nullable=True),
        Column("free_reason", TEXT, "usable, stranded, tainted, cordoned or not ready: what becomes of the free ones", nullable=True),
        Column("short_of", TEXT, "what a stranded node has too little of: CPU, memory, pod slots", nullable=True),
        Column("sharing", TEXT, "how cards are divided: MIG, time-slicing, MPS, software, …; NA for whole cards", nullable=True),
        Column("card_count", INTEGER, "cards behind it", "count", nullable=True),
        Column("healthy_card_count", INTEGER, "of them, cards that can be given out", "count", nullable=True),
        Column("card_share_ratio", REAL, "part of a card that one unit is", "ratio", nullable=True),
        Column("card_memory_bytes", INTEGER, "memory of a whole card", "bytes", nullable=True),
        Column("driver_version", TEXT, "version of the driver by the node's labels", nullable=True),
        Column("wholly_free_device_count", INTEGER, "cards of which nothing is requested", "count", nullable=True),
        Column("unusable_for_typical_count", INTEGER, "free ones beside which a typical GPU pod does not fit", "count", nullable=True),
        Column("usage_ratio_mean", REAL, "mean activity of the node's devices over the window", "ratio", nullable=True),
        Column("problem", TEXT, "what is wrong with the node as a GPU node", nullable=True),
    ),
)

FIT_SIZES = (1, 2, 4, 8)
"""Sizes of GPU pods of which the report says how many still fit."""


@dataclass(frozen=True)
class Hours:
    """Activity of devices over the window: hours of cards that pods held, those without activity, and the mean activity; None is unknown.

    `usage_ratio_mean` is over all devices, also while nobody held them; the hours are those of pods.
    """

    gpu_hours: float | None = None
    idle_gpu_hours: float | None = None
    usage_ratio_mean: float | None = None


UNKNOWN_HOURS = Hours()


@dataclass(frozen=True)
class GpuResource:
    """One accelerator resource of one product over all nodes.

    `free_by_reason` splits `unrequested_count` by what becomes of it: usable, stranded, tainted, cordoned, not ready.
    `largest_free_block` counts nodes by how many are free on them. `idle_node_count`: nodes without a single request.
    Everything that rests on requests is None, or empty, when only some namespaces were read: the rest may hold the others. `unknown_count` are
    allocatable ones of nodes where what is requested is not known; they are in no sum of requests or of free ones.
    `card_count` is None where the resource does not say how many cards are behind it. `fit_count` says by k how many pods of k still fit,
    `repacked_fit_count` how many would if the same pods were packed anew. `active_count` and `idle_count` split what is requested, as far
    as the activity of its pods is known.
    """

    resource: str
    product: str | None
    node_count: int
    capacity_count: int | None
    allocatable_count: int | None
    requests_count: int | None
    unrequested_count: int | None
    stranded_count: int | None
    free_by_reason: Mapping[str, int]
    idle_node_count: int | None
    largest_free_block: Mapping[int, int]
    card_count: int | None = None
    healthy_card_count: int | None = None
    sharing: str | None = None
    requests_cards: float | None = None
    unusable_for_typical_count: int | None = None
    typical: tuple[int, int] | None = None
    fit_count: Mapping[int, int] = field(default_factory=dict)
    repacked_fit_count: Mapping[int, int] = field(default_factory=dict)
    wholly_free_device_count: int | None = None
    wholly_free_block: Mapping[int, int] = field(default_factory=dict)
    unknown_count: int | None = None
    active_count: int | None = None
    idle_count: int | None = None
    hours: Hours = UNKNOWN_HOURS


@dataclass(frozen=True)
class DevicePool:
    """One pool of devices of dynamic resource allocation, its newest generation.

    `device_count` are devices that claims can have at the same time: a card that is cut up counts by its parts. With shared counters
    (`up_to`) it is a most, because its devices exclude each other. `allocated_count` are devices that claims have, each once; access for
    administration is apart. `accelerator` is False for network cards and the like. `unusable_count`: free, but tainted, on a node that
    takes no pods, or in an incomplete pool. None: not known, because claims could not be read, or only those of some namespaces.
    """

    driver: str
    pool: str
    node: str | None
    product: str | None
    device_count: int
    allocated_count: int | None
    complete: bool
    generation: int
    slice_count: int
    found_slice_count: int
    card_count: int | None
    part_count: int
    up_to: bool
    admin_access_count: int | None
    free_count: int | None
    unusable_count: int | None
    requests_cards: float | None
    accelerator: bool


@dataclass(frozen=True)
class Holder:
    """One pod that holds accelerators of one resource now; `resource` is the driver where a claim gives them.

    `card_count` in whole cards; those of a claim that several pods share (`shared_claim`) are split between them. `usage_ratio_*` are over the pod's devices: mean, the largest 95th percentile, the largest value. `idle`:
    no activity above the limit for the last while; None where that is not known. `has_deadline`: it or its Job ends by itself.
    """

    namespace: str
    pod: str
    node: str
    pool: str
    workload: str
    workload_kind: str
    owner: str | None
    resource: str
    product: str | None
    count: int
    card_count: float | None
    age_seconds: float | None
    has_deadline: bool | None
    of_job: bool
    shared_claim: bool = False
    idle: bool | None = None
    usage_ratio_mean: float | None = None
    usage_ratio_p95: float | None = None
    usage_ratio_max: float | None = None
    gpu_hours: float | None = None
    idle_gpu_hours: float | None = None
    last_active_at: datetime | None = None
    memory_used_max_bytes: int | None = None
    memory_used_p95_bytes: int | None = None
    activity_metric: str | None = None


@dataclass(frozen=True)
class Share:
    """What one pool, namespace or workload (`by`) holds and how much of it works. Cards are None where units of unknown cards are held."""

    by: str
    name: str
    kind: str
    pod_count: int
    requests_cards: float | None
    allocatable_cards: float | None
    idle_pod_count: int | None
    hours: Hours
    memory_used_max_bytes: int | None


@dataclass(frozen=True)
class Blocker:
    """Why one pod does not fit on one node, or is not known to. `kind`: not ready, cordoned, taint, rules, short, devices, unread.

    Of what is `unread` it is not known how much is free. `asked`, `free` and `whole` (what the node has for pods in all) are in the unit of `resource`.
    """

    kind: str
    resource: str = ""
    asked: int | None = None
    free: int | None = None
    whole: int | None = None

    @property
    def never(self) -> bool:
        """Whether the node would have too little even if it were empty."""
        return self.asked is not None and self.whole is not None and self.whole < self.asked


@dataclass(frozen=True)
class Waiting:
    """Pods of one shape that wait for accelerators: the first of them, what each asks for, and why each node does not take it.

    `verdict`: fits, repack, full, never, nowhere, gated, unknown (then `fitting_node_count` is None). `summary` counts nodes by (kind, resource) of their first blocker; `nodes` names
    them, as far as the report has room.
    """

    namespace: str
    pod: str
    pod_count: int
    resources: Mapping[str, int]
    cpu_nanocores: int | None
    memory_bytes: int | None
    waiting_seconds: float | None
    verdict: str
    fitting_node_count: int | None
    summary: Mapping[tuple[str, str], int]
    nodes: tuple[tuple[str, tuple[Blocker, ...]], ...]


@dataclass(frozen=True)
class Guests:
    """Ordinary pods without accelerators on one GPU node, and the shares of the node that they request; the largest by CPU are named.

    What they request is None where that of one of them is not known.
    """

    node: str
    pool: str
    pod_count: int
    requests_cpu_nanocores: int | None
    requests_memory_bytes: int | None
    cpu_ratio: float | None
    memory_ratio: float | None
    pods: tuple[str, ...]


@dataclass(frozen=True)
class Stranding:
    """Free accelerators of a node that has too little of `short_of`, and the pods that request most of that, as (pod, amount)."""

    node: str
    pool: str
    resource: str
    product: str | None
    free_count: int
    short_of: str
    pods: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Cost:
    """What idle and stranded cards of one product cost in a month, at the user's price of a card for an hour."""

    product: str
    per_hour: float
    idle_monthly_cost: float | None
    stranded_monthly_cost: float | None


@dataclass(frozen=True)
class Costs:
    """Costs by product, in one currency; empty without prices."""

    currency: str = ""
    by_product: tuple[Cost, ...] = ()
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True)
class GpuAssessment:
    """Everything about accelerators. `nodes` has the schema GPU_NODES; `unknown_resources` look like accelerators of no known vendor.

    `node_cards` are the cards of each node, None where they are not known, `node_pools` and `node_usage` their pools and the mean activity of
    their devices; `pools_known` is False when ResourceSlices could not be read though claims, classes or pods speak of devices, and
    `unread_nodes` have pods that request an amount which is no quantity. `activity_known` whether Prometheus was read at all, and
    `window_seconds` over what time.
    """

    resources: tuple[GpuResource, ...]
    nodes: pd.DataFrame
    unknown_resources: tuple[str, ...]
    pending_pod_count: int | None
    findings: tuple[Finding, ...]
    card_count: int | None = None
    requests_cards: float | None = None
    node_cards: Mapping[str, int | None] = field(default_factory=dict)
    node_pools: Mapping[str, str] = field(default_factory=dict)
    node_usage: Mapping[str, float | None] = field(default_factory=dict)
    hours: Hours = UNKNOWN_HOURS
    activity_known: bool = False
    window_seconds: float | None = None
    metrics: tuple[str, ...] = ()
    unattributed_hours: float | None = None
    pools: tuple[DevicePool, ...] = ()
    pools_known: bool = True
    unread_nodes: tuple[str, ...] = ()
    holders: tuple[Holder, ...] = ()
    shares: tuple[Share, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    guests: tuple[Guests, ...] = ()
    strandings: tuple[Stranding, ...] = ()
    costs: Costs = Costs()
