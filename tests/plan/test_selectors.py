from __future__ import annotations

import pytest

from batch.errors import SettingsError
from batch.plan.selectors import parse, selected
from tests.builders import pod, snapshot

PODS = {
    "web": {"app": "web", "tier": "front"},
    "db": {"app": "db", "tier": "back", "example.com/backup": ""},
    "bare": {},
}


def chosen(selector: str) -> set[str]:
    taken = snapshot(pods=[pod(name, labels=labels) for name, labels in PODS.items()])
    sets = selected(taken, parse(selector, "test"))
    pods = taken.table("pods")
    return set(pods.loc[pods["label_set"].isin(sets), "pod"])


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("", {"web", "db", "bare"}),
        ("app=web", {"web"}),
        ("app==web", {"web"}),
        ("app!=web", {"db", "bare"}),
        ("app in (web, db)", {"web", "db"}),
        ("app notin (web)", {"db", "bare"}),
        ("tier", {"web", "db"}),
        ("!tier", {"bare"}),
        ("! tier", {"bare"}),
        ("tier,app!=db", {"web"}),
        (" app = web , tier in (front,back) ", {"web"}),
        ("example.com/backup=", {"db"}),
        ("app in (,web)", {"web"}),
        ("inside", set()),
        ("app=other", set()),
    ],
)
def test_selectors_choose_as_kubectl_does(selector: str, names: set[str]) -> None:
    assert chosen(selector) == names


@pytest.mark.parametrize(
    "selector", ["app=web,", ",", "app in web", "app in (a b)", "app in ()", "=web", "app = web db", "-app", "app=-x", "a/b/c"]
)
def test_what_kubectl_refuses_is_refused_with_the_profile_named(selector: str) -> None:
    with pytest.raises(SettingsError, match="of profile 'users'") as caught:
        parse(selector, "users")
    assert caught.value.slug == "selector"
