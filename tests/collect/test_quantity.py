"""Quantities: the API's grammar, exactly, and nothing beside it."""

from fractions import Fraction

import pytest

from batch.collect.quantity import QuantityError, read_amount, read_count, read_fraction, read_nanocores


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("2.85Gi", Fraction(285, 100) * 2**30),
        ("3060164198400m", Fraction(3060164198400, 1000)),
        ("2731514n", Fraction(2731514, 10**9)),
        ("8001u", Fraction(8001, 10**6)),
        ("1k", Fraction(1000)),
        ("100M", Fraction(100_000_000)),
        ("100Mi", Fraction(104_857_600)),
        ("100m", Fraction(1, 10)),
        ("12e6", Fraction(12_000_000)),
        ("12E-3", Fraction(12, 1000)),
        ("1E", Fraction(10**18)),
        ("+1", Fraction(1)),
        ("-1Ki", Fraction(-1024)),
        (4, Fraction(4)),
        (0.1, Fraction(1, 10)),
        ("9007199254740993", Fraction(9007199254740993)),
    ],
)
def test_every_form_that_the_api_accepts(text: object, value: Fraction) -> None:
    assert Fraction(*read_fraction(text)) == value


@pytest.mark.parametrize(
    "text",
    ["1K", "1mi", "1 Gi", " 1 ", "1_000", "1e3Ki", "٣Gi", "NaN", "Infinity", "", ".", "+", "1e", "1e1.5", "0x10", True, None, [], {}],
)
def test_what_the_api_refuses_is_refused(text: object) -> None:
    with pytest.raises(QuantityError):
        read_fraction(text)


@pytest.mark.parametrize("text", ["2E6024865272343", "1e400000000", "1e-400000000", "9" * 5000])
def test_a_hostile_exponent_returns_at_once(text: str) -> None:
    with pytest.raises(QuantityError):  # building the number would take minutes, or all memory
        read_count(text)


def test_usage_is_summed_before_it_is_rounded() -> None:
    # 1000 times 0.002731514 cores and once 0.008001: 2.739515, not 3.008 as with whole millicores
    assert 1000 * read_nanocores("2731514n") + read_nanocores("8001u") == 2_739_515_000


def test_a_part_of_a_byte_is_rounded_up() -> None:
    assert read_count("3060164198400m") == 3_060_164_199
    assert read_count("400m") == 1
    assert read_count("0") == 0


def test_the_same_memory_in_two_units_is_about_the_same() -> None:
    assert read_count("2655456Ki") == 2_719_186_944
    assert read_count("2728711509333m") == 2_728_711_510


def test_numbers_beyond_53_bits_keep_every_unit() -> None:
    assert read_count("9007199254740993") == 9007199254740993
    assert read_count("1Ei") == 2**60


@pytest.mark.parametrize(("resource", "value"), [("cpu", "-5m"), ("memory", "-1"), ("memory", "8Ei"), ("cpu", "1E"), ("cpu", True)])
def test_an_amount_is_neither_negative_nor_beyond_64_bits(resource: str, value: object) -> None:
    with pytest.raises(QuantityError):
        read_amount(resource, value)
