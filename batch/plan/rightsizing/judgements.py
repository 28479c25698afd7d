"""What is worth doing about requests: few findings, each with what to apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batch.findings import Finding, Message, Severity, message, plural
from batch.plan.rightsizing.model import Advice, Rightsizing, Verdict
from batch.settings import RightsizingSettings

SECTION = "right-sizing"

_NAMED = 20
_IMPLAUSIBLE = 2**20
_APPLY = "Read and apply `patches/`: a kustomize patch for each workload, and all of them as kubectl commands."


def judge(sized: Rightsizing, settings: RightsizingSettings) -> tuple[Finding, ...]:
    """Give the findings about requests; sums are over all pods of a workload."""
    return tuple(
        finding
        for found in (_killed(sized, settings), _too_little(sized), _too_much(sized), _over_request(sized), _implausible(sized))
        for finding in found
    )


def _killed(sized: Rightsizing, settings: RightsizingSettings) -> Iterator[Finding]:
    killed = [advice for advice in sized.advice if advice.kill_count]
    if not killed:
        return
    first = max(killed, key=lambda advice: (advice.kill_count, _name(advice)))
    raised = [advice for advice in killed if advice.memory.target is not None]
    count = sum(advice.kill_count for advice in killed)
    yield Finding(
        id="rightsizing.killed-for-memory",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(count, 'container was', 'containers were')} killed for memory in the last {{window:seconds}}",
            window=settings.window_seconds,
            count=count,
        ),
        detail=_killed_detail(first),
        action=message(_APPLY)
        if any(advice.patchable for advice in raised)
        else message("Give them more memory, or find out why it grows."),
        objects=_names(killed),
        worth=message("{count:count}", count=count),
        worth_of=plural(count, "container killed", "containers killed"),
        weight=float(count),
    )


def _killed_detail(advice: Advice) -> Message:
    held, target = advice.memory.limits or advice.memory.requests, advice.memory.target
    text = "Container {name:text}" if advice.kill_count == 1 else "Most often: container {name:text}"
    values: dict[str, object] = {"name": _name(advice)}
    if held:
        text += ", which may use {held:bytes}"
        values["held"] = held
    if target:
        text += "; {target:bytes} is advised"
        values["target"] = target
    return message(f"{text}.", **values)


def _too_little(sized: Rightsizing) -> Iterator[Finding]:
    low = [advice for advice in sized.advice if _raises(advice) and not advice.kill_count]
    if not low:
        return
    yield _changes(
        "rightsizing.too-little",
        Severity.WARNING,
        low,
        message(f"{{count:count}} {plural(len(low), 'container asks', 'containers ask')} for too little", count=len(low)),
        "more",
    )


def _too_much(sized: Rightsizing) -> Iterator[Finding]:
    high = [advice for advice in sized.advice if advice.is_change and not _raises(advice)]
    if not high:
        return
    cpu, memory = (-sum(getattr(advice, f"{resource}_change") for advice in high) for resource in ("cpu", "memory"))
    yield _changes(
        "rightsizing.too-much",
        Severity.ADVICE,
        high,
        _less(cpu, memory),
        "less",
    )


def _less(cpu: int, memory: int) -> Message:
    """Say by how much requests can go down; at least one of them does."""
    parts = {"cpu": ("{cpu:nanocores}", cpu), "memory": ("{memory:bytes}", memory)}
    down = {name: (text, amount) for name, (text, amount) in parts.items() if amount > 0}
    return message(
        f"Requests can go down by {' and '.join(text for text, _ in down.values())}", **{name: amount for name, (_, amount) in down.items()}
    )


def _changes(slug: str, severity: Severity, advice: Sequence[Advice], title: Message, direction: str) -> Finding:
    """Word a finding about containers whose requests should change, the largest change first."""
    first = advice[0]
    cpu, memory = (abs(sum(getattr(one, f"{resource}_change") for one in advice)) for resource in ("cpu", "memory"))
    worth = message("{cpu:nanocores}", cpu=cpu) if cpu else message("{memory:bytes}", memory=memory)
    return Finding(
        id=slug,
        severity=severity,
        section=SECTION,
        title=title,
        detail=message(f"The largest change is that of container {{name:text}}: {_words(first)}.", name=_name(first), **_amounts(first)),
        action=message(_APPLY) if any(one.patchable for one in advice) else message("Change them where they are made."),
        objects=_names(advice),
        worth=worth,
        worth_of=f"{direction} requested",
        weight=cpu / 10**9,
        monthly_saving=_saving(advice),
    )


def _saving(advice: Sequence[Advice]) -> float | None:
    """Add up what is known to be saved; None when nothing is, and when it would cost more."""
    known = [one.monthly_saving for one in advice if one.monthly_saving is not None]
    return max(0.0, round(sum(known), 2)) or None if known else None


def _over_request(sized: Rightsizing) -> Iterator[Finding]:
    over = [advice for advice in sized.advice if not advice.is_change and _memory_over(advice) > 0]
    if not over:
        return
    most = max(over, key=lambda advice: (_memory_over(advice), _name(advice)))
    yield Finding(
        id="rightsizing.memory-over-request",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(over), 'container uses', 'containers use')} more memory than {plural(len(over), 'it asks', 'they ask')} for",
            count=len(over),
        ),
        detail=message(
            "A node that runs short evicts such pods first. The furthest over is container {name:text}: {used:bytes} used, {asked:bytes} requested.",
            name=_name(most),
            used=most.memory.usage,
            asked=most.memory.requests,
        ),
        action=message("Let them ask for at least what they use; the table of right-sizing has the amounts."),
        objects=_names(sorted(over, key=lambda advice: (-_memory_over(advice), _name(advice)))),
        worth=message("{bytes:bytes}", bytes=sum(map(_memory_over, over))),
        worth_of="over the requests",
        weight=float(len(over)),
    )


def _implausible(sized: Rightsizing) -> Iterator[Finding]:
    odd = [
        advice for advice in sized.advice if any(0 < (size or 0) < _IMPLAUSIBLE for size in (advice.memory.requests, advice.memory.limits))
    ]
    if not odd:
        return
    yield Finding(
        id="rightsizing.implausible-memory",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{count:count}} {plural(len(odd), 'container asks', 'containers ask')} for less than 1 MiB of memory", count=len(odd)
        ),
        detail=message(
            "The first is container {name:text}. `m` means thousandths of a byte, and was perhaps typed for M or Mi.", name=_name(odd[0])
        ),
        action=message("Correct the unit."),
        objects=_names(odd),
        weight=float(len(odd)),
    )


def _raises(advice: Advice) -> bool:
    return any(sizing.verdict in (Verdict.RAISE, Verdict.SET) for sizing in (advice.cpu, advice.memory))


def _memory_over(advice: Advice) -> int:
    """Bytes by which the largest sample is above the request; 0 where nothing is requested or known."""
    return max(0, (advice.memory.usage or 0) - advice.memory.requests) if advice.memory.requests else 0


def _words(advice: Advice) -> str:
    parts = []
    for name, kind, sizing in (("CPU", "nanocores", advice.cpu), ("memory", "bytes", advice.memory)):
        if sizing.target is not None:
            key = name.lower()
            parts.append(
                f"{name} from {{{key}_now:{kind}}} to {{{key}_target:{kind}}}" if sizing.requests else f"{name} {{{key}_target:{kind}}}"
            )
    return ", ".join(parts)


def _amounts(advice: Advice) -> dict[str, object]:
    amounts: dict[str, object] = {}
    for key, sizing in (("cpu", advice.cpu), ("memory", advice.memory)):
        if sizing.target is not None:
            amounts[f"{key}_target"] = sizing.target
            if sizing.requests:
                amounts[f"{key}_now"] = sizing.requests
    return amounts


def _name(advice: Advice) -> str:
    return f"{advice.namespace}/{advice.workload}/{advice.container}"


def _names(advice: Sequence[Advice]) -> tuple[str, ...]:
    return tuple(f"{one.namespace}/{one.workload}/{one.container}" for one in advice[:_NAMED])
