"""`check`: what a run would need is told before the night, each thing with its remedy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from batch import cli, preflight
from batch.pipeline import World
from batch.preflight import Line
from batch.settings import load
from tests.kube.fake import FakeKube, rules_from_manifests, write_kubeconfig
from tests.worlds import world

MYBINDER = Path(__file__).parent / "data" / "mybinder"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in an empty folder, and hide what this machine says about clusters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBERNETES_SERVICE_HOST", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def kube() -> Iterator[FakeKube]:
    with FakeKube() as server:
        yield server


def check(
    kube: FakeKube | None,
    monkeypatch: pytest.MonkeyPatch,
    around: World | None = None,
    **options: Any,
) -> dict[str, Line]:
    """Check with these settings; lines by what they are about. No PDF, which takes a second to try."""
    if kube:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(Path("kubeconfig"), kube)))
    settings = load({"report.formats": "json"} | {k.replace("__", "."): v for k, v in options.items()}, {}, None)
    return {line.what: line for line in preflight.check(settings, around or world())}


def role(**groups: list[str]) -> list[Any]:
    rules = [
        {"apiGroups": [group.replace("core", "").replace("_", ".")], "resources": names, "verbs": ["list"]}
        for group, names in groups.items()
    ]
    return rules_from_manifests([{"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": rules}])


def code(lines: dict[str, Line]) -> int:
    return preflight.exit_code(tuple(lines.values()))


def test_where_all_is_well_every_line_says_so(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = check(kube, monkeypatch, outputs="reports")

    assert {line.what for line in lines.values() if line.state != "ok"} == {"scale.autoscalers"}
    assert {"list pods", "list nodes", "list pods.metrics.k8s.io", "API metrics.k8s.io/v1beta1", "clock", "output reports"} <= set(lines)
    assert lines["cluster"].why == "Kubernetes v1.37.0, context fake"
    assert code(lines) == 0
    assert not [request for request in kube.requests if "limit" in request.query]  # no list was read


def test_a_missing_right_is_told_with_the_rule_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeKube(role(core=["nodes"])) as kube:
        lines = check(kube, monkeypatch)

    assert lines["list nodes"].state == "ok"
    assert (lines["list pods"].state, lines["list pods"].required) == ("missing", True)
    assert lines["list pods"].remedy == 'Add to the ClusterRole: apiGroups [""], resources ["pods"], verbs ["get", "list"].'
    assert code(lines) == 3


def test_rights_for_autoscalers_are_asked_for_when_they_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeKube(role(core=["nodes", "pods"])) as kube:
        lines = check(kube, monkeypatch, scale__autoscalers="cluster-autoscaler,karpenter")

    status = lines["list configmaps in kube-system/cluster-autoscaler-status"]
    assert (status.state, status.required) == ("missing", False)
    assert status.remedy.startswith('Add to a Role in namespace "kube-system"')
    assert lines["list nodepools.karpenter.sh"].why == "no right. Whether node pools are at their maximum is unknown."
    assert "scale.autoscalers" not in lines


def test_what_a_report_can_do_without_stops_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeKube(role(core=["nodes", "pods"])) as kube:
        kube.fail("/apis/metrics.k8s.io", 404)
        lines = check(kube, monkeypatch)

    assert (lines["list nodes.metrics.k8s.io"].state, lines["list nodes.metrics.k8s.io"].required) == ("missing", False)
    metrics = lines["API metrics.k8s.io/v1beta1"]
    assert metrics.why.startswith("/apis/metrics.k8s.io/v1beta1 is not served (404). Usage of")
    assert metrics.remedy == "Install metrics-server."
    assert code(lines) == 0


def test_a_metrics_api_without_backend_is_told(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    kube.fail("/apis/metrics.k8s.io", 503, times=99, body="service unavailable\n")

    line = check(kube, monkeypatch)["API metrics.k8s.io/v1beta1"]

    assert line.why.startswith("metrics API unavailable: 503 service unavailable (tried 5 times). ")
    assert "kubectl get apiservice v1beta1.metrics.k8s.io" in line.remedy


def test_with_namespaces_rights_are_asked_in_each_and_nodes_are_not_required(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = {
        "kind": "Role",
        "metadata": {"name": "r", "namespace": "a"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
    }
    with FakeKube(rules_from_manifests([reader])) as kube:
        rights = check(kube, monkeypatch, cluster__namespaces="a,b,a")
        reviews = [request for request in kube.requests if request.method == "POST"]
        kube.rules = rules_from_manifests(
            [{**reader, "rules": [{"apiGroups": ["", "batch"], "resources": ["pods", "jobs"], "verbs": ["list"]}]}]
        )
        lines = check(kube, monkeypatch, cluster__namespaces="a,b")

    assert len(reviews) == 1 + len([what for what in rights if what.startswith("list ")])  # the first finds out whether the server answers
    assert rights["list jobs.batch in b"].why.startswith("no right. Whether Jobs finish")
    assert lines["list jobs.batch in b"].why == "no right. The namespace is left out."
    assert lines["list pods in a"].state == "ok"
    assert lines["list pods in b"].remedy.startswith('Add to a Role in namespace "b": apiGroups [""], resources ["pods"]')
    assert lines["list pods in b"].why == "no right. The namespace is left out."
    assert (lines["list nodes"].state, lines["list nodes"].required) == ("missing", False)
    assert "--namespace" not in lines["list nodes"].remedy
    assert code(lines) == 0


def test_with_rights_in_some_namespaces_only_and_none_named_it_says_how_to_name_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeKube(rules_from_manifests([])) as kube:
        nodes = check(kube, monkeypatch)["list nodes"]
        assert cli.main(["run"]) == 3

    assert nodes.remedy in capsys.readouterr().err
    assert nodes.required
    assert nodes.remedy.endswith(
        'resources ["nodes"], verbs ["get", "list"]. With rights in some namespaces only, name these with --namespace: the report then covers them.'
    )


def test_with_namespaces_a_right_on_pods_in_one_of_them_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeKube(rules_from_manifests([])) as kube:
        lines = check(kube, monkeypatch, cluster__namespaces="a,b")

    assert lines["list pods in a"].required
    assert lines["list pods in b"].required
    assert code(lines) == 3


def test_without_a_way_into_a_cluster_it_is_a_matter_of_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = check(None, monkeypatch)

    assert "kubeconfig" in lines["source cluster"].why
    assert "KUBECONFIG" in lines["source cluster"].remedy
    assert lines["output out"].state == "ok"
    assert code(lines) == 2


def test_a_cluster_that_does_not_answer_is_one_line(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    kube.fail("/", 503, times=99)

    lines = check(kube, monkeypatch)

    assert lines["cluster"].why.startswith("API server unavailable: 503")
    assert not [what for what in lines if what.startswith(("list", "API"))]
    assert code(lines) == 3


def test_in_a_cluster_its_name_and_an_output_must_be_set(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batch.collect.api.Cluster.context_name", lambda _: None)

    lines = check(kube, monkeypatch, world(in_cluster=True))

    unset = {line.what: line.required for line in lines.values() if line.state == "not configured"}
    assert unset == {"run.deadline_seconds": False, "cluster.name": True, "outputs": True, "scale.autoscalers": False}
    assert code(lines) == 2


@pytest.mark.parametrize(
    ("ahead", "outputs", "state", "required"),
    [
        (30, "reports", "ok", False),
        (-300, "s3:bad", "missing", False),
        (1000, "reports", "missing", False),
        (1000, "s3:bad", "missing", True),
    ],
)
def test_the_clock_is_compared_with_the_api_servers(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, ahead: int, outputs: str, state: str, *, required: bool
) -> None:
    line = check(kube, monkeypatch, world(ahead=timedelta(seconds=ahead)), outputs=outputs)["clock"]

    assert (line.state, line.required) == (state, required)
    if state != "ok":
        assert ("ahead of" if ahead > 0 else "behind") in line.why


def test_an_output_that_cannot_be_written_is_told(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").touch()

    lines = check(kube, monkeypatch, outputs="file,good,ftp://host/reports", run__spool_directory="file/spool")

    assert lines["output file"].why.startswith("could not write")
    assert lines["output good"].state == "ok"
    assert lines["output ftp://host/reports"].exit_code == 2
    assert (lines["spool folder"].state, lines["spool folder"].required) == ("missing", False)
    assert code(lines) == 2
    assert code({what: line for what, line in lines.items() if what != "output ftp://host/reports"}) == 5


def test_of_a_dump_only_what_applies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = check(None, monkeypatch, source=f"dump:{MYBINDER}")

    assert lines[f"source dump:{MYBINDER}"].state == "ok"
    assert lines["nodemetrics"].why.startswith("there is no nodemetrics*.json in the dump. Usage of whole machines")
    assert not [what for what in lines if what.startswith(("list", "API", "cluster", "clock"))]
    assert code(lines) == 0


def test_a_dump_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = check(None, monkeypatch, source="dump:none")

    assert (lines["source dump:none"].why, code(lines)) == ("there is no such folder", 3)


def test_a_pdf_that_cannot_be_made_is_told(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")

    lines = check(kube, monkeypatch, report__formats="pdf")

    assert lines["PDF"].why == "WeasyPrint failed: exit code 1"
    assert "libpangoft2" in lines["PDF"].remedy
    assert code(lines) == 4


@pytest.mark.parametrize(("failing", "ends_with"), [([], 0), ([4], 4), ([4, 5], 5), ([5, 3], 3), ([3, 2, 4], 2)])
def test_the_exit_code_is_that_of_a_run_with_the_same_troubles(failing: list[int], ends_with: int) -> None:
    lines = [Line("missing", "", exit_code=code) for code in failing]

    assert preflight.exit_code((Line("ok", "", exit_code=2), Line("missing", ""), *lines)) == ends_with


def test_the_command_prints_a_line_each_and_ends_as_a_run_would(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("NIGHTCAP_RUN__TERMINATION_MESSAGE_PATH", str(tmp_path / "message"))
    (tmp_path / "message").touch()
    (tmp_path / "file").touch()

    ended = cli.main(["check", "--source", f"dump:{MYBINDER}", "--output", "file", "--output", "reports", "--quiet"])

    out = capsys.readouterr().out.splitlines()
    assert ended == 5
    assert out[-1] == "A run would end with exit code 5."
    assert [line.split()[:2] for line in out if "output" in line] == [["x", "missing"], ["+", "ok"]]
    assert [line for line in out if line.startswith("- missing")]
    assert any(line.startswith(" ") and "choose another folder" in line for line in out)
    assert any(line.startswith("+ ok") and " PDF " in f"{line} " for line in out)
    assert (tmp_path / "message").read_text().startswith("A run would end with exit code 5.\noutput file: could not write")


CANNOT_BE_PLANNED: list[tuple[dict[str, Any], str, str]] = [
    ({"profiles": [{"name": "hub", "selector": "=x"}]}, "plan.profiles", "'=x' is no requirement"),
    ({"profiles": [{"name": "a"}, {"name": "a"}]}, "plan.profiles", "has it twice"),
    ({"flavor_names": ["n1-himem-8"]}, "plan.flavor_names", "neither in the catalogue, nor an instance type"),
]


@pytest.mark.parametrize(("plan", "what", "why"), CANNOT_BE_PLANNED)
def test_a_plan_that_cannot_be_made_is_told_for_a_live_cluster_and_for_a_dump(
    kube: FakeKube, monkeypatch: pytest.MonkeyPatch, plan: dict[str, Any], what: str, why: str
) -> None:
    options = {f"plan__{name}": value for name, value in plan.items()}
    for lines in (check(kube, monkeypatch, **options), check(None, monkeypatch, source=f"dump:{MYBINDER}", **options)):
        assert (lines[what].state, lines[what].exit_code) == ("missing", 2)
        assert why in lines[what].why
        assert code(lines) == 2


def test_a_flavor_that_only_the_clusters_nodes_know_is_found_there(kube: FakeKube, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"node.kubernetes.io/instance-type": "metal-9"}
    kube.add({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}})

    lines = check(
        kube, monkeypatch, plan__flavor_names="metal-9,n1-highmem-8", plan__profiles=[{"name": "web", "selector": "tier in (a, b)"}]
    )

    assert (lines["plan.flavor_names"].state, lines["plan.profiles"].state) == ("ok", "ok")
    assert code(lines) == 0
