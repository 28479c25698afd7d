from datetime import UTC, datetime

import pandas as pd
import pytest

from batch.findings import KINDS, message
from batch.report.format import clean, format_value, render_html, render_message, scale

MIB = 1024**2
GIB = 1024**3


def words(value: object, kind: str) -> str:
    return format_value(value, kind).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1000 * MIB, "1,000 MiB"),
        (1024 * MIB - 1, "1 GiB"),  # no "1,024 MiB"
        (1.42 * GIB, "1.42 GiB"),
        (16 * GIB, "16 GiB"),
        (584 * 1024 * GIB, "584 TiB"),
    ],
)
def test_bytes_read_in_their_own_unit(value: float, expected: str) -> None:
    assert words(value, "bytes") == expected


@pytest.mark.parametrize(
    ("nanocores", "expected"),
    [(0, "0 cores"), (1, "< 0.01 millicores"), (4_200_000, "4.2 millicores"), (999_999_999, "1 core"), (206_360_000_000, "206 cores")],
)
def test_cpu_reads_in_cores_or_millicores(nanocores: int, expected: str) -> None:
    assert words(nanocores, "nanocores") == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0, "0 %"), (1e-9, "< 1 %"), (0.004, "< 1 %"), (0.34, "34 %"), (0.9999, "> 99 %"), (1, "100 %"), (1.34, "134 %")],
)
def test_a_ratio_reads_0_or_100_percent_only_when_it_is(ratio: float, expected: str) -> None:
    assert words(ratio, "ratio") == expected


@pytest.mark.parametrize(
    ("chance", "expected"),
    [(0, "< 0.0001 %"), (9.9e-7, "< 0.0001 %"), (2.8e-4, "0.028 %"), (0.0055, "0.55 %"), (0.12, "12 %"), (0.995, "> 99 %")],
)
def test_a_probability_keeps_two_digits_down_to_one_in_a_million(chance: float, expected: str) -> None:
    assert words(chance, "probability") == expected


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1274, "count", "1,274"),
        (0.5, "quantile", "median"),
        (0.98, "quantile", "p98"),
        (3700, "seconds", "1 h 1 min"),
        (270_000, "seconds", "3 days 3 h"),
        (1.5, "cores", "1.5 cores"),
        (datetime(2026, 3, 1, 3, tzinfo=UTC), "instant", "1 March 2026, 03:00 UTC"),
    ],
)
def test_other_kinds(value: object, kind: str, expected: str) -> None:
    assert words(value, kind) == expected


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("value", [None, pd.NA, float("nan")])
def test_what_is_not_known_is_called_so_and_never_zero(kind: str, value: object) -> None:
    assert format_value(value, kind) == "unknown"


def test_a_message_becomes_a_sentence_with_measures_in_bold() -> None:
    text = message("{n:count} pods of {who:text} use {size:bytes}", n=1274, who="<b>&", size=GIB)
    assert render_message(text) == "1,274 pods of <b>& use 1\u00a0GiB"
    assert str(render_html(text)) == "1,274 pods of &lt;b&gt;&amp; use <b>1\u00a0GiB</b>"


def test_backticks_become_code_and_what_is_in_them_stays_escaped() -> None:
    assert str(render_html(message("run `kubectl drain {node:text}`", node="<i>"))) == "run <code>kubectl drain &lt;i&gt;</code>"


def test_text_from_outside_is_made_safe_to_print() -> None:
    assert clean("a\x00b\x1b[1m\ud800\nc") == "ab[1m c"
    assert clean("ok\u202egpj") == "ok\\u202egpj"
    assert clean("m" * 63 + "/" + "n" * 253) == "m" * 63 + "/" + "n" * 253  # the longest name of a pod with its namespace
    assert clean("x" * 1000) == "x" * 319 + "…"


def test_a_column_has_one_unit_and_never_shows_zero_for_what_is_not() -> None:
    memory = scale("bytes", [10 * MIB, 200 * MIB, 978 * MIB])
    assert (memory.unit, memory.show(978 * MIB), memory.show(None)) == ("MiB", "978", "–")  # noqa: RUF001  an en dash is meant
    cpu = scale("nanocores", [2 * 10**9, 150 * 10**9, 300 * 10**9])
    assert (cpu.unit, cpu.show(300 * 10**9), cpu.show(1000), cpu.show(0)) == ("cores", "300", "<\u00a01", "0")


def test_bytes_too_far_apart_for_one_unit_keep_their_own() -> None:
    mixed = scale("bytes", [64 * MIB, 116 * GIB])
    assert (mixed.unit, mixed.show(64 * MIB), mixed.show(116 * GIB)) == ("", "64\u00a0MiB", "116\u00a0GiB")
