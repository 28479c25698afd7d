"""Advice: floors, caps, limits, kills, autoscalers, evidence, and who gets none."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from batch.plan.prices import Price, Prices
from batch.plan.rightsizing.model import Advice, Verdict
from batch.report.format import render_message
from batch.snapshot.schemas import HPA_RESOURCES, HPAS, WORKLOAD_CONTAINERS
from tests.builders import CORE, GIB, MIB, node, pod, usage
from tests.plan.rightsizing.sized import MILLI, advice, at, deployed, samples, settings, sized


def said(one: Advice) -> str:
    return " ".join(render_message(reason) for reason in one.reasons).replace("\N{NO-BREAK SPACE}", " ")


def used(cpu: int, memory: int, name: str = "a", count: int = 3) -> list[Any]:
    return samples(name, [cpu] * count, [memory] * count)


def test_a_request_far_above_use_is_lowered_and_written_as_a_person_would() -> None:
    one = advice([deployed("a", cpu=CORE, memory=2 * GIB)], used(137 * MILLI, 300 * MIB))
    assert (one.cpu.verdict, one.cpu.target) == (Verdict.LOWER, 150 * MILLI)
    assert (one.memory.verdict, one.memory.target) == (Verdict.LOWER, 384 * MIB)  # 345 MiB
    assert (one.cpu_change, one.memory_change) == (-850 * MILLI, (384 - 2048) * MIB)


def test_more_evidence_is_written_more_exactly() -> None:
    rows = samples("a", [137 * MILLI] * 1441, [300 * MIB] * 1441)
    one = advice([deployed("a", cpu=CORE, memory=2 * GIB)], rows)
    assert (one.cpu.target, one.memory.target) == (140 * MILLI, 352 * MIB)


def test_what_has_no_request_gets_one() -> None:
    one = advice([deployed("a", cpu=None, memory=None)], used(100 * MILLI, 200 * MIB))
    assert (one.cpu.verdict, one.cpu.target, one.memory.verdict) == (Verdict.SET, 100 * MILLI, Verdict.SET)


@pytest.mark.parametrize(("strategy", "target"), [("peak", 600), ("decayed", 250), ("target_ratio", 500)])
def test_the_settings_choose_the_candidate(strategy: str, target: int) -> None:
    # Nine pods use 200 m, one uses 600 m. peak: 600 m. decayed: nine tenths of the weight are in the bucket of 200 m, which ends at
    # 0.2 * (1.05^15 - 1) = 0.2158, with 15 % 248 m. target ratio: p95 at rank 8.55, 200 + 0.55 * 400 = 420 m, at a ratio of 1.
    rows = [*(row for i in range(9) for row in used(200 * MILLI, MIB, f"p{i}", 1)), *used(600 * MILLI, MIB, "p9", 1)]
    given = settings(strategy=strategy, target_usage_ratio=1)
    (one,) = sized([deployed(f"p{i}", cpu=4 * CORE) for i in range(10)], rows, given=given).advice
    assert one.cpu.target == target * MILLI


def test_a_namespace_may_have_its_own_strategy() -> None:
    given = settings(namespaces=[{"namespace": "batch", "strategy": "decayed"}])
    rows = [usage(name, CORE, GIB, namespace=name) for name in ("batch", "web")]
    pods = [deployed(name, namespace=name) for name in ("batch", "web")]
    assert {one.namespace: one.strategy for one in sized(pods, rows, given=given).advice} == {"batch": "decayed", "web": "peak"}


def test_a_floor_that_decides_says_so() -> None:
    one = advice([deployed("a", cpu=CORE, memory=GIB)], used(MILLI, 10 * MIB))
    assert (one.cpu.target, one.memory.target) == (10 * MILLI, 20 * MIB)
    assert "the floor of 10 millicores decides" in said(one)
    assert "the floor of 20 MiB decides" in said(one)


def test_neither_a_floor_nor_rounding_raises_a_request_that_suffices() -> None:
    # 10 MiB and 15 % is 11.5: hardly more than 11, and the floor of 20 is no reason to ask for twice as much
    one = advice([deployed("a", cpu=5 * MILLI, memory=11 * MIB)], used(MILLI, 10 * MIB))
    assert (one.cpu.verdict, one.memory.verdict) == (Verdict.KEEP, Verdict.KEEP)


def test_a_cap_is_what_the_largest_node_leaves_beside_daemonsets_and_the_other_containers() -> None:
    nodes = [node("n1", cpu=4 * CORE, memory=16 * GIB), node("n2", cpu=2 * CORE, memory=8 * GIB)]
    daemon = pod("d", cpu=CORE // 2, memory=GIB, workload_kind="DaemonSet", workload="agent")
    containers = [{"container": "main", "requests_cpu_nanocores": CORE}, {"container": "proxy", "requests_cpu_nanocores": CORE // 2}]
    given = sized([daemon, deployed("a", containers=containers)], used(20 * CORE, GIB), nodes=nodes)
    one = next(one for one in given.advice if one.container == "main")
    assert one.cpu.target == 3 * CORE  # 4 - 0.5 - 0.5
    assert "capped at 3 cores" in said(one)


def test_containers_of_one_pod_that_all_need_more_still_fit_one_node_together() -> None:
    # 4 cores, of which 0.5 + 0.5 + 1 are asked for: 2 are left. "a" wants 1.5 more, "b" 4.5 more, a quarter and three quarters of them; "c" nothing.
    amounts = {"a": (CORE // 2, 2 * CORE), "b": (CORE // 2, 5 * CORE), "c": (CORE, CORE)}
    containers = [{"container": name, "requests_cpu_nanocores": request} for name, (request, _) in amounts.items()]
    rows = [row for name, (_, use) in amounts.items() for row in samples("p", [use] * 3, [GIB] * 3, container=name)]
    found = sized([deployed("p", containers=containers)], rows, nodes=[node("n1", cpu=4 * CORE)]).advice
    assert {one.container: one.cpu.target for one in found} == {"a": CORE, "b": 2 * CORE, "c": None}


def test_a_cap_lowers_no_request_that_is_needed() -> None:
    one = advice([deployed("a", cpu=5 * CORE)], used(20 * CORE, GIB), nodes=[node("n1", cpu=4 * CORE)])
    assert one.cpu.verdict is Verdict.KEEP


def test_a_capped_request_that_stays_is_no_change_however_small_changes_are_wanted() -> None:
    full = advice(
        [deployed("a", cpu=4 * CORE + 1)], used(20 * CORE, GIB), nodes=[node("n1", cpu=4 * CORE)], given=settings(change_min_ratio=0)
    )
    assert (full.cpu.verdict, full.cpu.target) == (Verdict.KEEP, None)
    exact = advice([deployed("a", cpu=100 * MILLI)], used(99 * MILLI, GIB), given=settings(change_min_ratio=0))
    assert (exact.cpu.verdict, exact.cpu.target) == (Verdict.KEEP, None)


def test_without_nodes_there_is_no_cap() -> None:
    one = advice([deployed("a")], used(20 * CORE, GIB), nodes=[], unread=["nodes"])
    assert one.cpu.target == 20 * CORE


def test_small_changes_are_left_out() -> None:
    given = settings(change_min_cpu_cores=0.1)
    # 95 of 100 m is less than a tenth; 50 of 100 m in one pod is less than 0.1 core; in two pods it is not
    rows = [*used(100 * MILLI, GIB, "a"), *used(100 * MILLI, GIB, "b")]
    assert advice([deployed("a", cpu=105 * MILLI)], rows, given=given).cpu.verdict is Verdict.KEEP
    assert advice([deployed("a", cpu=150 * MILLI)], rows, given=given).cpu.verdict is Verdict.KEEP
    assert advice([deployed("a", cpu=150 * MILLI), deployed("b", cpu=150 * MILLI)], rows, given=given).cpu.verdict is Verdict.LOWER


def test_no_cpu_limit_and_a_memory_limit_only_where_it_is_too_low() -> None:
    generous = advice([deployed("a", cpu=CORE, cpu_limit=2 * CORE, memory=2 * GIB, memory_limit=4 * GIB)], used(100 * MILLI, 300 * MIB))
    assert (generous.cpu.removes_limit, generous.cpu.target_limit, generous.memory.target_limit) == (True, None, None)
    assert "a limit throttles also where the node is idle" in said(generous)
    tight = advice([deployed("a", memory=256 * MIB, memory_limit=512 * MIB)], used(CORE, 500 * MIB))
    assert (tight.memory.target, tight.memory.target_limit) == (640 * MIB, 640 * MIB)  # 575 MiB


def test_cpu_limits_can_be_kept() -> None:
    one = advice([deployed("a", cpu=CORE, cpu_limit=CORE)], used(2 * CORE, MIB), given=settings(cpu_limits="keep"))
    assert (one.cpu.target_limit, one.cpu.removes_limit) == (2 * CORE, False)


def test_guaranteed_pods_stay_guaranteed() -> None:
    rows = used(100 * MILLI, 300 * MIB)
    one = advice([deployed("a", cpu=CORE, cpu_limit=CORE, memory=GIB, memory_limit=GIB, qos_class="Guaranteed")], rows)
    assert (one.cpu.target_limit, one.memory.target_limit) == (one.cpu.target, one.memory.target) == (100 * MILLI, 384 * MIB)
    assert not one.cpu.removes_limit


def killed(hours: float, **amounts: int) -> Any:
    row = {"container": "main", "last_end_reason": "OOMKilled", "last_end_at": at(hours=hours), **amounts}
    return deployed("a", containers=[row])


def test_a_kill_for_memory_raises_it_whatever_the_samples_say() -> None:
    # 512 MiB and 20 % is 614.4, and 100 MiB 612
    one = advice(
        [killed(5, requests_memory_bytes=256 * MIB, limits_memory_bytes=512 * MIB)], used(CORE, 100 * MIB), given=settings(samples_min=99)
    )
    assert (one.memory.verdict, one.memory.target, one.memory.target_limit) == (Verdict.RAISE, 640 * MIB, 640 * MIB)
    assert "1 container was killed for memory, last on 28 February 2026, 22:00 UTC, when held to 512 MiB" in said(one)
    assert one.cpu.verdict is Verdict.UNKNOWN


def test_an_old_kill_is_forgotten() -> None:
    one = advice([killed(24 * 31, limits_memory_bytes=512 * MIB)], [], given=settings(samples_min=99))
    assert one.memory.verdict is Verdict.UNKNOWN


def scaled(*rows: tuple[str, str]) -> dict[str, Any]:
    return {
        "hpas": HPAS.frame([("default", "web", "Deployment", "web", 2, 9, 4)]),
        "hpa_resources": HPA_RESOURCES.frame([("default", "web", *row) for row in rows]),
    }


def test_what_an_autoscaler_scales_by_is_held() -> None:
    one = advice([deployed("a", cpu=CORE, memory=2 * GIB)], used(MILLI, 200 * MIB), tables=scaled(("cpu", "")))
    assert (one.cpu.verdict, one.cpu.target, one.memory.verdict) == (Verdict.HELD, None, Verdict.LOWER)
    assert "CPU is held: the HorizontalPodAutoscaler web scales by it (2 to 9 replicas, now 4)" in said(one)


def test_an_autoscaler_of_one_container_holds_no_other() -> None:
    one = advice([deployed("a", cpu=CORE)], used(MILLI, 200 * MIB), tables=scaled(("cpu", "proxy")))
    assert one.cpu.verdict is Verdict.LOWER


def test_unread_autoscalers_are_said() -> None:
    one = advice([deployed("a", cpu=CORE)], used(MILLI, 200 * MIB), unread=["horizontalpodautoscalers"])
    assert "Autoscalers could not be read" in said(one)


def test_pods_that_are_sized_as_a_whole_are_held() -> None:
    # spec.resources of the pod bounds its containers: a request of theirs above it is refused, and one below it changes nothing.
    one = advice([deployed("a", cpu=4 * CORE, memory=8 * GIB, sized_as_a_whole=True)], used(CORE, GIB))
    assert (one.cpu.verdict, one.memory.verdict, one.cpu.target, one.memory.target) == (Verdict.HELD, Verdict.HELD, None, None)
    assert "change the size there (spec.resources of the pod)" in said(one)
    assert one.cpu.peak == CORE


def test_placeholders_get_no_advice() -> None:
    rows = [row for name in "ab" for row in used(0, MIB, name)]
    given = sized([deployed(name, cpu=2 * CORE, memory=GIB, priority=-10) for name in "ab"], rows)
    (one,) = given.advice
    assert (one.cpu.verdict, one.memory.verdict, one.is_change) == (Verdict.HELD, Verdict.HELD, False)
    assert "placeholder" in said(one)


def template(*containers: str, owner: tuple[str, str] | None = None) -> dict[str, Any]:
    rows = [("Deployment", "default", "web", name, *(owner or (None, None))) for name in containers]
    return {"workload_containers": WORKLOAD_CONTAINERS.frame(rows)}


def with_sidecars() -> tuple[list[Any], list[Any]]:
    containers = [
        {"container": "app", "requests_cpu_nanocores": CORE},
        {"container": "mesh", "kind": "sidecar", "requests_cpu_nanocores": CORE // 2},
        {"container": "setup", "kind": "init", "requests_cpu_nanocores": 2 * CORE},
        {"container": "daprd", "requests_cpu_nanocores": 300 * MILLI},
    ]
    rows = [usage("a", 20 * MILLI, GIB, container=str(one["container"])) for one in containers]
    return [deployed("a", containers=containers)], rows


def test_sidecars_have_rows_and_init_containers_have_not() -> None:
    rows = {one.container: one for one in sized(*with_sidecars()).advice}
    assert sorted(rows) == ["app", "daprd", "mesh"]
    assert rows["mesh"].sidecar
    assert rows["mesh"].cpu.target == 20 * MILLI


def test_what_is_in_no_template_was_injected_and_is_not_patched() -> None:
    rows = {one.container: one for one in sized(*with_sidecars(), tables=template("app", "mesh", "setup")).advice}
    assert {name: one.injected for name, one in rows.items()} == {"app": False, "mesh": False, "daprd": True}
    assert (rows["daprd"].patchable, rows["daprd"].cpu.target) == (False, 20 * MILLI)
    assert "injector's annotations" in said(rows["daprd"])


def test_without_templates_nothing_is_marked() -> None:
    assert {one.injected for one in sized(*with_sidecars()).advice} == {None}


def test_a_workload_of_an_operator_is_not_patched() -> None:
    one = advice([deployed("a", cpu=CORE)], used(MILLI, GIB), tables=template("main", owner=("Kafka", "events")))
    assert not one.patchable
    assert "Kafka events owns this workload" in said(one)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("Pod", "A bare pod has no template"),
        ("StaticPod", "change its file on the nodes"),
        ("Job", "The template of a Job cannot be changed"),
        ("RayCluster", "RayCluster is a custom resource"),
    ],
)
def test_what_cannot_be_patched_says_so(kind: str, words: str) -> None:
    one = advice([pod("a", cpu=CORE, workload_kind=kind, workload="x")], used(100 * MILLI, GIB))
    assert (one.patchable, one.cpu.target) == (False, 100 * MILLI)
    assert words in said(one)


def test_an_unmeasured_pod_is_unknown_and_never_shrunk() -> None:
    # a finished container hides the whole pod from the metrics API
    one = advice([deployed("a", cpu=CORE, memory=GIB)])
    assert (one.cpu.usage, one.cpu.peak, one.cpu.target, one.memory.target) == (None, None, None, None)
    assert "None of its pods was measured." in said(one)


def test_gaps_are_not_zeros() -> None:
    # Four of ten readings: 200, 210, 190, 200 MiB. p95 at rank 0.95 * 3 = 2.85: 200 + 0.85 * 10 = 208.5; coverage 4 of 10.
    whole = samples("b", [CORE] * 10, [200 * MIB] * 10)
    part = samples("a", [CORE] * 4, [200 * MIB, 210 * MIB, 190 * MIB, 200 * MIB])
    pods = [deployed("a"), pod("b", workload_kind="Deployment", workload="other")]
    given = settings(target_usage_ratio=1, coverage_min=0.5)
    one = next(one for one in sized(pods, [*whole, *part], given=given).advice if one.workload == "web")
    assert one.memory.target_ratio == 218_628_096  # 208.5 MiB
    assert one.evidence.coverage_ratio == pytest.approx(0.4)
    assert one.memory.target is None
    assert "50 % of the samples that could be there; 40 % are" in said(one)


def test_too_little_evidence_is_no_advice_and_says_what_is_missing() -> None:
    given = settings(samples_min=29, days_min=7)
    rows = [row for name in "abcd" for row in used(MILLI, GIB, name, 1)]
    one = advice([deployed(name, cpu=CORE) for name in "abcd"], rows, given=given)
    assert (one.cpu.verdict, one.cpu.target, one.cpu.peak) == (Verdict.UNKNOWN, None, MILLI)
    # 25 samples are missing, 4 come each night: 7 nights
    assert "4 samples from 1 night. It takes 29 samples from 7 nights: 7 more nights like this one." in said(one)
    # 1436 samples at 4 a night are 359 nights
    assert "no bounds: 359 more nights like this one are missing, more than the 30 days that are kept" in said(one)


def test_memory_is_not_lowered_by_nightly_samples_unless_wanted() -> None:
    pods = [deployed("a", cpu=CORE, memory=2 * GIB)]
    held = advice(pods, used(MILLI, 200 * MIB), given=settings(memory_hours_min=12))
    assert (held.memory.verdict, held.memory.target, held.cpu.verdict) == (Verdict.HELD, None, Verdict.LOWER)
    assert "a nightly sample is no daily peak" in said(held)
    assert "between 02:00 and 04:00 UTC" in said(held)
    assert advice(pods, used(MILLI, 200 * MIB)).memory.verdict is Verdict.LOWER


def test_a_day_of_samples_may_lower_memory() -> None:
    rows = samples("a", [MILLI] * 24, [200 * MIB] * 24, minutes=60)
    one = advice([deployed("a", memory=2 * GIB)], rows, given=settings(memory_hours_min=12))
    assert one.memory.target == 256 * MIB  # 230 MiB
    assert one.evidence.hours == tuple(range(24))


def test_a_busy_pod_among_idle_ones_is_named() -> None:
    rows = [*(row for i in range(40) for row in used(MILLI * 10, GIB, f"p{i}", 1)), *used(CORE, GIB, "p40", 1)]
    one = advice([deployed(f"p{i}", cpu=CORE // 2) for i in range(41)], rows)
    assert "The busiest pod uses 1 core where all pods together stay under 10 millicores" in said(one)


def test_pods_that_ask_for_different_amounts_are_shown_as_most_are() -> None:
    pods = [deployed("a", cpu=CORE), deployed("b", cpu=2 * CORE), deployed("c", cpu=2 * CORE)]
    one = advice(pods, used(CORE, GIB))
    assert (one.cpu.requests, one.pod_count) == (2 * CORE, 3)
    assert "ask for different amounts" in said(one)


def test_a_size_below_a_mebibyte_is_implausible() -> None:
    one = advice([deployed("a", memory=1, memory_limit=1)], used(CORE, GIB))
    assert "1 byte of memory is implausible" in said(one)


def test_the_largest_change_comes_first_and_then_the_most_room_unused() -> None:
    # Of 64 cores and 256 GiB: "small" gives 1 core back (1/64), "large" 16 GiB (1/16); "idle" has no advice but much unused, "busy" little.
    given = settings(samples_min=2)
    amounts = {"small": (2 * CORE, GIB), "large": (CORE, 32 * GIB), "idle": (9 * CORE, GIB), "busy": (CORE, GIB)}
    pods = [pod(name, cpu=cpu, memory=memory, workload_kind="Deployment", workload=name) for name, (cpu, memory) in amounts.items()]
    rows = [*used(CORE, GIB * 3 // 4, "small"), *used(CORE, 13 * GIB, "large"), *used(CORE, GIB, "idle", 1), *used(CORE, GIB, "busy", 1)]
    assert [one.workload for one in sized(pods, rows, given=given).advice] == ["large", "small", "idle", "busy"]


def test_an_empty_cluster_has_no_advice_and_leaves_no_sketch() -> None:
    nothing = sized([], nodes=[])
    assert (nothing.advice, nothing.sketch, nothing.night_count) == ((), None, 0)


def test_a_saving_needs_prices() -> None:
    # A node of 64 cores and 256 GiB for 1.28 an hour is 934.40 a month of 730 hours: half of it for cores, 7.30 each, half for memory,
    # 1.825 a GiB. Of two pods 850 m and 1.625 GiB less each: 2 * (0.85 * 7.30 + 1.625 * 1.825) = 18.34.
    nodes = [node("n1", cpu=64 * CORE, memory=256 * GIB, instance_type="big")]
    pods = [deployed("a", cpu=CORE, memory=2 * GIB), deployed("b", cpu=CORE, memory=2 * GIB)]
    rows = [*used(137 * MILLI, 300 * MIB, "a"), *used(137 * MILLI, 300 * MIB, "b")]
    prices = Prices("EUR", {"big": Price(1.28, date(2026, 2, 1), spot=False)})
    assert advice(pods, rows, nodes=nodes).monthly_saving is None
    found = sized(pods, rows, nodes=nodes, prices=prices)
    assert (found.advice[0].monthly_saving, found.currency, found.priced_on) == (18.34, "EUR", None)
