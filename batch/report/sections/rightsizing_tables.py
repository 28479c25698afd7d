"""The tables of right-sizing: what to change first, the candidates, how sure they are, and what the others ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from batch.findings import Message, message
from batch.plan.rightsizing.model import Advice, Rightsizing, Sizing
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.material import plural, ratio

_FILE = "tables/right-sizing.csv"


def tables(sized: Rightsizing) -> dict[str, Table]:
    """Give the tables by name, without those that would be empty."""
    changed = [advice for advice in sized.advice if advice.is_change]
    others = [advice for advice in sized.advice if is_shown(advice) and not advice.is_change and advice.evidence.sample_count]
    others.sort(key=lambda advice: not advice.has_history)
    known = [advice for advice in changed if advice.has_evidence]
    sure = [advice for advice in sized.advice if _is_bounded(advice)]
    found = {
        "changes": _changes_table(changed, priced=bool(sized.currency), sized=sized),
        "candidates": _candidates_table(known),
        "bounds": _bounds_table(sure),
        "asks": _asks_table(others),
    }
    return {name: table for name, table in found.items() if table.rows}


def is_shown(advice: Advice) -> bool:
    """Whether a container without a change is worth a line: placeholders only keep room, and bare pods are many and cannot be patched."""
    return not advice.is_placeholder and advice.kind != "Pod"


def container_name(advice: Advice) -> str:
    """Name a container of a workload, once where both have one name."""
    own = f"{advice.namespace}/{advice.workload}"
    return own if advice.container == advice.workload else f"{own}, {advice.container}"


_WHO = (Column("Workload", "name"), Column("Container", "name"))


def _who(advice: Advice) -> tuple[str, str]:
    return f"{advice.namespace}/{advice.workload}", advice.container


def _changes_table(changed: Sequence[Advice], *, priced: bool, sized: Rightsizing) -> Table:
    return Table(
        what=f"{plural(len(changed), 'container')} to change",
        title=message("What to change first"),
        order="largest change",
        columns=(
            *_WHO,
            Column("Pods", "count"),
            Column("Asks", "nanocores", "CPU", "CPU"),
            Column("Advised", "nanocores", "CPU", "CPU"),
            Column("Asks", "bytes", "Memory", "Memory"),
            Column("Advised", "bytes", "Memory", "Memory"),
            Column("CPU", "nanocores", "All pods", "CPU"),
            Column("Memory", "bytes", "All pods", "Memory"),
            *((Column("Saved", "amount", "A month"),) if priced else ()),
            Column("Samples", "count", "Evidence"),
            Column("Nights", "count", "Evidence"),
        ),
        rows=tuple(_change_row(advice, priced=priced, sized=sized) for advice in changed[:MOST_ROWS]),
        row_count=len(changed),
        file=_FILE,
    )


def _change_row(advice: Advice, *, priced: bool, sized: Rightsizing) -> Row:
    saved = sized.money(advice.monthly_saving)
    cells = (
        *_who(advice),
        advice.pod_count,
        _asked(advice.cpu),
        _advised(advice.cpu),
        _asked(advice.memory),
        _advised(advice.memory),
        "" if advice.cpu.target is None else advice.cpu_change,
        "" if advice.memory.target is None else advice.memory_change,
        *((None if saved is None else message("{saved:money}", saved=saved),) if priced else ()),
        advice.evidence.sample_count,
        advice.evidence.night_count,
    )
    return Row(cells, strong=frozenset({4, 6}))


def _asked(sizing: Sizing) -> object:
    """Give the request that there is; a word where there is none, which is another thing than not knowing."""
    return message("none") if sizing.requests is None else sizing.requests


def _advised(sizing: Sizing) -> object:
    """Give the request to set; nothing where it stays, which is another thing than not knowing."""
    return "" if sizing.target is None else sizing.target


def _candidates_table(advice: Sequence[Advice]) -> Table:
    return Table(
        what=plural(len(advice), "container"),
        title=message("The candidates side by side"),
        order="largest change",
        columns=(
            *_WHO,
            Column("Peak", "nanocores", "CPU", "CPU"),
            Column("Decayed", "nanocores", "CPU", "CPU"),
            Column("Ratio", "nanocores", "CPU", "CPU"),
            Column("Peak", "bytes", "Memory", "Memory"),
            Column("Decayed", "bytes", "Memory", "Memory"),
            Column("Ratio", "bytes", "Memory", "Memory"),
            Column("Samples", "count", "Evidence"),
            Column("Covered", "ratio", "Evidence"),
            Column("Confidence", "amount", "Evidence"),
        ),
        rows=tuple(
            Row(
                (
                    *_who(one),
                    *(getattr(one.cpu, name) for name in _CANDIDATES),
                    *(getattr(one.memory, name) for name in _CANDIDATES),
                    one.evidence.sample_count,
                    one.evidence.coverage_ratio,
                    _confidence(one),
                ),
                strong=_chosen(one),
            )
            for one in advice[:MOST_ROWS]
        ),
        row_count=len(advice),
        file=_FILE,
    )


_CANDIDATES = ("peak", "decayed", "target_ratio")


def _chosen(advice: Advice) -> frozenset[int]:
    """Give the columns of the candidates that are advised."""
    place = _CANDIDATES.index(advice.strategy)
    return frozenset(first + place for first, sizing in ((2, advice.cpu), (5, advice.memory)) if sizing.target is not None)


def _confidence(advice: Advice) -> Message:
    return message("{confidence:count}", confidence=advice.evidence.confidence)


def _is_bounded(advice: Advice) -> bool:
    return any(sizing.interval or sizing.lower_bound is not None for sizing in (advice.cpu, advice.memory))


def _bounds_table(advice: Sequence[Advice]) -> Table:
    """Show intervals and bounds, each only where some container has them."""
    sizings = [sizing for one in advice for sizing in (one.cpu, one.memory)]
    names = [
        *(_INTERVAL if any(sizing.interval for sizing in sizings) else ()),
        *(_BOUNDS if any(sizing.lower_bound is not None for sizing in sizings) else ()),
    ]
    return Table(
        what=plural(len(advice), "container"),
        title=message("How sure that is"),
        order="largest change",
        columns=(
            *_WHO,
            *(Column(name, "nanocores", "CPU", "CPU") for name in names),
            *(Column(name, "bytes", "Memory", "Memory") for name in names),
            Column("Nights", "count", "Evidence"),
            Column("Confidence", "amount", "Evidence"),
        ),
        rows=tuple(
            Row(
                (
                    *_who(one),
                    *(_BOUND[name](one.cpu) for name in names),
                    *(_BOUND[name](one.memory) for name in names),
                    one.evidence.night_count,
                    _confidence(one),
                )
            )
            for one in advice[:MOST_ROWS]
        ),
        row_count=len(advice),
        file=_FILE,
    )


_INTERVAL, _BOUNDS = ("p90 from", "to"), ("Lower", "Upper")
_BOUND: dict[str, Callable[[Sizing], int | None]] = {
    "p90 from": lambda sizing: sizing.interval[0] if sizing.interval else None,
    "to": lambda sizing: sizing.interval[1] if sizing.interval else None,
    "Lower": lambda sizing: sizing.lower_bound,
    "Upper": lambda sizing: sizing.upper_bound,
}


def _asks_table(others: Sequence[Advice]) -> Table:
    return Table(
        what=f"{plural(len(others), 'container')} without a change",
        title=_asks_title(others),
        order="most room unused",
        columns=(
            *_WHO,
            Column("Pods", "count"),
            Column("Asks", "nanocores", "CPU", "CPU"),
            Column("Seen", "nanocores", "CPU", "CPU"),
            Column("", "ratio", "CPU"),
            Column("", "bar", "CPU"),
            Column("Asks", "bytes", "Memory", "Memory"),
            Column("Seen", "bytes", "Memory", "Memory"),
            Column("", "ratio", "Memory"),
            Column("", "bar", "Memory"),
            Column("Samples", "count"),
        ),
        rows=tuple(_asks_row(advice) for advice in others[:MOST_ROWS]),
        row_count=len(others),
        file=_FILE,
        bars=("seen", "asked for"),
    )


def _asks_title(others: Sequence[Advice]) -> Message:
    why = "No change advised" if any(advice.has_evidence for advice in others) else "No advice yet"
    return message(f"{why}: what they ask for, and what was seen")


def _bar(share: float | None) -> Bar:
    return Bar(None) if share is None else Bar(share, 1.0, strained=share > 1)


def _asks_row(advice: Advice) -> Row:
    shares = [ratio(sizing.usage, sizing.requests) for sizing in (advice.cpu, advice.memory)]
    over = [share is not None and share > 1 for share in shares]
    cells = (
        *_who(advice),
        advice.pod_count,
        _asked(advice.cpu),
        advice.cpu.usage,
        "" if advice.cpu.requests is None else shares[0],
        _bar(shares[0]),
        _asked(advice.memory),
        advice.memory.usage,
        "" if advice.memory.requests is None else shares[1],
        _bar(shares[1]),
        advice.evidence.sample_count,
    )
    return Row(cells, strained=frozenset(place for place, strained in zip((5, 9), over, strict=True) if strained))
