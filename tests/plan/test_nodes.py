from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd
import pytest

from batch.plan.measured import age_gaps, with_usage
from batch.plan.nodes import node_capacity
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, TAKEN_AT, node, pod, snapshot, usage


def capacity(taken: Snapshot) -> pd.DataFrame:
    pods = with_usage(taken, 600)
    return node_capacity(taken, pods.loc[views.bound_pods(taken).index], Settings()).set_index("node")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, None),
        ({"ready": False, "schedulable": False}, "not ready"),
        ({"ready": None}, "not ready"),
        ({"schedulable": False, "taints": [("dedicated", "NoSchedule")]}, "cordoned"),
        ({"taints": [("dedicated", "NoSchedule")]}, "tainted"),
        ({"taints": [("node.example/maintenance", "NoExecute")]}, "tainted"),
        ({"taints": [("spot", "PreferNoSchedule")]}, None),
    ],
)
def test_the_first_reason_that_applies_is_named(given: dict[str, Any], reason: str | None) -> None:
    unusable = capacity(snapshot(nodes=[node("n1", **given)])).loc["n1", "unusable"]
    assert (None if unusable is pd.NA else unusable) == reason


def test_requests_count_from_binding_until_the_pod_has_finished() -> None:
    row = capacity(
        snapshot(
            nodes=[node("n1")],
            pods=[
                pod("running", cpu=2 * CORE, memory=GIB),
                pod("starting", phase="Pending", cpu=CORE, memory=GIB),
                pod("done", phase="Succeeded", cpu=8 * CORE, memory=8 * GIB),
                pod("waiting", phase="Pending", on=None, cpu=8 * CORE, memory=8 * GIB),
            ],
        )
    ).loc["n1"]
    assert (row["pod_count"], row["requests_cpu_nanocores"], row["requests_memory_bytes"]) == (2, 3 * CORE, 2 * GIB)


def test_usage_is_the_sum_over_measured_running_pods_and_unknown_without_one() -> None:
    frame = capacity(
        snapshot(
            nodes=[node("n1"), node("n2")],
            pods=[
                pod("a", usage=(CORE, 100 * MIB)),
                pod("b", usage=(CORE, None)),
                pod("starting", phase="Pending", usage=(7 * CORE, 7 * GIB)),
                pod("unmeasured", on="n2"),
            ],
        )
    )
    assert frame.loc["n1", "usage_cpu_nanocores"] == 2 * CORE
    assert frame.loc["n1", "usage_memory_bytes"] == 100 * MIB
    assert frame.loc["n2", ["usage_cpu_nanocores", "usage_memory_bytes"]].isna().all()


def test_a_measurement_that_is_too_old_is_no_measurement() -> None:
    stale = usage("a", CORE, MIB, measured_at=TAKEN_AT - timedelta(seconds=601))
    frame = capacity(snapshot(nodes=[node("n1")], pods=[pod("a")], usage=[stale]))
    assert frame.loc["n1", "usage_cpu_nanocores"] is pd.NA


def test_how_many_pods_have_only_old_measurements_is_a_gap() -> None:
    rows = [
        usage(name, CORE, MIB, measured_at=TAKEN_AT - timedelta(seconds=age))
        for name, age in (("a", 601), ("a", 900), ("b", 900), ("b", 600))
    ]
    found = age_gaps(snapshot(nodes=[node("n1", machine_usage=(CORE, GIB))], pods=[pod("a"), pod("b")], usage=rows), 600)
    assert [(gap.source, gap.reason.split(",")[0]) for gap in found] == [
        ("podmetrics", "1 of 2 were measured more than 600 s before the report's time")
    ]


def test_a_node_without_node_metrics_has_unknown_machine_usage() -> None:
    frame = capacity(snapshot(nodes=[node("n1", machine_usage=(6 * CORE, GIB)), node("n2")]))
    assert frame.loc["n1", "machine_usage_cpu_nanocores"] == 6 * CORE
    assert frame.loc["n2", "machine_usage_cpu_nanocores"] is pd.NA
