"""Promised against working, by node pool, namespace and workload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from batch.gpu.activity import Pod, Reading, hours
from batch.gpu.model import Holder, Share
from batch.gpu.totals import add_cards

_GONE = ("(no longer there)", "")
"""Stands for the workload of a pod that used devices in the window and is gone."""


def shares(
    every: Sequence[Holder], readings: Sequence[Reading], pool_of: Mapping[str, str], pool_cards: Mapping[str, float | None]
) -> tuple[Share, ...]:
    """Give a share for each pool with accelerators, each namespace and each workload that holds some or used some, largest first.

    `pool_of` names the pool of each node, `pool_cards` the cards of each pool.
    """
    workloads: dict[Pod, tuple[str, str]] = {(h.namespace, h.pod): (f"{h.namespace}/{h.workload}", h.workload_kind) for h in every}
    pools = _grouped(
        every,
        readings,
        lambda h: (h.pool, ""),
        lambda r: (pool_of[r.node], "") if r.node is not None and r.node in pool_of else None,
        set(pool_cards),
    )
    used = [one for one in readings if one.pod]
    spaces = _grouped(every, used, lambda h: (h.namespace, ""), lambda r: (r.pod[0], "") if r.pod else None)
    loads = _grouped(
        every,
        used,
        lambda h: workloads[h.namespace, h.pod],
        lambda r: workloads.get(r.pod, (f"{r.pod[0]}/{_GONE[0]}", _GONE[1])) if r.pod else None,
    )
    return (
        *(_ranked("pool", pools, pool_cards)),
        *(_ranked("namespace", spaces, {})),
        *(_ranked("workload", loads, {})),
    )


Groups = dict[tuple[str, str], tuple[list[Holder], list[Reading]]]


def _grouped(
    every: Iterable[Holder],
    readings: Iterable[Reading],
    of_holder: Callable[[Holder], tuple[str, str]],
    of_reading: Callable[[Reading], tuple[str, str] | None],
    known: Iterable[str] = (),
) -> Groups:
    groups: Groups = defaultdict(lambda: ([], []))
    for name in known:
        groups[name, ""]
    for holder in every:
        groups[of_holder(holder)][0].append(holder)
    for reading in readings:
        key = of_reading(reading)
        if key is not None:
            groups[key][1].append(reading)
    return groups


def _ranked(by: str, groups: Groups, cards: Mapping[str, float | None]) -> list[Share]:
    found = [_share(by, name, kind, own, readings, cards.get(name)) for (name, kind), (own, readings) in groups.items()]
    return sorted(found, key=lambda one: (-(one.hours.idle_gpu_hours or 0), -(one.requests_cards or 0), one.name))


def _share(by: str, name: str, kind: str, own: Sequence[Holder], readings: Sequence[Reading], cards: float | None) -> Share:
    judged = [holder.idle for holder in own if holder.idle is not None]
    memory = [one.memory_max for one in readings if one.memory_max is not None]
    return Share(
        by=by,
        name=name,
        kind=kind,
        pod_count=len({(holder.namespace, holder.pod) for holder in own}),
        requests_cards=add_cards([holder.card_count for holder in own]),
        allocatable_cards=cards,
        idle_pod_count=len({(h.namespace, h.pod) for h in own if h.idle}) if judged or not own else None,
        hours=hours(readings),
        memory_used_max_bytes=max(memory, default=None),
    )
