"""Case group A: quantities as they occur, through the whole collection."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic
from typing import Any

import pandas as pd
import pytest

from batch.collect.quantity import QuantityError, read_amount, read_count, read_fraction, read_nanocores
from tests.cases.clusters import CORE, GI, plan, pod_metrics, read, ready_node
from tests.collect.objects_json import container, pod


def test_a01_nano_and_micro_cpu_are_summed_before_they_are_rounded() -> None:
    containers = {f"c{i}": {"cpu": "2731514n", "memory": "0"} for i in range(1000)}
    measured = [pod_metrics("p", **containers, odd={"cpu": "8001u", "memory": "0"})]
    names = [container(name) for name in (*containers, "odd")]
    totals = plan(read([ready_node()], [pod("p", spec={"containers": names})], pod_metrics=measured)).totals
    assert totals.usage_cpu_nanocores == 2_739_515_000


@pytest.mark.parametrize(("text", "nanocores"), [("0.5", 500_000_000), ("1.5", 1_500_000_000), (".5", 500_000_000), ("5.", 5 * CORE)])
def test_a02_decimal_cores_and_bare_dots(text: str, nanocores: int) -> None:
    assert read_nanocores(text) == nanocores


def test_a02_decimal_gibibytes() -> None:
    assert Fraction(*read_fraction("2.85Gi")) == Fraction("3060164198.4")


@pytest.mark.parametrize(
    ("text", "exact", "rounded_up"),
    [("3060164198400m", "3060164198.4", 3_060_164_199), ("644245094400m", "644245094.4", 644_245_095)],
)
def test_a03_memory_in_thousandths_of_a_byte(text: str, exact: str, rounded_up: int) -> None:
    assert Fraction(*read_fraction(text)) == Fraction(exact)
    assert read_count(text) == rounded_up


def test_a04_m_where_m_or_mi_was_meant_is_read_as_it_stands() -> None:
    row = read(pods=[pod(spec={"containers": [container(requests={"memory": "400m"}, limits={"memory": "500m"})]})]).table("pods").iloc[0]
    assert (row["requests_memory_bytes"], row["limits_memory_bytes"]) == (1, 1)
    assert (Fraction(*read_fraction("400m")), Fraction(*read_fraction("500m"))) == (Fraction("0.4"), Fraction("0.5"))
    assert (read_count("100M"), read_count("100Mi"), Fraction(*read_fraction("100m"))) == (100_000_000, 104_857_600, Fraction("0.1"))


def test_a05_numbers_that_are_no_strings() -> None:
    snapshot = read(
        [ready_node(capacity={"cpu": 4, "memory": 16000000000})], [pod(spec={"containers": [container(requests={"cpu": 0.1})]})]
    )
    node = snapshot.table("nodes").iloc[0]
    assert (node["allocatable_cpu_nanocores"], node["allocatable_memory_bytes"]) == (4 * CORE, 16_000_000_000)
    assert snapshot.table("pods")["requests_cpu_nanocores"].tolist() == [100_000_000]


@pytest.mark.parametrize("flag", [True, False])
def test_a05_a_flag_is_no_number(flag: object) -> None:
    with pytest.raises(QuantityError):
        read_amount("memory", flag)
    row = read([ready_node(capacity={"cpu": flag, "memory": "1Gi"})]).table("nodes").iloc[0]
    assert pd.isna(row["capacity_cpu_nanocores"])
    assert row["capacity_memory_bytes"] == GI


@pytest.mark.parametrize("text", ["1K", "1mi", "1 Gi", " 1 ", "1_000", "1e3Ki", "٣Gi", "NaN", "Infinity"])
def test_a06_what_only_python_reads_costs_that_one_value(text: str) -> None:
    snapshot = read(pods=[pod("odd", spec={"containers": [container(requests={"memory": text, "cpu": "1"})]}), pod("fine")])
    rows = snapshot.table("pods").set_index("pod")
    assert rows["requests_memory_bytes"].isna().to_dict() == {"fine": False, "odd": True}
    assert rows.loc["odd", "requests_cpu_nanocores"] == CORE
    assert snapshot.table("rejects")["object"].tolist() == ["pod default/odd/app"]


@pytest.mark.parametrize("text", ["2E6024865272343", "1e400000000", "1e-400000000"])
def test_a07_a_hostile_exponent_is_refused_at_once(text: str) -> None:
    began = monotonic()
    with pytest.raises(QuantityError):
        read_count(text)
    assert monotonic() - began < 1


def test_a08_sums_beyond_64_bits_are_exact_of_the_cluster_and_of_a_pool() -> None:
    nodes = [ready_node(f"n{i}", capacity={"cpu": "1", "memory": "1Ei", "pods": "1"}) for i in range(9)]
    found = plan(read(nodes))
    assert found.totals.capacity_memory_bytes == found.totals.allocatable_memory_bytes == 10_376_293_541_461_622_784
    assert [pool.allocatable_memory_bytes for pool in found.pools] == [10_376_293_541_461_622_784]
    assert [pool.headroom_memory_bytes for pool in found.pools] == [10_376_293_541_461_622_784]


def test_a08_numbers_beyond_53_bits_keep_every_unit() -> None:
    row = read([ready_node(capacity={"cpu": "1", "memory": "9007199254740993"})]).table("nodes").iloc[0]
    assert row["allocatable_memory_bytes"] == 9007199254740993


def absurd_pods(**amounts: Any) -> list[dict[str, Any]]:
    return [pod(f"p{i}", spec={"containers": [container("a", **amounts), container("b", **amounts)]}) for i in range(3)]


@pytest.mark.parametrize(
    ("pods", "refused"),
    [
        (absurd_pods(limits={"memory": "4Ei"}), "effective limits.memory"),
        (absurd_pods(requests={"cpu": "5G"}), "effective requests.cpu"),
        (absurd_pods(requests={"memory": "4Ei"}), "effective requests.memory"),
    ],
)
def test_a08_what_no_machine_has_costs_the_pod_that_asks_for_it(pods: list[dict[str, Any]], refused: str) -> None:
    fine = pod("fine", spec={"containers": [container(requests={"cpu": "1", "memory": "1Gi"}, limits={"memory": "1Gi"})]})
    snapshot = read([ready_node()], [*pods, fine])
    assert snapshot.table("rejects")["field"].tolist() == [refused] * 3
    totals = plan(snapshot).totals
    assert (totals.requests_cpu_nanocores, totals.requests_memory_bytes, totals.limits_memory_bytes) == (CORE, GI, GI)
