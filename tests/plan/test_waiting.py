"""What waits to run, and resources beside CPU and memory."""

from __future__ import annotations

import pytest

from batch.plan.assess import assess
from batch.plan.model import MinorResource, Waiting
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, GIB, MIB, job, node, pod, snapshot


def waiting_in(taken: Snapshot) -> dict[str, Waiting]:
    return {row.what: row for row in assess(taken, Settings()).waiting}


def test_pending_nominated_and_gated_pods_are_shown_apart_and_once() -> None:
    found = waiting_in(
        snapshot(
            nodes=[node("n1")],
            pods=[
                pod("a", on=None, phase="Pending", cpu=CORE, memory=GIB, resources={"nvidia.com/gpu": 2}),
                pod("b", on=None, phase="Pending", cpu=CORE, memory=GIB, resources={"nvidia.com/gpu": 1}),
                pod("c", on=None, phase="Pending", cpu=CORE, nominated_node="n1"),
                pod("d", on=None, phase="Pending", cpu=CORE, gated=True),
                pod("pulling", on="n1", phase="Pending", cpu=CORE),
            ],
        )
    )
    assert {what: row.pod_count for what, row in found.items()} == {"pending": 2, "nominated": 1, "gated": 1}
    pending = found["pending"]
    assert (pending.requests_cpu_nanocores, pending.requests_memory_bytes, pending.resources) == (2 * CORE, 2 * GIB, {"nvidia.com/gpu": 3})


def test_a_suspended_job_waits_with_all_its_pods() -> None:
    # 3 pods of 2 cores, 4 GiB and 2 GPUs: 6 cores, 12 GiB, 6 GPUs once it runs
    taken = snapshot(
        nodes=[node("n1")],
        jobs=[
            job("j", suspended=True, parallelism=3, cpu=2 * CORE, memory=4 * GIB, resources={"nvidia.com/gpu": 2}),
            job("runs", cpu=CORE, memory=GIB),
        ],
    )
    assert waiting_in(taken) == {"suspended Jobs": Waiting("suspended Jobs", 1, 3, 6 * CORE, 12 * GIB, {"nvidia.com/gpu": 6})}


def test_nothing_waits_in_a_quiet_cluster() -> None:
    assert not waiting_in(snapshot(nodes=[node("n1")], pods=[pod("a", on="n1")]))


def test_placeholders_are_requested_and_said_to_be_preemptible() -> None:
    # 6 pods of 1 core and 5 placeholders of 2 cores on 16: all requested, 10 of it for pods of lower priority
    pods = [pod(f"p{i}", on="n1", cpu=CORE, priority=0) for i in range(6)]
    pods += [pod(f"placeholder{i}", on="n1", cpu=2 * CORE, priority=-10) for i in range(5)]
    totals = assess(snapshot(nodes=[node("n1", cpu=16 * CORE)], pods=pods), Settings()).totals
    assert totals.requests_cpu_nanocores == totals.allocatable_cpu_nanocores == 16 * CORE
    assert (totals.preemptible_pod_count, totals.preemptible_requests_cpu_nanocores) == (5, 10 * CORE)


def test_huge_pages_are_rows_of_their_own_and_no_memory() -> None:
    big = node("n1", memory=46990156 * 1024, resources={"hugepages-2Mi": (GIB, GIB), "hugepages-1Gi": (16 * GIB, 16 * GIB)})
    plan = assess(snapshot(nodes=[big], pods=[pod("a", on="n1", memory=GIB, resources={"hugepages-2Mi": 512 * MIB})]), Settings())
    assert plan.minor_resources == (
        MinorResource("hugepages-1Gi", 1, 16 * GIB, 0),
        MinorResource("hugepages-2Mi", 1, GIB, 512 * MIB),
    )
    assert plan.totals.requests_memory_bytes == GIB
    assert plan.totals.allocatable_memory_bytes == 46990156 * 1024


@pytest.mark.parametrize(("bought", "cores"), [(CORE // 4, 0.25), (None, 2)])
def test_a_fargate_node_is_as_large_as_what_was_bought(bought: int | None, cores: float) -> None:
    fargate = node("f", cpu=2 * CORE, memory=4 * GIB, pods=1, virtual=True)
    taken = snapshot(nodes=[fargate], pods=[pod("a", on="f", cpu=150_000_000, provisioned_cpu_nanocores=bought)])
    plan = assess(taken, Settings())
    assert plan.nodes["allocatable_cpu_nanocores"].tolist() == [cores * CORE]
    assert plan.totals.allocatable_cpu_nanocores == 0
    assert plan.pools == ()
