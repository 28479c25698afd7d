"""The flavor to take for a profile, with reasons, or why none can be recommended."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from batch.findings import Message, message
from batch.plan.model import FORMULA, FlavorFit, Recommendation
from batch.plan.prices import Prices
from batch.plan.reservations import RESERVATIONS


def recommend(
    fits: Sequence[FlavorFit],
    *,
    pods_per_node: int,
    measured_pod_count: int,
    architectures: Collection[str],
    with_gpus: bool,
    most: float,
    prices: Prices,
) -> tuple[Recommendation | None, Message | None]:
    """Choose the flavor with the lowest cost a pod of those on which the pods fit safely; else say why there is none.

    Without prices it is the one with the least memory, then the fewest cores; with prices one without a price is no candidate while another
    has one. Safely: nodes take `pods_per_node` pods beside their DaemonSets, and the chance that the pods need more than there is is at most
    `most`, for memory and for CPU.
    """
    if not measured_pod_count:
        return None, message("No pod of this profile was measured, so it is not known what a node of them needs.")
    sized = candidates(fits, architectures=architectures, with_gpus=with_gpus)
    if not sized:
        return None, message(
            "What pods may use is known for none of the {count:count} flavors compared that these pods can run on: the cluster has no node of them, and no provider's formula applies.",
            count=len(fits),
        )
    roomy = [fit for fit in sized if _slots(fit) >= pods_per_node]
    if not roomy:
        return None, _too_few_slots(max(sized, key=_slots), pods_per_node)
    safe = [fit for fit in roomy if _worst(fit) <= most]
    if not safe:
        return None, _too_risky(min(roomy, key=_worst), pods_per_node, most)
    best = min([fit for fit in safe if fit.node_monthly_cost is not None] or safe, key=_worse)
    reasons = (*_reasons(best, pods_per_node, most), *_where(best), _choice(best, safe, len(sized), pods_per_node, prices))
    return Recommendation(best.flavor.name, reasons), None


def candidates(fits: Sequence[FlavorFit], *, architectures: Collection[str], with_gpus: bool) -> list[FlavorFit]:
    """Give the flavors whose size for pods is known and that these pods can run on.

    A flavor of another CPU architecture than the pods now run on (`architectures`; empty: unknown) is none, and one with GPUs only for pods
    that now run on GPU nodes (`with_gpus`): its memory says nothing about its cost.
    """
    return [fit for fit in fits if _is_sized(fit) and _runs(fit, architectures) and (with_gpus or not fit.flavor.gpu_count)]


def _worse(fit: FlavorFit) -> tuple[float, int, int, bool, str]:
    """Order by the price of a node, which is that of its pods since all carry as many, then by size; of equal ones the cluster's first."""
    flavor = fit.flavor
    return fit.node_monthly_cost or 0.0, flavor.memory_bytes, flavor.cpu_nanocores, not fit.in_cluster_node_count, flavor.name


def _is_sized(fit: FlavorFit) -> bool:
    return fit.memory_overrun_probability is not None and fit.cpu_overrun_probability is not None


def _runs(fit: FlavorFit, architectures: Collection[str]) -> bool:
    return not architectures or not fit.flavor.architecture or fit.flavor.architecture in architectures


def _slots(fit: FlavorFit) -> int:
    """Pods that a node takes beside its DaemonSets; none when the limit is not known."""
    return (fit.pod_limit or 0) - (fit.daemonset_pod_count or 0)


def _worst(fit: FlavorFit) -> float:
    return max(fit.memory_overrun_probability or 0.0, fit.cpu_overrun_probability or 0.0)


def _too_few_slots(nearest: FlavorFit, pods_per_node: int) -> Message:
    return message(
        "No flavor is known to take {pods:count} pods beside its DaemonSets. The nearest, {name:text}, has {slots:count} slots left for them; plan fewer pods on a node or raise the nodes' limit.",
        pods=pods_per_node,
        name=nearest.flavor.name,
        slots=max(0, _slots(nearest)),
    )


def _too_risky(nearest: FlavorFit, pods_per_node: int, most: float) -> Message:
    return message(
        "On every flavor the chance that {pods:count} pods need more than there is is over the accepted {most:probability}. The nearest is {name:text}: {memory:probability} for memory, {cpu:probability} for CPU.",
        pods=pods_per_node,
        most=most,
        name=nearest.flavor.name,
        memory=nearest.memory_overrun_probability,
        cpu=nearest.cpu_overrun_probability,
    )


def _reasons(best: FlavorFit, pods_per_node: int, most: float) -> tuple[Message, ...]:
    by_memory, by_cpu = best.memory_overrun_probability_mean, best.cpu_overrun_probability_mean
    return (
        message(
            f"The chance that {{pods:count}} of these pods together need more memory than a node leaves them ({{room:bytes}}) is {{chance:probability}}{_at_worst(by_memory)}; {{most:probability}} is accepted.",
            pods=pods_per_node,
            room=(best.allocatable_memory_bytes or 0) - (best.daemonset_memory_bytes or 0),
            chance=best.memory_overrun_probability,
            most=most,
            **_mean(by_memory),
        ),
        message(
            f"For CPU ({{room:nanocores}}) it is {{chance:probability}}{_at_worst(by_cpu)}.",
            room=(best.allocatable_cpu_nanocores or 0) - (best.daemonset_cpu_nanocores or 0),
            chance=best.cpu_overrun_probability,
            **_mean(by_cpu),
        ),
        message(
            "A node takes {limit:count} pods: {pods:count} of these and {daemons:count} of DaemonSets fit.",
            limit=best.pod_limit,
            pods=pods_per_node,
            daemons=best.daemonset_pod_count,
        ),
    )


def _at_worst(mean: float | None) -> str:
    return "" if mean is None else " at the worst instant of the window, {mean:probability} on average"


def _mean(mean: float | None) -> dict[str, object]:
    return {} if mean is None else {"mean": mean}


def _where(best: FlavorFit) -> tuple[Message, ...]:
    """Say of a flavor that is not in the cluster what its size for pods rests on."""
    if best.allocatable_source != FORMULA or best.flavor.provider is None:
        return ()
    return (
        message(
            "The cluster has no such node yet: what pods may use of it is worked out from {service:text}'s published reservation, and its DaemonSets are those that run on any node. Look at the first one before buying more.",
            service=RESERVATIONS[best.flavor.provider].service,
        ),
    )


def _choice(best: FlavorFit, safe: Sequence[FlavorFit], sized_count: int, pods_per_node: int, prices: Prices) -> Message:
    name, counts = best.flavor.name, {"safe": len(safe), "sized": sized_count}
    known = "Of the flavors whose size for pods is known, {safe:count} of {sized:count} meet this; "
    if best.node_monthly_cost is None:
        return message(f"{known}it has the least memory of them ({{memory:bytes}}).", memory=best.flavor.memory_bytes, **counts)
    unpriced = sum(fit.node_monthly_cost is None for fit in safe)
    left_out = " Without a price and left out: {unpriced:count}." if unpriced else ""
    return message(
        f"{known}it costs least: {{each:money}} a month for a node{' at spot prices' if prices.by_flavor[name].spot else ''}, {{share:money}} for a pod.{left_out}",
        each=prices.money(name, 1),
        share=prices.amount(best.node_monthly_cost / pods_per_node, (name,)),
        **counts,
        **({"unpriced": unpriced} if unpriced else {}),
    )
