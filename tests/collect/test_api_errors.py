"""What goes wrong with the live API: repeated when it may pass, explained when it does not, never half a list."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
import yaml
from kubernetes.client.api_client import ApiClient

from batch.collect.source import JOBS, NODE_METRICS, NODES, POD_METRICS, PODS, SERVICES, Kind, ListExpired, PartlyForbidden, SourceError
from batch.errors import CollectError
from tests.collect.api_lists import Clock, Connect, names, pods
from tests.collect.test_assemble import snapshot_of
from tests.kube.fake import FakeKube, Trouble, rules_from_manifests

CRONJOBS = Kind("cronjobs", "batch", "v1", namespaced=True)


def test_a_busy_server_is_left_alone_as_long_as_it_asks(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/api/v1/pods", 429, times=2, retry_after=7, body="Too many requests, please try again later.\n")

    assert names(connect(kube)) == [[]]
    assert clock.sleeps == [7, 7]


def test_waits_double_where_the_server_names_none(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/api/v1/pods", 429, times=3)

    assert names(connect(kube)) == [[]]
    assert clock.sleeps == [1, 2, 4]


def test_a_server_that_stays_busy_is_given_up(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/api/v1/pods", 429, times=99, retry_after=1, body="Too many requests, please try again later.\n")

    with pytest.raises(SourceError, match=r"unavailable: 429 Too many requests, please try again later\. \(tried 8 times\)"):
        names(connect(kube, api__retry_seconds=120))
    assert clock.sleeps == [1, 2, 4, 8, 16, 30, 30]  # 91 s; 30 more would exceed 120


def test_a_wait_that_does_not_fit_the_budget_is_not_begun(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/api/v1/pods", 429, times=99, retry_after=3600)

    with pytest.raises(SourceError, match="429"):
        names(connect(kube))
    assert clock.sleeps == []


def test_the_budget_is_that_of_the_whole_list(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.add(pods(2))
    cluster = connect(kube, api__page_size=1, api__retry_seconds=4)
    kube.fail("/api/v1/pods", 500, times=2)
    pages = cluster.pages(PODS)
    next(pages)  # waits 1 + 2 s
    kube.fail("/api/v1/pods", 500, times=2)

    with pytest.raises(SourceError, match="500"):
        next(pages)
    assert clock.sleeps == [1, 2, 1]


def test_repeating_ends_with_the_time_of_the_run(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/api/v1/pods", 503, times=99)

    with pytest.raises(SourceError, match="503"):
        names(connect(kube, deadline_seconds=5))
    assert clock.sleeps == [1, 2]  # 2 s are left, the next wait would be 4


@pytest.mark.parametrize("trouble", [500, 502, 503, 504, "drop", "cut", "cut chunks", "empty"])
def test_what_may_pass_is_repeated(kube: FakeKube, connect: Connect, trouble: Trouble) -> None:
    kube.add(pods(3))
    kube.fail("/api/v1/pods", trouble, times=2)

    assert list(chain(*names(connect(kube)))) == ["p00000", "p00001", "p00002"]


@pytest.mark.parametrize("trouble", ["cut", "cut chunks", "empty"])
def test_after_a_cut_answer_less_is_asked_for(kube: FakeKube, connect: Connect, trouble: Trouble) -> None:
    kube.add(pods(3))
    kube.fail("/api/v1/pods", trouble, times=2)

    assert names(connect(kube, api__page_size=5)) == [["p00000"], ["p00001"], ["p00002"]]
    assert [request.query["limit"] for request in kube.requests] == ["5", "2", "1", "1", "1"]


def test_an_answer_that_is_always_cut_is_given_up_soon(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", "cut", times=99)

    with pytest.raises(
        SourceError, match=r"pods: API server unavailable: the answer was cut off: .*IncompleteRead.*tried 4 times"
    ) as caught:
        names(connect(kube))
    assert "api.page_size" in caught.value.remedy


def test_a_server_that_was_waited_for_in_vain_is_not_waited_for_as_long_with_each_further_list(
    kube: FakeKube, connect: Connect, clock: Clock
) -> None:
    cluster = connect(kube, api__retry_seconds=60)
    waits: list[float] = []
    for kind, path in (SERVICES, "/api/v1/services"), (JOBS, "/apis/batch/v1/jobs"), (PODS, "/api/v1/pods"):
        kube.fail(path, 503, times=99)
        before = sum(clock.sleeps)
        with pytest.raises(SourceError, match="503"):
            names(cluster, kind)
        waits.append(sum(clock.sleeps) - before)
    assert waits == [31, 15, 31]  # without pods there is no report


def test_once_it_answers_again_the_server_is_waited_for_again(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    cluster = connect(kube, api__retry_seconds=60)
    kube.fail("/api/v1/services", 503, times=6)
    with pytest.raises(SourceError, match="503"):
        names(cluster, SERVICES)
    assert names(cluster, JOBS) == [[]]
    kube.fail("/api/v1/services", 503, times=5)
    before = sum(clock.sleeps)

    assert names(cluster, SERVICES) == [[]]
    assert sum(clock.sleeps) - before == 31


def test_a_hang_up_is_told_in_a_sentence(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", "drop", times=99)

    with pytest.raises(SourceError, match=r"unavailable: Connection aborted: Remote end closed connection without response$"):
        names(connect(kube, api__retry_seconds=0))


def test_half_a_list_is_an_error(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(3))
    pages = connect(kube, api__page_size=1).pages(PODS)
    next(pages)
    kube.fail("/api/v1/pods", "cut", times=99)

    with pytest.raises(SourceError, match="cut off"):
        next(pages)


@pytest.mark.parametrize("answer", [{}, {"kind": "Pod", "metadata": {"name": "p"}}])
def test_what_is_no_list_is_no_empty_list(kube: FakeKube, connect: Connect, answer: dict[str, object]) -> None:
    kube.serve("/api/v1/pods", *[answer] * 99)

    with pytest.raises(SourceError, match="Kubernetes List"):
        names(connect(kube))


def test_a_silent_server_is_not_waited_for(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", "hang", times=99)

    with pytest.raises(SourceError, match=r"no answer within 0\.05 s"):
        names(connect(kube, api__timeout_seconds=0.05, api__retry_seconds=0))
    assert len(kube.requests) == 1


@pytest.mark.parametrize(("left", "longest"), [(None, 60), (40, 40), (0, 5)])
def test_the_time_left_to_the_run_limits_the_wait_for_one_answer(
    kube: FakeKube, connect: Connect, monkeypatch: pytest.MonkeyPatch, left: float | None, longest: float
) -> None:
    waits: list[float] = []
    call: Any = ApiClient.call_api

    def call_api(*args: object, _request_timeout: float) -> object:
        waits.append(_request_timeout)
        return call(*args, _request_timeout=_request_timeout)

    monkeypatch.setattr(ApiClient, "call_api", call_api)

    assert names(connect(kube, deadline_seconds=left, api__timeout_seconds=60)) == [[]]
    assert waits == [longest]


def test_a_missing_right_names_the_rule_to_add(connect: Connect) -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]}
    with FakeKube(rules_from_manifests([role])) as kube:
        cluster = connect(kube)

        assert names(cluster, NODES) == [[]]
        with pytest.raises(SourceError) as caught:
            names(cluster, POD_METRICS)
    error = caught.value
    assert error.forbidden
    assert error.reason == (
        'no right to list pods of API group "metrics.k8s.io" at the cluster scope (403): pods.metrics.k8s.io is forbidden: '
        'User "system:serviceaccount:report:report" cannot list resource "pods" in API group "metrics.k8s.io" at the cluster scope'
    )
    assert error.remedy == 'Add to the ClusterRole: apiGroups ["metrics.k8s.io"], resources ["pods"], verbs ["get", "list"].'
    assert len(kube.requests) == 2


ROLE_IN_A = """
kind: Role
metadata: {name: report, namespace: a}
rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
"""


def test_a_right_missing_in_one_namespace_names_it_and_the_others_are_read(connect: Connect) -> None:
    with FakeKube(rules_from_manifests(yaml.safe_load_all(ROLE_IN_A))) as kube:
        kube.add(pods(2, "a"))
        pages = connect(kube, cluster__namespaces="b,a").pages(PODS)
        next(pages)
        with pytest.raises(PartlyForbidden, match='no right to list pods of API group "" in namespace "b"') as caught:
            next(pages)
    assert caught.value.namespaces == ("b",)
    assert 'a Role in namespace "b"' in caught.value.remedy


def test_a_snapshot_of_namespaces_has_a_gap_for_the_forbidden_one(connect: Connect) -> None:
    with FakeKube(rules_from_manifests(yaml.safe_load_all(ROLE_IN_A))) as kube:
        kube.add(pods(2, "a"))
        kube.add(pods(1, "b"))
        snapshot = snapshot_of(connect(kube, cluster__namespaces="a,b"), namespaces=("a", "b"))
    assert snapshot.table("pods")["namespace"].tolist() == ["a", "a"]
    assert snapshot.namespaces == ("a",)
    reason, others = (gap.reason for gap in snapshot.gaps if gap.source == "pods")
    assert others == "only those of a were read"
    assert reason.startswith('left out in b: no right to list pods of API group "" in namespace "b" (403)')


def test_rights_missing_in_all_namespaces_end_the_run(connect: Connect) -> None:
    with FakeKube(rules_from_manifests(yaml.safe_load_all(ROLE_IN_A))) as kube:
        cluster = connect(kube, cluster__namespaces="b,c")
        with pytest.raises(CollectError, match=r'in namespace "b" \(403\).*a Role in namespace "b"'):
            snapshot_of(cluster, namespaces=("b", "c"))


def test_a_right_withdrawn_in_mid_list_leaves_nothing_half_used(connect: Connect) -> None:
    with FakeKube(rules_from_manifests(yaml.safe_load_all(ROLE_IN_A))) as kube:
        kube.add(pods(2, "a"))
        pages = connect(kube, cluster__namespaces="a,b", api__page_size=1).pages(PODS)
        next(pages)
        kube.rules = []
        with pytest.raises(SourceError, match="403") as caught:
            next(pages)
    assert not isinstance(caught.value, PartlyForbidden)


def test_an_api_that_is_not_there_is_asked_once(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/apis/metrics.k8s.io", 404, times=99)

    with pytest.raises(SourceError, match=r"/apis/metrics\.k8s\.io/v1beta1/pods is not served \(404\)") as caught:
        names(connect(kube), POD_METRICS)
    assert caught.value.absent
    assert caught.value.remedy == "Install metrics-server."
    assert len(kube.requests) == 1


def test_a_metrics_api_without_backend_is_given_up_soon(kube: FakeKube, connect: Connect, clock: Clock) -> None:
    kube.fail("/apis/metrics.k8s.io", 503, times=99, body="service unavailable\n")

    with pytest.raises(SourceError, match=r"nodemetrics: metrics API unavailable: 503 service unavailable \(tried 5 times\)") as caught:
        names(connect(kube), NODE_METRICS)
    assert clock.sleeps == [1, 2, 4, 8]  # 15 s
    assert not caught.value.absent


def test_a_list_that_expires_in_the_middle_must_be_begun_again(kube: FakeKube, connect: Connect) -> None:
    kube.add(pods(3))
    cluster = connect(kube, api__page_size=2)
    pages = cluster.pages(PODS)
    next(pages)
    kube.expire()

    with pytest.raises(ListExpired, match="410"):
        next(pages)
    assert list(chain(*names(cluster))) == ["p00000", "p00001", "p00002"]


def test_credentials_are_read_again_only_once(kube: FakeKube, connect: Connect) -> None:
    cluster = connect(kube)
    kube.token = "another"

    with pytest.raises(SourceError, match=r"our credentials are not accepted, .* \(401\): Unauthorized") as caught:
        names(cluster)
    assert not caught.value.forbidden
    assert len(kube.requests) == 2


def test_anything_else_is_passed_on_in_the_words_of_the_server(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", 302, body="<html>Please log in</html>")

    with pytest.raises(SourceError, match="API server answered 302: <html>Please log in</html>") as caught:
        names(connect(kube))
    assert "kubectl get --raw /api/v1/pods" in caught.value.remedy


def test_a_page_of_somebody_else_is_shown_and_not_taken_for_a_cut_list(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/api/v1/pods", 200, times=99, body="<html>Please log in</html>")

    with pytest.raises(SourceError, match="API server answered 200: this is no JSON: <html>Please log in</html>") as caught:
        names(connect(kube))
    assert "api.page_size" not in caught.value.remedy
    assert len(kube.requests) == 1


def test_what_an_api_serves_cannot_be_read(kube: FakeKube, connect: Connect) -> None:
    kube.serve("/apis/batch/v1", {"kind": "Something"})

    with pytest.raises(SourceError, match="what /apis/batch/v1 answers is no list of resources"):
        connect(kube).served_with(CRONJOBS)


def test_rights_cannot_be_asked_for(kube: FakeKube, connect: Connect) -> None:
    kube.fail("/apis/authorization.k8s.io", 403)

    with pytest.raises(SourceError, match="API server answered 403"):
        connect(kube).allowed("list", CRONJOBS)
