"""Turns values in base units into words; the only place that knows GiB, percent and millicores."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import pandas as pd
from markupsafe import Markup

from batch.findings import Message, Money

NBSP = "\u00a0"
UNKNOWN = "unknown"
NO_VALUE = "–"  # noqa: RUF001 - an en dash is meant
"""What a table prints where nothing is known."""

LONGEST_TEXT = 320
"""A namespace (63), a slash and a name (253) fit; whatever is longer is free text and is cut where one can see it."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML, and with it a chart, cannot hold; one of them makes the whole picture vanish."""

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Marks that turn the direction of text: they can make a name look like another one, so they are shown."""

_CODE = re.compile("`([^`<>]+)`")
_OPTION = re.compile(r"(?<![^ ])(?:&#39;)?--[^ ]+(?![^ ])")
_MEASURES = frozenset({"bytes", "nanocores", "cores", "ratio", "probability", "money"})
"""Kinds that carry the point of a sentence; of counts there are too many to set them all in bold."""

_BYTE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_CORE = 10**9
_FAR_APART = 500
"""Bytes of one column that differ by more than this factor need two units to stay readable."""

_PERCENT = 100
_PROBABILITY_FLOOR = 1e-6
_SECONDS = (("day", 86_400, " days "), ("h", 3600, f"{NBSP}h "), ("min", 60, f"{NBSP}min "))
_SHORT_SECONDS = (("min", 60, f"{NBSP}min "), ("s", 1, f"{NBSP}s"))


def clean(text: object, longest: int = LONGEST_TEXT) -> str:
    """Make text from outside safe to print: without control characters, with visible direction marks, on one line, not endless."""
    shown = " ".join(_CONTROLS.sub("", str(text)).split())
    shown = _BIDI.sub(lambda mark: f"\\u{ord(mark[0]):04x}", shown)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def is_unknown(value: object) -> bool:
    """Whether a value is None, NA or NaN."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def format_bytes(value: float) -> str:
    """Write bytes in the unit that leaves a short number: 193 MiB."""
    amount, unit = float(value), 0
    while abs(round(amount, _decimals(amount))) >= 1024 and unit < len(_BYTE_UNITS) - 1:  # noqa: PLR2004  binary units
        amount, unit = amount / 1024, unit + 1
    name = "byte" if unit == 0 and amount == 1 else _BYTE_UNITS[unit]
    return f"{_short(amount)}{NBSP}{name}"


def format_nanocores(value: float) -> str:
    """Write nanocores as cores, or as millicores below one core."""
    nanocores = float(value)
    if nanocores == 0:
        return f"0{NBSP}cores"
    millicores = nanocores / 10**6
    if abs(round(millicores, _decimals(millicores))) >= 1000:  # noqa: PLR2004  rounds to a whole core
        text = _short(nanocores / 10**9)
        return f"{text}{NBSP}{'core' if text == '1' else 'cores'}"
    text = _short(millicores)
    return f"{text}{NBSP}{'millicore' if text == '1' else 'millicores'}"


def format_cores(value: float) -> str:
    """Write cores."""
    return format_nanocores(float(value) * 10**9)


def format_count(value: float) -> str:
    """Write a number of things with a comma between thousands."""
    return f"{value:,.0f}" if float(value).is_integer() else _short(float(value))


def format_ratio(value: float) -> str:
    """Write a ratio in percent; one that is not exactly 0 or 1 never reads 0 % or 100 %."""
    return f"{_percent(float(value))}{NBSP}%"


def format_probability(value: float) -> str:
    """Write a chance in percent with two digits; below one in a million it is no number to rely on."""
    return f"{_chance(float(value))}{NBSP}%"


def format_quantile(value: float) -> str:
    """Name a quantile: 0.9 is p90, 0.5 the median, 1 the maximum."""
    return {0.5: "median", 1.0: "maximum"}.get(float(value), f"p{value * _PERCENT:g}")


def format_seconds(value: float) -> str:
    """Write a duration in its two largest units."""
    seconds = float(value)
    if 0 < seconds < 1:
        return f"{_short(seconds * 1000)}{NBSP}ms"
    if seconds < 60:  # noqa: PLR2004  seconds of a minute
        return f"{_short(seconds)}{NBSP}s"
    words, rest = [], round(seconds)
    for name, size, plural in _SECONDS if seconds >= 3600 else _SHORT_SECONDS:  # noqa: PLR2004  seconds of an hour
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count}{NBSP}day " if name == "day" and count == 1 else f"{count}{plural}")
    return "".join(words[:2]).strip()


def format_instant(value: datetime) -> str:
    """Write a moment in UTC."""
    return f"{format_date(value)}, {value:%H:%M}{NBSP}UTC"


def format_date(value: datetime) -> str:
    """Write the day of a moment."""
    return format_day(value)


def format_money(value: Money) -> str:
    """Write an amount with its currency, and the day of its prices when they are old."""
    text = f"{_short(value.amount)}{NBSP}{value.currency}"
    return text if value.priced_on is None else f"{text} (old prices, of {format_day(value.priced_on)})"


def format_day(value: date) -> str:
    """Write a day."""
    return f"{value.day}{NBSP}{value:%B} {value.year}"


def _text(value: object) -> str:
    return clean(value)


_WRITERS: dict[str, Callable[[Any], str]] = {
    "": _text,
    "text": _text,
    "count": format_count,
    "bytes": format_bytes,
    "nanocores": format_nanocores,
    "cores": format_cores,
    "ratio": format_ratio,
    "seconds": format_seconds,
    "probability": format_probability,
    "quantile": format_quantile,
    "instant": format_instant,
    "day": format_day,
    "money": format_money,
}
"""One function for each of findings.KINDS."""


def format_value(value: object, kind: str) -> str:
    """Write a value of that kind (findings.KINDS); what is not known is called so."""
    return UNKNOWN if is_unknown(value) else _WRITERS[kind](value)


def figure(value: object, kind: str) -> tuple[str, str]:
    """Write a value as number and unit apart, for figures in large type."""
    if is_unknown(value):
        return NO_VALUE, ""
    number, _, unit = format_value(value, kind).rpartition(NBSP)
    return (number, unit) if number else (unit, "")


def render_message(message: Message) -> str:
    """Write a Message as plain text."""
    return "".join(text for text, _ in _parts(message))


def render_html(message: Message) -> Markup:
    """Write a Message as markup: measures in bold, and what stands between backticks as code."""
    escaped = ((Markup.escape(text), is_measure) for text, is_measure in _parts(message))
    sentence = Markup().join(Markup("<b>{}</b>").format(text) if is_measure else text for text, is_measure in escaped)
    return Markup(_CODE.sub(_code, str(sentence)))  # noqa: S704  its parts are escaped above


def _code(found: re.Match[str]) -> str:
    """Mark code, and its options as what breaks at no hyphen: half of one, copied from two lines, is none."""
    text = _OPTION.sub(r"<span>\g<0></span>", found[1])
    return f"<code>{text}</code>"


def _parts(message: Message) -> Iterator[tuple[str, bool]]:
    """Give the pieces of a sentence, and whether each is a measure."""
    for literal, name, kind, _ in string.Formatter().parse(message.template):
        yield literal, False
        if name is not None:
            yield format_value(message.values[name], kind or ""), kind in _MEASURES


@dataclass(frozen=True)
class Scale:
    """How the values of one column or axis are written: all in one unit, with the same number of decimals."""

    unit: str
    divisor: float
    decimals: int
    write: Callable[[float], str] | None = None

    def show(self, value: object) -> str:
        """Write a value without its unit; one that is not zero never reads zero."""
        if is_unknown(value):
            return NO_VALUE
        number = float(value)  # type: ignore[arg-type]  # a number, by the column's kind
        if self.write:
            return self.write(number)
        scaled, least = number / self.divisor, 10.0**-self.decimals
        if not number:
            return "0"
        if 0 < scaled < least / 2:
            return f"<{NBSP}{least:.{self.decimals}f}"
        return f"{scaled:,.{self.decimals}f}"


def scale(kind: str, values: Iterable[object]) -> Scale:
    """Choose the scale for values of that kind (bytes, nanocores, count, ratio, probability): few digits, none lost that matter.

    Bytes that lie too far apart for one unit are each written in their own.
    """
    known = sorted(abs(float(v)) for v in values if not is_unknown(v) and float(v))  # type: ignore[arg-type]  # numbers, by their kind
    if kind in _FIXED:
        return _FIXED[kind]
    if kind == "bytes" and known and known[-1] > _FAR_APART * known[0]:
        return Scale("", 1, 0, _bytes_or_nothing)
    middle = known[len(known) // 2] if known else 0
    unit, divisor = _byte_unit(known, middle) if kind == "bytes" else _cpu_unit(known, middle)
    whole = all(value % divisor == 0 for value in known)
    return Scale(unit, divisor, 0 if whole else min(_decimals(middle / divisor), _decimals(known[-1] / divisor / 10)))


def _bytes_or_nothing(size: float) -> str:
    return format_bytes(size) if size else "0"


def _byte_unit(known: list[float], middle: float) -> tuple[str, int]:
    """Take the unit of the middle value, unless the largest becomes a number of more than five digits."""
    power = max(_power(middle), _power(known[-1] / _PERCENT), 2) if known else 3
    return _BYTE_UNITS[power], 1024**power


def _cpu_unit(known: list[float], middle: float) -> tuple[str, int]:
    """Take cores from one core on, and for less where the largest is of a hundred cores or more."""
    small = known and middle < _CORE and known[-1] < _PERCENT * _CORE
    return ("millicores", _CORE // 1000) if small else ("cores", _CORE)


def _power(size: float) -> int:
    return min(int(math.log2(size) // 10), len(_BYTE_UNITS) - 1) if size >= 1 else 0


def _decimals(amount: float) -> int:
    """Decimals that make three digits."""
    return 0 if abs(amount) >= 100 else 1 if abs(amount) >= 10 else 2  # noqa: PLR2004  digits before the point


def _short(amount: float) -> str:
    """Write three digits, without zeros at the end; what is smaller than the last digit is said to be so."""
    if 0 < abs(amount) < 0.005:  # noqa: PLR2004  half of the last digit
        return f"<{NBSP}0.01"
    text = f"{amount:,.{_decimals(amount)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _percent(ratio: float) -> str:
    if 0 < ratio < 0.01:  # noqa: PLR2004  one percent
        return f"<{NBSP}1"
    if 0.99 < ratio < 1:  # noqa: PLR2004  99 percent
        return f">{NBSP}99"
    return f"{ratio * _PERCENT:,.0f}"


def _chance(chance: float) -> str:
    if chance < _PROBABILITY_FLOOR:
        return f"<{NBSP}0.0001"
    if 0.99 < chance < 1:  # noqa: PLR2004  99 percent
        return f">{NBSP}99"
    percent = chance * _PERCENT
    digits = max(0, 1 - math.floor(math.log10(percent)))
    return f"{percent:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{percent:.0f}"


_FIXED = {
    "ratio": Scale("%", 1, 0, _percent),
    "probability": Scale("%", 1, 0, _chance),
    "count": Scale("", 1, 0),
}
"""Kinds that have one scale whatever the values are."""
