"""Where pods may go: tolerations, node selectors and required node affinity, each distinct set of them read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from batch.collect.objects import (
    Affinity,
    NodeSelectorTerm,
    PodSpec,
    Rules,
    decode_labels,
    decode_list,
    decode_node_selector,
    decode_tolerations,
)
from batch.snapshot.schemas import NODE_REQUIREMENTS, SCHEDULING_SETS, TOLERATIONS

_Toleration = tuple[str, str, str, str]
_Requirement = tuple[str, str, tuple[str, ...]]

_NOWHERE: tuple[_Requirement, ...] = (("", "In", ()),)
"""A term that no node meets: what an empty term means, and a list without terms."""


@dataclass(frozen=True)
class Constraints:
    """What one set says. `terms[0]` is the node selector, which must be met; of the others one must be, if there are any."""

    tolerations: tuple[_Toleration, ...]
    terms: tuple[tuple[_Requirement, ...], ...]
    spread: bool


class SchedulingSets:
    """Numbers the distinct sets, looked up by the words in which they stand."""

    def __init__(self) -> None:
        self._by_words: dict[tuple[object, ...], int] = {}
        self._numbers: dict[Constraints, int] = {}

    def number(self, spec: PodSpec, *, of_daemon_set: bool) -> int:
        """Give the number of a pod's set. Raises msgspec.ValidationError for what is none.

        In a pod of a DaemonSet its controller has written the name of the node: that says where this one pod goes, not where such pods can go,
        and is left out.
        """
        words = _words(spec, of_daemon_set=of_daemon_set)
        known = self._by_words.get(words)
        if known is None:
            known = self._numbers.setdefault(_read(spec, of_daemon_set=of_daemon_set), len(self._numbers))
            self._by_words[words] = known
        return known

    def unconstrained(self) -> int:
        """Give the number of the set that says nothing."""
        return self._numbers.setdefault(_NOTHING, len(self._numbers))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give every set as rows."""
        numbered = list(self._numbers.items())
        return {
            "scheduling_sets": SCHEDULING_SETS.frame((number, one.spread) for one, number in numbered),
            "tolerations": TOLERATIONS.frame(
                (number, position, *(text or None for text in toleration))
                for one, number in numbered
                for position, toleration in enumerate(one.tolerations)
            ),
            "node_requirements": NODE_REQUIREMENTS.frame((number, *row) for one, number in numbered for row in _requirement_rows(one)),
        }


_NOTHING = Constraints((), ((),), spread=False)
_NO_RULES = Rules()


def _words(spec: PodSpec, *, of_daemon_set: bool) -> tuple[object, ...]:
    """Give everything that a set depends on, undecoded; pods of a DaemonSet differ in the node's name alone."""
    words = (of_daemon_set, bytes(spec.tolerations), bytes(spec.node_selector), bytes(spec.topology_spread_constraints))
    affinity = spec.affinity
    if affinity is None:
        return words
    on_nodes = bytes((affinity.node_affinity or _NO_RULES).required)
    if of_daemon_set and spec.node_name:
        on_nodes = on_nodes.replace(spec.node_name.encode(), b"")
    beside = (bytes((part or _NO_RULES).required) for part in (affinity.pod_affinity, affinity.pod_anti_affinity))
    return (*words, on_nodes, *beside)


def _read(spec: PodSpec, *, of_daemon_set: bool) -> Constraints:
    affinity = spec.affinity or Affinity()
    tolerations = [(t.key or "", t.operator or "Equal", t.value or "", t.effect or "") for t in decode_tolerations(spec.tolerations)]
    selector = [(key, "In", (value,)) for key, value in sorted(decode_labels(spec.node_selector).items())]
    required = decode_node_selector(affinity.node_affinity.required) if affinity.node_affinity else None
    terms = () if required is None else tuple(_term(term, of_daemon_set=of_daemon_set) for term in required.node_selector_terms or [])
    if required is not None and not terms:
        terms = (_NOWHERE,)
    if of_daemon_set and () in terms:
        terms = ()
    return Constraints(tuple(sorted(set(tolerations))), (tuple(selector), *terms), spread=_is_spread(spec, affinity))


def _term(term: NodeSelectorTerm, *, of_daemon_set: bool) -> tuple[_Requirement, ...]:
    """Read one term. What remains of a DaemonSet's term may be empty and then holds everywhere; an empty term as written holds nowhere."""
    fields = [] if of_daemon_set else term.match_fields or []
    stated = [*(term.match_expressions or []), *fields]
    if not stated and not term.match_fields:
        return _NOWHERE
    return tuple((one.key, one.operator, tuple(one.values or ())) for one in stated)


def _is_spread(spec: PodSpec, affinity: Affinity) -> bool:
    """Tell whether the place of the pod also depends on where other pods are."""
    beside = (affinity.pod_affinity, affinity.pod_anti_affinity)
    return any(one.get("whenUnsatisfiable") == "DoNotSchedule" for one in decode_list(spec.topology_spread_constraints)) or any(
        part is not None and decode_list(part.required) for part in beside
    )


def _requirement_rows(one: Constraints) -> Iterator[tuple[object, ...]]:
    for number, term in enumerate(one.terms):
        for position, (label, operator, values) in enumerate(term):
            for place, value in enumerate(values or (None,)):
                yield number, position, place, label, operator, value
