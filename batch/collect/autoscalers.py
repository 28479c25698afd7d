"""HorizontalPodAutoscalers: what each scales, between which sizes, and by the use of which resources."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import Autoscaler, AutoscalerSpec, AutoscalerStatus, ScaleTarget
from batch.collect.rejects import Rejects
from batch.snapshot.schemas import HPA_RESOURCES, HPAS

_SIZED = ("cpu", "memory")


class AutoscalerCollector:
    """Turns pages of the HorizontalPodAutoscaler list into tables."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._items = Items(Autoscaler, "HorizontalPodAutoscaler", rejects, namespaces)
        self._hpas = HPAS.builder()
        self._resources = HPA_RESOURCES.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many autoscalers it held."""
        for name, item in self._items.of(page):
            self._take_autoscaler((item.metadata.namespace or "default", name), item)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {"hpas": self._hpas.frame(), "hpa_resources": self._resources.frame()}

    def _take_autoscaler(self, key: tuple[str, str], item: Autoscaler) -> None:
        spec, status = item.spec or AutoscalerSpec(), item.status or AutoscalerStatus()
        target = spec.scale_target_ref or ScaleTarget()
        least = 1 if spec.min_replicas is None else spec.min_replicas
        self._hpas.add((*key, target.kind, target.name, least, spec.max_replicas, status.current_replicas))
        for resource, container in _scaled_by(spec):
            if resource in _SIZED:
                self._resources.add((*key, resource, container))


def _scaled_by(spec: AutoscalerSpec) -> Iterator[tuple[str, str]]:
    """Yield (resource, container or ""). Without metrics the API server scales by CPU (autoscaling/v2 defaults, Kubernetes 1.36)."""
    if spec.target_cpu is not None or not spec.metrics:
        yield "cpu", ""
    for metric in spec.metrics or []:
        if metric.type == "Resource" and metric.resource:
            yield metric.resource.name, ""
        elif metric.type == "ContainerResource" and metric.container_resource:
            yield metric.container_resource.name, metric.container_resource.container or ""
