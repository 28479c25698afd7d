"""What changed since last night and last week, in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from batch.findings import Message, message, plural
from batch.plan.forecast.model import Change, Comparison, Mover, Trends

_MOST_MOVERS = 3
"""Workloads that are named in words; the table has more."""

_LEAST = 0.005
"""Smaller changes than half a percent of what was before are not worth a word."""

_NAMES = {
    "cpu allocatable": "CPU that may be requested",
    "memory allocatable": "memory that may be requested",
    "cpu requests": "CPU requested",
    "memory requests": "memory requested",
}
"""Changes that are told in words, by their names; usage is a single reading and is left to the table."""


def changed(trends: Trends) -> dict[str, tuple[Message, ...]]:
    """Give the sentences by name: the first of each is its heading."""
    found = {
        "night": tuple(_block(trends, trends.last_night, week=False)),
        "week": tuple(_block(trends, trends.last_week, week=True)),
    }
    return {name: sentences for name, sentences in found.items() if sentences}


def in_short(trends: Trends) -> Iterator[Message]:
    """Say for the first page what changed since last night."""
    if trends.last_night is not None:
        yield from _block(trends, trends.last_night, week=False)


def _block(trends: Trends, one: Comparison | None, *, week: bool) -> Iterator[Message]:
    if one is None:
        return
    yield _heading(trends, one, week=week)
    told = [sentence for change in one.changes if (sentence := _figure(change))]
    told += [_moved(mover) for mover in (one.movers or ())[:_MOST_MOVERS]]
    yield from told or [message("Neither nodes nor requests changed by more than half a percent, and no workload stands out.")]
    if one.movers is None:
        yield message("Which workloads moved is not known.")
    elif len(one.movers) > _MOST_MOVERS:
        more = len(one.movers) - _MOST_MOVERS
        yield message(f"{{more:count}} more {plural(more, 'workload', 'workloads')} moved less.", more=more)


def _heading(trends: Trends, one: Comparison, *, week: bool) -> Message:
    """Name the night that is compared with, with its date where it is not the obvious one."""
    then, tonight = date.fromisoformat(one.date), date.fromisoformat(trends.tonight.date)
    if week:
        return message("Since the week before ({day:day})", day=then)
    if then == tonight - timedelta(days=1):
        return message("Since last night")
    return message("Since the last night that is known ({day:day})", day=then)


def _figure(change: Change) -> Message | None:
    """Say how much more or less there is; None when that is next to nothing or not known."""
    if change.before is None or change.now is None or change.kind == "money":
        return None
    by = change.now - change.before
    if not by or (change.kind != "count" and change.before and abs(by) < _LEAST * change.before):
        return None
    if change.kind == "count":
        name = change.what.replace(" requests", " requested")
    elif change.what in _NAMES:
        name = _NAMES[change.what]
    else:
        return None
    more = "more" if by > 0 else "fewer" if change.kind == "count" else "less"
    return message(
        f"{{name:text}}: {{by:{change.kind}}} {more}, now {{now:{change.kind}}}.",
        name=capital(name),
        by=abs(by),
        now=change.now,
    )


def capital(name: str) -> str:
    """Begin a line with a name; that of a resource (nvidia.com/gpu) stays as it is."""
    return name if "/" in name else name[:1].upper() + name[1:]


def mover_name(mover: Mover) -> str:
    """Name a workload, or what of a namespace has no lasting name."""
    if mover.workload:
        return f"{mover.namespace}/{mover.workload}"
    return f"{'single Jobs' if mover.kind == 'Job' else 'bare pods'} of {mover.namespace}"


def _moved(mover: Mover) -> Message:
    """Say in one sentence what a workload asks for, against before."""
    then, now = mover.pods
    cpu, memory = (_by(pair) for pair in (mover.requests_cpu, mover.requests_memory))
    values: dict[str, object] = {"name": mover_name(mover), "cpu": abs(cpu), "memory": abs(memory)}
    if then is None:
        return message(
            f"{{name:text}} is new, with {{pods:count}} {plural(now or 0, 'pod', 'pods')}, {{cpu:nanocores}} and {{memory:bytes}}.",
            pods=now,
            **values,
        )
    if now is None:
        return message(
            f"{{name:text}} is gone, with {{pods:count}} {plural(then, 'pod', 'pods')}, {{cpu:nanocores}} and {{memory:bytes}}.",
            pods=then,
            **values,
        )
    parts = [
        *(["{cpu:nanocores} of CPU " + _direction(cpu)] if cpu else []),
        *(["{memory:bytes} of memory " + _direction(memory)] if memory else []),
    ]
    kept = {name: value for name, value in values.items() if value}
    pods = plural(now, "pod", "pods")
    among = f"with {{now:count}} {pods} instead of {{then:count}}" if then != now else f"with {{now:count}} {pods} as before"
    counts = {"now": now, "then": then} if then != now else {"now": now}
    return message(f"{{name:text}} requests {' and '.join(parts)}, {among}.", **counts, **kept)


def _direction(by: int) -> str:
    return "more" if by > 0 else "less"


def _by(pair: tuple[int | None, int | None]) -> int:
    """Give what was added; what is not there asks for nothing, and what is not known adds nothing."""
    return (pair[1] or 0) - (pair[0] or 0)
