"""Who can be sized: each container of each workload that has running pods, with what its pods ask for and what was measured of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from batch.snapshot import views
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import CONTAINERS, PODS

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

REQUESTS = ("requests_cpu_nanocores", "requests_memory_bytes", "limits_cpu_nanocores", "limits_memory_bytes")

_BETWEEN = "\x1f"
"""Stands between the parts of a key; no name of Kubernetes has it."""

_KEY = ("workload_kind", "namespace", "workload", "container")


@dataclass(frozen=True)
class Samples:
    """Every measurement of the groups' containers, one element each: group, container (a number), microseconds since 1970, and values.

    A value is only there where its flag says so.
    """

    group: Integers
    container: Integers
    at: Integers
    cpu: Integers
    has_cpu: Flags
    memory: Integers
    has_memory: Flags


@dataclass(frozen=True)
class Groups:
    """The groups: a container of a workload, in all its running pods. `keys` are (kind, namespace, workload, container).

    `containers` has a row for each container of a running pod: its number of the group, and columns of the tables `containers` and `pods`.
    `key_texts` is each key as one text, by which other tables find their group.
    """

    keys: Sequence[tuple[str, str, str, str]]
    key_texts: pa.Array
    containers: pa.Table
    samples: Samples

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, columns: Sequence[pa.ChunkedArray]) -> Integers:
        """Give the group of each row of (kind, namespace, workload, container), -1 where there is none."""
        return _found(joined(columns), self.key_texts)

    def count(self, rows: Flags | None = None) -> Integers:
        """Count containers, of those rows only if given."""
        group = as_integers(self.containers["group"])
        return np.bincount(group if rows is None else group[rows], minlength=len(self)).astype(np.int64)


def groups(snapshot: Snapshot, max_age_seconds: float) -> Groups:
    """Gather the app containers and sidecars of Running pods; ordinary init containers do not run beside them and are left out."""
    containers = _containers(snapshot)
    encoded = pc.dictionary_encode(joined([containers[name] for name in _KEY])).combine_chunks()
    containers = containers.append_column("group", encoded.indices.cast(pa.int64()))
    keys = [tuple(text.split(_BETWEEN)) for text in encoded.dictionary.to_pylist()]
    return Groups(
        keys,
        encoded.dictionary,
        containers,
        _samples(snapshot, containers, max_age_seconds),
    )


def joined(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Make one text of the parts of a key, row by row."""
    return pc.binary_join_element_wise(*columns, _BETWEEN)


def as_integers(column: pa.ChunkedArray) -> Integers:
    """Give a column of whole numbers; 0 stands where there is none, so look at `is_known` as well."""
    return column.fill_null(0).combine_chunks().to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]  # by astype


def is_known(column: pa.ChunkedArray) -> Flags:
    """Tell which rows of a column have a value."""
    return column.is_valid().combine_chunks().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]  # a column of flags


def _containers(snapshot: Snapshot) -> pa.Table:
    pods = PODS.to_arrow(snapshot.table("pods"))
    pods = pods.filter(pc.equal(pods["phase"], "Running"))
    containers = CONTAINERS.to_arrow(snapshot.table("containers"))
    containers = containers.filter(pc.not_equal(containers["kind"], "init"))
    place = _found(joined([containers["namespace"], containers["pod"]]), joined([pods["namespace"], pods["pod"]]).combine_chunks())
    containers = containers.filter(pa.array(place >= 0))
    own = pods.take(pa.array(place[place >= 0]))
    for name in ("workload_kind", "workload", "priority", "qos_class", "sized_as_a_whole"):
        containers = containers.append_column(name, own[name])
    return containers


def _samples(snapshot: Snapshot, containers: pa.Table, max_age_seconds: float) -> Samples:
    usage = views.fresh_usage(snapshot, max_age_seconds)
    name = ("namespace", "pod", "container")
    container = _found(joined([usage[part] for part in name]), joined([containers[part] for part in name]).combine_chunks())
    usage, container = usage.filter(pa.array(container >= 0)), container[container >= 0]
    return Samples(
        group=as_integers(containers["group"])[container],
        container=container,
        at=as_integers(usage["measured_at"].cast(pa.int64())),
        cpu=as_integers(usage["usage_cpu_nanocores"]),
        has_cpu=is_known(usage["usage_cpu_nanocores"]),
        memory=as_integers(usage["usage_memory_bytes"]),
        has_memory=is_known(usage["usage_memory_bytes"]),
    )


def _found(keys: pa.ChunkedArray, known: pa.Array) -> Integers:
    """Give the place of each key among the known ones, -1 where it is none of them."""
    return as_integers(pc.index_in(keys, value_set=known).cast(pa.int64()).fill_null(-1))
