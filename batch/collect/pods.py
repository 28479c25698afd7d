"""Pods: phase, node, owner, containers, effective requests and limits."""

from __future__ import annotations

from collections.abc import Collection
from itertools import repeat

import msgspec
import pandas as pd

from batch.collect.items import Items
from batch.collect.objects import NULL, Pod, decode_labels
from batch.collect.pod_common import FATES, MEMBERS, Common, Commons
from batch.collect.pod_own import take_own
from batch.collect.rejects import Rejects
from batch.snapshot.requests_rule import RequestsRule
from batch.snapshot.schemas import LABEL_SETS


class PodCollector:
    """Turns pages of the pod list into tables; only the rows are kept, so memory is bounded by the result.

    Lists come in the order of names, so pods of one template stand together: one that is like the pod before it adds what is its own, and no more.
    """

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = (), rule: RequestsRule = RequestsRule.PER_CONTAINER) -> None:
        self._items = Items(Pod, "Pod", rejects, namespaces)
        self._rejects = rejects
        self._labels = _Labels()
        self._commons = Commons(rule)
        self._common: Common | None = None
        self._members = MEMBERS.builder()
        self._fates = FATES.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many pods it held."""
        for name, pod in self._items.of(page):
            self._take_pod(pod.metadata.namespace or "default", name, pod)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {**self._commons.tables(self._members.table(), self._fates.table()), "label_sets": self._labels.frame()}

    def _take_pod(self, namespace: str, name: str, pod: Pod) -> None:
        uid, created_at, labels, node, started_at, fates = take_own(pod)
        try:
            label_set, template_hash = self._labels.number(labels)
        except msgspec.ValidationError as error:
            self._rejects.add(f"pod {namespace}/{name}", "metadata.labels", "", str(error))
            return
        common = self._common
        if common is None or common.pod != pod or common.template_hash != template_hash:
            common = self._common = self._commons.add(pod, template_hash)
        for rest, field, value, reason in common.refused:
            self._rejects.add(f"pod {namespace}/{name}{rest}", field, value, reason)
        self._members.add(
            (
                common.group,
                namespace,
                name,
                uid,
                node or None,
                created_at,
                started_at,
                common.workload or _named_after(name, node if common.is_static else None),
                common.has_gates and not node,
                label_set,
            )
        )
        self._fates.extend([fates[position] for position in common.positions])


def _named_after(name: str, node: str | None) -> str:
    """Name the workload of a pod that has no other: a static pod's mirror is called `<name>-<node>`."""
    return name.removesuffix(f"-{node}") if node else name


class _Labels:
    """Numbers the distinct sets of labels by the words in which they stand."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, str | None]] = {}
        self._table = LABEL_SETS.builder()
        self._last = NULL
        self._last_number: tuple[int, str | None] | None = None

    def number(self, raw: msgspec.Raw) -> tuple[int, str | None]:
        """Give the number of a set and its pod-template-hash. Raises msgspec.ValidationError for what are no labels."""
        if self._last_number is None or raw != self._last:
            self._last_number = self._look_up(raw)
            self._last = raw
        return self._last_number

    def frame(self) -> pd.DataFrame:
        """Give all sets as table `label_sets`."""
        return self._table.frame()

    def _look_up(self, raw: msgspec.Raw) -> tuple[int, str | None]:
        words = bytes(raw)
        known = self._known.get(words)
        if known is None:
            labels = decode_labels(raw)
            known = self._known[words] = (len(self._known), labels.get("pod-template-hash"))
            self._table.extend(zip(repeat(known[0]), labels, labels.values(), strict=False))
        return known
