"""Ask kube-state-metrics, where there is one, whose pods those were that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import TooMuchError
from batch.collect.prometheus.figures import Key
from batch.collect.prometheus.pods import Pod, Pods, Workload
from batch.collect.prometheus.promql import Dialect
from batch.collect.prometheus.shards import Shard


def owners(
    client: Client, dialect: Dialect, at: datetime, namespaces: Sequence[str], containers: Iterable[Key], pods: Pods
) -> Mapping[Pod, Workload]:
    """Give the controlling owner of each pod that is gone, as far as it is told; nothing is asked when no pod is gone.

    Owners only help to tell former pods of a workload from others; where it is too much to ask, names do it alone.
    """
    gone = {(namespace, pod) for namespace, pod, _ in containers if pods.get((namespace, pod)) is None}
    if not gone:
        return {}
    try:
        answer = client.query(dialect.owners(Shard(tuple(namespaces)).matchers()), at)
    except TooMuchError:
        return {}
    found = ((labels.get("namespace", ""), labels.get("pod", ""), labels) for labels, _ in answer.series)
    return {
        (namespace, pod): (labels.get("owner_kind", ""), labels.get("owner_name", ""))
        for namespace, pod, labels in found
        if (namespace, pod) in gone
    }
