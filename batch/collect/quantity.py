"""Kubernetes quantities, exactly: all of the API's grammar and nothing more.

Grammar and limits: k8s.io/apimachinery/pkg/api/resource, `Quantity` (1.36). A number with an optional sign, fraction and one
suffix: Ki Mi Gi Ti Pi Ei (powers of 1024), n u m k M G T P E (powers of 1000), or an exponent e3 / E3.
"""

from __future__ import annotations

import functools
import re

NANO = 10**9

_NUMBER = r"(?P<sign>[+-]?)(?:(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]*))?|\.(?P<only>[0-9]+))"
_QUANTITY = re.compile(_NUMBER + r"(?P<suffix>[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)")
_POWERS_OF_1024 = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_POWERS_OF_10 = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

_LONGEST = 64
"""Characters beyond which a text is refused unread: no quantity that fits 64 bits at nano precision needs as many."""

_MEASURED = re.compile(r"([0-9]{1,13})n ([0-9]{1,12})Ki")
"""CPU and memory as metrics-server writes them; no more digits than are within MOST_OF_A_POD without a look."""

_LARGEST_EXPONENT = 30
"""Beyond it no value lies within the API's range of 2^63 - 1 down to 1n; building the number would only cost time."""

LARGEST = 2**63 - 1
"""The largest amount that there is, here as in the API."""

MOST_OF_A_POD = 2**50
"""A pebibyte, and a million cores in nanocores: the API lets a pod ask for more, no machine has it. It is refused, so that sums over thousands
of pods, and small multiples of them, fit 64 bits."""


class QuantityError(ValueError):
    """A value that Kubernetes would refuse as a quantity; the message says why."""


def read_fraction(value: object) -> tuple[int, int]:
    """Read a quantity as an exact fraction (numerator, positive denominator).

    Takes the API's strings and JSON numbers (a float by its shortest decimal form). Raises QuantityError.
    """
    if isinstance(value, str):
        return _read_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _read_text(repr(value))
    raise QuantityError(f"{type(value).__name__} is not a quantity")


@functools.lru_cache(maxsize=65536)
def read_nanocores(value: object) -> int:
    """Read an amount of CPU in nanocores, a fraction of one rounded up. Raises QuantityError, also below zero."""
    numerator, denominator = read_fraction(value)
    return _amount(numerator * NANO, denominator)


@functools.lru_cache(maxsize=65536)
def read_count(value: object) -> int:
    """Read bytes or a number of things, a fraction of one rounded up. Raises QuantityError, also below zero."""
    return _amount(*read_fraction(value))


def read_amount(resource: str, value: object) -> int:
    """Read the amount of a resource in its unit: nanocores for cpu, else bytes or count. Raises QuantityError."""
    if isinstance(value, bool):  # would share a cache entry with 1 and 0
        raise QuantityError("bool is not a quantity")
    return read_nanocores(value) if resource == "cpu" else read_count(value)


def read_usage(resource: str, value: object) -> int:
    """Read a measurement as read_amount does, and no more than a machine can have. Raises QuantityError."""
    amount = read_amount(resource, value)
    if amount > MOST_OF_A_POD:
        raise QuantityError("more than any machine has")
    return amount


def read_measured(cpu: object, memory: object) -> tuple[int, int] | None:
    """Read nanocores and bytes quickly in the two forms that metrics-server writes: whole n and whole Ki. None for what is written otherwise.

    Measurements hardly ever repeat, so they are not kept in the caches that serve requests and limits.
    """
    match = _MEASURED.fullmatch(f"{cpu} {memory}")
    return (int(match[1]), int(match[2]) * 1024) if match else None


def _read_text(text: str) -> tuple[int, int]:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError("not a quantity")
    part = match["only"] or match["part"] or ""
    mantissa = int(match["sign"] + ((match["whole"] or "") + part))
    suffix = match["suffix"]
    if suffix in _POWERS_OF_1024:
        return mantissa * _POWERS_OF_1024[suffix], 10 ** len(part)
    power = _POWERS_OF_10[suffix] if suffix in _POWERS_OF_10 else int(suffix[1:])
    if abs(power) > _LARGEST_EXPONENT:
        raise QuantityError("the exponent is out of range")
    power -= len(part)
    return (mantissa * 10**power, 1) if power >= 0 else (mantissa, 10**-power)


def _amount(numerator: int, denominator: int) -> int:
    amount = -(-numerator // denominator)
    if amount < 0:
        raise QuantityError("an amount cannot be negative")
    if amount > LARGEST:
        raise QuantityError("the amount is out of range")
    return amount
