"""Are the accelerators allocated, and can the free ones be used."""

from __future__ import annotations

from batch.accelerators import Kind, of_kind
from batch.gpu.allocation import pending_pods
from batch.gpu.judgements import judge
from batch.gpu.model import GpuAssessment
from batch.gpu.nodes import gpu_nodes
from batch.gpu.totals import gpu_resources
from batch.settings import Settings
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings) -> GpuAssessment:
    """Assess the accelerators of all machines, in the unit of each resource: a slot or a slice is not a card.

    Uses the setting pools.label. A cluster without accelerators gives empty tables and no findings.
    """
    nodes = gpu_nodes(snapshot, settings.pools.label)
    offers, requests = snapshot.table("node_resources"), snapshot.table("pod_resources")
    unknown = tuple(of_kind({*offers["resource"].unique(), *requests["resource"].unique()}, Kind.UNKNOWN))
    return GpuAssessment(
        resources=gpu_resources(nodes, snapshot),
        nodes=nodes,
        unknown_resources=unknown,
        pending_pod_count=pending_pods(snapshot),
        findings=judge(nodes, unknown),
    )
