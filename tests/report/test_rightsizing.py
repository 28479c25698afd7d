"""Right-sizing in the report: patches that kubectl and kustomize take, report.json, the table and the section."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import shlex
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from batch.findings import Message, message
from batch.gpu.assess import assess
from batch.jobs.assess import assess as assess_jobs
from batch.plan.rightsizing.model import Advice, Rightsizing, Sizing, Verdict
from batch.report.charts.draw import NARROW_MM, WIDE_MM, draw
from batch.report.document_rightsizing import rightsizing_document
from batch.report.exports import tables
from batch.report.format import render_message
from batch.report.patches import SCRIPT, apply_command, command, patches, quantity
from batch.report.sections.rightsizing_chart import chart
from batch.scale.assess import assess as assess_scale
from batch.settings import Settings
from tests.builders import CORE, GIB, MIB, pod, snapshot
from tests.plan.rightsizing.sized import MILLI, deployed, samples, sized
from tests.report.clusters import report_of, sections_of
from tests.report.plans import empty_plan

KUBECTL = Path(sysconfig.get_path("scripts")) / "kubectl"
SCHEMA = json.loads((Path(__file__).parents[2] / "reports" / "schema" / "report-v1.schema.json").read_text(encoding="utf-8"))
EAGER = {"usage": {"max_age_seconds": 10_000_000}, "rightsizing": {"samples_min": 1, "days_min": 1, "memory_hours_min": 1}}


def advised(**columns: Any) -> Rightsizing:
    """Advise 150 millicores and 384 MiB for a container that asks for a core and 2 GiB and has limits of both."""
    amounts = {"cpu": CORE, "cpu_limit": 2 * CORE, "memory": 2 * GIB, "memory_limit": 2 * GIB}
    names = [str(columns.pop("pod", "a"))]
    return sized(
        [deployed(name, **{**amounts, **columns}) for name in names], [r for n in names for r in samples(n, [137 * MILLI], [300 * MIB])]
    )


def renamed(given: Rightsizing, **names: Any) -> Rightsizing:
    return dataclasses.replace(given, advice=tuple(dataclasses.replace(one, **names) for one in given.advice))


def files(given: Rightsizing, most: int = 500) -> dict[str, str]:
    return {artifact.name: artifact.data.decode() for artifact in patches(given, most)}


def test_a_patch_changes_requests_and_takes_the_cpu_limit_away() -> None:
    made = files(advised())
    assert sorted(made) == ["patches/default/deployment-web.yaml", SCRIPT]
    assert yaml.safe_load(made["patches/default/deployment-web.yaml"]) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "template": {
                "spec": {
                    "containers": [{"name": "main", "resources": {"requests": {"cpu": "150m", "memory": "384Mi"}, "limits": {"cpu": None}}}]
                }
            }
        },
    }


def test_kustomize_takes_it(tmp_path: Path) -> None:
    made = files(advised())
    (tmp_path / "patch.yaml").write_text(made["patches/default/deployment-web.yaml"])
    resources = {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}}
    containers = [{"name": "main", "image": "app:1", "resources": resources}, {"name": "other", "image": "app:1"}]
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(manifest))
    (tmp_path / "kustomization.yaml").write_text("resources: [web.yaml]\npatches: [path: patch.yaml]\n")
    built = yaml.safe_load(subprocess.run([KUBECTL, "kustomize", tmp_path], capture_output=True, text=True, check=True).stdout)
    main, other = built["spec"]["template"]["spec"]["containers"]
    assert main["resources"] == {"requests": {"cpu": "150m", "memory": "384Mi"}, "limits": {"memory": "2Gi"}}
    assert (main["image"], other) == ("app:1", {"name": "other", "image": "app:1"})


def test_sidecars_and_cronjobs_have_their_own_places() -> None:
    given = renamed(advised(), sidecar=True, kind="CronJob")
    spec = yaml.safe_load(files(given)["patches/default/cronjob-web.yaml"])["spec"]
    assert spec["jobTemplate"]["spec"]["template"]["spec"]["initContainers"][0]["name"] == "main"


@pytest.mark.parametrize("name", ["on", "1e3", "null", "it's; rm -rf /", "a: {b", "line\nbreak", "../../etc", "$(reboot)"])
def test_no_name_gets_out_of_its_quotes(name: str) -> None:
    given = renamed(advised(), workload=name, namespace=name, container=name)
    made = files(given)
    (file,) = [file for file in made if file != SCRIPT]
    tree = yaml.safe_load(made[file])
    assert tree["metadata"] == {"name": name, "namespace": name}
    assert tree["spec"]["template"]["spec"]["containers"][0]["name"] == name
    assert (file.count("/"), file.startswith("patches/")) == (2, True)
    words = shlex.split(made[SCRIPT], comments=True)
    assert words[:5] == ["kubectl", "patch", f"deployment/{name}", f"--namespace={name}", "--type=strategic"]
    assert json.loads(words[5].removeprefix("--patch="))["spec"] == tree["spec"]
    assert len(words) == 6
    assert shlex.split(apply_command(("Deployment", name, name)))[2] == f"deployment/{name}"


def test_the_shell_gets_one_word_for_each(tmp_path: Path) -> None:
    (one,) = renamed(advised(), workload="it's `id`").advice
    line = command((one.kind, one.namespace, one.workload), [one]).replace("kubectl", "printf '%s\\n'", 1)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1] == "deployment/it's `id`"


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (150 * MILLI, "cpu", "150m"),
        (2 * CORE, "cpu", "2"),
        (384 * MIB, "memory", "384Mi"),
        (3 * GIB, "memory", "3Gi"),
        (1000, "memory", "1000"),
    ],
)
def test_quantities_are_exact(amount: int, resource: str, text: str) -> None:
    assert quantity(amount, resource) == text


def test_only_the_largest_changes_get_files_and_the_script_has_all() -> None:
    pods = [pod(name, cpu=4 * CORE, memory=GIB, workload_kind="Deployment", workload=name) for name in "abc"]
    rows = [row for place, name in enumerate("abc", 1) for row in samples(name, [place * CORE], [GIB * 3 // 4])]
    made = files(sized(pods, rows), most=1)
    assert sorted(made) == ["patches/default/deployment-a.yaml", SCRIPT]
    assert made[SCRIPT].count("kubectl patch") == 3


def test_what_cannot_be_patched_or_stays_is_no_file() -> None:
    given = advised()
    (one,) = given.advice
    kept = [dataclasses.replace(sizing, verdict=Verdict.KEEP, target=None, removes_limit=False) for sizing in (one.cpu, one.memory)]
    assert files(renamed(given, patchable=False)) == {}
    assert files(renamed(given, cpu=kept[0], memory=kept[1])) == {}


def document(given: Rightsizing) -> dict[str, Any]:
    made: dict[str, Any] = rightsizing_document(given, frozenset(files(given)))
    closed = json.loads(
        json.dumps(SCHEMA["properties"]["rightsizing"]).replace('"additionalProperties": true', '"additionalProperties": false')
    )
    jsonschema.Draft202012Validator(closed).validate(json.loads(json.dumps(made)))
    return made


def test_report_json_has_everything_in_base_units() -> None:
    (entry,) = document(advised())["workloads"]
    assert (entry["name"], entry["requests_cpu_cores"], entry["target_cpu_cores"], entry["target_memory_bytes"]) == (
        "web",
        1.0,
        0.15,
        384 * MIB,
    )
    assert entry["candidates"]["peak"] == {"cpu_cores": 0.137, "memory_bytes": 345 * MIB}
    assert (entry["lower_bound_cpu_cores"], entry["quantile_interval_cpu_cores"], entry["monthly_saving"]) == (None, None, None)
    assert (entry["change_cpu_cores"], entry["removes_cpu_limit"], entry["patch"]) == (-0.85, True, "patches/default/deployment-web.yaml")
    assert entry["reasons"][0] == "CPU: peak calls for 137\N{NO-BREAK SPACE}millicores; 150\N{NO-BREAK SPACE}millicores is advised."


def test_what_is_not_known_is_null_in_report_json() -> None:
    (entry,) = document(sized([deployed("a", cpu=CORE)]))["workloads"]
    unknown = ("usage_cpu_cores", "target_cpu_cores", "change_cpu_cores", "upper_bound_memory_bytes", "patch", "injected")
    assert [entry[key] for key in unknown] == [None] * len(unknown)
    assert (entry["verdict_cpu"], entry["sample_count"]) == ("unknown", 0)


def test_the_table_has_every_container() -> None:
    plan = dataclasses.replace(empty_plan(), rightsizing=advised())
    shot = snapshot()
    made = {
        artifact.name: artifact.data.decode()
        for artifact in tables(shot, plan, assess(shot, Settings()), assess_jobs(shot, Settings()), assess_scale(shot, Settings()))
    }
    (row,) = csv.DictReader(io.StringIO(made["tables/right-sizing.csv"], newline=""))
    assert (row["workload"], row["peak_cpu_cores"], row["target_cpu_cores"], row["patchable"]) == ("web", "0.137", "0.15", "true")


def text(sentences: Sequence[Message]) -> str:
    return " ".join(map(render_message, sentences)).replace("\N{NO-BREAK SPACE}", " ")


def test_the_first_night_shows_what_is_asked_for_and_seen_and_what_is_missing() -> None:
    shot = snapshot(pods=[deployed("a", cpu=CORE, memory=GIB, usage=(100 * MILLI, 300 * MIB))])
    section = sections_of(shot)["right-sizing"]
    assert render_message(section.title) == "Too little is known yet to advise on requests"
    assert "Advice takes 29 samples from 7 nights; the first containers have them in 28 nights." in text(section.lede)
    assert list(section.tables) == ["asks"]
    assert section.tables["asks"].rows[0].cells[:5] == ("default/web", "main", 1, CORE, 100 * MILLI)


def test_changes_come_with_candidates_evidence_reasons_and_the_command() -> None:
    shot = snapshot(pods=[deployed("a", cpu=CORE, memory=2 * GIB, usage=(137 * MILLI, 300 * MIB))])
    section = sections_of(shot, **EAGER)["right-sizing"]
    assert (
        render_message(section.title).replace("\N{NO-BREAK SPACE}", " ")
        == "1 container should ask for 850 millicores less and 1.62 GiB less in all"
    )
    assert list(section.tables) == ["changes", "candidates"]
    block = text(section.sentences["change-1"])
    assert block.startswith("default/web, main CPU: peak calls for 137 millicores")
    assert block.endswith(
        "kubectl patch deployment/web --namespace=default --type=strategic --patch-file=patches/default/deployment-web.yaml`"
    )


def test_without_measurements_the_section_is_its_title() -> None:
    section = sections_of(snapshot(pods=[deployed("a", cpu=CORE)], unread=["podmetrics"]))["right-sizing"]
    assert render_message(section.title) == "What containers use is unknown, so nothing is advised"
    assert (section.tables, section.charts) == ({}, {})
    assert render_message(sections_of(snapshot())["right-sizing"].title) == "No container is running"


@pytest.mark.parametrize("width", [WIDE_MM, NARROW_MM])
def test_the_chart_names_containers_and_marks(width: float) -> None:
    svg = draw(chart(advised(), message("one snapshot"))["spans"].drawing, width)
    assert all(word in svg for word in ("default/web, main", "asked for", "advised", "CPU", "Memory"))


def test_a_chart_of_idle_containers_can_be_drawn() -> None:
    nothing = Sizing(CORE, None, 0, None, None, None, None, None, None)
    (one,) = advised().advice
    idle: Advice = dataclasses.replace(one, cpu=nothing, memory=dataclasses.replace(nothing, requests=GIB, usage=1))
    given = dataclasses.replace(advised(), advice=(idle,))
    assert "seen" in draw(chart(given, message("one snapshot"))["spans"].drawing, WIDE_MM)


def test_patches_are_files_of_the_report() -> None:
    shot = snapshot(pods=[deployed("a", cpu=CORE, memory=2 * GIB, usage=(137 * MILLI, 300 * MIB))])
    made = report_of(shot, **EAGER, report={"formats": ["json"]})
    assert {"patches/default/deployment-web.yaml", SCRIPT} <= {artifact.name for artifact in made.artifacts}
