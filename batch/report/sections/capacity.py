"""Capacity: what the cluster has, what is requested and used of it, and where there is room."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.plan.model import CapacityPlan, Totals
from batch.report.model import Section
from batch.report.sections.basis import of_now
from batch.report.sections.capacity_tables import FULL_RATIO, tables
from batch.report.sections.material import Material, plural, ratio

SLUG = "capacity"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about nodes and pools."""
    plan = material.plan
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Capacity",
            title=_title(plan.totals),
            lede=(*_lede(plan.totals), *_on_usage(material)),
            how_to_read=_HOW_TO_READ if _is_something(plan.totals) else (),
            findings=material.findings_of(SLUG),
            tables=tables(plan) if _is_something(plan.totals) else {},
            sentences={"apart": tuple(_apart(plan))},
        ),
    )


_HOW_TO_READ = (
    message(
        "Allocatable is what pods may use of a node: its hardware less what the node keeps for itself. Requests count as the scheduler counts them."
    ),
    message(
        "Use by pods is the sum over measured pods and stands beside allocatable; use of machines includes system daemons and stands beside the hardware."
    ),
    message(
        "Room for ordinary pods is what is not requested on nodes that are ready, not cordoned and without a taint that keeps pods away. Room on the other nodes is listed apart, by reason."
    ),
    message(
        "Shares are of allocatable, which is also the size that a node is listed with. A figure in bold is that of the resource that runs out first; from {full:ratio} on it is printed warm.",
        full=FULL_RATIO,
    ),
)


def _is_something(totals: Totals) -> bool:
    """Whether there are nodes or pods, or it is not known."""
    return totals.node_count != 0 or totals.bound_pod_count != 0


def _title(totals: Totals) -> Message:
    cpu = ratio(totals.requests_cpu_nanocores, totals.allocatable_cpu_nanocores)
    memory = ratio(totals.requests_memory_bytes, totals.allocatable_memory_bytes)
    if cpu is None or memory is None:
        return message("How full the nodes are is unknown" if _is_something(totals) else "This cluster has no nodes")
    if not cpu and not memory:
        return message("Pods request neither CPU nor memory, so the scheduler takes every node for empty")
    if cpu >= memory:
        return message("{cpu:ratio} of the CPU and {memory:ratio} of the memory is requested", cpu=cpu, memory=memory)
    return message("{memory:ratio} of the memory and {cpu:ratio} of the CPU is requested", cpu=cpu, memory=memory)


def _lede(totals: Totals) -> Iterator[Message]:
    if totals.node_count is None:
        yield message("Nodes could not be read, so only what pods request and use is known.")
        return
    if not _is_something(totals):
        return
    yield message(
        "Ready nodes: {ready:count} of {nodes:count}. Pods on them: {pods:count}.",
        nodes=totals.node_count,
        ready=totals.ready_node_count,
        pods=totals.bound_pod_count,
    )
    yield message(
        "Use was measured for {pods:count} of the pods, and for {machines:count} of the machines as a whole."
        if totals.measured_node_count
        else "Use was measured for {pods:count} of the pods, but not for machines as a whole.",
        pods=totals.measured_pod_count,
        **({"machines": totals.measured_node_count} if totals.measured_node_count else {}),
    )


def _on_usage(material: Material) -> Iterator[Message]:
    """Say when use was measured, where it was."""
    if material.plan.totals.measured_pod_count and material.plan.totals.node_count is not None:
        basis = of_now(material.snapshot, material.settings.usage.max_age_seconds)
        yield Message(f"Usage: {basis.template}.", basis.values)


def _apart(plan: CapacityPlan) -> Iterator[Message]:
    """Say what the table of sums does not: limits, and what stands outside the sums."""
    totals = plan.totals
    if totals.limits_cpu_nanocores or totals.limits_memory_bytes:
        yield message(
            "The limits of containers that have one add up to {cpu:nanocores} and {memory:bytes}.",
            cpu=totals.limits_cpu_nanocores,
            memory=totals.limits_memory_bytes,
        )
    if totals.virtual_node_count:
        virtual = plan.nodes.loc[plan.nodes["virtual"]]
        yield message(
            "Virtual nodes (virtual kubelet, Fargate): {nodes:count}, with {pods:count} pods. Their size is not that of a machine, so no sum includes them.",
            nodes=totals.virtual_node_count,
            pods=int(virtual["pod_count"].sum()),
        )
    if totals.unknown_node_pod_count:
        yield message("Pods bound to nodes that were not listed: {pods:count}. No sum includes them.", pods=totals.unknown_node_pod_count)
    if totals.preemptible_pod_count:
        yield message(
            f"Of the requests, {{cpu:nanocores}} and {{memory:bytes}} are those of {{pods:count}} {plural(totals.preemptible_pod_count, 'pod')} of negative priority, which make room when others need it.",
            cpu=totals.preemptible_requests_cpu_nanocores,
            memory=totals.preemptible_requests_memory_bytes,
            pods=totals.preemptible_pod_count,
        )
    if totals.measured_node_count and totals.node_count and totals.measured_node_count < totals.node_count:
        yield message(
            "Use of machines was measured on {some:count} of {all:count} nodes, with {cpu:nanocores} of {whole:nanocores}; its share is of these.",
            some=totals.measured_node_count,
            all=totals.node_count,
            cpu=totals.measured_capacity_cpu_nanocores,
            whole=totals.capacity_cpu_nanocores,
        )
