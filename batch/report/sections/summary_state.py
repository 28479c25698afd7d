"""How full the cluster is, in one sentence: the first of the report."""

from __future__ import annotations

from collections.abc import Sequence

from batch.findings import Message, message
from batch.plan.model import Totals
from batch.report.sections.material import is_partly_measured, plural


def state(totals: Totals, namespaces: Sequence[str] | None) -> Message:
    """Say in one sentence how full the cluster is; of some namespaces, or without nodes, what their pods ask for."""
    if namespaces or totals.node_count is None:
        return _asked(totals, namespaces)
    if not totals.node_count and totals.virtual_node_count:
        return message(
            f"{{pods:count}} {plural(totals.virtual_pod_count, 'pod')} on {{nodes:count}} virtual {plural(totals.virtual_node_count, 'node')}, and no other node: each pod brings its own room.",
            pods=totals.virtual_pod_count,
            nodes=totals.virtual_node_count,
        )
    if not totals.bound_pod_count:
        if not totals.node_count:
            return message("No nodes and no pods were found.")
        return message(f"{{nodes:count}} {plural(totals.node_count, 'node')}, and no pod on {_them(totals)}.", nodes=totals.node_count)
    return _filled(totals)


def _them(totals: Totals) -> str:
    return "it" if totals.node_count == 1 else "them"


def _asked(totals: Totals, namespaces: Sequence[str] | None) -> Message:
    where = f"{plural(len(namespaces), 'namespace')} {', '.join(namespaces)}" if namespaces else "the cluster"
    asked = message(
        "Pods of {where:text} ({pods:count}) request {cpu:nanocores} of CPU and {memory:bytes} of memory",
        where=where,
        pods=totals.bound_pod_count if totals.bound_pod_count is not None else sum(totals.pod_count_by_phase.values()),
        cpu=totals.requests_cpu_nanocores,
        memory=totals.requests_memory_bytes,
    )
    if totals.usage_cpu_nanocores is None or totals.usage_memory_bytes is None:
        return Message(f"{asked.template}.", asked.values)
    used = message(
        f"{'; those measured, {measured:count} of them, use' if is_partly_measured(totals) else ', and use'} {{used_cpu:nanocores}} and {{used_memory:bytes}}",
        used_cpu=totals.usage_cpu_nanocores,
        used_memory=totals.usage_memory_bytes,
        **({"measured": totals.measured_pod_count} if is_partly_measured(totals) else {}),
    )
    return Message(f"{asked.template}{used.template}.", {**asked.values, **used.values})


def _filled(totals: Totals) -> Message:
    requests = {"cpu": totals.requests_cpu_ratio, "memory": totals.requests_memory_ratio}
    used = {"used_cpu": totals.usage_cpu_ratio, "used_memory": totals.usage_memory_ratio}
    sized = totals.sized_node_count
    size = (
        "the only node"
        if totals.node_count == 1
        else "{nodes:count} nodes"
        if sized == totals.node_count
        else "the {sized:count} of {nodes:count} nodes that state their size"
    )
    values = {name: value for name, value in (("nodes", totals.node_count), ("sized", sized)) if f"{{{name}:" in size}
    if any(value is None for value in requests.values()):
        return message(
            f"{{pods:count}} {plural(totals.bound_pod_count, 'pod')} on {{nodes:count}} {plural(totals.node_count, 'node')} of unknown size.",
            pods=totals.bound_pod_count,
            nodes=totals.node_count,
        )
    is_measured = all(value is not None for value in used.values())
    who = "those measured, {measured:count} of {pods:count}, use" if is_partly_measured(totals) else "they use"
    coverage = {"measured": totals.measured_pod_count, "pods": totals.bound_pod_count} if is_partly_measured(totals) else {}
    if not any(requests.values()) and is_measured:
        text = (
            f"Pods request neither CPU nor memory; {who} {{used_cpu:ratio}} of the CPU and {{used_memory:ratio}} of the memory of {size}."
        )
        return message(text, **used, **values, **coverage)
    asked = f"Pods request {{cpu:ratio}} of the CPU and {{memory:ratio}} of the memory of {size}"
    if not is_measured:
        return message(f"{asked}; how much of it they use was not measured.", **requests, **values)
    if coverage:
        return message(f"{asked}; {who} {{used_cpu:ratio}} and {{used_memory:ratio}} of it.", **requests, **used, **values, **coverage)
    return message(f"{asked}, and use {{used_cpu:ratio}} and {{used_memory:ratio}} of it.", **requests, **used, **values)
