from batch.plan.assess import assess
from batch.plan.model import ProfilePlan
from batch.report.format import render_message
from batch.settings import PlanSettings, Settings
from tests.builders import CORE, GIB, MIB, node, pod, snapshot


def planned(measured: int, count: int, **settings: float) -> ProfilePlan:
    pods = [pod(f"p{i:02d}", usage=(CORE // 10, 100 * MIB) if i < measured else None) for i in range(count)]
    shot = snapshot(nodes=[node("n1", instance_type="a", memory=64 * GIB, cpu=16 * CORE)], pods=pods)
    return assess(shot, Settings(plan=PlanSettings(**settings))).profiles[0]  # type: ignore[arg-type]  # what a test names


def refusal(profile: ProfilePlan) -> str | None:
    assert (profile.recommended is None) != (profile.refusal is None)
    return render_message(profile.refusal) if profile.refusal else None


def test_a_flavor_is_recommended_for_pods_of_which_enough_were_measured() -> None:
    assert refusal(planned(10, 10)) is None
    assert refusal(planned(16, 20)) is None


def test_nothing_is_recommended_when_few_of_the_pods_were_measured() -> None:
    assert str(refusal(planned(15, 20))).startswith("Only 15 of 20 pods were measured; a recommendation takes 80\u00a0% of them")
    assert refusal(planned(15, 20, measured_ratio_min=0.7)) is None


def test_nothing_is_recommended_on_a_handful_of_pods() -> None:
    assert str(refusal(planned(9, 9))).startswith("9 measured of 9 are too few")
    assert refusal(planned(3, 3, measured_count_min=3)) is None
