from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from batch.findings import Message
from batch.plan.coverage import lacking
from batch.plan.model import FORMULA, NODES, Flavor, FlavorFit, Recommendation
from batch.plan.prices import NO_PRICES, Price, Prices
from batch.plan.recommend import recommend
from batch.plan.suits import Accelerator, Suits
from batch.report.format import render_message
from batch.settings import PlanSettings
from tests.builders import CORE, GIB

PRICES = Prices("EUR", {"dear": Price(1.0, date(2026, 1, 1), spot=False), "cheap": Price(0.1, date(2026, 1, 1), spot=True)})


def fit(name: str, memory: int = 16 * GIB, *, cores: int = 4, gpu_count: int = 0, architecture: str = "amd64", **given: Any) -> FlavorFit:
    known: dict[str, Any] = {
        "in_cluster_node_count": 1,
        "allocatable_cpu_nanocores": cores * CORE,
        "allocatable_memory_bytes": memory,
        "pod_limit": 110,
        "daemonset_pod_count": 5,
        "daemonset_cpu_nanocores": 0,
        "daemonset_memory_bytes": GIB,
        "cpu_fit_ratio": 0.1,
        "memory_fit_ratio": 0.1,
        "outliers_tolerated": None,
        "memory_overrun_probability": 0.0,
        "cpu_overrun_probability": 0.0,
        "node_count": 1,
        "monthly_cost": PRICES.monthly(name, 1),
        "node_monthly_cost": PRICES.monthly(name, 1),
        "allocatable_source": NODES,
    }
    return FlavorFit(Flavor(name, "google", cores * CORE, memory, gpu_count, None, architecture, None), **{**known, **given})


def needs(
    *architectures: str, accelerator: Accelerator | None = None, requesting: int = 0, offers: dict[str, dict[str, int]] | None = None
) -> Suits:
    return Suits(frozenset(architectures or ("amd64",)), accelerator, requesting, offers or {}, 100)


PLAIN = needs()


def chosen(
    *fits: FlavorFit, measured: int = 10, pods: int | None = None, suits: Suits = PLAIN, prices: Prices = NO_PRICES
) -> tuple[Recommendation | None, Message | None]:
    return recommend(fits, suits, lacking=lacking(measured, pods or measured, PlanSettings()), most=0.01, prices=prices)


def refusal(*fits: FlavorFit, **given: Any) -> Message:
    recommended, said = chosen(*fits, **given)
    assert recommended is None
    assert said is not None
    return said


def name_of(*fits: FlavorFit, **given: Any) -> str | None:
    recommended, refusal = chosen(*fits, **given)
    assert (recommended is None) != (refusal is None)
    return recommended.flavor if recommended else None


def test_the_least_memory_then_the_fewest_cores_win() -> None:
    assert name_of(fit("big", 64 * GIB), fit("many", cores=16), fit("few", cores=8)) == "few"


def test_of_equal_flavors_the_clusters_own_wins() -> None:
    assert name_of(fit("a", in_cluster_node_count=0), fit("b", in_cluster_node_count=2)) == "b"


def test_with_prices_the_cheapest_pod_wins_and_what_has_no_price_is_left_out() -> None:
    flavors = fit("dear", 8 * GIB), fit("cheap", 64 * GIB), fit("unpriced", GIB)
    recommended, _ = chosen(*flavors, prices=PRICES)
    assert recommended is not None
    assert recommended.flavor == "cheap"
    # 0.1 an hour for 730 hours, for a hundred pods
    assert "73\u00a0EUR a month for a node at spot prices, 0.73\u00a0EUR for a pod" in render_message(recommended.reasons[-1])
    assert "left out: 1" in render_message(recommended.reasons[-1])


def test_a_flavor_that_is_not_in_the_cluster_says_what_its_size_rests_on() -> None:
    def said(source: str) -> str:
        recommended, _ = chosen(fit("a", allocatable_source=source, in_cluster_node_count=0))
        assert recommended is not None
        return " ".join(map(render_message, recommended.reasons))

    assert "no such node yet: what pods may use of it is worked out from GKE's published reservation" in said(FORMULA)
    assert "no such node" not in said(NODES)


def test_a_chance_over_the_accepted_one_disqualifies_in_either_resource() -> None:
    risky = fit("memory", 8 * GIB, memory_overrun_probability=0.0101), fit("cpu", 8 * GIB, cpu_overrun_probability=0.5)
    assert name_of(*risky, fit("safe", 64 * GIB, memory_overrun_probability=0.01)) == "safe"


def test_slots_for_daemonsets_count() -> None:
    assert name_of(fit("full", 8 * GIB, pod_limit=104), fit("unknown", 8 * GIB, pod_limit=None), fit("enough", pod_limit=105)) == "enough"


def test_a_flavor_whose_size_for_pods_is_unknown_is_no_candidate() -> None:
    assert name_of(fit("elsewhere", 8 * GIB, memory_overrun_probability=None), fit("here")) == "here"


def test_pods_are_not_moved_to_another_architecture() -> None:
    arm = fit("arm", 8 * GIB, architecture="arm64")
    assert name_of(arm, fit("intel")) == "intel"
    assert name_of(arm, fit("intel"), suits=needs("amd64", "arm64")) == "arm"


def test_gpus_are_not_bought_for_their_memory() -> None:
    gpu = fit("gpu", 8 * GIB, gpu_count=1)
    assert name_of(gpu, fit("plain", 64 * GIB)) == "plain"
    assert name_of(gpu) is None
    recommended, _ = chosen(fit("plain"), suits=needs(requesting=3))
    assert recommended is not None
    assert "pods that request some (3 here) need nodes of their own" in render_message(recommended.reasons[-2])


def test_pods_that_mostly_request_an_accelerator_get_a_flavor_with_enough_of_it() -> None:
    tpus = needs(
        accelerator=Accelerator("google.com/tpu", 8, Fraction(4, 100)),
        offers={"tpu-4": {"google.com/tpu": 4}, "tpu-1": {"google.com/tpu": 1}, "nvidia": {"nvidia.com/gpu": 8}},
    )
    small, large = fit("tpu-1", 8 * GIB, gpu_count=1), fit("tpu-4", 32 * GIB, gpu_count=4)
    others = fit("nvidia", 8 * GIB, gpu_count=8), fit("plain", 8 * GIB)
    assert name_of(*others, small, large, suits=tpus) == "tpu-4"
    recommended, _ = chosen(*others, large, suits=tpus)
    assert recommended is not None
    assert "8 of all the pods request accelerators. A node offers 4 of google.com/tpu; 100 pods request 4 together" in " ".join(
        map(render_message, recommended.reasons)
    )
    too_few = render_message(refusal(*others, small, suits=tpus))
    assert "100 on a node would request 4, and no flavor compared has more than 1; plan fewer pods on a node" in too_few
    assert "no flavor compared is known to have any" in render_message(refusal(*others, suits=tpus))


def test_a_refusal_says_what_is_missing() -> None:
    assert "No pod of this profile was measured" in refusal(fit("a"), measured=0).template
    assert refusal(fit("a", cpu_overrun_probability=None)).values["count"] == 1
    few = refusal(fit("a", pod_limit=29), fit("b", pod_limit=50)).values
    assert (few["name"], few["slots"]) == ("b", 45)
    risky = refusal(fit("a", memory_overrun_probability=0.9), fit("b", memory_overrun_probability=0.2, cpu_overrun_probability=0.3)).values
    assert (risky["name"], risky["memory"], risky["cpu"]) == ("b", 0.2, 0.3)


@pytest.mark.parametrize("nearest", [{"memory_overrun_probability": 0.9}, {"pod_limit": 29}, {"cpu_overrun_probability": None}])
def test_a_refusal_says_which_flavors_were_left_out(nearest: dict[str, Any]) -> None:
    left_out = fit("gpu", 512 * GIB, gpu_count=1), fit("arm", 512 * GIB, architecture="arm64"), fit("arm-2", architecture="arm64")
    said = render_message(refusal(fit("a", **nearest), *left_out))
    assert said.endswith(
        "Left out: 1 with GPUs, which most of these pods do not request; 2 of another CPU architecture than they now run on."
    )
    assert "Left out" not in render_message(refusal(fit("a", **nearest)))


def test_the_reasons_carry_the_numbers() -> None:
    recommended, _ = chosen(fit("a", memory_overrun_probability=0.002))
    assert recommended is not None
    values = recommended.reasons[0].values
    assert (values["chance"], values["most"], values["room"]) == (0.002, 0.01, 15 * GIB)  # 16 GiB less 1 GiB of DaemonSets
