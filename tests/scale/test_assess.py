import re

import pytest

from batch.findings import Severity
from batch.report.format import render_message
from batch.scale.catalogue import RULES
from batch.scale.judgements import SECTION
from batch.scale.model import Status
from batch.settings import ScaleSettings
from batch.snapshot.model import Gap
from tests.builders import node, pod
from tests.scale.checked import assessed


def test_every_rule_is_checked_once_and_in_the_order_of_the_catalogue() -> None:
    assert [check.rule.id for check in assessed().checks] == [rule.id for rule in RULES]


def test_every_rule_says_whose_limit_it_is_and_teaches_in_two_sentences() -> None:
    for rule in RULES:
        assert rule.source, rule.id
        assert len(re.findall(r"[.?!](?: |$)", rule.lesson)) == 2, rule.id
        assert rule.action.endswith("."), rule.id


def test_settings_that_rules_name_exist() -> None:
    named = {name for rule in RULES for text in (rule.measures, rule.threshold) for name in re.findall(r"scale\.(\w+)", text)}
    assert named <= set(ScaleSettings.model_fields)


def test_an_unknown_check_says_what_would_make_it_known() -> None:
    for check in assessed(unread=["nodes", "services", "resourcequotas", "poddisruptionbudgets", "control_plane"]).checks:
        assert (check.known_by is not None) is (check.status is Status.UNKNOWN), check.rule.id


@pytest.mark.parametrize(
    ("reason", "known_by"),
    [
        ("", "The right to list services"),
        ('no right to list services of API group "" at the cluster scope (403): services is forbidden', "The right to list services"),
        ("there is no services*.json in the dump", "That list: there is no services*.json in the dump"),
        ("the API server answered 503: no endpoints", "That list: the API server answered 503"),
    ],
)
def test_a_list_that_was_not_read_says_what_it_lacked(reason: str, known_by: str) -> None:
    gaps = [Gap("services", reason, "")] if reason else []
    (found,) = (one for one in assessed(unread=["services"], gaps=gaps).checks if one.rule.id == "size.services")
    assert found.known_by
    assert render_message(found.known_by) == known_by


def test_what_warns_is_advice_and_what_fails_a_warning_or_critical() -> None:
    nodes = [node(f"n{number}", ready=number > 10) for number in range(20)]
    findings = {finding.id: finding for finding in assessed(nodes=nodes, pods=[pod("p")], scale={"nodes_max": 22, "pods_max": 1}).findings}
    assert findings["scale.size.nodes"].severity is Severity.ADVICE
    assert findings["scale.health.not-ready"].severity is Severity.CRITICAL
    assert {finding.section for finding in findings.values()} == {SECTION}


def test_what_the_capacity_plan_tells_is_not_told_twice() -> None:
    found = assessed(nodes=[node("n1")], pods=[pod("waits", on=None, phase="Pending")])
    assert next(check for check in found.checks if check.rule.id == "health.pending").status is Status.FAIL
    assert "scale.health.pending" not in {finding.id for finding in found.findings}


def test_an_empty_cluster_is_assessed() -> None:
    assert not [check.rule.id for check in assessed().checks if check.status in (Status.WARN, Status.FAIL)]
