"""The flavor to take for a profile, with reasons, or why none can be recommended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from batch.findings import Message, message
from batch.plan.model import FORMULA, FlavorFit, Recommendation
from batch.plan.prices import Prices
from batch.plan.reservations import RESERVATIONS
from batch.plan.suits import NOT_OFFERED, NOT_REQUESTED, OTHER_ARCHITECTURE, Accelerator, Suits

_LEFT_OUT = {
    NOT_REQUESTED: ("with_gpus", "{with_gpus:count} with GPUs, which most of these pods do not request"),
    NOT_OFFERED: ("without", "{without:count} without enough of the accelerators that they request"),
    OTHER_ARCHITECTURE: ("foreign", "{foreign:count} of another CPU architecture than they now run on"),
}
"""How a refusal counts flavors that were left out."""


def recommend(
    fits: Sequence[FlavorFit], suits: Suits, *, lacking: Message | None, most: float, prices: Prices
) -> tuple[Recommendation | None, Message | None]:
    """Choose the flavor with the lowest cost a pod of those on which the pods fit safely; else say why there is none.

    Without prices it is the one with the least memory, then the fewest cores; with prices one without a price is no candidate while another
    has one. Safely: nodes take `suits.pods_per_node` pods beside their DaemonSets, and the chance that the pods need more than there is is
    at most `most`, for memory and for CPU. `lacking` says that too little was measured to choose at all.
    """
    pods_per_node = suits.pods_per_node
    if unknown := lacking or _unknown_rooms(fits):
        return None, unknown
    reasons = Counter(suits.why_not(fit.flavor) for fit in fits)
    if suits.accelerator and not reasons[None] and reasons[NOT_OFFERED]:
        return None, _none_offers(fits, suits, suits.accelerator)
    sized = candidates(fits, suits)
    if not sized:
        return None, _unsized(reasons)
    roomy = [fit for fit in sized if _slots(fit) >= pods_per_node]
    if not roomy:
        return None, _too_few_slots(max(sized, key=_slots), pods_per_node, reasons)
    safe = [fit for fit in roomy if _worst(fit) <= most]
    if not safe:
        return None, _too_risky(min(roomy, key=_worst), pods_per_node, most, reasons)
    best = min([fit for fit in safe if fit.node_monthly_cost is not None] or safe, key=_worse)
    choice = _choice(best, safe, len(sized), pods_per_node, prices)
    return Recommendation(best.flavor.name, (*_reasons(best, suits, most), *_where(best), choice)), None


def _unknown_rooms(fits: Sequence[FlavorFit]) -> Message | None:
    if any(fit.daemonset_pod_count is not None for fit in fits):
        return None
    return message("What a node leaves to these pods is unknown, because what DaemonSets take of it is.")


def candidates(fits: Sequence[FlavorFit], suits: Suits) -> list[FlavorFit]:
    """Give the flavors whose size for pods is known and that suit these pods."""
    return [fit for fit in fits if _is_sized(fit) and suits.why_not(fit.flavor) is None]


def _worse(fit: FlavorFit) -> tuple[float, int, int, bool, str]:
    """Order by the price of a node, which is that of its pods since all carry as many, then by size; of equal ones the cluster's first."""
    flavor = fit.flavor
    return fit.node_monthly_cost or 0.0, flavor.memory_bytes, flavor.cpu_nanocores, not fit.in_cluster_node_count, flavor.name


def _is_sized(fit: FlavorFit) -> bool:
    return fit.memory_overrun_probability is not None and fit.cpu_overrun_probability is not None


def _slots(fit: FlavorFit) -> int:
    """Pods that a node takes beside its DaemonSets; none when the limit is not known."""
    return (fit.pod_limit or 0) - (fit.daemonset_pod_count or 0)


def _worst(fit: FlavorFit) -> float:
    return max(fit.memory_overrun_probability or 0.0, fit.cpu_overrun_probability or 0.0)


def _with_left_out(template: str, reasons: Mapping[str | None, int], **values: object) -> Message:
    """Write a refusal that ends with how many flavors were not looked at, and why: they may be what the reader misses."""
    counts = {name: reasons[reason] for reason, (name, _) in _LEFT_OUT.items() if reasons.get(reason)}
    parts = [text for name, text in _LEFT_OUT.values() if name in counts]
    return message(f"{template} Left out: {'; '.join(parts)}." if parts else template, **values, **counts)


def _unsized(reasons: Mapping[str | None, int]) -> Message:
    return _with_left_out(
        "What pods may use is known for none of the {count:count} flavors compared that these pods can run on: the cluster has no node of them, and no provider's formula applies.",
        reasons,
        count=reasons.get(None, 0),
    )


def _none_offers(fits: Sequence[FlavorFit], suits: Suits, accelerator: Accelerator) -> Message:
    values = {
        "asking": accelerator.pod_count,
        "resource": accelerator.resource,
        "pods": suits.pods_per_node,
        "needed": suits.needed,
        "offered": max(suits.offered(fit.flavor) for fit in fits),
    }
    asked = "{asking:count} of these pods request accelerators, most of them {resource:text}. {pods:count} on a node would request {needed:count}, "
    if values["offered"]:
        return message(f"{asked}and no flavor compared has more than {{offered:count}}; plan fewer pods on a node.", **values)
    del values["offered"]
    return message(f"{asked}and no flavor compared is known to have any.", **values)


def _too_few_slots(nearest: FlavorFit, pods_per_node: int, reasons: Mapping[str | None, int]) -> Message:
    return _with_left_out(
        "No flavor that these pods can run on is known to take {pods:count} pods beside its DaemonSets. The nearest, {name:text}, has {slots:count} slots left for them; plan fewer pods on a node or raise the nodes' limit.",
        reasons,
        pods=pods_per_node,
        name=nearest.flavor.name,
        slots=max(0, _slots(nearest)),
    )


def _too_risky(nearest: FlavorFit, pods_per_node: int, most: float, reasons: Mapping[str | None, int]) -> Message:
    return _with_left_out(
        "On each flavor that these pods can run on, the chance that {pods:count} of them need more than there is is over the accepted {most:probability}. The nearest is {name:text}: {memory:probability} for memory, {cpu:probability} for CPU.",
        reasons,
        pods=pods_per_node,
        most=most,
        name=nearest.flavor.name,
        memory=nearest.memory_overrun_probability,
        cpu=nearest.cpu_overrun_probability,
    )


def _reasons(best: FlavorFit, suits: Suits, most: float) -> tuple[Message, ...]:
    return (
        message(
            "The chance that {pods:count} of these pods together need more memory than a node leaves them ({room:bytes}) is {chance:probability}; {most:probability} is accepted.",
            pods=suits.pods_per_node,
            room=(best.allocatable_memory_bytes or 0) - (best.daemonset_memory_bytes or 0),
            chance=best.memory_overrun_probability,
            most=most,
        ),
        message(
            "For CPU ({room:nanocores}) it is {chance:probability}.",
            room=(best.allocatable_cpu_nanocores or 0) - (best.daemonset_cpu_nanocores or 0),
            chance=best.cpu_overrun_probability,
        ),
        _slots_taken(best, suits.pods_per_node),
        *_accelerators(best, suits),
    )


def _slots_taken(best: FlavorFit, pods_per_node: int) -> Message:
    if not best.daemonset_pod_count:
        return message("A node takes {limit:count} pods: {pods:count} of these fit.", limit=best.pod_limit, pods=pods_per_node)
    return message(
        "A node takes {limit:count} pods: {pods:count} of these and {daemons:count} of DaemonSets fit.",
        limit=best.pod_limit,
        pods=pods_per_node,
        daemons=best.daemonset_pod_count,
    )


def _accelerators(best: FlavorFit, suits: Suits) -> Iterator[Message]:
    """Say that there are enough accelerators where most pods request them, and who goes without where a few do."""
    if suits.accelerator:
        yield message(
            "{asking:count} of all the pods request accelerators. A node offers {offered:count} of {resource:text}; {pods:count} pods request {needed:count} together.",
            asking=suits.accelerator.pod_count,
            pods=suits.pods_per_node,
            offered=suits.offered(best.flavor),
            resource=suits.accelerator.resource,
            needed=suits.needed,
        )
    elif suits.requesting_pod_count:
        yield message(
            "It has no accelerators: pods that request some ({asking:count} here) need nodes of their own.",
            asking=suits.requesting_pod_count,
        )


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
