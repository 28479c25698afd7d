"""What keeps free accelerators from being used, and pods from starting, and what to do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from batch.accelerators import THOUSANDTHS
from batch.findings import Finding, Message, Severity, message, plural
from batch.gpu.judgements import SECTION, nodes_worth
from batch.gpu.model import GpuResource, Guests, Stranding, Waiting
from batch.gpu.money import stranded_monthly_cost
from batch.gpu.nodes import Row
from batch.gpu.room import ROOM_CPU_NANOCORES, ROOM_MEMORY_BYTES
from batch.settings import GpuSettings, Settings

_NAMED = 3


def judge_room(
    rows: Sequence[Row],
    resources: Sequence[GpuResource],
    strandings: Sequence[Stranding],
    guests: Sequence[Guests],
    waiting: Sequence[Waiting],
    settings: Settings,
) -> Iterator[Finding]:
    """Give the findings about free accelerators that are of no use, pods that sit beside them, and pods that wait."""
    by_resource: dict[str, list[Stranding]] = defaultdict(list)
    for one in strandings:
        by_resource[one.resource].append(one)
    for resource, own in sorted(by_resource.items()):
        yield _stranded(resource, own, [row for row in rows if row["resource"] == resource], settings)
    yield from _unusable(resources, set(by_resource))
    yield from _fragmented(resources)
    yield from _guests(guests, settings.gpu)
    yield from _waiting(waiting)


def _stranded(resource: str, own: Sequence[Stranding], rows: Sequence[Row], settings: Settings) -> Finding:
    count, first = sum(one.free_count for one in own), own[0]
    names = tuple(one.node for one in own)
    return Finding(
        id=f"gpus.stranded/{resource}",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} of {{free:count}} free {{resource:text}} {plural(count, 'is', 'are')} stranded",
            count=count,
            free=sum(row["free_count"] or 0 for row in rows),
            resource=resource,
        ),
        detail=message(
            "Their nodes ({nodes:count}) have less than {cpu:nanocores} or less than {memory:bytes} left to request, or no pod slot: "
            "a pod that needs more does not start there.",
            nodes=len(own),
            cpu=ROOM_CPU_NANOCORES,
            memory=ROOM_MEMORY_BYTES,
        ),
        action=_stranded_action(first),
        objects=names,
        worth=nodes_worth(len(own)),
        worth_of="too full for their GPUs",
        weight=len(own),
        monthly_saving=stranded_monthly_cost(rows, settings.prices),
    )


def _stranded_action(first: Stranding) -> Message:
    eaters = ", ".join(name for name, _ in first.pods)
    text = "Look at `kubectl describe node {node:text}`, which is short of {short:text}"
    if not eaters:
        return message(text + "; keep pods without a GPU off GPU nodes with a taint", node=first.node, short=first.short_of)
    return message(
        text + ": lower the requests of {pods:text}, or keep pods without a GPU off GPU nodes with a taint",
        node=first.node,
        short=first.short_of,
        pods=eaters,
    )


def _unusable(resources: Sequence[GpuResource], stranded: set[str]) -> Iterator[Finding]:
    """Say where a typical pod finds too little beside free ones, though they are not stranded outright."""
    lacking: dict[str, int] = defaultdict(int)
    typical = {}
    for one in resources:
        lacking[one.resource] += one.unusable_for_typical_count or 0
        typical[one.resource] = one.typical
    for resource, count in sorted(lacking.items()):
        asked = typical[resource]
        if not count or asked is None:
            continue
        own = [one for one in resources if one.resource == resource]
        if count <= sum(one.stranded_count or 0 for one in own) and resource in stranded:
            continue
        yield Finding(
            id=f"gpus.unusable-for-typical/{resource}",
            severity=Severity.WARNING,
            section=SECTION,
            title=message(
                f"{{count:count}} of {{free:count}} free {{resource:text}} {plural(count, 'is', 'are')} of no use to a typical GPU pod",
                count=count,
                free=sum(one.unrequested_count or 0 for one in own),
                resource=resource,
            ),
            detail=message(
                "The median GPU pod requests {cpu:nanocores} and {memory:bytes} for each"
                + (" card" if resource == THOUSANDTHS else "")
                + "; their nodes do not have as much left.",
                cpu=asked[0] * (1000 if resource == THOUSANDTHS else 1),
                memory=asked[1] * (1000 if resource == THOUSANDTHS else 1),
            ),
            action=message(
                "Ask for less CPU and memory for each GPU, or buy machines with more of it: the table of nodes, `kubectl top pods -A`, and right-sizing tell"
            ),
            weight=count,
        )


def _fragmented(resources: Sequence[GpuResource]) -> Iterator[Finding]:
    for resource in sorted({one.resource for one in resources if one.repacked_fit_count}):
        own = [one for one in resources if one.resource == resource and one.repacked_fit_count]
        gains = {
            size: (sum(one.fit_count[size] for one in own), sum(one.repacked_fit_count[size] for one in own)) for size in own[0].fit_count
        }
        size = next((size for size in sorted(gains, reverse=True) if size > 1 and gains[size][1] > gains[size][0]), None)
        if size is None:
            continue
        now, then = gains[size]
        yield Finding(
            id=f"gpus.fragmented/{resource}",
            severity=Severity.ADVICE,
            section=SECTION,
            title=message(
                f"Free {{resource:text}} are scattered: {{now:count}} {plural(now, 'pod', 'pods')} of {{size:count}} would start now, {{then:count}} if the GPU pods were repacked",
                resource=resource,
                now=now,
                then=then,
                size=size,
            ),
            detail=message(
                "The same pods on the same nodes, packed anew with everything they request and may go to; pods without a GPU stay where they are."
            ),
            action=message(
                "Restart small GPU pods that may move, one after the other, with a scheduler that fills nodes up (NodeResourcesFit, MostAllocated): `kubectl get pods -A -o wide`"
            ),
            weight=then - now,
        )


def _guests(guests: Sequence[Guests], settings: GpuSettings) -> Iterator[Finding]:
    heavy = [one for one in guests if max(one.cpu_ratio or 0, one.memory_ratio or 0) > settings.guest_ratio]
    if not heavy:
        return
    pods = sum(one.pod_count for one in heavy)
    first = heavy[0]
    yield Finding(
        id="gpus.guests",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message(
            f"{{pods:count}} {plural(pods, 'pod', 'pods')} without a GPU {plural(pods, 'takes', 'take')} up room on {{nodes:count}} GPU {plural(len(heavy), 'node', 'nodes')}",
            pods=pods,
            nodes=len(heavy),
        ),
        detail=message(
            "On {node:text} they request {cpu:ratio} of the CPU and {memory:ratio} of the memory: {names:text}.",
            node=first.node,
            cpu=first.cpu_ratio,
            memory=first.memory_ratio,
            names=", ".join(first.pods[:_NAMED]) or "none by CPU",
        ),
        action=message(
            "Keep them off with a taint that GPU pods tolerate: `kubectl taint nodes {node:text} nvidia.com/gpu=present:NoSchedule`",
            node=first.node,
        ),
        objects=tuple(one.node for one in heavy),
        worth=nodes_worth(len(heavy)),
        worth_of="with such pods",
        weight=len(heavy),
    )


def _waiting(waiting: Sequence[Waiting]) -> Iterator[Finding]:
    by_verdict: dict[str, list[Waiting]] = defaultdict(list)
    for one in waiting:
        by_verdict[one.verdict].append(one)
    never = [*by_verdict["never"], *by_verdict["nowhere"]]
    if never:
        yield _never(never)
    if by_verdict["repack"]:
        yield _repack(by_verdict["repack"])


def _never(own: Sequence[Waiting]) -> Finding:
    count, first = sum(one.pod_count for one in own), own[0]
    asked = ", ".join(f"{number} {name}" for name, number in first.resources.items())
    return Finding(
        id="gpus.never-starts",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(count, 'pod', 'pods')} that {plural(count, 'waits', 'wait')} for GPUs cannot start on any node that there is",
            count=count,
        ),
        detail=message(
            "{pod:text} asks for {asked:text}; "
            + (
                "no node offers that."
                if first.verdict == "nowhere"
                else "every node that has some is too small or closed to it, even when empty."
            ),
            pod=f"{first.namespace}/{first.pod}",
            asked=asked,
        ),
        action=message(
            "See `kubectl describe pod -n {namespace:text} {pod:text}`; ask for less, correct selector and tolerations, or add a node that is large enough",
            namespace=first.namespace,
            pod=first.pod,
        ),
        objects=tuple(f"{one.namespace}/{one.pod}" for one in own),
        worth=message(f"{{count:count}} {plural(count, 'pod', 'pods')}", count=count),
        worth_of="waiting in vain",
        weight=count,
    )


def _repack(own: Sequence[Waiting]) -> Finding:
    count, first = sum(one.pod_count for one in own), own[0]
    return Finding(
        id="gpus.waits-for-a-block",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            "1 pod that waits would start if GPU pods were repacked: enough is free, but not on one node"
            if count == 1
            else "Any one of {count:count} pods that wait would start if GPU pods were repacked: enough is free, but not on one node",
            **({} if count == 1 else {"count": count}),
        ),
        detail=message(
            "{pod:text} asks for {asked:text} on one node.",
            pod=f"{first.namespace}/{first.pod}",
            asked=", ".join(f"{number} {name}" for name, number in first.resources.items()),
        ),
        action=message(
            "Move small GPU pods together; the table of what waits names what is free on each node: `kubectl get pods -A -o wide`"
        ),
        objects=tuple(f"{one.namespace}/{one.pod}" for one in own),
        worth=message(f"{{count:count}} {plural(count, 'pod', 'pods')}", count=count),
        worth_of="held up",
        weight=count,
    )
