"""Reads the prices that the user gave: those in the settings, and the file that they name."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from batch.errors import SettingsError
from batch.plan.prices import NO_PRICES, Price, Prices
from batch.settings import PriceSettings, read_yaml

_CURRENCY = re.compile("[A-Z]{3}")
_KEYS = ("currency", "date", "spot", "prices")
_COLUMNS = ("flavor", "per_hour", "currency", "date", "spot")
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


@dataclass(frozen=True)
class _Entry:
    """One price as it was written; None: left to the settings. `where` is for errors."""

    where: str
    flavor: object
    per_hour: object
    currency: object = None
    day: object = None
    spot: object = None


def read(settings: PriceSettings) -> Prices:
    """Read the prices; none when none were given. A price in the settings is stronger than one in the file.

    Raises SettingsError for a file that cannot be read, for a price that is none, and for prices without a currency or a day, with more than
    one currency, or with two of a flavor.
    """
    given = [_Entry("prices.per_hour", flavor, value) for flavor, value in settings.per_hour.items()]
    listed = list(_file_entries(settings.file)) if settings.file else []
    if not (given or listed):
        return NO_PRICES
    in_file = _by_flavor(listed, settings)
    currencies = {_currency(entry, settings) for entry in (*given, *listed)}
    if len(currencies) > 1:
        raise _invalid(str(settings.file), f"more than one currency: {', '.join(sorted(currencies))}", "Give all prices in one currency.")
    return Prices(currencies.pop(), in_file | _by_flavor(given, settings))


def _by_flavor(entries: list[_Entry], settings: PriceSettings) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for entry in entries:
        name = _flavor(entry)
        if name in prices:
            raise _invalid(entry.where, f"the flavor {name} has two prices", "Keep one of them.")
        prices[name] = Price(_number(entry), _day(entry, settings), _flag(entry, settings))
    return prices


def _file_entries(path: Path) -> Iterator[_Entry]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not text in UTF-8"
        raise SettingsError("prices-unreadable", attempted=f"read the prices in {path}", why=why, remedy="Check prices.file.") from error
    return _csv_entries(path, text) if path.suffix.lower() == ".csv" else _yaml_entries(path, text)


def _csv_entries(path: Path, text: str) -> Iterator[_Entry]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    names = [name.strip() for name in rows.fieldnames or ()]
    if not {"flavor", "per_hour"} <= set(names) <= set(_COLUMNS):
        raise _invalid(
            str(path), f"its columns are {', '.join(names) or 'missing'}", f"Use flavor, per_hour and if wanted {', '.join(_COLUMNS[2:])}."
        )
    for number, row in enumerate(rows, 2):
        values = {name: (row[raw] or "").strip() or None for name, raw in zip(names, rows.fieldnames or (), strict=True)}
        where = f"{path}, line {number}"
        yield _Entry(where, values["flavor"], values["per_hour"], values.get("currency"), values.get("date"), values.get("spot"))


def _yaml_entries(path: Path, text: str) -> Iterator[_Entry]:
    try:
        tree = read_yaml(text)
    except ValueError as error:
        raise _invalid(str(path), str(error), "Correct the YAML at that place.") from error
    remedy = f"It has the keys {', '.join(_KEYS)}; prices is a mapping of flavors to prices an hour. See docs/flavors.md."
    if not isinstance(tree, Mapping) or not isinstance(tree.get("prices"), Mapping):
        raise _invalid(str(path), "it has no mapping of prices", remedy)
    if unknown := [str(key) for key in tree if key not in _KEYS]:
        raise _invalid(str(path), f"there is no key {unknown[0]}", remedy)
    for flavor, value in tree["prices"].items():
        yield _Entry(f"{path}, {flavor}", flavor, value, tree.get("currency"), tree.get("date"), tree.get("spot"))


def _flavor(entry: _Entry) -> str:
    if not isinstance(entry.flavor, str) or not entry.flavor.strip():
        raise _invalid(entry.where, "the flavor has no name", "Name it as the node label node.kubernetes.io/instance-type does.")
    return entry.flavor.strip()


def _number(entry: _Entry) -> float:
    try:
        price = math.nan if isinstance(entry.per_hour, bool) else float(entry.per_hour)  # type: ignore[arg-type]  # what is no number raises
    except (TypeError, ValueError):
        price = math.nan
    if not (math.isfinite(price) and price > 0):
        raise _invalid(
            entry.where, f"{entry.per_hour!r} is no price of an hour", "Write a number over 0 with a decimal point, without currency."
        )
    return price


def _currency(entry: _Entry, settings: PriceSettings) -> str:
    currency = settings.currency if entry.currency is None else entry.currency
    if not isinstance(currency, str) or not _CURRENCY.fullmatch(currency):
        why = "the prices have no currency" if currency is None else f"{currency!r} is no currency"
        raise _invalid(entry.where, why, "Set prices.currency, or currency in the file, to three capital letters (EUR).")
    return currency


def _day(entry: _Entry, settings: PriceSettings) -> date:
    day = settings.date if entry.day is None else entry.day
    if isinstance(day, str):
        try:
            day = date.fromisoformat(day)
        except ValueError:
            raise _invalid(entry.where, f"{day!r} is no day", "Write it as 2026-08-01.") from None
    if not isinstance(day, date):
        raise _invalid(
            entry.where, "the prices have no date", "Set prices.date, or date in the file: prices change, and old ones are called old."
        )
    return date(day.year, day.month, day.day)


def _flag(entry: _Entry, settings: PriceSettings) -> bool:
    if entry.spot is None:
        return settings.spot
    flag = entry.spot if isinstance(entry.spot, bool) else _FLAGS.get(str(entry.spot).lower())
    if flag is None:
        raise _invalid(entry.where, f"spot is {entry.spot!r}", "Write true or false.")
    return flag


def _invalid(where: str, why: str, remedy: str) -> SettingsError:
    return SettingsError("prices-invalid", attempted=f"use the prices of {where}", why=why, remedy=remedy)
