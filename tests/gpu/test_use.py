from datetime import timedelta
from typing import Any

import pytest

from batch.findings import Finding
from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment
from batch.report.format import render_message
from batch.settings import Settings
from tests.builders import CORE, GIB, TAKEN_AT, GpuUsage, PodRows, gpu_usage, job, node, pod, snapshot
from tests.gpu.reported import reported

GPU = "nvidia.com/gpu"
T4 = {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "16384"}


def assessed(
    pods: list[PodRows], gpus: list[GpuUsage] | None, labels: dict[str, str] = T4, count: int = 4, **settings: Any
) -> GpuAssessment:
    nodes = [node("n1", cpu=64 * CORE, labels=labels, resources={GPU: (count, count)})]
    return assess(snapshot(nodes=nodes, pods=pods, gpus=gpus), Settings(**settings))


def holding(name: str, count: int = 1, **columns: Any) -> PodRows:
    return pod(name, resources={GPU: count}, **columns)


def finding(assessment: GpuAssessment, name: str) -> Finding | None:
    return next((one for one in assessment.findings if one.id == name), None)


def test_without_prometheus_everything_about_work_is_unknown() -> None:
    gpu, words = reported(snapshot(nodes=[node("n1", resources={GPU: (4, 4)})], pods=[holding("p")]))
    assert (gpu["usage_ratio_mean"], gpu["gpu_hours"], gpu["idle_gpu_hours"], gpu["window_seconds"]) == (None, None, None, None)
    assert [(h["idle"], h["usage_ratio_mean"], h["idle_gpu_hours"]) for h in gpu["holders"]] == [(None, None, None)]
    assert "no Prometheus was asked" in words
    assert "idle" not in {f for r in gpu["resources"] for f in (r["active_count"], r["idle_count"]) if f}


def test_prometheus_without_samples_makes_nothing_idle() -> None:
    found = assessed([holding("p")], [])
    assert (found.activity_known, found.hours.gpu_hours, found.holders[0].idle) == (True, None, None)
    assert finding(found, "gpus.idle-holders") is None


def test_hours_are_samples_times_step_times_cards() -> None:
    # two devices for an hour, one of them idle half of the time; a third that nobody held
    gpus = [gpu_usage("A", "p", mean=0.5), gpu_usage("B", "p", mean=0.1, idle=30), gpu_usage("C", mean=0.0, idle=60, node="n1")]
    found = assessed([holding("p", 2)], gpus)
    assert (found.hours.gpu_hours, found.hours.idle_gpu_hours) == (2.0, 0.5)
    assert found.hours.usage_ratio_mean == pytest.approx(0.2)
    (holder,) = found.holders
    assert (holder.gpu_hours, holder.idle_gpu_hours, holder.usage_ratio_p95, holder.usage_ratio_max) == (2.0, 0.5, 0.5, 0.5)
    assert holder.usage_ratio_mean == pytest.approx(0.3)
    assert found.resources[0].hours == found.hours


def test_a_pod_that_shares_a_card_counts_for_its_share() -> None:
    # each of two pods carries the value of the whole device; the node has 4 slots of one card
    labels = {"nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "4"}
    gpus = [gpu_usage("A", "p", mean=0.8), gpu_usage("A", "q", mean=0.8), gpu_usage("A", "gone", mean=0.8, node="n1")]
    found = assessed([holding("p"), holding("q")], gpus, labels)
    assert found.hours.gpu_hours == pytest.approx(3 / 4)
    assert found.hours.usage_ratio_mean == pytest.approx(0.8)


def test_idle_is_what_did_nothing_lately_on_all_its_devices() -> None:
    quiet: dict[str, Any] = {"mean": 0.0, "idle": 60}
    gpus = [
        gpu_usage("A", "idle", **quiet),
        gpu_usage("B", "half", **quiet),
        gpu_usage("C", "half", mean=0.4),
        gpu_usage("D", "unseen", **quiet),
        gpu_usage("E", "silent", mean=None, recent_max_ratio=None),
    ]
    found = assessed([holding("idle"), holding("half", 2), holding("unseen", 2), holding("silent")], gpus, count=8)
    # of two devices of "unseen" one has no samples, so it is not known to be idle
    assert {one.pod: one.idle for one in found.holders} == {"idle": True, "half": False, "unseen": None, "silent": None}
    assert (found.resources[0].active_count, found.resources[0].idle_count) == (2, 1)
    idle = finding(found, "gpus.idle-holders")
    assert idle
    assert idle.objects == ("default/idle",)
    assert render_message(idle.title).replace("\u00a0", " ") == "1 pod holds 1 GPU that did nothing for 30 min"


def test_the_limit_of_idleness_is_a_setting() -> None:
    gpus = [gpu_usage("A", "p", mean=0.04)]
    assert assessed([holding("p")], gpus).holders[0].idle is False
    assert assessed([holding("p")], gpus, gpu={"idle_ratio": 0.05}).holders[0].idle is True


def test_holders_are_ranked_by_idle_hours_and_name_owner_age_and_last_activity() -> None:
    active_at = TAKEN_AT - timedelta(minutes=40)
    gpus = [gpu_usage("A", "little", idle=6), gpu_usage("B", "much", idle=54, recent_max_ratio=0.0, last_active_at=active_at)]
    pods = [holding("little"), holding("much", labels={"team": "vision"}, started_at=TAKEN_AT - timedelta(hours=5))]
    first, second = assessed(pods, gpus).holders
    assert (first.pod, first.owner, first.age_seconds, first.last_active_at) == ("much", "vision", 5 * 3600, active_at)
    assert (first.idle_gpu_hours, second.idle_gpu_hours, second.owner) == (0.9, 0.1, None)


@pytest.mark.parametrize(
    ("owner", "of_pod", "of_job", "unread", "expected"),
    [
        pytest.param("Job", None, 600, [], True, id="the Job's"),
        pytest.param("Job", None, None, [], False, id="a Job without one"),
        pytest.param("Job", 60, None, [], True, id="the pod's own"),
        pytest.param("Job", None, 600, ["jobs"], None, id="Jobs not read"),
        pytest.param("ReplicaSet", None, None, [], False, id="a Deployment never ends"),
    ],
)
def test_a_deadline_is_the_pods_or_its_jobs(
    owner: str, of_pod: int | None, of_job: int | None, unread: list[str], *, expected: bool | None
) -> None:
    one = holding("p", owner_kind=owner, owner_uid="u", deadline_seconds=of_pod)
    jobs = [] if unread else [job("train", uid="u", deadline_seconds=of_job)]
    shot = snapshot(nodes=[node("n1", resources={GPU: (1, 1)})], pods=[one], jobs=jobs, unread=unread)
    assert assess(shot, Settings()).holders[0].has_deadline is expected


def test_promised_against_working_by_pool_namespace_and_workload() -> None:
    gpus = [
        gpu_usage("A", "p", idle=60, mean=0.0, namespace="a"),
        gpu_usage("B", "q", namespace="b"),
        gpu_usage("C", "gone", namespace="b", node="n1"),
    ]
    pods = [holding("p", namespace="a", workload_kind="Job", workload="train"), holding("q", namespace="b")]
    found = {(one.by, one.name): one for one in assessed(pods, gpus).shares}
    pool = found["pool", "none"]
    assert (pool.allocatable_cards, pool.requests_cards, pool.pod_count, pool.idle_pod_count) == (4, 2, 2, 1)
    assert (pool.hours.gpu_hours, pool.hours.idle_gpu_hours) == (3.0, 1.0)
    assert found["namespace", "a"].hours.idle_gpu_hours == 1.0
    assert found["workload", "a/train"].kind == "Job"
    assert found["workload", "b/(no longer there)"].hours.gpu_hours == 1.0


def test_small_pods_with_whole_cards_are_told_what_would_do() -> None:
    a100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.memory": "81920"}
    gpus = [
        gpu_usage("A", "small", mean=0.1, memory_used_max_bytes=8 * GIB),
        gpu_usage("B", "wide", mean=0.1, memory_used_max_bytes=60 * GIB),
        gpu_usage("C", "unknown", mean=0.1),
    ]
    found = finding(assessed([holding("small"), holding("wide"), holding("unknown")], gpus, a100), "gpus.share-small")
    assert found
    assert found.objects == ("default/small",)  # 0.1 is under a seventh, and 8 GiB under an eighth of 80
    assert "A part of 1 of 7 slices by MIG would do." in render_message(found.detail)


def test_where_mig_is_not_to_be_had_time_slicing_is_named() -> None:
    found = finding(assessed([holding("p")], [gpu_usage("A", "p", mean=0.2, memory_used_max_bytes=3 * GIB)]), "gpus.share-small")
    assert found
    assert "Time-slicing with 4 pods a card would do." in render_message(found.detail)


def test_work_that_nobody_is_known_to_do_is_told() -> None:
    found = assessed([], [gpu_usage("A", mean=0.9, node="n1", samples=120)])
    assert found.unattributed_hours == 2.0
    assert finding(found, "gpus.unattributed")


PRICES = {"currency": "EUR", "date": "2026-02-01", "gpu_per_hour": {"Tesla-T4": 0.5}}


def test_idle_and_stranded_cards_cost_what_the_user_says() -> None:
    # the node is full in CPU: of 4 cards one is held, idle for half of the hour that was seen; 3 are stranded
    nodes = [node("n1", cpu=8 * CORE, labels=T4, resources={GPU: (4, 4)})]
    gpus = [gpu_usage("A", "p", mean=0.0, idle=30, first_at=TAKEN_AT - timedelta(hours=1), last_at=TAKEN_AT - timedelta(minutes=1))]
    gpu, words = reported(snapshot(nodes=nodes, pods=[holding("p", cpu=8 * CORE)], gpus=gpus), prices=PRICES)
    (cost,) = gpu["costs"]["products"]
    # half an hour an hour, 730 hours, 0.50 each: 182.50; three cards for 730 hours: 1,095
    assert cost == {"product": "Tesla-T4", "per_hour": 0.5, "idle_monthly_cost": 182.5, "stranded_monthly_cost": 1095.0}
    assert "What idle and stranded ones cost in a month" in words


def test_a_finding_saves_what_its_cards_cost_and_nothing_without_a_price() -> None:
    gpus = [gpu_usage("A", "p", mean=0.0, idle=60), gpu_usage("B", "p", mean=0.0, idle=60)]
    priced = finding(assessed([holding("p", 2)], gpus, prices=PRICES), "gpus.idle-holders")
    other = finding(assessed([holding("p", 2)], gpus, prices={**PRICES, "gpu_per_hour": {"NVIDIA-L4": 1.0}}), "gpus.idle-holders")
    assert (priced and priced.monthly_saving, other and other.monthly_saving) == (2 * 0.5 * 730, None)


def test_holders_are_named_where_nodes_could_not_be_read() -> None:
    shot = snapshot(pods=[holding("p")], unread=["nodes"], namespaces=("default",))
    (one,) = assess(shot, Settings()).holders
    assert (one.pod, one.count, one.card_count) == ("p", 1, None)
