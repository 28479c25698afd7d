"""The fields of API objects that are used, decoded straight from bytes.

Everything else (managedFields, environment variables, annotations, volumes) is skipped by the decoder and never held.
Go writes an empty list as null where it was never filled, so every list and map may be None.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

Quantities = dict[str, Any]
"""Resource name to whatever stands there: a string in a real answer, a number in a hand-made one."""

Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number as Kubernetes has them, 64 bits at most; an object with a larger one does not fit."""


class Object(msgspec.Struct, rename="camel", gc=False):
    """Base of everything below: camelCase in JSON, unknown fields ignored.

    Without garbage-collector tracking: the objects hold no cycles, and tracking cost two thirds of the decoding time.
    """


NULL = msgspec.Raw(b"null")
"""What stands in a Raw field that is absent. Raw fields are those that many objects share word for word: decoded once each text."""


class OwnerReference(Object):
    """metadata.ownerReferences[]."""

    kind: str = ""
    name: str = ""
    uid: str | None = None
    controller: bool | None = None


class Annotations(msgspec.Struct, gc=False):
    """The annotations that are used; the others are never held, for they may hold anything."""

    capacity_provisioned: Any = msgspec.field(default=None, name="CapacityProvisioned")
    instantiate: Any = msgspec.field(default=None, name="cronjob.kubernetes.io/instantiate")
    safe_to_evict: Any = msgspec.field(default=None, name="cluster-autoscaler.kubernetes.io/safe-to-evict")
    scheduled: Any = msgspec.field(default=None, name="batch.kubernetes.io/cronjob-scheduled-timestamp")
    gpu_index: Any = msgspec.field(default=None, name="alibabacloud.com/gpu-index")
    gpu_register: Any = msgspec.field(default=None, name="hami.io/node-nvidia-register")


class Metadata(Object):
    """Metadata of any object."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: msgspec.Raw = NULL
    annotations: Annotations | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None


class Listed(Object):
    """Base of what stands in a List. `kind` is told by the items of a list of several kinds alone."""

    metadata: Metadata
    kind: str | None = None


class Condition(Object):
    """status.conditions[] of nodes and pods."""

    type: str = ""
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class Taint(Object):
    """spec.taints[] of a node."""

    key: str = ""
    effect: str = ""
    value: str | None = None


class Image(Object):
    """status.images[] of a node; containerd lists images without names."""

    names: list[str] | None = None
    size_bytes: Integer | None = None


class NodeInfo(Object):
    """status.nodeInfo."""

    architecture: str | None = None
    kubelet_version: str | None = None
    os_image: str | None = None
    kernel_version: str | None = None
    container_runtime_version: str | None = None


class NodeSpec(Object):
    """Spec of a node."""

    unschedulable: bool | None = None
    taints: list[Taint] | None = None
    provider_id: str | None = msgspec.field(default=None, name="providerID")
    pod_cidr: str | None = msgspec.field(default=None, name="podCIDR")
    pod_cidrs: list[str] | None = msgspec.field(default=None, name="podCIDRs")


class NodeStatus(Object):
    """Status of a node."""

    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    images: list[msgspec.Raw] | None = None
    node_info: NodeInfo | None = None


class Node(Listed):
    """A node."""

    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class Resources(Object):
    """resources of a container, of its status, or of a pod."""

    requests: Quantities | None = None
    limits: Quantities | None = None


_Decoded = TypeVar("_Decoded")


def _decode(decoder: msgspec.json.Decoder[_Decoded], words: bytes | msgspec.Raw) -> _Decoded:
    """Decode what was taken over in its words, which were not looked into then: text may prove to be no UTF-8. Raises msgspec.ValidationError."""
    try:
        return decoder.decode(words)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise msgspec.ValidationError(str(error)) from error


_IMAGE = msgspec.json.Decoder(Image)
_LABELS = msgspec.json.Decoder(dict[str, str] | None)
_MAP = msgspec.json.Decoder(dict[str, Any] | None)
_RESOURCES = msgspec.json.Decoder(Resources | None)


def decode_labels(raw: msgspec.Raw) -> dict[str, str]:
    """Decode labels; null gives none. Raises msgspec.ValidationError."""
    return _decode(_LABELS, raw) or {}


def decode_image(words: bytes) -> Image:
    """Decode one of the images of a node. Raises msgspec.ValidationError."""
    return _decode(_IMAGE, words)


def decode_map(raw: msgspec.Raw) -> dict[str, Any]:
    """Decode a map whose values may be anything; null gives an empty one. Raises msgspec.ValidationError."""
    return _decode(_MAP, raw) or {}


def decode_resources(raw: msgspec.Raw) -> Resources:
    """Decode requests and limits; null gives empty ones. Raises msgspec.ValidationError."""
    return _decode(_RESOURCES, raw) or Resources()


class Container(Object):
    """spec.containers[] and spec.initContainers[]."""

    name: str = ""
    image: str | None = None
    resources: msgspec.Raw = NULL
    restart_policy: str | None = None


class SchedulingGate(Object):
    """spec.schedulingGates[]."""

    name: str = ""


class Toleration(Object):
    """spec.tolerations[]; how long a taint is tolerated is not used."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSelectorRequirement(Object):
    """One of matchExpressions[] or matchFields[]."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class NodeSelectorTerm(Object):
    """One of nodeSelectorTerms[]: everything in it must hold."""

    match_expressions: list[NodeSelectorRequirement] | None = None
    match_fields: list[NodeSelectorRequirement] | None = None


class NodeSelector(Object):
    """Required node affinity: one of the terms must hold."""

    node_selector_terms: list[NodeSelectorTerm] | None = None


_TOLERATIONS = msgspec.json.Decoder(list[Toleration] | None)
_NODE_SELECTOR = msgspec.json.Decoder(NodeSelector | None)
_LIST = msgspec.json.Decoder(list[dict[str, Any]] | None)


def decode_tolerations(raw: msgspec.Raw) -> list[Toleration]:
    """Decode tolerations; null gives none. Raises msgspec.ValidationError."""
    return _decode(_TOLERATIONS, raw) or []


def decode_node_selector(raw: msgspec.Raw) -> NodeSelector | None:
    """Decode required node affinity; None for null. Raises msgspec.ValidationError."""
    return _decode(_NODE_SELECTOR, raw)


def decode_list(raw: msgspec.Raw) -> list[dict[str, Any]]:
    """Decode a list of objects; null gives none. Raises msgspec.ValidationError."""
    return _decode(_LIST, raw) or []


class Rules(Object):
    """nodeAffinity, podAffinity or podAntiAffinity; where pods may go depends on what is required alone."""

    required: msgspec.Raw = msgspec.field(default=NULL, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: msgspec.Raw = msgspec.field(default=NULL, name="preferredDuringSchedulingIgnoredDuringExecution")


class Affinity(Object):
    """spec.affinity."""

    node_affinity: Rules | None = None
    pod_affinity: Rules | None = None
    pod_anti_affinity: Rules | None = None


class PodClaim(Object):
    """spec.resourceClaims[]: a claim by its name, or made from a template; and status.resourceClaimStatuses[], which names that one."""

    name: str = ""
    resource_claim_name: str | None = None


class EmptyDir(Object):
    """emptyDir of a volume."""

    medium: str | None = None


class Volume(Object):
    """spec.volumes[]; only volumes that live and die with the node are looked at."""

    empty_dir: EmptyDir | None = None
    host_path: msgspec.Raw = NULL


class PodSpec(Object):
    """Spec of a pod."""

    node_name: str | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: msgspec.Raw = NULL
    resources: msgspec.Raw = NULL
    priority: Integer | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    tolerations: msgspec.Raw = NULL
    node_selector: msgspec.Raw = NULL
    topology_spread_constraints: msgspec.Raw = NULL
    affinity: Affinity | None = None
    host_network: bool | None = None
    dns_policy: str | None = None
    volumes: list[Volume] | None = None
    active_deadline_seconds: Integer | None = None
    resource_claims: list[PodClaim] | None = None


class Terminated(Object):
    """How a container ended."""

    reason: str | None = None
    finished_at: str | None = None


class ContainerState(Object):
    """state and lastState of a container; of states only the end is used."""

    terminated: Terminated | None = None


class ContainerStatus(Object):
    """status.containerStatuses[] and status.initContainerStatuses[]."""

    name: str = ""
    restart_count: Integer | None = None
    allocated_resources: msgspec.Raw = NULL
    resources: msgspec.Raw = NULL
    state: ContainerState | None = None
    last_state: ContainerState | None = None


class ExtendedResource(Object):
    """requestMappings[]: a resource of a container that a claim serves."""

    resource_name: str = ""


class ExtendedResourceClaim(Object):
    """status.extendedResourceClaimStatus: the claim that the scheduler made for what a pod asks for by resource names."""

    request_mappings: list[ExtendedResource] | None = None
    resource_claim_name: str | None = None


class PodStatus(Object):
    """Status of a pod. Its own resources, beside those of its containers, are what pod-level requests really are (Kubernetes 1.36)."""

    phase: str | None = None
    allocated_resources: msgspec.Raw = NULL
    resources: msgspec.Raw = NULL
    start_time: str | None = None
    qos_class: str | None = None
    nominated_node_name: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resource_claim_statuses: list[PodClaim] | None = None
    extended_resource_claim_status: ExtendedResourceClaim | None = None


class Pod(Listed):
    """A pod."""

    spec: PodSpec | None = None
    status: PodStatus | None = None


class Owned(Listed):
    """Any object of which only the metadata is used."""


class PodTemplate(Object):
    """spec.template of a Job, a Deployment and the like."""

    spec: PodSpec | None = None


class JobSpec(Object):
    """Spec of a Job, and of the Jobs that a CronJob makes."""

    suspend: bool | None = None
    parallelism: Integer | None = None
    completions: Integer | None = None
    completion_mode: str | None = None
    active_deadline_seconds: Integer | None = None
    backoff_limit: Integer | None = None
    backoff_limit_per_index: Integer | None = None
    ttl_seconds_after_finished: Integer | None = None
    managed_by: str | None = None
    template: PodTemplate | None = None


class DatedCondition(Condition):
    """status.conditions[] of a Job, whose times say when it ended."""

    last_transition_time: str | None = None


class JobStatus(Object):
    """Status of a Job."""

    start_time: str | None = None
    completion_time: str | None = None
    active: Integer | None = None
    ready: Integer | None = None
    terminating: Integer | None = None
    succeeded: Integer | None = None
    failed: Integer | None = None
    completed_indexes: str | None = None
    failed_indexes: str | None = None
    conditions: list[DatedCondition] | None = None


class Job(Listed):
    """A Job."""

    spec: JobSpec | None = None
    status: JobStatus | None = None


class JobTemplate(Object):
    """spec.jobTemplate of a CronJob."""

    spec: JobSpec | None = None


class CronJobSpec(Object):
    """Spec of a CronJob."""

    schedule: str = ""
    time_zone: str | None = None
    suspend: bool | None = None
    concurrency_policy: str | None = None
    starting_deadline_seconds: Integer | None = None
    job_template: JobTemplate | None = None


class CronJobStatus(Object):
    """Status of a CronJob; of the Jobs that run only their number is used."""

    active: list[msgspec.Raw] | None = None
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(Listed):
    """A CronJob."""

    spec: CronJobSpec | None = None
    status: CronJobStatus | None = None


class WorkloadSpec(Object):
    """Spec of a Deployment, StatefulSet or DaemonSet."""

    template: PodTemplate | None = None


class Workload(Listed):
    """A Deployment, StatefulSet or DaemonSet."""

    spec: WorkloadSpec | None = None


class ScaleTarget(Object):
    """spec.scaleTargetRef of a HorizontalPodAutoscaler."""

    kind: str = ""
    name: str = ""


class ScaledResource(Object):
    """resource or containerResource of a metric; `container` only of the latter."""

    name: str = ""
    container: str | None = None


class Metric(Object):
    """spec.metrics[] of a HorizontalPodAutoscaler; metrics of other types do not depend on requests."""

    type: str = ""
    resource: ScaledResource | None = None
    container_resource: ScaledResource | None = None


class AutoscalerSpec(Object):
    """Spec of a HorizontalPodAutoscaler; `target_cpu` is what autoscaling/v1 has in place of metrics."""

    scale_target_ref: ScaleTarget | None = None
    min_replicas: Integer | None = None
    max_replicas: Integer | None = None
    metrics: list[Metric] | None = None
    target_cpu: Integer | None = msgspec.field(default=None, name="targetCPUUtilizationPercentage")


class AutoscalerStatus(Object):
    """Status of a HorizontalPodAutoscaler."""

    current_replicas: Integer | None = None


class Autoscaler(Listed):
    """A HorizontalPodAutoscaler."""

    spec: AutoscalerSpec | None = None
    status: AutoscalerStatus | None = None


class LabelSelector(Object):
    """A selector of pods by their labels: everything in it must hold, and an empty one holds for all."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[NodeSelectorRequirement] | None = None


class BudgetSpec(Object):
    """Spec of a PodDisruptionBudget; without a selector it is for no pod."""

    selector: LabelSelector | None = None


class BudgetStatus(Object):
    """Status of a PodDisruptionBudget."""

    disruptions_allowed: Integer | None = None
    current_healthy: Integer | None = None
    desired_healthy: Integer | None = None
    expected_pods: Integer | None = None


class Budget(Listed):
    """A PodDisruptionBudget."""

    spec: BudgetSpec | None = None
    status: BudgetStatus | None = None


class QuotaSpec(Object):
    """Spec of a ResourceQuota."""

    hard: Quantities | None = None


class QuotaStatus(Object):
    """Status of a ResourceQuota; `hard` is what is enforced now."""

    hard: Quantities | None = None
    used: Quantities | None = None


class Quota(Listed):
    """A ResourceQuota."""

    spec: QuotaSpec | None = None
    status: QuotaStatus | None = None


class ConfigMap(Listed):
    """A ConfigMap."""

    data: dict[str, str] | None = None


class NodePoolSpec(Object):
    """Spec of a NodePool of Karpenter."""

    limits: Quantities | None = None


class NodePoolStatus(Object):
    """Status of a NodePool of Karpenter: what its nodes have together."""

    resources: Quantities | None = None


class NodePool(Listed):
    """A NodePool of Karpenter."""

    spec: NodePoolSpec | None = None
    status: NodePoolStatus | None = None


class NodeMetrics(Listed):
    """metrics.k8s.io NodeMetrics. `usage` may hold more than cpu and memory, e.g. swap."""

    timestamp: str | None = None
    window: str | None = None
    usage: Quantities | None = None


class Usage(Object):
    """usage of a container; UNSET is what is not said."""

    cpu: Any = msgspec.UNSET
    memory: Any = msgspec.UNSET


class ContainerMetrics(Object):
    """containers[] of a PodMetrics."""

    name: str = ""
    usage: Usage | None = None


class PodMetrics(Listed):
    """metrics.k8s.io PodMetrics."""

    timestamp: str | None = None
    window: str | None = None
    containers: list[ContainerMetrics] | None = None
