"""Whether the cluster can grow: every check on a snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from batch.scale import api_server, dns, etcd, facts_tables, growth, health, images, network, own_cost, packing, size, slots, versions
from batch.scale.drains import drains
from batch.scale.facts import Facts
from batch.scale.growth import Size
from batch.scale.judgements import judge
from batch.scale.model import Check, Emptying, ScaleAssessment
from batch.settings import Settings
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings, history: History = NO_HISTORY, emptying: Emptying | None = None) -> ScaleAssessment:
    """Judge the cluster by every rule of the catalogue, in its order.

    `emptying` is what the capacity plan says of nodes that could go; None when it could not tell.
    """
    facts = Facts(snapshot, settings)
    tables = {
        "scale-images": facts_tables.images(facts),
        "scale-quotas": facts_tables.quotas(facts),
        "scale-pending": facts_tables.pending(facts),
        "scale-drains": drains(facts, emptying),
        "scale-systems": facts_tables.systems(facts),
        "scale-dns": facts_tables.dns_pods(facts),
    }
    found = tuple(_checks(facts, tables, _sizes(history), emptying))
    return ScaleAssessment(checks=found, tables=tables, findings=judge(found))


def _sizes(history: History) -> tuple[Size, ...]:
    """Give the size of each earlier night that left it."""
    return tuple(Size(night.taken_at, night.node_count, night.bound_pod_count) for night in history.summaries)


def _checks(facts: Facts, tables: Mapping[str, pd.DataFrame], sizes: tuple[Size, ...], emptying: Emptying | None) -> Iterator[Check]:
    yield from size.checks(facts)
    yield growth.check(facts, sizes)
    yield slots.check(facts)
    yield from dns.checks(facts)
    yield from images.checks(facts, tables["scale-images"])
    yield from etcd.checks(facts)
    yield from api_server.checks(facts)
    yield own_cost.check(facts)
    yield from health.checks(facts, tables["scale-quotas"], tables["scale-pending"])
    yield from packing.checks(facts, emptying, tables["scale-drains"])
    yield from network.checks(facts)
    yield from versions.checks(facts, tables["scale-systems"])
