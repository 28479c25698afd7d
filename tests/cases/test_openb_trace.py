"""A public trace of a large GPU cluster, as a dump: every total of CPU, memory and pods."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batch.collect.assemble import Identity, assemble
from batch.collect.dump import Dump
from batch.deadline import Deadline
from batch.plan import measured
from batch.plan.model import Totals, Waiting
from batch.plan.nodes import node_capacity
from batch.plan.totals import totals
from batch.plan.waiting import waiting
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from tests.cases.clusters import KI, MI, MILLI

TRACE = Path(os.environ.get("TEST_TRACES", "/nowhere")) / "openb-gpu-2023"

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not TRACE.is_dir(), reason="TEST_TRACES names no folder that holds openb-gpu-2023"),
]

Case = tuple[Snapshot, Totals, dict[str, Waiting], dict[str, Any]]


@pytest.fixture(scope="module", params=[".", "alive", "whole"])
def case(request: pytest.FixtureRequest) -> Case:
    folder = TRACE / request.param
    snapshot = assemble(
        Dump(folder),
        Identity("openb", "dump:openb"),
        taken_at=None,
        fallback_taken_at=lambda: datetime(2023, 7, 1, tzinfo=UTC),
        deadline=Deadline(None, 0, lambda: 0.0, 0.0),
    )
    pods = measured.with_usage(snapshot, 600)
    nodes = node_capacity(snapshot, pods.loc[views.bound_pods(snapshot).index], Settings())
    found = {row.what: row for row in waiting(snapshot)}
    return snapshot, totals(snapshot, pods, nodes), found, json.loads((folder / "expected.json").read_text())


def test_nothing_of_the_trace_is_refused(case: Case) -> None:
    snapshot, *_ = case
    assert snapshot.table("rejects").empty


def test_what_the_trace_has_to_give(case: Case) -> None:
    _, found, _, expected = case
    assert found.node_count == expected["nodes"]["total"]
    assert found.allocatable_cpu_nanocores == expected["allocatable"]["cpu_milli"] * MILLI
    assert found.allocatable_memory_bytes == expected["allocatable"]["memory_ki"] * KI
    assert found.allocatable_pod_count == expected["allocatable"]["pods"]
    assert found.capacity_memory_bytes == expected["capacity_memory_ki"] * KI


def test_what_the_trace_requests(case: Case) -> None:
    _, found, _, expected = case
    placed = expected["requested_by_placed_pods"]
    assert found.requests_cpu_nanocores == placed["cpu_milli"] * MILLI
    assert found.requests_memory_bytes == placed["memory_mib"] * MI
    assert found.bound_pod_count == placed["pods"]
    assert found.pod_count_by_phase == {phase: count for phase, count in expected["pods_by_phase"].items() if count}


def test_what_the_trace_waits_for(case: Case) -> None:
    _, found, rows, expected = case
    pending = expected["requested_by_pending_pods"]
    assert found.pending_pod_count == pending["pods"]
    row = rows.get("pending", Waiting("pending", 0, 0, 0, 0, {}))
    assert (row.pod_count, row.requests_cpu_nanocores, row.requests_memory_bytes) == (
        pending["pods"],
        pending["cpu_milli"] * MILLI,
        pending["memory_mib"] * MI,
    )


def test_what_the_trace_uses(case: Case) -> None:
    _, found, _, expected = case
    assert found.usage_cpu_nanocores == expected["usage_simulated"]["cpu_nano"]
    assert found.usage_memory_bytes == expected["usage_simulated"]["memory_ki"] * KI
