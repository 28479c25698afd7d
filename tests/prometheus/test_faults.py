"""Whatever goes wrong with Prometheus: correct figures or a gap, never wrong ones."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batch.collect.prometheus.read import Measures, Prometheus
from batch.deadline import Deadline
from tests.builders import node, pod, snapshot
from tests.prometheus import conftest, proxy, server, week
from tests.prometheus.proxy import Reply, Request

DAY = {"window_seconds": week.DAY}
"""A day of the week is enough to go wrong in."""

FIGURES = ("measured_containers", "container_days", "container_instants", "node_windows")


def measure(address: str, tables: dict[str, pd.DataFrame] | None = None, **settings: Any) -> Measures:
    return conftest.measure(address, tables, **{**settings, "prometheus": {**DAY, **settings.get("prometheus", {})}})


@pytest.fixture(scope="module")
def measured(store: str) -> Measures:
    return measure(store)


def same(one: Measures, other: Measures) -> bool:
    return all(one.tables[name].equals(other.tables[name]) for name in FIGURES)


def body(status: int, kind: str, words: str) -> Reply:
    return Reply(status, json.dumps({"status": "error", "errorType": kind, "error": words}).encode())


def only_gap(measures: Measures) -> str:
    (gap,) = measures.gaps
    assert gap.source == "prometheus"
    assert "metrics API" in gap.effect
    assert dict(measures.tables) == {}
    assert measures.unread == {"prometheus", "node_windows", "gpu_usage", "control_plane"}
    return gap.reason


@pytest.fixture(scope="module")
def hasty(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that gives every query up after a millisecond."""
    copied = shutil.copytree(data, tmp_path_factory.mktemp("hasty") / "data", ignore=shutil.ignore_patterns("lock", "wal", "*.active"))
    with server.running(copied, "--query.timeout=1ms") as address:
        yield address


def test_a_query_timeout_of_a_millisecond_gives_gaps_or_right_figures(hasty: str, measured: Measures) -> None:
    """What such a server answers depends on how fast it is that day: each source is right, or missing with a gap that says why."""
    with proxy.standing(lambda _: None, hasty) as way:
        found = measure(way.address, prometheus={"queries_max": 500})
    lost = {gap.source: gap.reason for gap in found.gaps}
    for source, tables in (("prometheus", FIGURES[:3]), ("node_windows", FIGURES[3:])):
        if source in found.unread:
            assert not set(tables) & set(found.tables)
            assert source in lost or "prometheus" in lost
        else:
            assert all(found.tables[name].equals(measured.tables[name]) for name in tables)
    assert all(any(word in reason for word in ("503", "422", "queries_max")) for reason in lost.values())


def test_503_to_every_second_request_changes_no_figure(store: str, measured: Measures) -> None:
    def overloaded(request: Request) -> Reply | None:
        return Reply(503, b"Service Unavailable") if request.number % 2 else None

    with proxy.standing(overloaded, store) as way:
        found = measure(way.address)
    assert found.gaps == ()
    assert same(found, measured)
    assert found.tables["prometheus"]["request_count"].iloc[0] == len(way.requests)


def test_503_to_every_request_is_a_gap(store: str) -> None:
    with proxy.standing(lambda _: Reply(503, b"Service Unavailable"), store) as way:
        assert "503 Service Unavailable (tried" in only_gap(measure(way.address, prometheus={"retry_seconds": 20}))


def test_what_is_too_much_is_asked_again_in_parts_with_the_same_figures(store: str, measured: Measures) -> None:
    """Refuse, as "too many samples", whatever is not narrowed down to one namespace and a part of its pods."""

    def strict(request: Request) -> Reply | None:
        query = request.parameters.get("query", "")
        wide = 'namespace="' not in query or ("[0-9" not in query and "=~" not in query.replace('cpu=~"', "") and "!~" not in query)
        if "container!=" in query and "count by" not in query and "_over_time(" in query and wide and "pod=~" not in query:
            return body(422, "execution", "query processing would load too many samples into memory in query execution")
        return None

    with proxy.standing(strict, store) as way:
        found = measure(way.address)
    assert found.gaps == ()
    assert same(found, measured)


def test_a_time_out_of_the_server_is_split_like_too_much(store: str, measured: Measures) -> None:
    def slow(request: Request) -> Reply | None:
        query = request.parameters.get("query", "")
        if query.startswith("quantile_over_time") and "namespace=~" in query:
            return body(503, "timeout", "query timed out in expression evaluation")
        return None

    with proxy.standing(slow, store) as way:
        assert same(measure(way.address), measured)


def test_one_question_without_an_answer_is_a_gap_and_the_others_are_kept(store: str) -> None:
    """Nodes are refused for good; what is known of containers stays."""

    def blind(request: Request) -> Reply | None:
        return body(400, "bad_data", "no such thing") if 'id="/"' in request.parameters.get("query", "") else None

    with proxy.standing(blind, store) as way:
        found = measure(way.address)
    assert [(gap.source, "400 no such thing" in gap.reason) for gap in found.gaps] == [("node_windows", True)]
    assert "measured_containers" in found.tables
    assert "node_windows" not in found.tables


def test_a_figure_that_lacks_a_part_is_not_used_at_all(store: str) -> None:
    def blind(request: Request) -> Reply | None:
        return Reply(500, b"no") if "max_over_time(container_memory" in request.parameters.get("query", "") else None

    with proxy.standing(blind, store) as way:
        found = measure(way.address, prometheus={"retry_seconds": 5})
    assert "prometheus" in [gap.source for gap in found.gaps]
    assert not {"measured_containers", "container_instants", "container_usage", "prometheus"} & set(found.tables)


def test_an_answer_that_breaks_off_is_asked_again(store: str, measured: Measures) -> None:
    def cut(request: Request) -> Reply | None:
        return Reply(200, b'{"status":"success","data":{"resultType":"vector"', shorter_by=20) if request.number == 5 else None

    with proxy.standing(cut, store) as way:
        assert same(measure(way.address), measured)


def test_a_body_that_trickles_in_is_given_up() -> None:
    """By a clock that goes on two seconds with every look at it, an answer that takes 32 reads or more comes too slowly."""
    ticks = itertools.count(step=2.0)
    with proxy.standing(lambda _: Reply(200, b"x" * 2**21)) as way:
        asking = Prometheus(conftest.given(way.address, prometheus={"timeout_seconds": 20}), "test", lambda _: None)
        found = asking.measure(week.AT, week.tables(), (), Deadline(None, 0, lambda: next(ticks), 0))
    assert "the answer had not arrived within 25 s" in only_gap(found)
    assert len(way.requests) == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(401, b"no token"), "401 no token. Give it what it accepts"),
        (Reply(403, b"not yours"), "403 not yours. Give the token or user the right"),
        (Reply(404, b"404 page not found"), "404 404 page not found. Give prometheus.url as it is without /api/v1"),
        (Reply(302, b"", {"Location": "/login"}), "302 Found. Give prometheus.url as the address that this one leads to"),
        (Reply(200, b"<html>Log in</html>"), "the answer is not one of Prometheus"),
        (
            Reply(200, b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}'),
            "not one of Prometheus",
        ),
        (Reply(200, b""), "the answer is not one of Prometheus"),
    ],
)
def test_what_will_not_change_is_a_gap_with_its_remedy_after_one_request(reply: Reply, words: str) -> None:
    with proxy.standing(lambda _: reply) as way:
        assert words in only_gap(measure(way.address))
    assert len(way.requests) == 1


def test_an_address_where_nobody_listens_is_a_gap() -> None:
    assert "refused" in only_gap(measure("http://127.0.0.1:9", prometheus={"retry_seconds": 3}))


def test_a_dead_proxy_of_the_environment_is_not_used(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert measure(store).gaps == ()


def test_requests_and_time_have_limits(store: str) -> None:
    assert "the 5 requests of prometheus.queries_max are used up" in measure(store, prometheus={"queries_max": 5}).gaps[0].reason


def test_a_warning_of_the_server_is_a_gap_beside_the_figures(store: str) -> None:
    words = "fetch series from sidecar-1: connection refused"

    def partial(request: Request) -> Reply | None:
        if request.number != 1:
            return None
        series = [{"metric": {"namespace": namespace}, "value": [1, "10"]} for namespace in ("shop", "data")]
        return Reply(
            200, json.dumps({"status": "success", "warnings": [words], "data": {"resultType": "vector", "result": series}}).encode()
        )

    with proxy.standing(partial, store) as way:
        found = measure(way.address)
    assert [gap.reason for gap in found.gaps] == [f"its answers came with 1 warnings; the first: {words}"]
    assert "measured_containers" in found.tables


def test_values_that_are_no_numbers_are_left_out_and_counted(store: str, measured: Measures) -> None:
    """NaN and infinities come in the place of one container's largest memory."""

    def odd(request: Request) -> Reply | None:
        query = request.parameters.get("query", "")
        if not (
            request.path.endswith("/query")
            and query.startswith("max by")
            and "max_over_time(container_memory" in query
            and "[86400s]" in query
            and 'id="/"' not in query
        ):
            return None
        values = {"db-0": "NaN", "lone": "+Inf"}
        series = [
            {"metric": {"namespace": life.namespace, "pod": life.pod, "container": life.container}, "value": [1, values.get(life.pod, "7")]}
            for life in week.lives()
        ]
        return Reply(200, json.dumps({"status": "success", "data": {"resultType": "vector", "result": series}}).encode())

    with proxy.standing(odd, store) as way:
        found = measure(way.address).tables
    rows = found["measured_containers"].set_index("pod")["memory_max_bytes"]
    assert rows[["db-0", "lone"]].isna().all()
    assert rows.drop(["db-0", "lone"]).eq(7).all()
    assert found["prometheus"]["dropped_count"].iloc[0] == measured.tables["prometheus"]["dropped_count"].iloc[0] + 2


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One store with the series of two clusters."""
    other = [server.Series(one.metric, {**one.labels, "cluster": "other"}, [(at, 3 * v) for at, v in one.samples]) for one in week.store()]
    data = server.write_blocks(tmp_path_factory.mktemp("shared"), [*week.store("own"), *other])
    with server.running(data) as address:
        yield address


def test_figures_of_two_clusters_are_never_mixed(shared: str) -> None:
    assert "are of 2 clusters, by their label cluster: other, own. Set prometheus.selector" in only_gap(measure(shared))


def test_a_selector_that_matches_two_clusters_is_not_used(shared: str) -> None:
    assert 'the series of cluster=~"o.*" are of 2 clusters' in only_gap(measure(shared, prometheus={"selector": 'cluster=~"o.*"'}))


def test_with_a_selector_the_figures_are_those_of_the_one_cluster(shared: str, measured: Measures) -> None:
    assert same(measure(shared, prometheus={"selector": 'cluster="own"'}), measured)


def test_a_selector_that_matches_nothing_is_a_gap(shared: str) -> None:
    gaps = measure(shared, prometheus={"selector": 'cluster="mine"'}).gaps
    assert 'it has no series container_memory_working_set_bytes of cluster="mine"' in gaps[0].reason


def test_a_store_of_another_cluster_is_found_out_by_its_pods(store: str) -> None:
    others = snapshot(nodes=[node("n1")], pods=[pod(f"other-{i}", started_at=week.AT - pd.Timedelta(days=3)) for i in range(4)])
    assert "but of none of 4 running pods" in only_gap(measure(store, dict(others.tables)))


def test_a_store_with_pods_of_another_cluster_too_is_found_out(store: str) -> None:
    """The one pod that is there is one of six that the store has at that moment."""
    known = week._listed(next(life for life in week.lives() if life.pod == "lone"))  # noqa: SLF001  of this folder
    some = snapshot(nodes=[node("n1")], pods=[known])
    found = measure(store, dict(some.tables))
    assert any("of pods that the cluster does not have" in gap.reason for gap in found.gaps)
    assert "measured_containers" not in found.tables


def test_only_the_chosen_namespaces_are_asked_for(store: str) -> None:
    tables = week.tables()
    tables["pods"] = tables["pods"].loc[tables["pods"]["namespace"] == "data"].reset_index(drop=True)
    found = measure(store, tables, namespaces=["data"])
    assert found.gaps == ()
    assert set(found.tables["measured_containers"]["namespace"]) == {"data"}


def test_asking_twice_gives_the_same_tables(store: str) -> None:
    one, other = measure(store), measure(store)
    assert same(one, other)
    assert one.tables["container_usage"].equals(other.tables["container_usage"])
