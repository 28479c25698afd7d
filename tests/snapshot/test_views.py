"""Usage of a pod over containers and instants, and sums beyond 64 bits."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

from batch.snapshot.schemas import CONTAINER_USAGE
from batch.snapshot.views import INTEGER, TEXT, exact_sums, pod_usage, total
from tests.builders import TAKEN_AT, snapshot


def usage_of(*rows: tuple[str, str, int, int | None, int | None]) -> pd.DataFrame:
    """Rows are pod, container, seconds before taken_at, nanocores, bytes."""
    table = CONTAINER_USAGE.frame(
        ("default", pod, name, TAKEN_AT - timedelta(seconds=age), 15, cpu, memory) for pod, name, age, cpu, memory in rows
    )
    taken = snapshot()
    object.__setattr__(taken, "tables", {**taken.tables, "container_usage": table})
    return pod_usage(taken, 600).set_index("pod")


def test_containers_add_up_at_each_instant_then_cpu_is_the_mean_and_memory_the_largest() -> None:
    usage = usage_of(("p", "a", 60, 10, 100), ("p", "b", 60, 5, 10), ("p", "a", 30, 20, 50), ("p", "b", 30, 0, 70))
    # instants: 15 and 20 nanocores, 110 and 120 bytes; the mean 17.5 is rounded up
    assert usage.loc["p", "usage_cpu_nanocores"] == 18
    assert usage.loc["p", "usage_memory_bytes"] == 120


def test_a_container_without_value_leaves_that_instant_out() -> None:
    usage = usage_of(("p", "a", 60, 10, 100), ("p", "b", 60, None, None), ("p", "a", 30, 20, 50), ("q", "a", 30, None, 5))
    assert usage.loc["p", "usage_cpu_nanocores"] == 20
    assert pd.isna(usage["usage_cpu_nanocores"]["q"])
    assert usage.loc["q", "usage_memory_bytes"] == 5


def test_a_stale_measurement_is_none() -> None:
    assert list(usage_of(("old", "a", 601, 1, 1), ("new", "a", 600, 1, 1)).index) == ["new"]


@pytest.mark.parametrize(("amount", "mean"), [(2**62, 2**61), (2**63 - 1, None)])
def test_sums_beyond_64_bits_are_unknown_and_never_wrap_around(amount: int, mean: int | None) -> None:
    usage = usage_of(
        ("p", "a", 60, amount, amount), ("p", "b", 60, amount, amount), ("q", "a", 60, amount // 2, 5), ("q", "a", 30, amount // 2, 7)
    )
    assert usage.loc["p"].isna()[["usage_cpu_nanocores", "usage_memory_bytes"]].all()
    assert usage.loc["q", "usage_memory_bytes"] == 7
    assert (None if pd.isna(usage["usage_cpu_nanocores"]["q"]) else usage["usage_cpu_nanocores"]["q"]) == mean


def test_sums_by_node_are_exact_or_unknown() -> None:
    amounts = pd.Series([2**61, 1, 2**62, 2**62, None], dtype=INTEGER)
    frame = pd.DataFrame({"node": pd.Series(list("aabbc"), dtype=TEXT), "x": amounts})
    sums = exact_sums(frame, "node", ["x"])["x"]
    assert sums["a"] == 2**61 + 1
    assert sums.isna().to_dict() == {"a": False, "b": True, "c": True}


def test_a_total_of_nothing_known_is_unknown() -> None:
    assert total([]) is None
    assert total([None, pd.NA]) is None
    assert total([2**60] * 9) == 10_376_293_541_461_622_784
