"""The fake API server of the tests answers as a real one does."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from batch.collect.api import Cluster
from batch.collect.source import JOBS, NODES, POD_METRICS, PODS, REPLICA_SETS, Kind, SourceError
from tests.kube.real.conftest import Both, Side, needs_server

needs_server()

SECRETS = Kind("secrets", "", "v1", namespaced=True)
DEPLOYMENTS = Kind("deployments", "apps", "v1", namespaced=True)
ZEBRAS = Kind("zebras", "zoo.example", "v1", namespaced=True)


def pages(kind: Kind) -> Callable[[Cluster, Side], object]:
    """Ask for a list: of each page its kind, its version, how many objects it has and how many are said to follow."""

    def question(cluster: Cluster, _: Side) -> object:
        read = [json.loads(page) for page in cluster.pages(kind)]
        return [(page["kind"], page["apiVersion"], len(page["items"]), page["metadata"].get("remainingItemCount")) for page in read]

    return question


def refusal(ask: Callable[[Cluster, Side], object]) -> Callable[[Cluster, Side], tuple[str, str, bool, bool]]:
    """Ask what is refused: in which words, and what we make of it."""

    def question(cluster: Cluster, side: Side) -> tuple[str, str, bool, bool]:
        with pytest.raises(SourceError) as caught:
            ask(cluster, side)
        error = caught.value
        return type(error).__name__, error.reason, error.forbidden, error.absent

    return question


def test_version(both: Both) -> None:
    assert both.ask(lambda cluster, _: cluster.kubernetes_version()) == "v1.20.2"


def test_pages_of_a_list(both: Both) -> None:
    assert both.ask(pages(PODS), api__page_size=3) == [("PodList", "v1", 3, 4), ("PodList", "v1", 3, 1), ("PodList", "v1", 1, None)]


def test_a_list_on_one_page(both: Both) -> None:
    assert both.ask(pages(NODES)) == [("NodeList", "v1", 2, None)]


def test_lists_of_namespaces_one_of_which_is_not_there(both: Both) -> None:
    expected = [("PodList", "v1", 3, None), ("PodList", "v1", 3, 1), ("PodList", "v1", 1, None), ("PodList", "v1", 0, None)]
    assert both.ask(pages(PODS), cluster__namespaces="team-a,team-b,none", api__page_size=3) == expected


def test_a_list_of_metadata_alone(both: Both) -> None:
    def question(cluster: Cluster, _: Side) -> object:
        (page,) = cluster.pages(REPLICA_SETS)
        read = json.loads(page)
        return read["kind"], read["apiVersion"], [(item["metadata"]["name"], item["kind"], sorted(item)) for item in read["items"]]

    items = [("r", "PartialObjectMetadata", ["apiVersion", "kind", "metadata"])]
    assert both.ask(question) == ("PartialObjectMetadataList", "meta.k8s.io/v1", items)


def test_items_carry_no_kind(both: Both) -> None:
    def question(cluster: Cluster, _: Side) -> object:
        (page,) = cluster.pages(JOBS)
        return [("kind" in item, "apiVersion" in item) for item in json.loads(page)["items"]]

    assert both.ask(question) == [(False, False)]


def test_a_continue_token_that_is_too_old(both: Both) -> None:
    def second_page(cluster: Cluster, side: Side) -> object:
        read = cluster.pages(PODS)
        next(read)
        side.expire()
        return next(read)

    assert both.ask(refusal(second_page), api__page_size=3) == ("ListExpired", "its continue token expired in mid-list (410)", False, False)


def test_a_missing_right(both: Both) -> None:
    name, reason, forbidden, absent = both.ask(refusal(pages(SECRETS)))
    assert (name, forbidden, absent) == ("SourceError", True, False)
    assert reason.endswith(
        'secrets is forbidden: User "system:serviceaccount:nightcap:nightcap" cannot list resource "secrets" in API group "" at the cluster scope'
    )


@pytest.mark.parametrize("kind", [SECRETS, ZEBRAS])
def test_a_right_missing_in_a_namespace(both: Both, kind: Kind) -> None:
    assert 'in the namespace "team-a"' in str(both.ask(refusal(pages(kind)), cluster__namespaces="team-a"))


def test_an_api_that_is_not_there(admins: Both) -> None:
    expected = ("SourceError", "/apis/zoo.example/v1/zebras is not served (404)", False, True)
    assert admins.ask(refusal(pages(ZEBRAS))) == expected
    assert admins.ask(refusal(lambda cluster, _: cluster.served_with(ZEBRAS))) == (
        "SourceError",
        "/apis/zoo.example/v1 is not served (404)",
        False,
        True,
    )


def test_what_an_api_serves(both: Both) -> None:
    named = {"deployments", "replicasets", "statefulsets", "daemonsets", "zebras"}
    assert both.ask(lambda cluster, _: cluster.served_with(DEPLOYMENTS) & named) == named - {"zebras"}


def test_a_token_that_is_not_known(strangers: Both) -> None:
    words = "our credentials are not accepted, also after reading them again (401): Unauthorized"
    assert strangers.ask(refusal(pages(PODS))) == ("SourceError", words, False, False)
    assert strangers.ask(lambda cluster, _: cluster.kubernetes_version()) is None


@pytest.mark.parametrize(
    ("verb", "kind", "namespace", "expected"),
    [
        ("list", PODS, None, True),
        ("list", PODS, "team-a", True),
        ("get", NODES, None, True),
        ("list", POD_METRICS, None, True),
        ("watch", PODS, None, False),
        ("delete", PODS, "team-a", False),
        ("list", SECRETS, None, False),
        ("list", ZEBRAS, None, False),
    ],
)
def test_the_review_of_a_right(both: Both, verb: str, kind: Kind, namespace: str | None, *, expected: bool) -> None:
    assert both.ask(lambda cluster, _: cluster.allowed(verb, kind, namespace)) is expected


def test_the_creation_time_of_a_job(both: Both) -> None:
    assert both.ask(lambda cluster, _: cluster.created_at("j", "nightcap") is not None) is True
    assert both.ask(lambda cluster, _: cluster.created_at("none", "nightcap")) is None


def test_both_tell_their_time(both: Both) -> None:
    def question(cluster: Cluster, _: Side) -> object:
        cluster.kubernetes_version()
        return cluster.server_time is not None

    assert both.ask(question) is True
