"""The tables of trends: when each resource of each pool is full, figures then and now, and the workloads that moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from batch.findings import Message, message
from batch.plan.forecast.judgements import resource_name
from batch.plan.forecast.model import Change, Comparison, Forecast, Mover, Refusal, Trends
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.changes import capital, mover_name
from batch.report.sections.material import plural, ratio

_KINDS = {"cpu": "nanocores", "memory": "bytes"}


def kind_of(resource: str) -> str:
    """Give the kind (findings.KINDS) of a resource's amounts."""
    return _KINDS.get(resource, "count")


def tables(trends: Trends) -> dict[str, Table]:
    """Give the tables by name, without those that would be empty."""
    found = {
        "forecast": _forecast_table(trends),
        "figures": _figures_table(trends),
        "night": _movers_table(trends.last_night, "Workloads that moved since the night before"),
        "week": _movers_table(trends.last_week, "Workloads that moved since the week before"),
    }
    return {name: table for name, table in found.items() if table.rows}


def _forecast_table(trends: Trends) -> Table:
    pools = [one for one in trends.forecasts if one.pool is not None]
    shown = sorted(pools, key=lambda one: _urgency(one, trends))
    grows = any(one.weekly_growth is not None for one in pools)
    return Table(
        what="resources of node pools",
        title=message("When each node pool is full, at its size of tonight"),
        order="soonest",
        columns=(
            Column("Node pool", "name"),
            Column("Resource"),
            Column("Requested", "ratio"),
            Column("", "bar"),
            *([Column("Growth a week", "amount")] if grows else []),
            Column("Full on", "message"),
            *([Column("In four of five cases between", "message")] if grows else []),
        ),
        rows=tuple(_forecast_row(one, grows=grows) for one in shown[:MOST_ROWS]),
        row_count=len(shown),
        file="tables/forecast.csv",
    )


def _urgency(one: Forecast, trends: Trends) -> tuple[object, ...]:
    return one.exhausted_at is None, one.exhausted_at or trends.tonight.taken_at, one.refusal != Refusal.FAR, one.pool or "", one.resource


def _forecast_row(one: Forecast, *, grows: bool) -> Row:
    share = ratio(one.requests, one.allocatable)
    is_full = share is not None and share >= 1
    return Row(
        (
            one.pool,
            resource_name(one.resource),
            share,
            Bar(None, share, strained=is_full),
            *([_growth(one)] if grows else []),
            message("full tonight") if is_full else message("{day:day}", day=one.exhausted_at) if one.exhausted_at else _why(one.refusal),
            *([message("") if is_full else _between(one.low, one.high)] if grows else []),
        ),
        strained=frozenset({5}) if one.exhausted_at is not None and not is_full else frozenset(),
    )


_WHY = {
    Refusal.UNKNOWN: message("not known: size or requests are missing"),
    Refusal.FEW_NIGHTS: message("not told from fewer than 7 nights"),
    Refusal.NO_TREND: message("no clear growth"),
    Refusal.FAR: message("later than the time looked at"),
}


def _why(refusal: Refusal | None) -> Message:
    return _WHY[refusal or Refusal.UNKNOWN]


def _growth(one: Forecast) -> Message:
    """Give the growth; where there is none the column beside it says why."""
    if one.weekly_growth is None:
        return message("")
    return message(f"{{amount:{kind_of(one.resource)}}}", amount=one.weekly_growth)


def _between(low: datetime | None, high: datetime | None) -> Message:
    if low is None:
        return message("")
    if high is None:
        return message("{low:day} and an open end", low=low)
    return message("{low:day} and {high:day}", low=low, high=high)


def _figures_table(trends: Trends) -> Table:
    """Set the cluster's figures side by side: a week ago, last night, tonight."""
    night, week = (dict(_by_name(one)) for one in (trends.last_night, trends.last_week))
    current = trends.last_night or trends.last_week
    known = [change for change in (current.changes if current else ()) if not (change.before is None and change.now is None)]
    return Table(
        what="figures of the cluster",
        title=message("The cluster, then and now"),
        columns=(
            Column("Figure"),
            *([Column("The week before", "amount")] if week else []),
            *([Column("The night before", "amount")] if night else []),
            Column("Tonight", "amount"),
        ),
        rows=tuple(
            Row(
                (
                    _figure_name(change, trends.tonight.currency),
                    *([_amount(week.get(change.what), change, before=True)] if week else []),
                    *([_amount(night.get(change.what), change, before=True)] if night else []),
                    _amount(change, change, before=False),
                )
            )
            for change in known
        ),
        row_count=len(known),
        file="tables/trends.csv",
    )


def _by_name(one: Comparison | None) -> Sequence[tuple[str, Change]]:
    return [(change.what, change) for change in one.changes] if one else []


def _figure_name(change: Change, currency: str | None) -> str:
    if change.kind == "money":
        return f"Cost a month, {currency}"
    return capital(change.what.replace("cpu ", "CPU "))


def _amount(change: Change | None, like: Change, *, before: bool) -> Message | None:
    value = None if change is None else change.before if before else change.now
    if value is None:
        return None
    return message(f"{{value:{'count' if like.kind == 'money' else like.kind}}}", value=value)


def _movers_table(one: Comparison | None, title: str) -> Table:
    movers = (one.movers or ()) if one else ()
    return Table(
        what=plural(len(movers), "workload"),
        title=message("{title:text}", title=title),
        order="largest change",
        columns=(
            Column("Workload", "name"),
            Column("Then", "count", "Pods"),
            Column("Now", "count", "Pods"),
            Column("Then", "nanocores", "CPU requested", "CPU"),
            Column("Now", "nanocores", "CPU requested", "CPU"),
            Column("Then", "bytes", "Memory requested", "memory"),
            Column("Now", "bytes", "Memory requested", "memory"),
        ),
        rows=tuple(_mover_row(mover) for mover in movers[:MOST_ROWS]),
        row_count=len(movers),
        file="tables/movers.csv",
    )


def _mover_row(mover: Mover) -> Row:
    """Give one line; a workload that was not there, or is not any more, has no pods and asks for nothing."""
    pairs = (mover.pods, mover.requests_cpu, mover.requests_memory)
    there = [count is not None for count in mover.pods]
    return Row((mover_name(mover), *(value if is_there else 0 for pair in pairs for value, is_there in zip(pair, there, strict=True))))
