"""Capacity: what the cluster has, what is requested and used of it, and where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Message, message
from batch.plan.model import CapacityPlan, Totals
from batch.report.model import Section
from batch.report.sections.basis import of_now
from batch.report.sections.capacity_bars import FULL_RATIO
from batch.report.sections.capacity_tables import tables
from batch.report.sections.material import Material, is_partly_measured, plural

SLUG = "capacity"


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about nodes and pools."""
    plan = material.plan
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Capacity",
            title=_title(plan.totals, material.snapshot.namespaces),
            lede=(*_lede(plan.totals, material.snapshot.namespaces), *_on_usage(material)),
            how_to_read=_how_to_read(material),
            findings=material.findings_of(SLUG),
            tables=tables(plan, shared=material.snapshot.namespaces is not None) if _is_something(plan.totals) else {},
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


def _how_to_read(material: Material) -> tuple[Message, ...]:
    """Give what explains the tables that are there: of some namespaces only the sums are."""
    if not _is_something(material.plan.totals):
        return ()
    return _HOW_TO_READ if material.snapshot.namespaces is None else _HOW_TO_READ[:2]


def _is_something(totals: Totals) -> bool:
    """Whether there are nodes or pods, or it is not known."""
    return totals.node_count != 0 or totals.bound_pod_count != 0 or bool(totals.virtual_node_count)


def _title(totals: Totals, namespaces: Sequence[str] | None) -> Message:
    cpu, memory = totals.requests_cpu_ratio, totals.requests_memory_ratio
    if cpu is None or memory is None:
        return _unknown_title(totals, namespaces)
    if not cpu and not memory:
        return message("Pods request neither CPU nor memory, so the scheduler takes every node for empty")
    if cpu >= memory:
        return message("{cpu:ratio} of the CPU and {memory:ratio} of the memory is requested", cpu=cpu, memory=memory)
    return message("{memory:ratio} of the memory and {cpu:ratio} of the CPU is requested", cpu=cpu, memory=memory)


def _unknown_title(totals: Totals, namespaces: Sequence[str] | None) -> Message:
    if not _is_something(totals):
        return message("This cluster has no nodes")
    if namespaces and totals.node_count:
        return message("How full the nodes are is unknown, because only some namespaces were read")
    if not totals.node_count and totals.virtual_node_count:
        return message("This cluster has only virtual nodes, on which no room is left over")
    return message("How full the nodes are is unknown")


def _lede(totals: Totals, namespaces: Sequence[str] | None) -> Iterator[Message]:
    if totals.node_count is None:
        yield message("Nodes could not be read, so only what pods request and use is known.")
        return
    if not totals.node_count:
        return
    whose = " of the namespaces that were read" if namespaces else ""
    yield message(
        f"{{ready:count}} of {{nodes:count}} {plural(totals.node_count, 'node')} {'is' if totals.ready_node_count == 1 else 'are'} ready, with {{pods:count}} {plural(totals.bound_pod_count, 'pod')}{whose}.",
        nodes=totals.node_count,
        ready=totals.ready_node_count,
        pods=totals.bound_pod_count,
    )
    yield _measured(totals, totals.measured_pod_count or 0, totals.measured_node_count or 0)
    if is_partly_measured(totals):
        yield message("What the other pods use comes on top of every figure of use.")


def _measured(totals: Totals, pod_count: int, machine_count: int) -> Message:
    if not pod_count and not machine_count:
        return message("Neither what pods use nor what machines use was measured.")
    pods = "{pods:count} of the pods" if pod_count else "none of the pods"
    whole = f"{{machines:count}} of {{nodes:count}} {plural(totals.node_count or 0, 'machine')} as a whole"
    counts: dict[str, object] = {"pods": pod_count} if pod_count else {}
    if not machine_count:
        return message(f"Use was measured for {pods}, but not for machines as a whole.", **counts)
    return message(f"Use was measured for {pods}, and for {whole}.", machines=machine_count, nodes=totals.node_count, **counts)


def _on_usage(material: Material) -> Iterator[Message]:
    """Say when use was measured, where it was."""
    if material.plan.totals.measured_pod_count and material.plan.totals.node_count is not None:
        basis = of_now(material.snapshot, material.settings.usage.max_age_seconds)
        yield Message(f"Usage: {basis.template}.", basis.values)


def _apart(plan: CapacityPlan) -> Iterator[Message]:
    """Say what the table of sums does not: limits, and what stands outside the sums."""
    totals = plan.totals
    if totals.sized_node_count is not None and totals.node_count and totals.sized_node_count < totals.node_count:
        yield message(
            "Only {sized:count} of {nodes:count} nodes state their size. Shares are theirs alone: what pods request and use on the others is in the sums and in no share.",
            sized=totals.sized_node_count,
            nodes=totals.node_count,
        )
    if totals.limits_cpu_nanocores or totals.limits_memory_bytes:
        limits = {"cpu": totals.limits_cpu_nanocores, "memory": totals.limits_memory_bytes}
        words = {"cpu": "{cpu:nanocores} of CPU", "memory": "{memory:bytes} of memory"}
        named = [name for name, amount in limits.items() if amount]
        yield message(
            f"The limits of containers that have one add up to {' and '.join(words[name] for name in named)}.",
            **{name: limits[name] for name in named},
        )
    if totals.virtual_node_count:
        yield message(
            f"Virtual nodes (virtual kubelet, Fargate): {{nodes:count}}, with {{pods:count}} {plural(totals.virtual_pod_count, 'pod')}. Their size is not that of a machine, so no sum includes them.",
            nodes=totals.virtual_node_count,
            pods=totals.virtual_pod_count,
        )
    if totals.unknown_node_pod_count:
        yield message("Pods bound to nodes that were not listed: {pods:count}. No sum includes them.", pods=totals.unknown_node_pod_count)
    if totals.preemptible_pod_count:
        yield message(
            f"Of the requests, {{cpu:nanocores}} and {{memory:bytes}} are those of {{pods:count}} {plural(totals.preemptible_pod_count, 'pod')} of negative priority, which make way for others.",
            cpu=totals.preemptible_requests_cpu_nanocores,
            memory=totals.preemptible_requests_memory_bytes,
            pods=totals.preemptible_pod_count,
        )
    if totals.measured_node_count and totals.node_count and totals.measured_node_count < totals.node_count:
        yield message(
            "Use of machines was measured on {some:count} of {all:count} nodes, which have {cpu:nanocores} of {whole:nanocores}; its share is of these.",
            some=totals.measured_node_count,
            all=totals.node_count,
            cpu=totals.measured_capacity_cpu_nanocores,
            whole=totals.capacity_cpu_nanocores,
        )
