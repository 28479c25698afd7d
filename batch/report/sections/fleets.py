"""Fleets: how many nodes of one flavor would hold all pods."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.plan.fleet import ARCHITECTURE, DEFAULT_POD_LIMIT, NO_RESOURCE, RULES, TOO_LARGE, UNKNOWN_SIZE
from batch.plan.model import CapacityPlan
from batch.plan.model_packing import Fleet, Unplaced
from batch.report.model import Section
from batch.report.sections.fleet_facts import in_order, right_sized, today
from batch.report.sections.fleet_tables import chart, table
from batch.report.sections.headroom_tables import WORDS
from batch.report.sections.material import Material, plural

SLUG = "fleets"

_NAMED = 12
"""Flavors without a fleet that a sentence names; all are in report.json."""


def build(material: Material) -> tuple[Section, ...]:
    """Give the section about fleets; without pods, or sizes, its title says so."""
    plan = material.plan
    fleets = [fleet for fleet in in_order(plan.fleets) if plan.fleets.pod_count]
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="Fleets",
            title=_title(material, fleets),
            lede=tuple(_lede(plan, fleets[0])) if fleets else (),
            how_to_read=tuple(_how_to_read(plan)) if fleets else (),
            findings=material.findings_of(SLUG),
            tables={"fleets": table(plan, fleets)} if fleets else {},
            charts={"fills": chart(plan, fleets)} if fleets and _asks_for_something(fleets[0]) else {},
            sentences={
                "left": tuple(_left(fleets[0])) if fleets else (),
                "skipped": tuple(_skipped(plan)) if plan.fleets.pod_count else (),
            },
        ),
    )


def _title(material: Material, fleets: list[Fleet]) -> Message:
    plan = material.plan
    if material.snapshot.namespaces is not None:
        return message("How many nodes would do is unknown, because only some namespaces were read")
    if not plan.fleets.pod_count:
        return message("There are no pods that nodes would have to hold")
    if not fleets:
        return message("How many nodes would do is unknown")
    best = fleets[0]
    holds = "all {all:count} pods" if not best.unplaced_pod_count else "{placed:count} of {all:count} pods"
    return message(
        f"{{nodes:count}} {plural(best.node_count, 'node')} of {{flavor:text}} would hold {holds}",
        nodes=best.node_count,
        flavor=best.flavor,
        all=plan.fleets.pod_count,
        **({"placed": best.placed_pod_count} if best.unplaced_pod_count else {}),
    )


def _lede(plan: CapacityPlan, best: Fleet) -> Iterator[Message]:
    now = today(plan)
    if now and now.cpu_nanocores is not None and now.memory_bytes is not None:
        yield message(
            f"Together they have {{cpu:nanocores}} and {{memory:bytes}}; today's {{nodes:count}} {plural(now.node_count, 'node')} {'has' if now.node_count == 1 else 'have'} {{cpu_now:nanocores}} and {{memory_now:bytes}}.",
            cpu=best.cpu_nanocores * best.node_count,
            memory=best.memory_bytes * best.node_count,
            nodes=now.node_count,
            cpu_now=now.cpu_nanocores,
            memory_now=now.memory_bytes,
        )
    if not _asks_for_something(best):
        yield message("The pods request neither CPU nor memory: only how many of them a node takes counts here, not what they use.")
    yield message("No packing can do with fewer than {bound:count}.", bound=best.lower_bound_node_count)
    sized = right_sized(plan, best)
    if sized and sized.unplaced_pod_count != best.unplaced_pod_count:
        yield message(
            f"With the requests that are recommended it would be {{nodes:count}} {plural(sized.node_count, 'node')} that {'leaves' if sized.node_count == 1 else 'leave'} {{left:count}} {plural(sized.unplaced_pod_count, 'pod')} over.",
            nodes=sized.node_count,
            left=sized.unplaced_pod_count,
        )
    elif sized and sized.node_count != best.node_count:
        yield message("With the requests that are recommended it would be {nodes:count}.", nodes=sized.node_count)
    yield message("Packed that tightly, nothing is left for growth, for updates or for the loss of a node.")


def _asks_for_something(fleet: Fleet) -> bool:
    return any(fleet.requests_ratio.get(resource) for resource in ("cpu", "memory"))


def _left(best: Fleet) -> Iterator[Message]:
    """Say which pods the fleet in the title leaves over, and why."""
    if best.unplaced:
        yield message("Left over on {flavor:text}", flavor=best.flavor)
        yield from map(_reason, best.unplaced)


def _reason(part: Unplaced) -> Message:
    count, resource = part.pod_count, part.resource or ""
    word = WORDS.get(resource, resource)
    text = {
        TOO_LARGE: f"{plural(count, 'pod')} {_asks(count)} for more {word} than an empty node has beside its DaemonSets."
        if word
        else f"{plural(count, 'pod')} {_asks(count)} for more than an empty node has beside its DaemonSets.",
        NO_RESOURCE: f"{plural(count, 'pod')} {_asks(count)} for {word}, which it does not have.",
        RULES: f"{plural(count, 'pod')} may not go there, by node selector, affinity or taint.",
        ARCHITECTURE: f"{plural(count, 'pod')} of workloads that run on another CPU architecture.",
    }[part.reason]
    return message(f"{{count:count}} {text}", count=count)


def _asks(count: int) -> str:
    return "asks" if count == 1 else "ask"


_WHY_SKIPPED = {
    UNKNOWN_SIZE: "what pods may use of a node is not known",
    TOO_LARGE: "their nodes are too small for every pod",
    NO_RESOURCE: "they lack a resource that pods ask for",
    RULES: "no pod may go there",
    ARCHITECTURE: "the pods run on another CPU architecture",
}


def _skipped(plan: CapacityPlan) -> Iterator[Message]:
    for reason, words in _WHY_SKIPPED.items():
        names = sorted(one.flavor for one in plan.fleets.skipped if one.reason == reason)
        if names:
            others = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield message(f"Without a fleet, because {words}: {{names:text}}{others}.", names=", ".join(names[:_NAMED]))


def _how_to_read(plan: CapacityPlan) -> Iterator[Message]:
    yield message(
        "Each line is the cluster on nodes of one flavor alone. Every ordinary pod that runs or waits is placed, large ones first, each where the free room has its proportions; pods that ask for the same are handled together. At least is what no packing can do without: the volume of each resource, and pods of which two never share a node."
    )
    yield message(
        "Every node carries the DaemonSets that would run there. Static pods, finished and gated pods, and pods on virtual nodes are left out. Ephemeral storage is not looked at: disks are bought with nodes."
    )
    yield message(
        "Labels and taints of the cluster's node pools are kept, with another machine behind them: pods that ask for a pool get nodes of it, and pods of different pools share none. What the machine itself decides (instance type, CPU architecture, GPUs) is that of the flavor. A workload counts as able to run on the architectures that its pods run on."
    )
    yield message(
        "Requested is the share of what pods may use of all these nodes; in bold what fills up first. What pods may use is the smallest of the cluster's nodes of that flavor, else the provider's published reservation."
    )
    if any(fleet.pod_limit is None for fleet in plan.fleets.fleets):
        yield message("Where the number of pods that a node takes is unknown, {limit:count} are counted with.", limit=DEFAULT_POD_LIMIT)
    if plan.fleets.spread_pod_count:
        yield message(
            f"{{count:count}} {plural(plan.fleets.spread_pod_count, 'pod')} also {_asks(plan.fleets.spread_pod_count)} to be near or far from others, or spread evenly. That is not looked at, and may take more nodes.",
            count=plan.fleets.spread_pod_count,
        )
    if plan.fleets.unreadable_pod_count:
        yield message(
            f"{{count:count}} {plural(plan.fleets.unreadable_pod_count, 'pod')} with requests that could not be read are left out.",
            count=plan.fleets.unreadable_pod_count,
        )
