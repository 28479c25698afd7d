"""The tables behind the checks."""

from __future__ import annotations

from batch.snapshot.schema import FLAG, INTEGER, REAL, TEXT, Column, Schema

UNTOLD = "unknown"
"""What table SYSTEMS has where a node does not tell."""

IMAGES = Schema(
    "scale-images",
    "one row for each image that a node reports, largest first",
    ("image",),
    (
        Column("image", TEXT, "name of the image"),
        Column("size_bytes", INTEGER, "largest size that a node reports", "bytes"),
        Column("node_count", INTEGER, "machines that have it, at least: kubelets report 50 images by default", "count"),
        Column("node_ratio", REAL, "share of the machines that have it", "ratio"),
        Column("pull_seconds", REAL, "time to pull it at scale.pull_bytes_per_second, without unpacking", "seconds"),
    ),
)

QUOTAS = Schema(
    "scale-quotas",
    "one row for each resource that a ResourceQuota limits, fullest first",
    ("namespace", "quota", "resource"),
    (
        Column("namespace", TEXT, "namespace of the quota"),
        Column("quota", TEXT, "name of the quota"),
        Column("resource", TEXT, "what is limited"),
        Column("used_amount", INTEGER, "what is used; CPU in nanocores, memory and storage in bytes, else a count", nullable=True),
        Column("hard_amount", INTEGER, "the most that may be, in the same unit", nullable=True),
        Column(
            "used_ratio", REAL, "share of it that is used; NA when it was not counted, or when nothing is allowed", "ratio", nullable=True
        ),
    ),
)

PENDING = Schema(
    "scale-pending",
    "one row for each reason for which pods wait for a node, most pods first",
    ("reason",),
    (
        Column("reason", TEXT, "the scheduler's message, with the number of nodes left out; its absence is said"),
        Column("pod_count", INTEGER, "pods that wait", "count"),
        Column("late_count", INTEGER, "of them, those that wait longer than scale.pending_seconds", "count"),
        Column("longest_seconds", REAL, "longest wait", "seconds"),
        Column("example", TEXT, "namespace and name of the pod that waits longest"),
    ),
)

DRAINS = Schema(
    "scale-drains",
    "one row for each node that could be emptied by the capacity plan, those that nothing keeps first",
    ("node",),
    (
        Column("node", TEXT, "name of the node"),
        Column("pool", TEXT, "node pool"),
        Column("daemonset_pod_count", INTEGER, "pods of DaemonSets, which go with the node", "count"),
        Column("moved_pod_count", INTEGER, "pods that have to move", "count"),
        Column("bare_count", INTEGER, "of them, those without a controller: nothing makes them again", "count"),
        Column(
            "local_storage_count",
            INTEGER,
            "of them, those with an emptyDir on disk or a hostPath, and not marked as safe to evict",
            "count",
        ),
        Column("marked_count", INTEGER, "of them, those marked as not safe to evict", "count"),
        Column(
            "budget_count",
            INTEGER,
            "of them, those under a PodDisruptionBudget that allows no disruption now; NA where budgets could not be read",
            "count",
            nullable=True,
        ),
        Column("kept_by", TEXT, "the first of these that holds, with an example; NA when nothing keeps the node", nullable=True),
    ),
)

SYSTEMS = Schema(
    "scale-systems",
    "one row for each system in each node pool",
    ("pool", "kubelet_version", "container_runtime", "kernel_version", "os_image"),
    (
        Column("pool", TEXT, "node pool"),
        Column("kubelet_version", TEXT, "version of the kubelet"),
        Column("container_runtime", TEXT, "container runtime with its version"),
        Column("kernel_version", TEXT, "version of the kernel"),
        Column("os_image", TEXT, "operating system"),
        Column("node_count", INTEGER, "machines", "count"),
    ),
)

DNS_PODS = Schema(
    "scale-dns",
    "one row for each pod that answers DNS",
    ("namespace", "pod"),
    (
        Column("namespace", TEXT, "namespace of the pod"),
        Column("pod", TEXT, "name of the pod"),
        Column("node", TEXT, "node that it is on; NA while it waits", nullable=True),
        Column("phase", TEXT, "its phase"),
        Column("kept_apart", FLAG, "whether it has anti-affinity or topology spread; NA where the snapshot does not tell", nullable=True),
    ),
)

SCHEMAS = {schema.name: schema for schema in (IMAGES, QUOTAS, PENDING, DRAINS, SYSTEMS, DNS_PODS)}
