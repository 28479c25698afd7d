"""What the pods of each group ask for, and what else bears on sizing them: priority, class, kills for memory, template, autoscaler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batch.plan.rightsizing.groups import REQUESTS, Flags, Groups, Integers, as_integers
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import HPA_RESOURCES, HPAS

OOM_KILLED = "OOMKilled"
"""Reason of a container that was killed for memory (Kubernetes, ContainerStateTerminated)."""

Workload = tuple[str, str, str]
"""Kind, namespace and name."""

Amounts = tuple[int | None, int | None, int | None, int | None]
"""Requests and limits in the order of REQUESTS."""


@dataclass(frozen=True)
class Kill:
    """Kills for memory of one group: how many, when last (None: only Prometheus told), and the memory that the largest was held to."""

    count: int
    last_at: datetime | None
    held_to: int


@dataclass(frozen=True)
class Asks:
    """What the pods ask for: the commonest requests and limits of a group in REQUESTS' order, and what bears on sizing it, by number of the group.

    `mixed` groups have pods that ask for different amounts.
    """

    amounts: Sequence[Amounts]
    mixed: Flags
    sidecar: Flags
    placeholder: Flags
    guaranteed: Flags
    sized_as_a_whole: Flags
    kills: Mapping[int, Kill]


@dataclass(frozen=True)
class Scaler:
    """A HorizontalPodAutoscaler, and the container whose use it scales by; "" for the whole pod's."""

    name: str
    container: str
    min_replica_count: int
    max_replica_count: int | None
    current_replica_count: int | None


def asks(groups: Groups, snapshot: Snapshot, window_seconds: float) -> Asks:
    """Read it off the containers of the groups; kills count back to `window_seconds` before the snapshot."""
    containers = groups.containers
    group = as_integers(containers["group"])
    amounts, mixed = _commonest(groups, group)
    return Asks(
        amounts=amounts,
        mixed=mixed,
        sidecar=_any(groups, pc.equal(containers["kind"], "sidecar")),
        placeholder=_any(groups, pc.less(containers["priority"].fill_null(0), 0)),
        guaranteed=_any(groups, pc.equal(containers["qos_class"].fill_null(""), "Guaranteed")),
        sized_as_a_whole=_any(groups, containers["sized_as_a_whole"].fill_null(False)),  # noqa: FBT003  an Arrow value
        kills=_kills(groups, group, snapshot.taken_at - timedelta(seconds=window_seconds)),
    )


def with_told(kills: Mapping[int, Kill], told: Mapping[int, int], amounts: Sequence[Amounts]) -> dict[int, Kill]:
    """Add kills that Prometheus told of, by group: of pods that are gone too, and more than the last of each container."""
    found = dict(kills)
    for number, count in told.items():
        _, requests, _, limits = amounts[number]
        known = found.get(number, Kill(0, None, limits or requests or 0))
        found[number] = Kill(max(count, known.count), known.last_at, known.held_to)
    return found


def templates(snapshot: Snapshot) -> dict[Workload, frozenset[str]]:
    """Give the containers in the template of each workload whose template was read."""
    rows = snapshot.table("workload_containers")
    found: dict[Workload, set[str]] = {}
    for kind, namespace, name, container in zip(rows["kind"], rows["namespace"], rows["workload"], rows["container"], strict=True):
        found.setdefault((kind, namespace, name), set()).add(container)
    return {workload: frozenset(containers) for workload, containers in found.items()}


def managers(snapshot: Snapshot) -> dict[Workload, str]:
    """Give the object that owns a workload, and would undo a patch of it, as "Kind name"."""
    rows = snapshot.table("workload_containers")
    rows = rows.loc[rows["owner_kind"].notna()].drop_duplicates(["kind", "namespace", "workload"])
    return {
        (kind, namespace, name): f"{owner_kind} {owner_name}"
        for kind, namespace, name, owner_kind, owner_name in zip(
            rows["kind"], rows["namespace"], rows["workload"], rows["owner_kind"], rows["owner_name"], strict=True
        )
    }


def scalers(snapshot: Snapshot) -> dict[tuple[Workload, str], list[Scaler]]:
    """Give the autoscalers of each workload by the resource ("cpu" or "memory") whose use they scale by."""
    hpas = {(row["namespace"], row["hpa"]): row for row in HPAS.to_arrow(snapshot.table("hpas")).to_pylist()}
    found: dict[tuple[Workload, str], list[Scaler]] = {}
    for scaled in HPA_RESOURCES.to_arrow(snapshot.table("hpa_resources")).to_pylist():
        row = hpas[scaled["namespace"], scaled["hpa"]]
        sizes = (row[f"{which}_replica_count"] for which in ("min", "max", "current"))
        workload = (row["target_kind"], row["namespace"], row["target_name"])
        found.setdefault((workload, scaled["resource"]), []).append(Scaler(row["hpa"], scaled["container"], *sizes))
    return found


def _any(groups: Groups, flags: pa.ChunkedArray) -> Flags:
    rows: Flags = flags.combine_chunks().to_numpy(zero_copy_only=False)
    return groups.count(rows) > 0


def _commonest(groups: Groups, group: Integers) -> tuple[list[Amounts], Flags]:
    """Give the amounts that most pods of a group ask for, of equally many the larger ones, and which groups' pods differ."""
    columns = [groups.containers[name] for name in REQUESTS]
    texts = pc.binary_join_element_wise(*(column.cast(pa.string()).fill_null("") for column in columns), " ")
    encoded = pc.dictionary_encode(texts).combine_chunks()
    kinds = [_amounts(text) for text in encoded.dictionary.to_pylist()]
    ascending = sorted(range(len(kinds)), key=lambda number: [part or 0 for part in kinds[number]])
    rank = np.argsort(np.array(ascending, dtype=np.int64))
    width = max(1, len(kinds))
    cells, counts = np.unique(group * width + rank[encoded.indices.to_numpy()], return_counts=True)
    owner, ranked = cells // width, cells % width
    order = np.lexsort((ranked, counts, owner))
    most = np.searchsorted(owner[order], np.arange(len(groups)), side="right") - 1
    return [kinds[ascending[place]] for place in ranked[order][most]], np.bincount(owner, minlength=len(groups)) > 1


def _amounts(text: str) -> Amounts:
    cpu, memory, cpu_limit, memory_limit = (int(part) if part else None for part in text.split(" "))
    return cpu, memory, cpu_limit, memory_limit


def _kills(groups: Groups, group: Integers, since: datetime) -> dict[int, Kill]:
    containers = groups.containers
    killed = pc.and_(
        pc.equal(containers["last_end_reason"].fill_null(""), OOM_KILLED),
        pc.greater_equal(containers["last_end_at"], pa.scalar(since, containers["last_end_at"].type)).fill_null(False),  # noqa: FBT003  an Arrow value
    )
    flags = killed.combine_chunks().to_numpy(zero_copy_only=False)
    rows = containers.filter(killed).select(["last_end_at", "limits_memory_bytes", "requests_memory_bytes"]).to_pylist()
    found: dict[int, Kill] = {}
    for number, row in zip(group[flags].tolist(), rows, strict=True):
        held_to = row["limits_memory_bytes"] or row["requests_memory_bytes"] or 0
        known = found.get(number, Kill(0, None, 0))
        last_at = max(filter(None, (known.last_at, row["last_end_at"])))
        found[number] = Kill(known.count + 1, last_at, max(known.held_to, held_to))
    return found
