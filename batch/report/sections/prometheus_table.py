"""The table of data quality that says what Prometheus was asked, what it had, and what that cost."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.report.model import Column, Row, Table
from batch.report.sections.basis import joined, over_window
from batch.report.sections.material import plural
from batch.snapshot.window import Window


def prometheus_table(window: Window) -> Table:
    """Give the facts, one a line."""
    rows = tuple(Row(pair) for pair in _facts(window))
    return Table(
        what="facts",
        title=_title(window),
        columns=(Column("", "text"), Column("", "message")),
        rows=rows,
        row_count=len(rows),
        notes=(message("Each container is in tables/measured-containers.csv, each node in tables/node-windows.csv."),),
    )


def _title(window: Window) -> Message:
    basis = over_window(window)
    return Message(f"What Prometheus told: {basis.template}", basis.values)


def _facts(window: Window) -> Iterator[tuple[str, Message]]:
    yield "Asked", message("{address:text}", address=window.address)
    yield "Window", message("{first:instant} to {last:instant}", first=window.first_at, last=window.last_at)
    yield (
        "Containers",
        message(
            "{all:count} with usage in it, {gone:count} of them of pods that are gone; of {unknown:count} the workload is not known any more",
            all=window.container_count,
            gone=window.gone_count,
            unknown=window.unknown_count,
        ),
    )
    yield "CPU", _on_cpu(window)
    if window.scrape_seconds is not None:
        yield "Memory", message("working set, every sample that is stored, {apart:seconds} apart", apart=window.scrape_seconds)
    yield (
        "Together",
        message("{count:count} instants, {apart:seconds} apart", count=window.instant_count, apart=window.instant_seconds),
    )
    cost = message(
        f"{{requests:count}} {plural(window.request_count, 'request')}, {{size:bytes}}",
        requests=window.request_count,
        size=window.received_bytes,
    )
    if window.elapsed_seconds:
        cost = joined(cost, message("{elapsed:seconds}", elapsed=window.elapsed_seconds), between=", ")
    yield "Cost", cost
    if window.dropped_count:
        yield "Left out", message("{count:count} values that are no numbers (NaN or infinite)", count=window.dropped_count)


def _on_cpu(window: Window) -> Message:
    if window.recorded_series:
        return message("the recorded series {name:text}, every {step:seconds}", name=window.recorded_series, step=window.step_seconds)
    return message("means of {rate:seconds}, every {step:seconds}", rate=window.rate_seconds, step=window.step_seconds)
