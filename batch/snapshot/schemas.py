"""Every table of a snapshot. docs/schemas.md is generated from this module."""

from __future__ import annotations

from collections.abc import Mapping

from batch.snapshot.job_schemas import CRONJOB_RESOURCES, CRONJOBS, JOB_CONDITIONS, JOB_RESOURCES, JOBS
from batch.snapshot.prometheus_schemas import CONTAINER_DAYS, CONTAINER_INSTANTS, MEASURED_CONTAINERS, NODE_WINDOWS, PROMETHEUS
from batch.snapshot.schema import FLAG, INSTANT, INTEGER, REAL, TEXT, Column, Schema

FORMAT_VERSION = 1
"""Version of the tables below; raised when a reader of an older snapshot would misread a newer one."""


def _node() -> Column:
    return Column("node", TEXT, "name of the node")


def _pod() -> tuple[Column, Column]:
    return Column("namespace", TEXT, "namespace of the pod"), Column("pod", TEXT, "name of the pod")


NODES = Schema(
    "nodes",
    "one row for each Node object",
    ("node",),
    (
        _node(),
        Column("uid", TEXT, "metadata.uid", nullable=True),
        Column("created_at", INSTANT, "metadata.creationTimestamp", nullable=True),
        Column("instance_type", TEXT, "label node.kubernetes.io/instance-type, else its beta form", nullable=True),
        Column("zone", TEXT, "label topology.kubernetes.io/zone, else its beta form", nullable=True),
        Column("provider", TEXT, "scheme of spec.providerID: aws, gce, azure, …", nullable=True),
        Column("architecture", TEXT, "status.nodeInfo.architecture", nullable=True),
        Column("kubelet_version", TEXT, "status.nodeInfo.kubeletVersion", nullable=True),
        Column("os_image", TEXT, "status.nodeInfo.osImage", nullable=True),
        Column("kernel_version", TEXT, "status.nodeInfo.kernelVersion", nullable=True),
        Column("container_runtime", TEXT, "status.nodeInfo.containerRuntimeVersion", nullable=True),
        Column("ready", FLAG, "whether the Ready condition has status True; NA when the node has no Ready condition", nullable=True),
        Column("schedulable", FLAG, "false when spec.unschedulable (cordoned)"),
        Column("virtual", FLAG, "true for virtual-kubelet and Fargate nodes, whose size is not a machine's"),
        Column("capacity_cpu_nanocores", INTEGER, "hardware of the node", "nanocores", nullable=True),
        Column("capacity_memory_bytes", INTEGER, "hardware of the node", "bytes", nullable=True),
        Column("allocatable_cpu_nanocores", INTEGER, "what pods may use; capacity where the node does not say", "nanocores", nullable=True),
        Column("allocatable_memory_bytes", INTEGER, "what pods may use; capacity where the node does not say", "bytes", nullable=True),
        Column("allocatable_pod_count", INTEGER, "pods that the node takes", "count", nullable=True),
        Column("pod_cidrs", TEXT, "spec.podCIDRs: the address ranges of its pods, with commas", nullable=True),
    ),
)

NODE_LABELS = Schema(
    "node_labels",
    "one row for each label of a node",
    ("node", "label"),
    (_node(), Column("label", TEXT, "key of the label"), Column("value", TEXT, "value of the label")),
)

NODE_TAINTS = Schema(
    "node_taints",
    "one row for each taint of a node",
    ("node", "taint", "effect"),
    (
        _node(),
        Column("taint", TEXT, "key of the taint"),
        Column("effect", TEXT, "NoSchedule, PreferNoSchedule or NoExecute"),
        Column("value", TEXT, "value of the taint", nullable=True),
    ),
)

NODE_CONDITIONS = Schema(
    "node_conditions",
    "one row for each condition type of a node, unknown types included",
    ("node", "condition"),
    (
        _node(),
        Column("condition", TEXT, "type of the condition"),
        Column("status", TEXT, "True, False or Unknown", nullable=True),
        Column("reason", TEXT, "reason of the condition", nullable=True),
    ),
)

NODE_RESOURCES = Schema(
    "node_resources",
    "one row for each resource of a node but cpu, memory and pods: extended resources, huge pages, ephemeral storage",
    ("node", "resource"),
    (
        _node(),
        Column("resource", TEXT, "name of the resource"),
        Column("capacity_count", INTEGER, "status.capacity; bytes for storage and huge pages", "count", nullable=True),
        Column("allocatable_count", INTEGER, "status.allocatable; bytes for storage and huge pages", "count", nullable=True),
    ),
)

NODE_CARDS = Schema(
    "node_cards",
    "one row for each card that a scheduler of shared GPUs lists in annotation hami.io/node-nvidia-register of a node",
    ("node", "card"),
    (
        _node(),
        Column("card", TEXT, "id of the card"),
        Column("slot_count", INTEGER, "pods that may share the card", "count"),
        Column("memory_bytes", INTEGER, "memory of the card", "bytes"),
        Column("product", TEXT, "model of the card"),
        Column("healthy", FLAG, "whether the card can be given out"),
    ),
)

NODE_IMAGES = Schema(
    "node_images",
    "one row for each image on a node; kubelets report 50 by default",
    ("node", "image"),
    (
        _node(),
        Column("image", TEXT, "a name of the image, with tag where it has one; <none> for an image without a name"),
        Column("size_bytes", INTEGER, "size of the image", "bytes"),
    ),
)

NODE_USAGE = Schema(
    "node_usage",
    "one row for each NodeMetrics: use of the whole machine, system daemons included",
    ("node", "measured_at"),
    (
        _node(),
        Column("measured_at", INSTANT, "end of the measured window"),
        Column("window_seconds", INTEGER, "length of the measured window", "seconds", nullable=True),
        Column("machine_usage_cpu_nanocores", INTEGER, "CPU used", "nanocores", nullable=True),
        Column("machine_usage_memory_bytes", INTEGER, "working set", "bytes", nullable=True),
    ),
)

PODS = Schema(
    "pods",
    "one row for each Pod object",
    ("namespace", "pod"),
    (
        *_pod(),
        Column("uid", TEXT, "metadata.uid", nullable=True),
        Column("node", TEXT, "spec.nodeName; NA when not bound", nullable=True),
        Column("phase", TEXT, "status.phase; Unknown where it is missing"),
        Column("created_at", INSTANT, "metadata.creationTimestamp", nullable=True),
        Column("started_at", INSTANT, "status.startTime", nullable=True),
        Column("deleted_at", INSTANT, "metadata.deletionTimestamp: the pod is terminating", nullable=True),
        Column("owner_kind", TEXT, "kind of the controlling owner", nullable=True),
        Column("owner_name", TEXT, "name of the controlling owner", nullable=True),
        Column("owner_uid", TEXT, "uid of the controlling owner", nullable=True),
        Column("workload_kind", TEXT, "kind of the top owner (Deployment rather than ReplicaSet); Pod without an owner"),
        Column("workload", TEXT, "name of the top owner, or of the pod itself"),
        Column("priority", INTEGER, "spec.priority", nullable=True),
        Column("qos_class", TEXT, "status.qosClass", nullable=True),
        Column("nominated_node", TEXT, "status.nominatedNodeName", nullable=True),
        Column("gated", FLAG, "true when scheduling gates hold the pod back"),
        Column("unschedulable_reason", TEXT, "message of PodScheduled=False", nullable=True),
        Column("image", TEXT, "image of the first container", nullable=True),
        Column("container_count", INTEGER, "containers that run side by side: app containers and sidecars", "count"),
        Column("deadline_seconds", INTEGER, "spec.activeDeadlineSeconds of the pod itself; NA for none", "seconds", nullable=True),
        Column("finalizers", TEXT, "metadata.finalizers: what must let go before a deleted pod is gone", nullable=True),
        Column("label_set", INTEGER, "number of the pod's set of labels in table label_sets", "number"),
        Column("scheduling_set", INTEGER, "number of the set of rules on where the pod may go, in table scheduling_sets", "number"),
        Column(
            "requests_cpu_nanocores",
            INTEGER,
            "effective requests, as the scheduler counts them; NA where a value is not a quantity",
            "nanocores",
            nullable=True,
        ),
        Column(
            "requests_memory_bytes",
            INTEGER,
            "effective requests, as the scheduler counts them; NA where a value is not a quantity",
            "bytes",
            nullable=True,
        ),
        Column(
            "limits_cpu_nanocores",
            INTEGER,
            "effective limits of the containers that have one; NA when none has",
            "nanocores",
            nullable=True,
        ),
        Column(
            "limits_memory_bytes", INTEGER, "effective limits of the containers that have one; NA when none has", "bytes", nullable=True
        ),
        Column(
            "provisioned_cpu_nanocores",
            INTEGER,
            "what was bought for the pod where pods are billed alone (AWS Fargate)",
            "nanocores",
            nullable=True,
        ),
        Column(
            "provisioned_memory_bytes",
            INTEGER,
            "what was bought for the pod where pods are billed alone (AWS Fargate)",
            "bytes",
            nullable=True,
        ),
        Column("cpu_limited", FLAG, "whether every container that runs side by side has a CPU limit"),
        Column("memory_limited", FLAG, "whether every container that runs side by side has a memory limit"),
        Column("gpu_index", TEXT, "annotation alibabacloud.com/gpu-index: the cards that the pod shares, joined by -", nullable=True),
        Column("host_network", FLAG, "spec.hostNetwork: the pod has the node's own addresses", nullable=True),
        Column("dns_policy", TEXT, "spec.dnsPolicy", nullable=True),
        Column("local_storage", FLAG, "whether it has an emptyDir on disk or a hostPath: what is in it stays on the node", nullable=True),
        Column("safe_to_evict", FLAG, "annotation cluster-autoscaler.kubernetes.io/safe-to-evict; NA where there is none", nullable=True),
        Column(
            "kept_apart",
            FLAG,
            "whether it says, required or preferred, to stay away from others: anti-affinity or topology spread",
            nullable=True,
        ),
        Column("sized_as_a_whole", FLAG, "spec.resources: whether it has requests or limits beside those of its containers", nullable=True),
    ),
)

POD_RESOURCES = Schema(
    "pod_resources",
    "one row for each resource that a pod requests beside cpu and memory",
    ("namespace", "pod", "resource"),
    (*_pod(), Column("resource", TEXT, "name of the resource"), Column("requests_count", INTEGER, "effective requests", "count")),
)

UNREAD_REQUESTS = Schema(
    "unread_requests",
    "one row for each resource that a pod requests beside cpu and memory in an amount that is no quantity, or more than any machine has",
    ("namespace", "pod", "resource"),
    (*_pod(), Column("resource", TEXT, "name of the resource")),
)

LABEL_SETS = Schema(
    "label_sets",
    "one row for each label of each distinct set of pod labels: most pods share their labels with others",
    ("label_set", "label"),
    (
        Column("label_set", INTEGER, "number of the set", "number"),
        Column("label", TEXT, "key of the label"),
        Column("value", TEXT, "value of the label"),
    ),
)

SCHEDULING_SETS = Schema(
    "scheduling_sets",
    "one row for each distinct set of rules on where pods may go: most pods share theirs with others",
    ("scheduling_set",),
    (
        Column("scheduling_set", INTEGER, "number of the set", "number"),
        Column(
            "spread",
            FLAG,
            "whether it also depends on other pods: required pod affinity or anti-affinity, or topology spread with DoNotSchedule",
        ),
    ),
)

TOLERATIONS = Schema(
    "tolerations",
    "one row for each toleration of each scheduling set",
    ("scheduling_set", "number"),
    (
        Column("scheduling_set", INTEGER, "number of the set", "number"),
        Column("number", INTEGER, "number of the toleration", "number"),
        Column("taint", TEXT, "key of the taints tolerated; NA for all", nullable=True),
        Column("operator", TEXT, "Equal, Exists, and whatever newer versions add"),
        Column("value", TEXT, "value of the taints tolerated", nullable=True),
        Column("effect", TEXT, "effect of the taints tolerated; NA for all", nullable=True),
    ),
)

NODE_REQUIREMENTS = Schema(
    "node_requirements",
    "one row for each value of each requirement on nodes of each scheduling set",
    ("scheduling_set", "term", "requirement", "position"),
    (
        Column("scheduling_set", INTEGER, "number of the set", "number"),
        Column(
            "term",
            INTEGER,
            "0: spec.nodeSelector, which must hold; from 1: terms of required node affinity, of which one must hold if there are any",
            "number",
        ),
        Column("requirement", INTEGER, "number within the term; all must hold", "number"),
        Column("position", INTEGER, "number of the value within the requirement", "number"),
        Column("label", TEXT, "key of the node's label, or metadata.name for the node's name"),
        Column("operator", TEXT, "In, NotIn, Exists, DoesNotExist, Gt or Lt"),
        Column("value", TEXT, "value; NA where the operator takes none", nullable=True),
    ),
)

CONTAINERS = Schema(
    "containers",
    "one row for each container of a pod",
    ("namespace", "pod", "container"),
    (
        *_pod(),
        Column("container", TEXT, "name of the container"),
        Column("kind", TEXT, "app, sidecar (restartable init container) or init"),
        Column("image", TEXT, "image of the container", nullable=True),
        Column("requests_cpu_nanocores", INTEGER, "resources.requests", "nanocores", nullable=True),
        Column("requests_memory_bytes", INTEGER, "resources.requests", "bytes", nullable=True),
        Column("limits_cpu_nanocores", INTEGER, "resources.limits", "nanocores", nullable=True),
        Column("limits_memory_bytes", INTEGER, "resources.limits", "bytes", nullable=True),
        Column("restart_count", INTEGER, "status.containerStatuses.restartCount", "count", nullable=True),
        Column("last_end_reason", TEXT, "why it last ended, e.g. OOMKilled; NA when it never did", nullable=True),
        Column("last_end_at", INSTANT, "when it last ended", nullable=True),
    ),
)

WORKLOAD_CONTAINERS = Schema(
    "workload_containers",
    "one row for each container in the template of a Deployment, StatefulSet or DaemonSet",
    ("kind", "namespace", "workload", "container"),
    (
        Column("kind", TEXT, "Deployment, StatefulSet or DaemonSet"),
        Column("namespace", TEXT, "namespace of the workload"),
        Column("workload", TEXT, "name of the workload"),
        Column("container", TEXT, "name of the container, init containers included"),
        Column("owner_kind", TEXT, "kind of the workload's own controlling owner, such as an operator's object", nullable=True),
        Column("owner_name", TEXT, "name of that owner", nullable=True),
    ),
)

HPAS = Schema(
    "hpas",
    "one row for each HorizontalPodAutoscaler",
    ("namespace", "hpa"),
    (
        Column("namespace", TEXT, "namespace of the autoscaler"),
        Column("hpa", TEXT, "name of the autoscaler"),
        Column("target_kind", TEXT, "kind of what it scales"),
        Column("target_name", TEXT, "name of what it scales"),
        Column("min_replica_count", INTEGER, "spec.minReplicas; 1 where it is not set", "count"),
        Column("max_replica_count", INTEGER, "spec.maxReplicas", "count", nullable=True),
        Column("current_replica_count", INTEGER, "status.currentReplicas", "count", nullable=True),
    ),
)

HPA_RESOURCES = Schema(
    "hpa_resources",
    "one row for each resource by whose use a HorizontalPodAutoscaler scales",
    ("namespace", "hpa", "resource", "container"),
    (
        Column("namespace", TEXT, "namespace of the autoscaler"),
        Column("hpa", TEXT, "name of the autoscaler"),
        Column("resource", TEXT, "cpu or memory"),
        Column("container", TEXT, "the container whose use counts; empty for that of the whole pod"),
    ),
)

SERVICES = Schema(
    "services",
    "one row for each Service",
    ("namespace", "service"),
    (Column("namespace", TEXT, "namespace of the Service"), Column("service", TEXT, "name of the Service")),
)

RESOURCE_QUOTAS = Schema(
    "resource_quotas",
    "one row for each resource that a ResourceQuota limits",
    ("namespace", "quota", "resource"),
    (
        Column("namespace", TEXT, "namespace of the quota"),
        Column("quota", TEXT, "name of the quota"),
        Column("resource", TEXT, "what is limited, e.g. requests.cpu, pods, count/jobs.batch"),
        Column("hard_amount", INTEGER, "most of it; CPU in nanocores, memory and storage in bytes, else a count", "count", nullable=True),
        Column("used_amount", INTEGER, "what is used of it, in the same unit; NA until it was counted", "count", nullable=True),
    ),
)

DISRUPTION_BUDGETS = Schema(
    "disruption_budgets",
    "one row for each PodDisruptionBudget",
    ("namespace", "budget"),
    (
        Column("namespace", TEXT, "namespace of the budget"),
        Column("budget", TEXT, "name of the budget"),
        Column("disruptions_allowed_count", INTEGER, "status.disruptionsAllowed: pods that may be evicted now", "count", nullable=True),
        Column("healthy_pod_count", INTEGER, "status.currentHealthy", "count", nullable=True),
        Column("desired_healthy_pod_count", INTEGER, "status.desiredHealthy", "count", nullable=True),
        Column("expected_pod_count", INTEGER, "status.expectedPods", "count", nullable=True),
    ),
)

BUDGET_REQUIREMENTS = Schema(
    "budget_requirements",
    "one row for each value of each requirement on labels by which a PodDisruptionBudget selects pods; all must hold, and a budget without any selects every pod of its namespace",
    ("namespace", "budget", "requirement", "position"),
    (
        Column("namespace", TEXT, "namespace of the budget"),
        Column("budget", TEXT, "name of the budget"),
        Column("requirement", INTEGER, "number of the requirement", "number"),
        Column("position", INTEGER, "number of the value within the requirement", "number"),
        Column("label", TEXT, "key of the pod's label"),
        Column("operator", TEXT, "In, NotIn, Exists or DoesNotExist"),
        Column("value", TEXT, "value; NA where the operator takes none", nullable=True),
    ),
)

NODE_GROUPS = Schema(
    "node_groups",
    "one row for each limit of each group of nodes that an autoscaler makes nodes for",
    ("autoscaler", "group", "resource"),
    (
        Column("autoscaler", TEXT, "cluster-autoscaler or karpenter"),
        Column("group", TEXT, "name of the node group or NodePool"),
        Column("resource", TEXT, "nodes, or the resource that its nodes may have together"),
        Column("used_amount", INTEGER, "what it has now; CPU in nanocores, memory in bytes, else a count", "count", nullable=True),
        Column("limit_amount", INTEGER, "the most that it may have, in the same unit", "count", nullable=True),
    ),
)

API_REQUESTS = Schema(
    "api_requests",
    "one row for each kind that this run read from a live API server, and one for its other questions; empty for a dump",
    ("kind",),
    (
        Column("kind", TEXT, "kind that was listed; other for everything else"),
        Column("request_count", INTEGER, "requests, repeated ones included", "count"),
        Column("received_bytes", INTEGER, "bytes of the answers", "bytes"),
        Column("object_count", INTEGER, "objects in them", "count"),
    ),
)

CONTROL_PLANE_METRICS = Schema(
    "control_plane_metrics",
    "one row for each figure of etcd, the API servers and DNS that Prometheus told; a label that a figure does not have is empty",
    ("metric", "instance", "api_group", "version", "resource", "verb", "scope", "flow", "reason"),
    (
        Column("metric", TEXT, "name of the figure, with its unit at the end"),
        Column("instance", TEXT, "member of etcd, API server or DNS pod"),
        Column("api_group", TEXT, "API group; empty also for the core group"),
        Column("version", TEXT, "version of the API group"),
        Column("resource", TEXT, "resource that was asked for"),
        Column("verb", TEXT, "verb, as the API server's metrics have it"),
        Column("scope", TEXT, "resource, namespace or cluster"),
        Column("flow", TEXT, "priority level or flow schema"),
        Column("reason", TEXT, "why requests were rejected, or the release in which an API is removed"),
        Column("value", REAL, "the figure", "see metric"),
    ),
)

CONTAINER_USAGE = Schema(
    "container_usage",
    "one row for each container in a PodMetrics",
    ("namespace", "pod", "container", "measured_at"),
    (
        *_pod(),
        Column("container", TEXT, "name of the container"),
        Column("measured_at", INSTANT, "end of the measured window"),
        Column("window_seconds", INTEGER, "length of the measured window", "seconds", nullable=True),
        Column("usage_cpu_nanocores", INTEGER, "CPU used", "nanocores", nullable=True),
        Column("usage_memory_bytes", INTEGER, "working set", "bytes", nullable=True),
    ),
)


def _claim() -> tuple[Column, Column]:
    return Column("namespace", TEXT, "namespace of the claim"), Column("claim", TEXT, "name of the ResourceClaim")


def _pool() -> tuple[Column, Column]:
    return Column("driver", TEXT, "driver of dynamic resource allocation"), Column("pool", TEXT, "pool of devices, unique for its driver")


DEVICE_SLICES = Schema(
    "device_slices",
    "one row for each ResourceSlice",
    ("slice",),
    (
        Column("slice", TEXT, "name of the ResourceSlice"),
        *_pool(),
        Column("generation", INTEGER, "generation of the pool; slices of older ones are out of date", "number"),
        Column("slice_count", INTEGER, "slices that the pool has in this generation", "count"),
        Column("node", TEXT, "node that has the devices; NA when several nodes can reach them", nullable=True),
    ),
)

DEVICES = Schema(
    "devices",
    "one row for each device of each ResourceSlice",
    ("slice", "device"),
    (
        Column("slice", TEXT, "name of the ResourceSlice"),
        Column("device", TEXT, "name of the device, unique in its pool"),
        Column("node", TEXT, "node that has the device, where the slice has devices of several nodes", nullable=True),
        Column("type", TEXT, "attribute type: gpu, mig, …", nullable=True),
        Column("product", TEXT, "attribute productName, product or model", nullable=True),
        Column("profile", TEXT, "attribute profile: of which shape a part of a card is", nullable=True),
        Column("uuid", TEXT, "attribute uuid", nullable=True),
        Column("parent_uuid", TEXT, "attribute parentUUID: the card that the device is a part of", nullable=True),
        Column("memory_bytes", INTEGER, "capacity memory", "bytes", nullable=True),
        Column("shared", FLAG, "whether several claims may have it at the same time (allowMultipleAllocations)"),
        Column("taint", TEXT, "key of the first taint that keeps claims or pods away", nullable=True),
    ),
)

DEVICE_COUNTERS = Schema(
    "device_counters",
    "one row for each counter that devices share, and for what each device would take of it",
    ("slice", "device", "counter_set", "counter"),
    (
        Column("slice", TEXT, "name of the ResourceSlice"),
        Column("device", TEXT, 'name of the device that takes it; "" for what there is'),
        Column("counter_set", TEXT, "name of the set of counters, as a rule one a card"),
        Column("counter", TEXT, "name of the counter"),
        Column("amount", INTEGER, "how much", "count"),
    ),
)

DEVICE_CLASSES = Schema(
    "device_classes",
    "one row for each DeviceClass",
    ("device_class",),
    (
        Column("device_class", TEXT, "name of the DeviceClass"),
        Column("driver", TEXT, "driver that its selectors ask for, where they name one", nullable=True),
        Column("extended_resource", TEXT, "spec.extendedResourceName: the resource by which pods ask for it", nullable=True),
    ),
)

CLAIMS = Schema(
    "claims",
    "one row for each ResourceClaim",
    ("namespace", "claim"),
    (
        *_claim(),
        Column("created_at", INSTANT, "metadata.creationTimestamp", nullable=True),
        Column("allocated", FLAG, "whether it has its devices"),
    ),
)

CLAIM_REQUESTS = Schema(
    "claim_requests",
    "one row for each request of a ResourceClaim; of alternatives the first",
    ("namespace", "claim", "request"),
    (
        *_claim(),
        Column("request", TEXT, "name of the request"),
        Column("device_class", TEXT, "DeviceClass that it asks for"),
        Column("requests_count", INTEGER, "devices that it asks for; NA when it asks for all", "count", nullable=True),
        Column("admin", FLAG, "whether it asks for access beside others, as monitoring does"),
    ),
)

CLAIM_DEVICES = Schema(
    "claim_devices",
    "one row for each device that a ResourceClaim was given",
    ("namespace", "claim", "number"),
    (
        *_claim(),
        Column("number", INTEGER, "number of the result", "number"),
        *_pool(),
        Column("device", TEXT, "name of the device"),
        Column("admin", FLAG, "whether it is access beside others, which takes nothing from them"),
    ),
)

CLAIM_PODS = Schema(
    "claim_pods",
    "one row for each pod for which a ResourceClaim is reserved",
    ("namespace", "claim", "pod"),
    (*_claim(), Column("pod", TEXT, "name of the pod")),
)

POD_CLAIMS = Schema(
    "pod_claims",
    "one row for each ResourceClaim that a pod refers to, and for each resource that it is given through one",
    ("namespace", "pod", "reference", "resource"),
    (
        *_pod(),
        Column("reference", TEXT, 'name in spec.resourceClaims; "" for the claim that the scheduler made for extended resources'),
        Column("resource", TEXT, 'resource that the claim serves (status.extendedResourceClaimStatus); "" for others'),
        Column("claim", TEXT, "name of the ResourceClaim; NA until it is made", nullable=True),
    ),
)

GPU_USAGE = Schema(
    "gpu_usage",
    "one row for each accelerator (or part of one) and each container that held it in the window of Prometheus; a device that nobody held has a row without pod",
    ("device", "mig_instance", "namespace", "pod", "container"),
    (
        Column("device", TEXT, "UUID of the device, else its node and index"),
        Column("mig_instance", TEXT, 'id of the MIG instance; "" for a whole device'),
        Column("namespace", TEXT, 'namespace of the pod; "" when nobody held it'),
        Column("pod", TEXT, 'name of the pod; "" when nobody held it'),
        Column("container", TEXT, 'name of the container; "" when nobody held it'),
        Column("node", TEXT, "name of the node, as far as the series tell", nullable=True),
        Column("product", TEXT, "name of the model as the exporter gives it", nullable=True),
        Column("mig_profile", TEXT, "profile of the MIG instance", nullable=True),
        Column("metric", TEXT, "metric that the activity was read from", nullable=True),
        Column("step_seconds", INTEGER, "time that one sample stands for", "seconds"),
        Column("sample_count", INTEGER, "samples of activity in the window", "count"),
        Column("idle_sample_count", INTEGER, "of them, those with an activity of at most gpu.idle_ratio", "count"),
        Column("first_at", INSTANT, "time of the first sample", nullable=True),
        Column("last_at", INSTANT, "time of the last sample", nullable=True),
        Column("last_active_at", INSTANT, "time of the last sample above gpu.idle_ratio", nullable=True),
        Column("activity_mean_ratio", REAL, "mean activity over the window", "ratio", nullable=True),
        Column("activity_p95_ratio", REAL, "95th percentile of the activity over the window", "ratio", nullable=True),
        Column("activity_max_ratio", REAL, "largest activity in the window", "ratio", nullable=True),
        Column(
            "recent_max_ratio", REAL, "largest activity in the last gpu.idle_seconds; NA without samples in them", "ratio", nullable=True
        ),
        Column("memory_used_max_bytes", INTEGER, "largest device memory in use in the window", "bytes", nullable=True),
        Column("memory_used_p95_bytes", INTEGER, "95th percentile of device memory in use", "bytes", nullable=True),
        Column("power_mean_watts", REAL, "mean power over the window", "watts", nullable=True),
    ),
)

REJECTS = Schema(
    "rejects",
    "one row for each object or value that could not be read; everything else of the run goes on without it",
    ("number",),
    (
        Column("number", INTEGER, "order in which they were met", "number"),
        Column("object", TEXT, "kind, namespace and name of the object"),
        Column("field", TEXT, "field that held the value"),
        Column("value", TEXT, "the value, shortened to 100 characters"),
        Column("reason", TEXT, "why it was refused"),
    ),
)

SCHEMAS = {
    schema.name: schema
    for schema in (
        NODES,
        NODE_LABELS,
        NODE_TAINTS,
        NODE_CONDITIONS,
        NODE_RESOURCES,
        NODE_CARDS,
        NODE_IMAGES,
        NODE_USAGE,
        PODS,
        POD_RESOURCES,
        UNREAD_REQUESTS,
        LABEL_SETS,
        SCHEDULING_SETS,
        TOLERATIONS,
        NODE_REQUIREMENTS,
        CONTAINERS,
        WORKLOAD_CONTAINERS,
        HPAS,
        HPA_RESOURCES,
        SERVICES,
        RESOURCE_QUOTAS,
        DISRUPTION_BUDGETS,
        BUDGET_REQUIREMENTS,
        NODE_GROUPS,
        API_REQUESTS,
        CONTROL_PLANE_METRICS,
        CONTAINER_USAGE,
        JOBS,
        JOB_CONDITIONS,
        JOB_RESOURCES,
        CRONJOBS,
        CRONJOB_RESOURCES,
        DEVICE_SLICES,
        DEVICES,
        DEVICE_COUNTERS,
        DEVICE_CLASSES,
        CLAIMS,
        CLAIM_REQUESTS,
        CLAIM_DEVICES,
        CLAIM_PODS,
        POD_CLAIMS,
        PROMETHEUS,
        MEASURED_CONTAINERS,
        CONTAINER_DAYS,
        CONTAINER_INSTANTS,
        NODE_WINDOWS,
        GPU_USAGE,
        REJECTS,
    )
}

SOURCES_OF_OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "unread_requests": (),
    "node_usage": ("nodemetrics",),
    "container_usage": ("podmetrics",),
    "workload_containers": ("deployments", "statefulsets", "daemonsets"),
    "hpas": ("horizontalpodautoscalers",),
    "hpa_resources": ("horizontalpodautoscalers",),
    "jobs": ("jobs",),
    "job_conditions": ("jobs",),
    "job_resources": ("jobs",),
    "cronjobs": ("cronjobs",),
    "cronjob_resources": ("cronjobs",),
    "prometheus": ("prometheus",),
    "measured_containers": ("prometheus",),
    "container_days": ("prometheus",),
    "container_instants": ("prometheus",),
    "node_windows": ("node_windows",),
    "gpu_usage": ("gpu_usage",),
    "services": ("services",),
    "resource_quotas": ("resourcequotas",),
    "disruption_budgets": ("poddisruptionbudgets",),
    "budget_requirements": ("poddisruptionbudgets",),
    "node_groups": ("clusterautoscalerstatus", "nodepools"),
    "api_requests": (),
    "control_plane_metrics": ("control_plane",),
    "rejects": (),
}
"""What is not known of a snapshot that lacks a table; one that lacks any other table is no snapshot."""
