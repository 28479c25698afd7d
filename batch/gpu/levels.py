"""Accelerators as trends remember them: how many of each resource may be requested and are, by node pool and over the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from batch.gpu.model import GpuAssessment
from batch.snapshot import views
from batch.snapshot.summaries import Level


def levels(gpu: GpuAssessment) -> Iterator[Level]:
    """Give one level for each resource, and one for each node pool that has it. None is unknown, as where only some namespaces were read."""
    advertised = gpu.nodes.loc[gpu.nodes["resource"].ne("")]
    for resource, nodes in advertised.groupby("resource", sort=True):
        for pool, group in ((None, nodes), *nodes.groupby("pool", sort=True)):
            requests = None if group["requests_count"].isna().any() else views.total(group["requests_count"])
            yield Level(None if pool is None else str(pool), str(resource), views.total(group["allocatable_count"]), requests)
