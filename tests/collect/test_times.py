"""Times as the API writes them, one by one and as a column."""

from __future__ import annotations

import pyarrow as pa
import pytest

from batch.collect.pods import PodCollector
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant, read_instants
from tests.collect.objects_json import page, pod

FINE = "2026-06-01T12:00:00Z"


@pytest.mark.parametrize(
    "odd",
    [
        "yesterday",
        "",
        "2026-06-01",
        "2026-06-01T12:00:00",  # of no zone
        "2026-06-01T12:00:60Z",
        "2026-06-01T12:00:00.123456789Z",
        "2026-06-01T14:00:00+02:00",
        "0000-06-01T12:00:00Z",  # Arrow has such years, Python has not
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        None,
    ],
)
def test_a_column_is_read_as_each_time_alone(odd: str | None) -> None:
    texts = [FINE, odd, FINE]
    assert read_instants(pa.array(texts, pa.string())).to_pylist() == [read_instant(text) for text in texts]


def test_a_time_that_is_none_is_unknown_and_costs_no_other() -> None:
    collector = PodCollector(Rejects())
    collector.take(page(pod("a", creationTimestamp=FINE), pod("b", creationTimestamp="soon"), pod("c", status={"startTime": FINE})))
    pods = collector.tables()["pods"]
    assert pods["created_at"].notna().tolist() == [True, False, False]
    assert pods["started_at"].notna().tolist() == [False, False, True]
