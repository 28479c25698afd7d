"""The door of right-sizing: what each container of each workload should ask for, largest change first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from batch.plan.prices import NO_PRICES, Machine, Prices, UnitCosts
from batch.plan.rightsizing import advise, asks, measures, nights, weeks
from batch.plan.rightsizing.candidates import Candidates, confidence, cpu_candidates, memory_candidates
from batch.plan.rightsizing.groups import Groups, groups
from batch.plan.rightsizing.measures import Measured
from batch.plan.rightsizing.model import METRICS_API, PROMETHEUS, Advice, Evidence, Rightsizing, Sizing
from batch.plan.rightsizing.nights import SECOND, Peaks
from batch.plan.rightsizing.rooms import Rooms, rooms, shares
from batch.plan.rightsizing.rounding import MIB, MILLICORE
from batch.plan.rightsizing.weeks import Week
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.history import History
from batch.snapshot.model import Snapshot

_CORE, _GIB = 10**9, 2**30
_GIB_A_CORE = 4
"""Gibibytes that weigh as much as a core where nodes are unknown: about what general-purpose machines of the large clouds have."""


def rightsize(
    snapshot: Snapshot, history: History, nodes: pd.DataFrame, bound: pd.DataFrame, settings: Settings, prices: Prices = NO_PRICES
) -> Rightsizing:
    """Size every app container and sidecar of the workloads that run. `nodes` has NODE_CAPACITY, `bound` are the bound pods.

    What Prometheus measured rests on its window, everything else on `history` and tonight.

    A saving is what the cores and bytes less are worth where half of a node's price is for its cores and half for its memory.

    Costs about 3 CPU seconds at 150,000 pods with 240,000 containers in 12,000 workloads, and 0.05 s more for each earlier night.
    """
    found = groups(snapshot, settings.usage.max_age_seconds)
    tonight = nights.tonight(found, snapshot)
    earlier = [nights.earlier(found, night) for night in history.nights]
    told = weeks.week(found, snapshot)
    use = measures.measured(found, earlier, tonight, nights.microseconds(snapshot.taken_at), told)
    own = settings.rightsizing
    policy = advise.Policy(own, snapshot.has("horizontalpodautoscalers"), advise.strategies(own))
    cases = _cases(found, use, told, snapshot, rooms(snapshot, nodes, bound), policy)
    weight = _weight(nodes)
    machines = _machines(nodes)
    costs, shown = prices.unit_costs(machines), prices.amount(0, (machine.flavor for machine in machines))
    advice = sorted((_priced(advise.advise(case, policy), costs) for case in cases), key=weight)
    return Rightsizing(
        strategy=own.strategy,
        window_seconds=own.window_seconds,
        night_count=len(earlier) + bool(tonight.last_at),
        reading_count=views.sampling(snapshot, settings.usage.max_age_seconds).sample_count,
        advice=tuple(advice),
        sketch=nights.sketched(found, tonight, snapshot),
        currency=shown.currency,
        priced_on=shown.priced_on,
    )


def _machines(nodes: pd.DataFrame) -> list[Machine]:
    """Give each physical node whose flavor and size are known."""
    columns = ["instance_type", "allocatable_cpu_nanocores", "allocatable_memory_bytes"]
    known = nodes.loc[~nodes["virtual"], columns].dropna()
    return [Machine(flavor, 1, int(cpu), int(memory)) for flavor, cpu, memory in known.itertuples(index=False, name=None)]


def _priced(advice: Advice, costs: UnitCosts | None) -> Advice:
    if costs is None or not advice.is_change:
        return advice
    saving = advice.cpu_change / _CORE * costs.per_core_month + advice.memory_change / _GIB * costs.per_gib_month
    return replace(advice, monthly_saving=round(-saving, 2))


def _cases(
    found: Groups, use: Measured, told: Week | None, snapshot: Snapshot, largest: Rooms, policy: advise.Policy
) -> Iterator[advise.Case]:
    """Put together what decides about each group."""
    asked = asks.asks(found, snapshot, policy.settings.window_seconds)
    templates, managers, scalers = asks.templates(snapshot), asks.managers(snapshot), asks.scalers(snapshot)
    ratio = policy.settings.target_usage_ratio
    cpu = _sizings(cpu_candidates(use, ratio), use.cpu_peak, [(a[0], a[2]) for a in asked.amounts])
    memory = _sizings(memory_candidates(use, ratio), use.memory_peak, [(a[1], a[3]) for a in asked.amounts])
    evidence, pooled = _evidence(use, told), _known(use.p95_cpu)
    kills = asks.with_told(asked.kills, told.kills, asked.amounts) if told else asked.kills
    cpu_rooms = _shares(found, largest.cpu, cpu, {}, policy, MILLICORE)
    memory_rooms = _shares(found, largest.memory, memory, kills, policy, MIB)
    pods, tonight = found.count().tolist(), use.samples_tonight.tolist()
    for number, (kind, namespace, name, container) in enumerate(found.keys):
        workload = (kind, namespace, name)
        template = templates.get(workload)
        yield advise.Case(
            kind=kind,
            namespace=namespace,
            workload=name,
            container=container,
            sidecar=bool(asked.sidecar[number]),
            injected=None if template is None else container not in template,
            manager=managers.get(workload),
            pod_count=pods[number],
            placeholder=bool(asked.placeholder[number]),
            guaranteed=bool(asked.guaranteed[number]),
            mixed=bool(asked.mixed[number]),
            sized_as_a_whole=bool(asked.sized_as_a_whole[number]),
            evidence=evidence[number],
            samples_tonight=tonight[number],
            cpu=cpu[number],
            memory=memory[number],
            pooled_cpu=pooled[number],
            kill=kills.get(number),
            cpu_scalers=_of_container(scalers, workload, "cpu", container),
            memory_scalers=_of_container(scalers, workload, "memory", container),
            cpu_room=cpu_rooms[number],
            memory_room=memory_rooms[number],
            throttled=None if told is None or np.isnan(told.throttled[number]) else float(told.throttled[number]),
        )


def _of_container(
    scalers: Mapping[tuple[asks.Workload, str], Sequence[asks.Scaler]], workload: asks.Workload, resource: str, container: str
) -> Sequence[asks.Scaler]:
    return [scaler for scaler in scalers.get((workload, resource), ()) if scaler.container in ("", container)]


def _shares(
    found: Groups, largest: int | None, sizings: Sequence[Sizing], kills: Mapping[int, asks.Kill], policy: advise.Policy, step: int
) -> list[int | None]:
    """Give what each group may ask for at most, where the containers of one workload grow together."""
    members: dict[asks.Workload, list[int]] = {}
    for number, (kind, namespace, name, _) in enumerate(found.keys):
        members.setdefault((kind, namespace, name), []).append(number)
    given: list[int | None] = [None] * len(found)
    for (_, namespace, _), numbers in members.items():
        wanted = [advise.calls_for(sizings[number], policy.strategy(namespace), kills.get(number)) or 0 for number in numbers]
        most = shares(largest, [sizings[number].requests or 0 for number in numbers], wanted, step)
        for number, room in zip(numbers, most, strict=True):
            given[number] = room
    return given


def _sizings(candidates: Candidates, usage: Peaks, amounts: Sequence[tuple[int | None, int | None]]) -> list[Sizing]:
    columns = [
        _known(peaks)
        for peaks in (
            usage,
            candidates.peak,
            candidates.decayed,
            candidates.target_ratio,
            candidates.lower_bound,
            candidates.upper_bound,
        )
    ]
    low, high = _known(candidates.interval_low), _known(candidates.interval_high)
    intervals = [None if a is None or b is None else (a, b) for a, b in zip(low, high, strict=True)]
    return [Sizing(*asked, *row) for asked, *row in zip(amounts, *columns, intervals, strict=True)]


def _evidence(use: Measured, told: Week | None) -> list[Evidence]:
    hours = {int(bits): tuple(hour for hour in range(24) if int(bits) >> hour & 1) for bits in np.unique(use.hours)}
    columns = (
        use.samples.tolist(),
        use.nights.tolist(),
        ((use.last_at - use.first_at) // SECOND).tolist(),
        use.coverage.tolist(),
        confidence(use).tolist(),
    )
    by_prometheus = [False] * len(use.samples) if told is None else told.there.tolist()
    return [
        Evidence(samples, dates, window, coverage, sure, hours[bits], PROMETHEUS if by else METRICS_API)
        for samples, dates, window, coverage, sure, bits, by in zip(*columns, use.hours.tolist(), by_prometheus, strict=True)
    ]


def _known(peaks: Peaks) -> list[int | None]:
    """Give the figures as numbers, None where there is none."""
    return [value if known else None for value, known in zip(peaks.value.tolist(), peaks.known.tolist(), strict=True)]


def _weight(nodes: pd.DataFrame) -> Callable[[Advice], tuple[object, ...]]:
    """Give the order of advice: largest change first as a share of the cluster, then the most room unused; equal ones by name."""
    physical = nodes.loc[~nodes["virtual"]]
    cores = views.total(physical["allocatable_cpu_nanocores"]) or _CORE
    memory = views.total(physical["allocatable_memory_bytes"]) or _GIB_A_CORE * _GIB

    def weight(advice: Advice) -> tuple[object, ...]:
        changed = abs(advice.cpu_change) / cores + abs(advice.memory_change) / memory
        slack = (_slack(advice.cpu) / cores + _slack(advice.memory) / memory) * advice.pod_count
        return not advice.is_change, -changed, -slack, advice.namespace, advice.kind, advice.workload, advice.container

    return weight


def _slack(sizing: Sizing) -> int:
    """Give what is asked for and was never seen used; nothing where one of them is unknown."""
    return 0 if sizing.requests is None or sizing.usage is None else max(0, sizing.requests - sizing.usage)
