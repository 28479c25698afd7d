"""Finding and Severity: the judgement that every check emits and every section prints.

A check works in base units and knows nothing of GiB or percent. Its sentences are therefore `Message`s: a text
with named values and the kind of each ("{room:bytes}"), which report/format.py turns into words.
"""

from __future__ import annotations

import enum
import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

KINDS = frozenset(
    {"", "text", "count", "bytes", "nanocores", "cores", "ratio", "seconds", "probability", "quantile", "instant", "day", "money"}
)
"""How a value in a Message may be printed; report/format.py has one function for each."""

_FIELD = re.compile(r"\{(\w+)(:\w*)?\}")


class Severity(enum.StrEnum):
    """How urgent a finding is, most urgent first."""

    CRITICAL = "critical"
    WARNING = "warning"
    ADVICE = "advice"

    @property
    def rank(self) -> int:
        """Position in the reading order, 0 first."""
        return list(Severity).index(self)


@dataclass(frozen=True)
class Money:
    """An amount in a currency. `priced_on` is the day of the prices behind it when they are too old to stand alone, else None."""

    amount: float
    currency: str
    priced_on: date | None = None


@dataclass(frozen=True)
class Message:
    """A sentence with values in base units, e.g. `message("{room:bytes} are free", room=1024)`."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a template whose fields and values do not match: such a sentence would fail in the report."""
        named = {name: kind for _, name, kind, _ in string.Formatter().parse(self.template) if name is not None}
        if set(named) != set(self.values):
            raise ValueError(f"fields {sorted(named)} and values {sorted(self.values)} of {self.template!r} differ")
        if unknown := {kind or "" for kind in named.values()} - KINDS:
            raise ValueError(f"unknown kinds {sorted(unknown)} in {self.template!r}")
        object.__setattr__(self, "values", MappingProxyType(dict(self.values)))


def message(template: str, **values: object) -> Message:
    """Build a Message from keyword values."""
    return Message(template, values)


def plain(text: str) -> Message:
    """Make a Message of a text without values, braces and all."""
    return Message(text.replace("{", "{{").replace("}", "}}"))


def joined(sentences: Iterable[Message]) -> Message:
    """Join sentences into one Message."""
    texts: list[str] = []
    values: dict[str, object] = {}
    for number, sentence in enumerate(sentences):
        texts.append(_FIELD.sub(rf"{{\g<1>_{number}\g<2>}}", sentence.template))
        values |= {f"{name}_{number}": value for name, value in sentence.values.items()}
    return Message(" ".join(texts), values)


def plural(count: int, one: str, many: str) -> str:
    """Choose the words that go with a count, e.g. "pod waits" for 1 and "pods wait" for 0 or 2."""
    return one if count == 1 else many


@dataclass(frozen=True)
class Finding:
    """One judgement: what is so (`title`), why (`detail`), and what to do (`action`).

    `id` is stable between nights ("capacity.pool-full/general-a"); `objects` name what it is about;
    `worth` and `worth_of` are the figure at the right of a finding and what it counts ("3 nodes", "not ready");
    `weight` orders findings of one severity, largest first; `monthly_saving` needs prices and is None without.
    """

    id: str
    severity: Severity
    section: str
    title: Message
    detail: Message
    action: Message
    objects: tuple[str, ...] = ()
    worth: Message | None = None
    worth_of: str = ""
    weight: float = 0.0
    monthly_saving: float | None = None


def by_urgency(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Order findings for reading: by severity, then by weight, then by id so that equal input gives equal output."""
    return tuple(sorted(findings, key=lambda f: (f.severity.rank, -f.weight, f.id)))
