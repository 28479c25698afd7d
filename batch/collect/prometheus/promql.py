"""The queries, as text. docs/prometheus.md tells of each why it is asked and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

CPU = "container_cpu_usage_seconds_total"
MEMORY = "container_memory_working_set_bytes"
THROTTLED, PERIODS = "container_cpu_cfs_throttled_periods_total", "container_cpu_cfs_periods_total"
OOM_EVENTS = "container_oom_events_total"
LAST_TERMINATED = "kube_pod_container_status_last_terminated_reason"
RESTARTS = "kube_pod_container_status_restarts_total"
POD_OWNER = "kube_pod_owner"

RECORDED = (
    "node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m",
    "node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate",
)
"""Recorded series of CPU by container: kubernetes-mixin (rules/apps.libsonnet), which kube-prometheus and its chart carry."""

CONTAINERS = 'container!="",container!="POD"'
"""Neither a pod's own cgroup, which has no container, nor its pause container, which has none either or is called POD by Docker."""

WHOLE_CPU = 'cpu=~"|total"'
"""cAdvisor can also tell of each core, which would double the sum."""

CONTAINER = "namespace, pod, container"
_KSM = "namespace, pod, container, exported_namespace, exported_pod, exported_container"
"""kube-state-metrics tells of other pods than itself: where its labels do not win over the scrape's, they are renamed."""

_BEFORE = "1h"
"""How long before the window is looked at, so that a scrape that failed does no harm."""


def select(metric: str, *matchers: str) -> str:
    """Select series of a metric by all of these matchers."""
    return f"{metric}{{{','.join(matcher for matcher in matchers if matcher)}}}"


@dataclass(frozen=True)
class Dialect:
    """How this store is asked. `matchers` are the settings' own; times are in seconds.

    `recorded` names the recorded series of CPU that is used in place of the counters, "" for none. `with_ids` is whether series have the
    label id of cAdvisor: those without one are then the kubelet's second account of the same containers (/metrics/resource).
    """

    matchers: str
    window: int
    step: int
    rate: int
    recorded: str = ""
    with_ids: bool = True

    def memory(self, *matchers: str) -> str:
        """Select the working set of containers."""
        return select(MEMORY, self.matchers, CONTAINERS, self._ids, *matchers)

    def cpu(self, shard: str) -> str:
        """Give the CPU of each container at one moment, once: of replica pairs and of a container's incarnations the largest."""
        if self.recorded:
            return f"max by ({CONTAINER}) ({select(self.recorded, self.matchers, CONTAINERS, shard)})"
        return f"max by ({CONTAINER}) (rate({select(CPU, self.matchers, CONTAINERS, WHOLE_CPU, self._ids, shard)}[{self.rate}s]))"

    def cpu_over(self, function: str, seconds: int, shard: str) -> str:
        """Apply a function over time (its text up to the range) to the CPU of the last seconds."""
        if self.recorded:
            return f"max by ({CONTAINER}) ({function}{select(self.recorded, self.matchers, CONTAINERS, shard)}[{seconds}s]))"
        return f"{function}{self.cpu(shard)}[{seconds}s:{self.step}s])"

    def memory_over(self, function: str, seconds: int, shard: str) -> str:
        """Apply a function over time to the raw samples of memory: a subquery would miss its peaks."""
        return f"max by ({CONTAINER}) ({function}{self.memory(shard)}[{seconds}s]))"

    def memory_over_incarnations(self, function: str, scrape: int, pods: str, shard: str) -> str:
        """Apply a function over time to the samples of all incarnations of a container as one series.

        That takes a subquery, as fine as the samples are: each step sees the sample of its own, so that none counts twice. NaN and infinity
        are left out.
        """
        sample = f"max by ({CONTAINER}) (last_over_time({self.memory(pods, shard)}[{scrape * 1000 - 1}ms]) < Inf)"
        return f"{function}{sample}[{self.window - 1}s:{scrape}s])"

    def memory_now(self, shard: str) -> str:
        """Give the working set of each container at one moment, once."""
        return f"max by ({CONTAINER}) ({self.memory(shard)})"

    def memory_samples(self, shard: str) -> str:
        """Count samples: of replica pairs once, of incarnations all."""
        return f"sum by ({CONTAINER}) (max by ({CONTAINER}, id, name) (count_over_time({self.memory(shard)}[{self.window}s])))"

    def uneven(self, shard: str) -> str:
        """Give containers of which a quantile of each series of memory is not theirs: with several incarnations, or samples that are no numbers.

        An incarnation is told by cAdvisor's id, or by its name, which is the runtime's id, where the other is dropped.
        """
        of_series = f"count by ({CONTAINER}, id, name) (count_over_time({self.memory(shard)}[{self.window}s]))"
        return f"count by ({CONTAINER}) ({of_series}) > 1 or count by ({CONTAINER}) (({self._spread(shard)}) != 0)"

    def _spread(self, shard: str) -> str:
        """Give 0 for each series of numbers, NaN for one that has other values too."""
        mean = f"avg_over_time({self.memory(shard)}[{self.window}s])"
        return f"{mean} - {mean}"

    def throttled(self, shard: str) -> str:
        """Give the share of scheduling periods that were cut short; sums, so that doubled series cancel out."""
        parts = (
            f"sum by ({CONTAINER}) (increase({select(name, self.matchers, CONTAINERS, self._ids, shard)}[{self.window}s]))"
            for name in (THROTTLED, PERIODS)
        )
        return " / ".join(parts)

    def containers_by_namespace(self, namespaces: str) -> str:
        """Count containers of the whole window by cluster and namespace."""
        each = f"count by (cluster, {CONTAINER}) (count_over_time({self.memory(namespaces)}[{self.window}s]))"
        return f"count by (cluster, namespace) ({each})"

    def present_by_namespace(self, namespaces: str) -> str:
        """Count the containers of this moment by cluster and namespace."""
        return f"count by (cluster, namespace) (count by (cluster, {CONTAINER}) ({self.memory(namespaces)}))"

    def oom_events(self, namespaces: str) -> str:
        """Give containers in which the kernel killed for memory, with how often."""
        counted = f"increase({select(OOM_EVENTS, self.matchers, CONTAINERS, namespaces)}[{self.window}s])"
        return f"sum by ({CONTAINER}) (max by ({CONTAINER}, id) ({counted})) > 0"

    def oom_killed(self) -> str:
        """Give containers that ended for memory in the window, by kube-state-metrics.

        It tells how a container last ended for as long as the pod is there. What it told before the window is of an older end, unless the
        container was started again since and still says so.
        """
        ended = select(LAST_TERMINATED, self.matchers, 'reason="OOMKilled"')
        told = f"max by ({_KSM}) (max_over_time({ended}[{self.window}s])) > 0"
        before = f"max by ({_KSM}) (max_over_time({ended}[{_BEFORE}] offset {self.window}s)) > 0"
        restarts = select(RESTARTS, self.matchers)
        started = f"(max by ({_KSM}) ({restarts}) - max by ({_KSM}) ({restarts} offset {self.window}s))"
        return f"({told} unless {before}) or (max by ({_KSM}) ({ended}) > 0 and {started} > 0)"

    def owners(self, namespaces: str) -> str:
        """Give the controlling owner of each pod of the window, by kube-state-metrics."""
        owned = select(POD_OWNER, self.matchers, 'owner_is_controller="true"', namespaces)
        return f"group by (namespace, pod, owner_kind, owner_name) (last_over_time({owned}[{self.window}s]))"

    @property
    def _ids(self) -> str:
        return 'id!=""' if self.with_ids else ""


def quantile(share: float) -> str:
    """Begin a quantile over time."""
    return f"quantile_over_time({share:g}, "
