"""Label selectors as kubectl takes them: read, and applied to the distinct sets of pod labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from batch.errors import SettingsError
from batch.snapshot.model import Snapshot

_KEY = r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
"""Keys and values as Kubernetes has them (kubernetes.io, "Labels and Selectors", syntax and character set)."""

_REQUIREMENT = re.compile(
    rf"\s*(?:(?P<not>!)\s*(?P<absent>{_KEY})"
    rf"|(?P<key>{_KEY})(?:\s*(?P<equality>==|=|!=)\s*(?P<value>{_VALUE})"
    rf"|\s+(?P<set>in|notin)\s*\((?!\s*\))(?P<values>\s*{_VALUE}\s*(?:,\s*{_VALUE}\s*)*)\))?)\s*(?:,(?=.)|$)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Requirement:
    """One part of a selector. `values` None asks for the key alone; `wanted` False turns the requirement round."""

    key: str
    values: frozenset[str] | None
    wanted: bool

    def accepts(self, labels: pd.DataFrame) -> pd.Series:
        """Tell which rows of `label_sets` meet the requirement before it is turned round."""
        of_key = labels["label"] == self.key
        return of_key if self.values is None else of_key & labels["value"].isin(self.values)


def parse(selector: str, profile: str) -> tuple[Requirement, ...]:
    """Read a selector: equality (=, ==, !=), sets (in, notin) and existence (key, !key), separated by commas; all must be met.

    Raises SettingsError for anything else; `profile` names where it stands.
    """
    return tuple(_requirements(selector, profile)) if selector.strip() else ()


def selected(snapshot: Snapshot, requirements: tuple[Requirement, ...]) -> frozenset[int]:
    """Give the numbers of the label sets that meet every requirement.

    As in kubectl, != and notin are also met by a pod that does not have the key.
    """
    labels = snapshot.table("label_sets")
    sets = frozenset(snapshot.table("pods")["label_set"].unique().tolist())
    for requirement in requirements:
        met = frozenset(labels.loc[requirement.accepts(labels), "label_set"].tolist())
        sets = sets & met if requirement.wanted else sets - met
    return sets


def _requirements(selector: str, profile: str) -> Iterator[Requirement]:
    position = 0
    while position < len(selector):
        match = _REQUIREMENT.match(selector, position)
        if match is None:
            raise SettingsError(
                "selector",
                attempted=f"use the label selector {selector!r} of profile {profile!r}",
                why=f"{selector[position:].strip()!r} is no requirement that kubectl's -l knows",
                remedy="Write key=value, key!=value, key in (a,b), key notin (a,b), key or !key, separated by commas.",
            )
        yield _requirement(match)
        position = match.end()


def _requirement(match: re.Match[str]) -> Requirement:
    if match["absent"]:
        return Requirement(match["absent"], None, wanted=False)
    if match["equality"]:
        return Requirement(match["key"], frozenset({match["value"]}), wanted=match["equality"] != "!=")
    if match["set"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], values, wanted=match["set"] == "in")
    return Requirement(match["key"], None, wanted=True)
