"""What to ask for: from candidates and circumstances to a request, a limit, and the reasons for both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from batch.findings import Message
from batch.plan.rightsizing import sentences
from batch.plan.rightsizing.asks import Kill, Scaler
from batch.plan.rightsizing.model import NAMELESS, Advice, Evidence, Sizing, Verdict
from batch.plan.rightsizing.rounding import MIB, round_cpu, round_memory
from batch.settings import RightsizingSettings

PATCHABLE = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "CronJob")
"""Kinds whose pod template can be changed in place."""

_OOM_EXTRA, _OOM_RATIO = 100 * MIB, (6, 5)
"""After a kill the recommender takes 100 MiB or 20 percent more, whichever is more (model/aggregations_config.go at 55c37cd)."""

_HOT = (3, 2)
"""How much more than the pooled 95th percentile the busiest pod may use before it is said."""

_HELD_BACK = 0.05
"""Share of scheduling periods cut short from which it is said: below, bursts alone explain it."""

_NANO = 10**9


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that decides about one container of a workload. `room` is what the largest node leaves for it, by resource, where it is known."""

    kind: str
    namespace: str
    workload: str
    container: str
    sidecar: bool
    injected: bool | None
    manager: str | None
    pod_count: int
    placeholder: bool
    guaranteed: bool
    mixed: bool
    sized_as_a_whole: bool
    evidence: Evidence
    samples_tonight: int
    cpu: Sizing
    memory: Sizing
    pooled_cpu: int | None
    kill: Kill | None
    cpu_scalers: Sequence[Scaler]
    memory_scalers: Sequence[Scaler]
    cpu_room: int | None
    memory_room: int | None
    throttled: float | None = None


@dataclass(frozen=True)
class Policy:
    """The settings, and whether autoscalers are known."""

    settings: RightsizingSettings
    autoscalers_known: bool
    strategies: dict[str, str]

    def strategy(self, namespace: str) -> str:
        """Give the strategy for a namespace."""
        return self.strategies.get(namespace, self.settings.strategy)


@dataclass(frozen=True, slots=True)
class _Rules:
    """How one resource is sized: its floor and smallest change, in its unit, and its steps."""

    name: str
    floor: int
    change_min: int
    steps: Callable[..., int]
    room: int | None
    scalers: Sequence[Scaler]
    kill: Kill | None


def advise(case: Case, policy: Policy) -> Advice:
    """Size both resources of a container, and say why."""
    settings, strategy = policy.settings, policy.strategy(case.namespace)
    each_night = 0 if case.kind in NAMELESS else case.samples_tonight
    lacking = sentences.missing(case.evidence, each_night, settings)
    reasons: list[Message] = []
    cpu_rules = _Rules(
        "cpu",
        round(settings.floor_cpu_cores * _NANO),
        round(settings.change_min_cpu_cores * _NANO),
        round_cpu,
        case.cpu_room,
        case.cpu_scalers,
        None,
    )
    memory_rules = _Rules(
        "memory",
        settings.floor_memory_bytes,
        settings.change_min_memory_bytes,
        round_memory,
        case.memory_room,
        case.memory_scalers,
        case.kill,
    )
    cpu = _sized(case, case.cpu, cpu_rules, strategy, settings, enough=lacking is None, reasons=reasons)
    memory = _sized(case, case.memory, memory_rules, strategy, settings, enough=lacking is None, reasons=reasons)
    if cpu.verdict.is_change or memory.verdict.is_change:
        reasons += _of_change(case, cpu, policy)
    reasons += _circumstances(case)
    reasons += filter(None, (lacking, sentences.unsure(case.evidence, each_night, settings)))
    return Advice(
        kind=case.kind,
        namespace=case.namespace,
        workload=case.workload,
        container=case.container,
        sidecar=case.sidecar,
        injected=case.injected,
        pod_count=case.pod_count,
        strategy=strategy,
        evidence=case.evidence,
        cpu=cpu,
        memory=memory,
        patchable=case.kind in PATCHABLE and not case.injected and case.manager is None,
        kill_count=case.kill.count if case.kill else 0,
        has_evidence=lacking is None,
        reasons=tuple(reasons),
        is_placeholder=case.placeholder,
        throttled_ratio=case.throttled,
    )


def _circumstances(case: Case) -> Iterator[Message]:
    """Yield what is so whatever the samples say."""
    if case.placeholder:
        yield sentences.PLACEHOLDER
    if case.sized_as_a_whole:
        yield sentences.SIZED_AS_A_WHOLE
    if case.injected:
        yield sentences.INJECTED
    elif case.kind not in PATCHABLE:
        yield sentences.without_template(case.kind)
    elif case.manager:
        yield sentences.managed(case.manager)
    if case.mixed:
        yield sentences.MIXED
    if case.throttled is not None and case.throttled >= _HELD_BACK:
        yield sentences.throttled(case.throttled)
    for size in (case.memory.requests, case.memory.limits):
        if strange := sentences.implausible(size):
            yield strange


def _sized(
    case: Case, now: Sizing, rules: _Rules, strategy: str, settings: RightsizingSettings, *, enough: bool, reasons: list[Message]
) -> Sizing:
    """Decide about one resource; `reasons` grows by what decided."""
    start = len(reasons)
    if case.placeholder or case.sized_as_a_whole:
        return replace(now, verdict=Verdict.HELD)
    if rules.scalers:
        reasons.append(sentences.held_by(rules.scalers[0], rules.name))
        return replace(now, verdict=Verdict.HELD)
    seen = getattr(now, strategy) if enough else None
    if enough and seen is None:
        reasons.append(sentences.CPU_UNMEASURED if rules.name == "cpu" else sentences.MEMORY_UNMEASURED)
    if rules.kill and (needed := _after_kill(rules.kill, now)):
        reasons.append(sentences.killed(rules.kill, needed))
    wanted = calls_for(now, strategy if enough else None, rules.kill)
    if wanted is None:
        return now
    by = strategy.replace("_", " ") if wanted == seen else "the kill"
    target = _within(wanted, rules, fine=case.evidence.confidence >= 1, reasons=reasons)
    verdict = _verdict(now, wanted, target, case, rules, settings)
    if verdict is Verdict.LOWER and rules.name == "memory" and len(case.evidence.hours) < settings.memory_hours_min:
        reasons.append(sentences.NIGHTS_ARE_NO_DAYS)
        verdict = Verdict.HELD
    if not verdict.is_change:
        return replace(now, verdict=verdict)
    reasons.insert(start, sentences.advised(rules.name, by, wanted, target))
    return _with_limit(replace(now, verdict=verdict, target=target), target, rules.name, settings, guaranteed=case.guaranteed)


def _within(wanted: int, rules: _Rules, *, fine: bool, reasons: list[Message]) -> int:
    """Round up, not below the floor, and not above what the largest node has room for."""
    if wanted < rules.floor:
        reasons.append(sentences.floored(rules.name, rules.floor))
    target = rules.steps(max(wanted, rules.floor), fine=fine)
    if rules.room is not None and target > rules.room:
        reasons.append(sentences.capped(rules.name, rules.room))
        return max(rules.room, rules.floor)
    return target


def _verdict(now: Sizing, wanted: int, target: int, case: Case, rules: _Rules, settings: RightsizingSettings) -> Verdict:
    """Say what a target does to the request. Neither a floor nor rounding raises one that nearly suffices; a limit that does not has to move."""
    if not now.requests:
        return Verdict.SET
    change = target - now.requests
    if now.limits is not None and now.limits < wanted:
        return Verdict.RAISE if change >= 0 else Verdict.LOWER
    least = settings.change_min_ratio * now.requests
    if (
        not change
        or abs(change) < least
        or (change > 0 and wanted - now.requests < least)
        or (change < 0 and -change * case.pod_count < rules.change_min)
    ):
        return Verdict.KEEP
    return Verdict.RAISE if change > 0 else Verdict.LOWER


def calls_for(now: Sizing, strategy: str | None, kill: Kill | None) -> int | None:
    """Give what samples and kills call for, the larger of both; without a strategy kills alone."""
    seen: int | None = getattr(now, strategy) if strategy else None
    needed = _after_kill(kill, now) if kill else 0
    return max(seen or 0, needed) if needed else seen


def _after_kill(kill: Kill, now: Sizing) -> int:
    """Give what a container needs that was killed for memory; 0 when it is not known what it had."""
    used = max(kill.held_to, now.usage or 0)
    times, parts = _OOM_RATIO
    return max(used + _OOM_EXTRA, -(-used * times // parts)) if used else 0


def _with_limit(sized: Sizing, target: int, resource: str, settings: RightsizingSettings, *, guaranteed: bool) -> Sizing:
    """Set the limit that goes with a target: the same for a Guaranteed pod; none for CPU; memory's only where it would be too low."""
    if guaranteed:
        return replace(sized, target_limit=target)
    if sized.limits is None:
        return sized
    if resource == "cpu" and settings.cpu_limits == "remove":
        return replace(sized, removes_limit=True)
    return replace(sized, target_limit=target) if sized.limits < target else sized


def _of_change(case: Case, cpu: Sizing, policy: Policy) -> Iterator[Message]:
    """Yield what somebody who applies the change should know."""
    if case.guaranteed:
        yield sentences.GUARANTEED
    if cpu.removes_limit:
        yield sentences.NO_CPU_LIMIT
    if not policy.autoscalers_known:
        yield sentences.AUTOSCALERS_UNKNOWN
    if len(case.evidence.hours) < policy.settings.memory_hours_min and case.evidence.hours:
        yield sentences.few_hours(case.evidence.hours)
    times, parts = _HOT
    if case.pooled_cpu and cpu.usage and case.pod_count > 1 and cpu.usage * parts > case.pooled_cpu * times:
        yield sentences.hot(cpu.usage, case.pooled_cpu)


def strategies(settings: RightsizingSettings) -> dict[str, str]:
    """Give the strategy of each namespace that has its own."""
    return {one.namespace: one.strategy for one in settings.namespaces}
