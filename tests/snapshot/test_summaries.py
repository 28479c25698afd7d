"""What a run leaves to later ones: its figures in a row, its workloads in a table; one run counts for each date."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batch.snapshot import history, summaries
from batch.snapshot.history import History, Window
from batch.snapshot.summaries import (
    WORKLOADS,
    ForeignSummaryError,
    Level,
    Summary,
    Workloads,
    decode_summary,
    decode_workloads,
    encode_summary,
    encode_workloads,
    summary_name,
    workloads_name,
)
from tests.deliver.reports import MemoryStore

PATH = "cluster=c/history/"
NOON = datetime(2026, 2, 1, 12, tzinfo=UTC)
WINDOW = Window("2026-02-11", 86_400.0, timedelta(days=30).total_seconds())


def summary(day: int = 10, run: str = "r1", **changes: Any) -> Summary:
    one = Summary(
        date=f"2026-02-{day:02}",
        run_id=run,
        taken_at=NOON + timedelta(days=day - 1),
        complete=True,
        namespaces=None,
        node_count=3,
        ready_node_count=3,
        bound_pod_count=20,
        pending_pod_count=0,
        monthly_cost=None,
        currency=None,
        levels=(Level(None, "cpu", 8 * 10**9, 4 * 10**9, None), Level("general", "memory", 2**40, 2**60, 0)),
    )
    return replace(one, **changes)


def workloads(day: int = 10, run: str = "r1", pods: int = 1) -> Workloads:
    row = dict.fromkeys(WORKLOADS.arrow.names)
    row |= {"kind": "Deployment", "namespace": "shop", "workload": "web", "pod_count": pods}
    return Workloads(f"2026-02-{day:02}", run, pa.Table.from_pylist([row], schema=WORKLOADS.arrow))


def load(*nights: Summary, of: tuple[Workloads, ...] = (), more: dict[str, bytes] | None = None, **options: Any) -> History:
    files = {f"{PATH}date={one.date}/{summary_name(one.run_id)}": encode_summary(one) for one in nights}
    files |= {f"{PATH}date={one.date}/{workloads_name(one.run_id)}": encode_workloads(one) for one in of}
    return history.load(MemoryStore(files | (more or {})), PATH, WINDOW, **options)


def test_a_summary_survives_with_what_is_not_known() -> None:
    one = summary(namespaces=("a", "b"), node_count=None, monthly_cost=1.5, currency="EUR")
    assert decode_summary(encode_summary(one)) == one
    assert encode_summary(decode_summary(encode_summary(one))) == encode_summary(one)
    assert decode_summary(encode_summary(summary())).namespaces is None


def test_it_is_one_row_that_any_engine_can_read() -> None:
    table = pq.read_table(io.BytesIO(encode_summary(summary())))
    assert table.num_rows == 1
    assert table.to_pylist()[0]["levels"][0] == {
        "pool": None,
        "resource": "cpu",
        "allocatable": 8 * 10**9,
        "requests": 4 * 10**9,
        "usage": None,
    }


def test_workloads_survive() -> None:
    again = decode_workloads(encode_workloads(workloads()))
    assert (again.date, again.run_id) == ("2026-02-10", "r1")
    assert again.table.equals(workloads().table)


@pytest.mark.parametrize("data", [b"", b"no Parquet", encode_summary(summary())[:-9], encode_workloads(workloads())])
def test_what_is_no_summary_is_refused(data: bytes) -> None:
    with pytest.raises(ForeignSummaryError, match="it is no file of a run's summary"):
        decode_summary(data)


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(summaries, "VERSION", 99)
        newer = encode_summary(summary())
    with pytest.raises(ForeignSummaryError, match="its version is 99, and this one reads version 1"):
        decode_summary(newer)


def test_nights_come_oldest_first_without_tonight_and_what_is_too_old() -> None:
    read = load(summary(11), summary(10), summary(2), summary(9, taken_at=NOON))
    assert [one.date for one in read.summaries] == ["2026-02-02", "2026-02-09", "2026-02-10"]
    assert read.gaps == ()
    old = replace(summary(), date="2026-01-11")
    assert load(old).summaries == ()


def test_retried_and_ad_hoc_runs_of_a_date_count_once() -> None:
    nightly = summary(run="nightly")
    stopped = summary(run="stopped", complete=False, taken_at=nightly.taken_at + timedelta(hours=9))
    assert [one.run_id for one in load(nightly, stopped).summaries] == ["nightly"]
    later = summary(run="adhoc", taken_at=nightly.taken_at + timedelta(hours=1))
    assert [one.run_id for one in load(nightly, stopped, later).summaries] == ["adhoc"]
    assert load(nightly, nightly).summaries == (nightly,)


def test_a_run_that_read_some_namespaces_is_no_night_of_the_cluster() -> None:
    whole, part = summary(run="a"), summary(run="z", namespaces=("team",), taken_at=NOON + timedelta(days=20))
    assert load(whole, part).summaries == (whole,)
    assert load(whole, part, namespaces=("team",)).summaries == (part,)


def test_damaged_and_misplaced_summaries_cost_their_night_and_are_a_gap() -> None:
    more = {f"{PATH}date=2026-02-08/x.parquet": b"damaged", f"{PATH}date=2026-02-07/y.parquet": encode_summary(summary(6))}
    read = load(summary(), more=more)
    assert [one.date for one in read.summaries] == ["2026-02-10"]
    (gap,) = read.gaps
    assert gap.reason.startswith("2 of its files are left out; the first: cluster=c/history/date=2026-02-07/y.parquet")
    assert "it is of 2026-02-06 and was put elsewhere" in gap.reason
    assert gap.effect == "Trends and forecasts rest on fewer nights than there are."


def test_workloads_are_read_of_the_runs_that_count_last_night_and_a_week_ago() -> None:
    nights = [summary(day, "n") for day in (3, 4, 9)] + [summary(9, "z", complete=False)]
    kept = (*(workloads(day, "n", pods=day) for day in (3, 4, 9)), workloads(9, "z", pods=99))
    read = load(*nights, of=kept)
    assert read.last_night is not None
    assert read.last_week is not None
    assert read.last_night.table["pod_count"].to_pylist() == [9]
    assert read.last_week.date == "2026-02-04"


def test_a_week_ago_is_no_night_that_is_much_older() -> None:
    read = load(replace(summary(), date="2026-01-20"), of=())
    assert read.last_week is None


def test_damaged_workloads_leave_the_figures() -> None:
    read = load(summary(), more={f"{PATH}date=2026-02-10/workloads/r1.parquet": b"damaged"})
    assert (len(read.summaries), read.last_night) == (1, None)
    assert read.gaps[0].effect == "What changed in that time is not known by workload."


def test_one_damaged_file_is_one_gap_also_where_one_night_is_the_last_and_that_of_a_week_ago() -> None:
    read = load(summary(3), more={f"{PATH}date=2026-02-03/workloads/r1.parquet": b"damaged"})
    (gap,) = read.gaps
    assert gap.reason.startswith(f"{PATH}date=2026-02-03/workloads/r1.parquet is left out: it is no file of a run's workloads")
    both = load(summary(3), of=(workloads(3),))
    assert both.last_night is both.last_week is not None


def test_a_night_of_a_large_cluster_takes_little_room() -> None:
    """The figures of docs/trends.md: 100 pools and 5,000 workloads."""
    levels = [
        Level(f"pool-{n}", what, n * 10**12 + n, n * 7 * 10**11 + n, n * 10**11) for n in range(100) for what in ("cpu", "memory", "pods")
    ]
    assert len(encode_summary(summary(levels=tuple(levels)))) < 15_000
    count = 5_000
    amounts = [n * 10**8 + n for n in range(count)]
    columns: list[list[Any]] = [
        ["Deployment"] * count,
        [f"team-{n % 80}" for n in range(count)],
        [f"workload-{n * 7919 % 99_991}" for n in range(count)],
        [n % 9 + 1 for n in range(count)],
        *([amount + shift for amount in amounts] for shift in range(4)),
    ]
    table = pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, WORKLOADS.arrow, strict=True)], schema=WORKLOADS.arrow
    )
    assert len(encode_workloads(Workloads("2026-02-10", "r1", table))) < 250_000
