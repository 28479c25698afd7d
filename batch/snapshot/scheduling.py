"""Where pods may go: the rules of scheduling sets, held against nodes as the scheduler holds them.

Rules of Kubernetes 1.36: k8s.io/component-helpers/scheduling/corev1 (nodeaffinity, Taint toleration). What depends on other pods (affinity
between pods, topology spread), on volumes and on host ports is not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import SCHEMAS

REPELLING = ("NoSchedule", "NoExecute")
"""Taint effects that keep ordinary pods away; PreferNoSchedule only advises (kubernetes.io, "Taints and Tolerations")."""

NODE_NAME = "metadata.name"
"""What requirements on the node's name have in place of a label."""

Flags = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Taint:
    """A taint that keeps pods away which do not tolerate it; an absent value is empty."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Toleration:
    """What a pod tolerates; an empty key or effect means every one."""

    key: str
    operator: str
    value: str
    effect: str

    def accepts(self, taint: Taint) -> bool:
        """Tell whether the taint is tolerated."""
        return (
            self.effect in ("", taint.effect)
            and self.key in ("", taint.key)
            and (self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value))
        )


@dataclass(frozen=True)
class Requirement:
    """What a label of the node has to be."""

    label: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """One scheduling set: the selector must be met, and one of the alternatives if there are any.

    `spread` says that other pods matter too, which nothing here looks at.
    """

    tolerations: tuple[Toleration, ...]
    selector: tuple[Requirement, ...]
    alternatives: tuple[tuple[Requirement, ...], ...]
    spread: bool = False

    def labels(self) -> Iterable[str]:
        """Give the labels that are looked at."""
        return (one.label for term in (self.selector, *self.alternatives) for one in term)


@dataclass(frozen=True)
class Places:
    """Nodes, or kinds of nodes, by position: `labels[key]` has a text or None for each, `tainted[place, taint]` whether it has the taint."""

    count: int
    labels: Mapping[str, Texts]
    taints: tuple[Taint, ...]
    tainted: Flags


def rules(snapshot: Snapshot) -> dict[int, Rules]:
    """Read every scheduling set of the snapshot, by its number."""
    tolerations: dict[int, list[Toleration]] = {}
    for number, *texts in _rows(snapshot, "tolerations", ["scheduling_set", "taint", "operator", "value", "effect"]):
        tolerations.setdefault(number, []).append(Toleration(*(text or "" for text in texts)))
    terms: dict[int, dict[int, dict[int, tuple[str, str, list[str]]]]] = {}
    columns = ["scheduling_set", "term", "requirement", "label", "operator", "value"]
    for number, term, requirement, label, operator, value in _rows(snapshot, "node_requirements", columns):
        _, _, values = terms.setdefault(number, {}).setdefault(term, {}).setdefault(requirement, (label, operator, []))
        values.extend(() if value is None else (value,))
    found = {}
    for number, spread in _rows(snapshot, "scheduling_sets", ["scheduling_set", "spread"]):
        stated = {
            term: tuple(Requirement(label, operator, tuple(values)) for label, operator, values in of_term.values())
            for term, of_term in terms.get(number, {}).items()
        }
        selector = stated.pop(0, ())
        found[number] = Rules(tuple(tolerations.get(number, ())), selector, tuple(stated.values()), spread)
    return found


def places(snapshot: Snapshot, nodes: Sequence[str], labels: Iterable[str]) -> Places:
    """Describe the named nodes by the labels asked for and by their taints; NODE_NAME is their name."""
    position = {node: number for number, node in enumerate(nodes)}
    wanted = set(labels)
    columns: dict[str, Texts] = {label: np.full(len(nodes), None, dtype=object) for label in wanted}
    table = snapshot.table("node_labels")
    for node, label, value in table.loc[table["label"].isin(wanted)].itertuples(index=False):
        if node in position:
            columns[label][position[node]] = value
    if NODE_NAME in wanted:
        columns[NODE_NAME] = np.array(nodes, dtype=object)
    found = [
        (position[node], Taint(key, value or "", effect))
        for node, key, effect, value in _rows(snapshot, "node_taints", ["node", "taint", "effect", "value"])
        if effect in REPELLING and node in position
    ]
    taints = tuple(dict.fromkeys(taint for _, taint in found))
    tainted = np.zeros((len(nodes), len(taints)), dtype=np.bool_)
    for place, taint in found:
        tainted[place, taints.index(taint)] = True
    return Places(len(nodes), columns, taints, tainted)


def accepted(rule_sets: Sequence[Rules], where: Places) -> Flags:
    """Say for each set and place whether the place meets the set's requirements and has no taint that the set does not tolerate."""
    flags = np.ones((len(rule_sets), where.count), dtype=np.bool_)
    known: dict[Requirement, Flags] = {}

    def meets(requirement: Requirement) -> Flags:
        if requirement not in known:
            known[requirement] = _meets(requirement, where)
        return known[requirement]

    for number, one in enumerate(rule_sets):
        flags[number] &= _all(map(meets, one.selector), where.count)
        if one.alternatives:
            flags[number] &= np.any([_all(map(meets, term), where.count) for term in one.alternatives], axis=0)
        refused = np.array([not any(t.accepts(taint) for t in one.tolerations) for taint in where.taints], dtype=np.bool_)
        flags[number] &= ~where.tainted[:, refused].any(axis=1)
    return flags


def _all(conditions: Iterable[Flags], count: int) -> Flags:
    met = np.ones(count, dtype=np.bool_)
    for condition in conditions:
        met &= condition
    return met


def _meets(requirement: Requirement, where: Places) -> Flags:
    """Hold one requirement against all places; a label that a place lacks meets NotIn and DoesNotExist alone."""
    column = where.labels.get(requirement.label)
    if column is None:
        column = np.full(where.count, None, dtype=object)
    test = _TESTS.get(requirement.operator, _never)
    return np.array([test(text, requirement.values) for text in column], dtype=np.bool_)


def _never(_text: str | None, _values: tuple[str, ...]) -> bool:
    return False


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _exceeds(text: str | None, values: tuple[str, ...], sign: int) -> bool:
    have, asked = _number(text), _number(values[0] if values else None)
    return have is not None and asked is not None and (have - asked) * sign > 0


_TESTS: Mapping[str, Callable[[str | None, tuple[str, ...]], bool]] = {
    "In": lambda text, values: text in values,
    "NotIn": lambda text, values: text not in values,
    "Exists": lambda text, _values: text is not None,
    "DoesNotExist": lambda text, _values: text is None,
    "Gt": lambda text, values: _exceeds(text, values, 1),
    "Lt": lambda text, values: _exceeds(text, values, -1),
}


def _rows(snapshot: Snapshot, table: str, columns: list[str]) -> Iterable[tuple[Any, ...]]:
    """Give rows of a table as plain Python values, None for NA."""
    arrow = SCHEMAS[table].to_arrow(snapshot.table(table))
    return zip(*(arrow[column].to_pylist() for column in columns), strict=True)
