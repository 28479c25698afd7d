from __future__ import annotations

import pandas as pd
import pytest

from batch.plan.jupyterhub import owners, user_of


@pytest.mark.parametrize(
    ("pod", "user"),
    [
        ("jupyter-jane", "jane"),
        ("jupyter-jane-2ddoe", "jane-doe"),
        ("jupyter-jane-2edoe-40example-2ecom", "jane.doe@example.com"),
        ("jupyter-m-c3-bcller", "müller"),
        ("jupyter-jane-2ddoe--lab-2d1", "jane-doe"),
        ("jupyter-rceatpitt-2ddata-2d-2dics", "rceatpitt-data--ics"),
        # since KubeSpawner 7: valid names as they are, others shortened and hashed
        ("jupyter-jane-doe", "jane-doe"),
        ("jupyter-team-61bc", "team-61bc"),  # 61 is "a", which is never escaped
        ("jupyter-team-4aces", "team-4aces"),  # 4a is "J", and user names are lower case
        ("jupyter-ann-bee", "ann-bee"),  # be alone is no UTF-8
        ("jupyter-user-email-com---0c1fe94b", "user-email-com"),
        ("jupyter-user-email-com--some-name---0c1fe94b", "user-email-com"),
        ("jupyter-user-email-com---0c1fe94b--lab", "user-email-com"),
        ("notebook-of-somebody", "notebook-of-somebody"),
    ],
)
def test_a_pod_tells_its_user(pod: str, user: str) -> None:
    assert user_of(pod) == user


def of_hub(*pods: str) -> list[str]:
    return owners(pd.DataFrame({"namespace": ["hub"] * len(pods), "pod": pods})).tolist()


def test_on_a_binderhub_pods_belong_to_the_repository() -> None:
    assert of_hub(
        "jupyter-binder-2dexamples-2dr-2daezilgbm",
        "jupyter-quantstack-2dxeus-2dcling-2dis1vzteh",
        "jupyter-bokeh-2dbokeh-2dnotebooks-2dlofg2p6t",
    ) == ["binder-examples-r", "quantstack-xeus-cling", "bokeh-bokeh-notebooks"]


def test_on_a_new_binderhub_too() -> None:
    assert of_hub("jupyter-minrk-example-a3k9x2p7", "jupyter-owner-my-repo-b8m1q5w2---0c1fe94b") == ["minrk-example", "owner-my-repo"]


def test_a_person_whose_last_name_has_eight_letters_keeps_it() -> None:
    assert of_hub("jupyter-jane-2danderson", "jupyter-john-2djohnston") == ["jane-anderson", "john-johnston"]
    assert of_hub("jupyter-jane-2danders0n", "jupyter-bo") == ["jane-anders0n", "bo"]


def test_namespaces_are_hubs_of_their_own() -> None:
    pods = pd.DataFrame({"namespace": ["binder", "hub"], "pod": ["jupyter-a-2db-2da3k9x2p7", "jupyter-jane"]})
    assert owners(pods).tolist() == ["a-b", "jane"]
