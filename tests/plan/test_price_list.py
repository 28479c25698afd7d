from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from batch.errors import SettingsError
from batch.plan.price_list import read
from batch.plan.prices import NO_PRICES, Price
from batch.settings import PriceSettings

DAY = date(2026, 8, 1)


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(**settings: Any) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        read(PriceSettings(**settings))
    return caught.value


def test_nothing_given_is_no_prices() -> None:
    assert read(PriceSettings(currency="EUR", date=DAY)) is NO_PRICES


def test_prices_in_the_settings() -> None:
    prices = read(PriceSettings(currency="EUR", date=DAY, per_hour={"m5.xlarge": 0.23}, spot=True))
    assert (prices.currency, dict(prices.by_flavor)) == ("EUR", {"m5.xlarge": Price(0.23, DAY, spot=True)})


def test_a_yaml_file_says_currency_and_day_itself(tmp_path: Path) -> None:
    text = "currency: USD\ndate: 2026-08-01\nprices:\n  m5.xlarge: 0.192\n  n2-standard-8: 0.39\n"
    prices = read(PriceSettings(file=file(tmp_path, "prices.yaml", text)))
    assert prices.currency == "USD"
    assert prices.by_flavor["n2-standard-8"] == Price(0.39, DAY, spot=False)


def test_a_csv_file_may_mix_spot_prices_and_days_and_leave_the_rest_to_the_settings(tmp_path: Path) -> None:
    text = "flavor,per_hour,spot,date\nm5.xlarge,0.192,false,2026-07-01\nm5.2xlarge, 0.11 ,yes,\n"
    prices = read(PriceSettings(file=file(tmp_path, "prices.csv", "\ufeff" + text), currency="USD", date=DAY))
    assert dict(prices.by_flavor) == {
        "m5.xlarge": Price(0.192, date(2026, 7, 1), spot=False),
        "m5.2xlarge": Price(0.11, DAY, spot=True),
    }


def test_the_settings_are_stronger_than_the_file(tmp_path: Path) -> None:
    path = file(tmp_path, "prices.csv", "flavor,per_hour\na,1\nb,2\n")
    prices = read(PriceSettings(file=path, currency="EUR", date=DAY, per_hour={"b": 3.0}))
    assert {name: price.per_hour for name, price in prices.by_flavor.items()} == {"a": 1.0, "b": 3.0}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("p.csv", "name,price\na,1\n", "its columns are name, price"),
        ("p.csv", "", "its columns are missing"),
        ("p.csv", "flavor,per_hour\na,cheap\n", "'cheap' is no price of an hour"),
        ("p.csv", 'flavor,per_hour\na,"1,5"\n', "'1,5' is no price of an hour"),
        ("p.csv", "flavor,per_hour\na,0\n", "'0' is no price of an hour"),
        ("p.csv", "flavor,per_hour\na,nan\n", "'nan' is no price of an hour"),
        ("p.csv", "flavor,per_hour\na\n", "None is no price of an hour"),
        ("p.csv", "flavor,per_hour\n,1\n", "the flavor has no name"),
        ("p.csv", "flavor,per_hour\na,1\na,2\n", "the flavor a has two prices"),
        ("p.csv", "flavor,per_hour,currency\na,1,EUR\nb,1,USD\n", "more than one currency: EUR, USD"),
        ("p.csv", "flavor,per_hour,date\na,1,1.8.2026\n", "'1.8.2026' is no day"),
        ("p.csv", "flavor,per_hour,spot\na,1,perhaps\n", "spot is 'perhaps'"),
        ("p.yaml", "prices: [1]\n", "it has no mapping of prices"),
        ("p.yaml", "prices: {a: 1}\nvat: 19\n", "there is no key vat"),
        ("p.yaml", "prices: {a: true}\n", "True is no price of an hour"),
        ("p.yaml", "prices: {a: 1}\ncurrency: €\n", "'€' is no currency"),
        ("p.yaml", "prices: {a: 1\n", "expected"),
        ("p.yaml", "prices: {a: 1}\ndate: 2026-13-45\n", "month must be in 1..12"),
        ("p.yaml", "prices: &p {a: *p}\n", "contains itself"),
    ],
)
def test_what_is_no_price_list_is_refused_with_the_place(tmp_path: Path, name: str, text: str, why: str) -> None:
    error = refusal(file=file(tmp_path, name, text), currency="EUR", date=DAY)
    assert error.slug == "prices-invalid"
    assert why in error.why
    assert name in error.attempted


def test_prices_need_a_currency_and_a_day() -> None:
    assert "no currency" in refusal(per_hour={"a": 1.0}, date=DAY).why
    assert "no date" in refusal(per_hour={"a": 1.0}, currency="EUR").why


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = refusal(file=tmp_path / "nowhere.yaml")
    assert (missing.slug, missing.why) == ("prices-unreadable", "No such file or directory")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    assert refusal(file=tmp_path / "binary.csv").why == "it is not text in UTF-8"
