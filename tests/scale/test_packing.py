from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from batch.scale.model import Emptying, Status
from batch.snapshot.schemas import BUDGET_REQUIREMENTS, DISRUPTION_BUDGETS
from tests.builders import CORE, GIB, PodRows, node, pod
from tests.scale.checked import FAIL, OK, UNKNOWN, WARN, assessed, check, rows, said

OWNED: dict[str, Any] = {"workload_kind": "Deployment", "workload": "web"}


@pytest.mark.parametrize(("busy", "status"), [(2, OK), (1, WARN)])
def test_nodes_that_are_less_than_half_requested_are_counted(busy: int, status: Status) -> None:
    nodes = [node(f"n{number}") for number in range(4)]
    pods = [pod(f"p{number}", on=f"n{number}", cpu=2 * CORE, memory=GIB) for number in range(busy)]  # half of 4 cores
    found = check("packing.underused", nodes=nodes, pods=pods)
    assert (found.status, found.value) == (status, 1 - busy / 4)


@pytest.mark.parametrize(("some", "status"), [(1, OK), (2, WARN)])
def test_nodes_that_could_be_emptied_are_a_share_of_those_considered(some: int, status: Status) -> None:
    found = check("packing.emptyable", emptying=Emptying(4, tuple(f"n{number}" for number in range(some))))
    assert (found.status, found.value) == (status, some / 4)


def test_packing_is_unknown_where_the_plan_could_not_tell() -> None:
    for rule in ("packing.underused", "packing.emptyable", "packing.kept"):
        assert check(rule, unread=["nodes"]).status is UNKNOWN
        assert check(rule, namespaces=("team",)).status is UNKNOWN
    assert check("packing.underused", nodes=[node("n1", cpu=None)]).status is UNKNOWN
    assert check("packing.kept", emptying=Emptying(4, ("n1",)), unread=["poddisruptionbudgets"]).status is UNKNOWN
    assert check("packing.emptyable", emptying=Emptying(0, ())).status is OK


def why(pods: Sequence[PodRows], tables: dict[str, Any] | None = None) -> str | None:
    """Give what keeps the first of two nodes that could be emptied, without the example."""
    found = assessed(nodes=[node("n1"), node("n2")], pods=pods, tables=tables, emptying=Emptying(2, ("n1", "n2"))).tables["scale-drains"]
    reasons = dict(zip(found["node"], found["kept_by"].to_list(), strict=True))
    return None if reasons["n1"] is pd.NA else str(reasons["n1"]).partition(",")[0]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (OWNED, None),
        ({}, "bare pod"),
        ({"safe_to_evict": True}, None),
        ({**OWNED, "local_storage": True}, "local storage"),
        ({**OWNED, "local_storage": True, "safe_to_evict": True}, None),
        ({**OWNED, "safe_to_evict": False}, "marked pod"),
        ({"workload_kind": "DaemonSet", "local_storage": True}, None),
        ({"workload_kind": "StaticPod", "local_storage": True}, None),
        ({**OWNED, "phase": "Succeeded", "local_storage": True}, None),
    ],
)
def test_what_keeps_a_node_is_told(columns: dict[str, Any], reason: str | None) -> None:
    assert why([pod("p", on="n1", **columns)]) == reason


def budget(allowed: int | None, *requirements: tuple[str, str, tuple[str, ...]], namespace: str = "default") -> dict[str, Any]:
    name = {"namespace": namespace, "budget": "b"}
    selected = [
        {**name, "requirement": number, "position": position, "label": label, "operator": operator, "value": value}
        for number, (label, operator, values) in enumerate(requirements)
        for position, value in enumerate(values or (None,))
    ]
    return rows(DISRUPTION_BUDGETS, {**name, "disruptions_allowed_count": allowed}) | rows(BUDGET_REQUIREMENTS, *selected)


@pytest.mark.parametrize(
    ("given", "protects"),
    [
        (budget(0, ("app", "In", ("web",))), True),
        (budget(1, ("app", "In", ("web",))), False),
        (budget(None, ("app", "In", ("web",))), False),
        (budget(0, ("app", "In", ("db",))), False),
        (budget(0, ("app", "In", ("db", "web"))), True),
        (budget(0, ("app", "Exists", ())), True),
        (budget(0, ("tier", "DoesNotExist", ())), True),
        (budget(0, ("app", "NotIn", ("web",))), False),
        (budget(0, ("tier", "NotIn", ("front",))), True),
        (budget(0, ("app", "In", ("web",)), ("tier", "Exists", ())), False),
        (budget(0), True),  # an empty selector is for every pod of the namespace
        (budget(0, ("", "In", ())), False),  # and no selector for none
        (budget(0, ("app", "In", ("web",)), namespace="other"), False),
    ],
)
def test_a_budget_without_a_disruption_left_keeps_the_nodes_of_its_pods(given: dict[str, Any], *, protects: bool) -> None:
    found = why([pod("p", on="n1", labels={"app": "web"}, **OWNED)], given)
    assert found == ("spent budget" if protects else None)


def test_budgets_that_were_not_read_are_no_zero() -> None:
    found = assessed(nodes=[node("n1")], emptying=Emptying(1, ("n1",)), unread=["poddisruptionbudgets"])
    assert found.tables["scale-drains"]["budget_count"].isna().all()


@pytest.mark.parametrize(("bare", "status"), [(0, OK), (1, WARN), (2, FAIL)])
def test_nodes_that_are_kept_warn_and_fail_when_none_could_go(bare: int, status: Status) -> None:
    pods = [pod(f"p{number}", on=f"n{number}", **({} if number < bare else OWNED)) for number in range(2)]
    found = check("packing.kept", nodes=[node("n0"), node("n1")], pods=pods, emptying=Emptying(2, ("n0", "n1")))
    assert (found.status, found.value) == (status, bare)


def test_the_table_counts_what_goes_along_and_what_has_to_move() -> None:
    pods = [
        pod("agent", on="n1", workload_kind="DaemonSet", workload="agent"),
        pod("web", on="n1", **OWNED),
        pod("bare", on="n1", local_storage=True),
    ]
    table = assessed(nodes=[node("n1"), node("n2")], pods=pods, emptying=Emptying(2, ("n1", "n2"))).tables["scale-drains"]
    columns = ["node", "daemonset_pod_count", "moved_pod_count", "bare_count", "local_storage_count", "marked_count", "budget_count"]
    assert table[columns].to_numpy().tolist() == [["n2", 0, 0, 0, 0, 0, 0], ["n1", 1, 2, 1, 1, 0, 0]]
    assert said(check("packing.kept", nodes=[node("n1"), node("n2")], pods=pods, emptying=Emptying(2, ("n1", "n2")))).startswith(
        "1 of 2 nodes"
    )
