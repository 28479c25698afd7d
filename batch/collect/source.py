"""Kind, Source and SourceError: what can be listed, and the door that every source has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol


@dataclass(frozen=True)
class Kind:
    """A kind of object that can be listed. `name` is the plural that files and requests use; `group` is "" for core.

    `metadata_only` asks the API server to leave out spec and status. `older` are versions to ask for where `version` is not served; a
    cluster that serves none of them has no such objects when `optional`. `only` is (namespace, name) where one object alone is read, by a
    list of which the right can be given for that name.
    """

    name: str
    group: str
    version: str
    namespaced: bool
    metadata_only: bool = False
    older: tuple[str, ...] = ()
    optional: bool = False
    only: tuple[str, str] | None = None

    @property
    def api(self) -> str:
        """Root of its API: /api/v1 or /apis/GROUP/VERSION."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str | None = None) -> str:
        """Path of its list: of one namespace, or of all."""
        return f"{self.api}/namespaces/{namespace}/{self.name}" if namespace else f"{self.api}/{self.name}"

    def versions(self) -> Iterator[Kind]:
        """Yield the kind in each version to ask for, the newest first."""
        yield self
        yield from (replace(self, version=version, older=()) for version in self.older)


NODES = Kind("nodes", "", "v1", namespaced=False)
PODS = Kind("pods", "", "v1", namespaced=True)
POD_METRICS = Kind("pods", "metrics.k8s.io", "v1beta1", namespaced=True)
NODE_METRICS = Kind("nodes", "metrics.k8s.io", "v1beta1", namespaced=False)

JOBS = Kind("jobs", "batch", "v1", namespaced=True)
CRON_JOBS = Kind("cronjobs", "batch", "v1", namespaced=True)
REPLICA_SETS = Kind("replicasets", "apps", "v1", namespaced=True, metadata_only=True)
DEPLOYMENTS = Kind("deployments", "apps", "v1", namespaced=True)
STATEFUL_SETS = Kind("statefulsets", "apps", "v1", namespaced=True)
DAEMON_SETS = Kind("daemonsets", "apps", "v1", namespaced=True)
AUTOSCALERS = Kind("horizontalpodautoscalers", "autoscaling", "v2", namespaced=True)
RESOURCE_SLICES = Kind("resourceslices", "resource.k8s.io", "v1", namespaced=False, older=("v1beta2", "v1beta1"), optional=True)
RESOURCE_CLAIMS = Kind("resourceclaims", "resource.k8s.io", "v1", namespaced=True, older=("v1beta2", "v1beta1"), optional=True)
DEVICE_CLASSES = Kind("deviceclasses", "resource.k8s.io", "v1", namespaced=False, older=("v1beta2", "v1beta1"), optional=True)
SERVICES = Kind("services", "", "v1", namespaced=True, metadata_only=True)
RESOURCE_QUOTAS = Kind("resourcequotas", "", "v1", namespaced=True)
DISRUPTION_BUDGETS = Kind("poddisruptionbudgets", "policy", "v1", namespaced=True)

CLUSTER_AUTOSCALER_STATUS = Kind("configmaps", "", "v1", namespaced=True, only=("kube-system", "cluster-autoscaler-status"))
NODE_POOLS = Kind("nodepools", "karpenter.sh", "v1", namespaced=False)

OF_AUTOSCALERS = {"cluster-autoscaler": CLUSTER_AUTOSCALER_STATUS, "karpenter": NODE_POOLS}
"""What tells how far node autoscalers may go: read only where setting scale.autoscalers names them, for each takes a right of its own."""

FILE_NAMES = {
    NODES: "nodes",
    PODS: "pods",
    JOBS: "jobs",
    CRON_JOBS: "cronjobs",
    REPLICA_SETS: "replicasets",
    DEPLOYMENTS: "deployments",
    STATEFUL_SETS: "statefulsets",
    DAEMON_SETS: "daemonsets",
    AUTOSCALERS: "horizontalpodautoscalers",
    RESOURCE_SLICES: "resourceslices",
    RESOURCE_CLAIMS: "resourceclaims",
    DEVICE_CLASSES: "deviceclasses",
    SERVICES: "services",
    RESOURCE_QUOTAS: "resourcequotas",
    DISRUPTION_BUDGETS: "poddisruptionbudgets",
    CLUSTER_AUTOSCALER_STATUS: "clusterautoscalerstatus",
    NODE_POOLS: "nodepools",
    POD_METRICS: "podmetrics",
    NODE_METRICS: "nodemetrics",
}
"""How a kind is called in gaps and as a file of a dump."""


class SourceError(Exception):
    """A kind could not be listed: `reason` says why in words for the report, `remedy` what to do about it.

    `forbidden` is True when a right is missing from the start, `absent` when the API or the file is not there at all.
    """

    def __init__(self, kind: Kind, reason: str, remedy: str = "", *, forbidden: bool = False, absent: bool = False) -> None:
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
        self.forbidden = forbidden
        self.absent = absent
        super().__init__(f"{FILE_NAMES.get(kind, kind.name)}: {reason}")


class ListExpired(SourceError):
    """The continue token of a list expired in mid-list: what was read so far is worthless and the list must be begun again."""


@dataclass(frozen=True)
class Footprint:
    """What was asked of an API server so far: requests, failed ones included, and bytes of all answers."""

    request_count: int
    received_bytes: int


class PartlyForbidden(SourceError):
    """In some of the namespaces asked for a right is missing; every page of the others was given and counts."""

    def __init__(self, kind: Kind, namespaces: Sequence[str], first: SourceError) -> None:
        self.namespaces = tuple(namespaces)
        super().__init__(kind, first.reason, first.remedy, forbidden=True)


def at_any_time() -> None:
    """Let every page be asked for."""


class Source(Protocol):
    """Something that can list kinds."""

    def kubernetes_version(self) -> str | None:
        """Return the version of the API server, e.g. "v1.36.2"; None when it is not known."""
        ...

    def pages(self, kind: Kind, before_page: Callable[[], None] = at_any_time) -> Iterator[bytes]:
        """Yield the pages of the list of that kind, each the JSON text of a Kubernetes List, in order.

        `before_page` is called before each is asked for, and may raise. Raises SourceError, also in the middle: then the pages so far are
        worthless, unless it is PartlyForbidden, which comes last.
        """
        ...
