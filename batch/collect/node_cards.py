"""The cards that HAMi, a scheduler that shares GPUs by software, lists in an annotation of a node.

Both forms of its protocol (HAMi docs/develop/protocol.md): up to 2.4 `id,slots,MiB,cores,model,numa,healthy` with a colon after each card,
since then a JSON list of objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec

_MIB = 1024**2
_FIELDS = 7

_DIGITS = 9
_Number = Annotated[int, msgspec.Meta(ge=0, lt=10**_DIGITS)]
"""Pods that share a card, or its MiB: no card has as many."""


class CardsError(ValueError):
    """The annotation is neither of the two forms; the message says why."""


class Card(NamedTuple):
    """One card: its id, how many pods may share it, its memory and model, and whether it can be given out."""

    card: str
    slot_count: int
    memory_bytes: int
    product: str
    healthy: bool


class _Registered(msgspec.Struct):
    """One object of the JSON form; memory is in MiB."""

    id: str
    count: _Number
    devmem: _Number = 0
    type: str = ""
    health: bool = True


def read_cards(text: object) -> list[Card]:
    """Read the annotation. Raises CardsError."""
    if not isinstance(text, str):
        raise CardsError("not a text")
    return list({card.card: card for card in (_objects(text) if text.lstrip().startswith("[") else _lines(text))}.values())


def _objects(text: str) -> Iterator[Card]:
    try:
        listed = msgspec.json.decode(text, type=list[_Registered])
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise CardsError(str(error)) from error
    yield from (Card(one.id, one.count, one.devmem * _MIB, one.type, one.health) for one in listed)


def _lines(text: str) -> Iterator[Card]:
    for line in filter(None, text.split(":")):
        fields = line.split(",")
        if len(fields) < _FIELDS or not all(field.isdecimal() and len(field) <= _DIGITS for field in fields[1:3]):
            raise CardsError(f"{line!r} is not a card")
        yield Card(fields[0], int(fields[1]), int(fields[2]) * _MIB, fields[4], fields[6] == "true")
