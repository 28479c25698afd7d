import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from batch.findings import Finding, Severity, message
from batch.gpu.assess import assess
from batch.jobs.assess import assess as assess_jobs
from batch.plan.model import CapacityPlan
from batch.report.document import encode, report_document
from batch.report.model import Artifact, Run
from batch.scale.assess import assess as assess_scale
from batch.scale.catalogue import RULES
from batch.settings import Settings
from batch.snapshot.model import Gap, Snapshot
from batch.snapshot.views import sampling
from tests.builders import GIB, MIB, TAKEN_AT, node, pod, snapshot, usage
from tests.report.plans import empty_plan, small_plan

SCHEMA = json.loads((Path(__file__).parents[2] / "reports" / "schema" / "report-v1.schema.json").read_text(encoding="utf-8"))
GPU = "nvidia.com/gpu"
FINDING = Finding(
    "gpus.idle-nodes",
    Severity.WARNING,
    "gpus",
    message("{count:count} nodes", count=2),
    message("Why."),
    message("Do {this:text}.", this="that"),
    ("n1", "n2"),
)


def document(shot: Snapshot, plan: CapacityPlan, **more: Any) -> dict[str, Any]:
    run = Run("r1", "2026-03-01", shot.source, TAKEN_AT, TAKEN_AT, datetime(2026, 3, 1, 3, 1, tzinfo=UTC), None, complete=True)
    parts: dict[str, Any] = {"findings": (), "gaps": shot.gaps, "artifacts": (), "sampling": sampling(shot, 600), **more}
    gpu, jobs, scale = assess(shot, Settings()), assess_jobs(shot, Settings()), assess_scale(shot, Settings())
    made: dict[str, Any] = json.loads(encode(report_document(run, shot, plan, gpu, jobs, scale, **parts)))
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(made)
    return made


@pytest.fixture
def small() -> dict[str, Any]:
    nodes = [node("n1", labels={"nvidia.com/gpu.product": "T4"}, resources={GPU: (4, 3)}), node("n2")]
    return document(snapshot(nodes=nodes, pods=[pod("p", resources={GPU: 1})]), small_plan())


def test_schema_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_schema_describes_every_key() -> None:
    def undescribed(part: dict[str, Any], path: str) -> list[str]:
        children = [(f"{path}.{name}", child) for name, child in part.get("properties", {}).items()]
        children += [(f"{path}[]", part[key]) for key in ("items", "additionalProperties") if isinstance(part.get(key), dict)]
        return [path] * ("description" not in part) + [missing for name, child in children for missing in undescribed(child, name)]

    assert undescribed(SCHEMA, "report") == []


def test_schema_knows_every_key_of_a_document(small: dict[str, Any]) -> None:
    closed = json.loads(json.dumps(SCHEMA).replace('"additionalProperties": true', '"additionalProperties": false'))
    jsonschema.Draft202012Validator(closed).validate(small)


def test_empty_cluster_has_every_key_and_no_number_made_up() -> None:
    empty = document(snapshot(unread=["nodes", "jobs"]), empty_plan())
    assert empty["totals"]["node_count"] is None
    assert empty["totals"]["allocatable_cpu_cores"] is None
    assert empty["profiles"][0]["memory_bytes"]["quantiles"]["0.9"] is None
    assert empty["profiles"][0]["average_plan"]["memory_bytes_per_node"] is None
    assert (empty["jobs"]["job_count"], empty["trends"]["nights"], empty["gpu"]["card_count"]) == (None, None, None)


def test_every_check_of_growth_is_there_with_null_for_what_is_not_known(small: dict[str, Any]) -> None:
    checks = {check["id"]: check for check in small["scale"]["checks"]}
    assert [rule.id for rule in RULES] == list(checks)
    nodes, fsync = checks["size.nodes"], checks["etcd.fsync"]
    assert (nodes["status"], nodes["value"], nodes["threshold"], nodes["unit"]) == ("ok", 2, 4000, "count")
    assert (fsync["status"], fsync["value"], fsync["threshold"]) == ("unknown", None, None)
    assert fsync["known_by"]
    assert small["scale"]["api_requests"] == []


def test_what_was_not_asked_is_a_gap_once() -> None:
    given = (Gap("nodes", "forbidden", "Node figures are unknown."),) * 2
    gaps = document(snapshot(), empty_plan(), gaps=given)["gaps"]
    assert sorted(gap["source"] for gap in gaps) == ["nodes", "prices", "prometheus"]


def test_cores_are_floats_and_bytes_integers(small: dict[str, Any]) -> None:
    assert small["totals"]["requests_cpu_cores"] == 0.5
    assert small["totals"]["requests_memory_bytes"] == GIB
    assert small["nodes"][0]["usage_cpu_cores"] == 0.25
    assert small["nodes"][1]["usage_cpu_cores"] is None
    assert small["pools"][0]["headroom_cpu_cores"] == -0.25
    assert small["pools"][0]["unusable"][0]["headroom_cpu_cores"] is None
    assert not [key for key in json.dumps(small).split('"') if "nanocores" in key]


def test_profile_in_cores_and_bytes(small: dict[str, Any]) -> None:
    profile = small["profiles"][0]
    assert list(profile["memory_bytes"]["quantiles"]) == ["0.5", "0.75", "0.9", "0.95", "0.98", "0.99", "1"]
    assert profile["cpu_cores"]["quantiles"]["1"] == 0.25
    assert profile["cpu_cores"]["over"] == [{"threshold_cores": 0.1, "pod_count": 1}]
    assert profile["memory_bytes"]["over"][0] == {"threshold_bytes": 64 * MIB, "pod_count": 1}
    assert [plan["quantile"] for plan in profile["quantile_plans"]] == [0.9, 0.95, 0.98, 0.99]
    assert profile["average_plan"]["cpu_cores_per_node"] == 25.0
    assert profile["outliers"]["memory_needed_bytes"] == [1.0, 2.0]
    assert profile["recommended_flavor"] == {"name": "m5.large", "reasons": ["it holds 100 pods"]}


def test_flavor_has_its_nominal_size_and_the_pod_limit_of_the_clusters_nodes(small: dict[str, Any]) -> None:
    flavor = small["profiles"][0]["flavors"][0]
    assert (flavor["cpu_cores"], flavor["allocatable_cpu_cores"], flavor["pod_limit"], flavor["monthly_cost"]) == (2.0, None, 29, None)


def test_gpus_of_resources_and_nodes(small: dict[str, Any]) -> None:
    (resource,) = small["gpu"]["resources"]
    assert (resource["resource"], resource["product"], resource["unrequested_count"]) == (GPU, "T4", 2)
    assert resource["free_by_reason"]["usable"] == 2
    assert resource["largest_free_block"] == {"2": 1}
    (gpu_node,) = small["gpu"]["nodes"]
    assert (gpu_node["name"], gpu_node["problems"]) == ("n1", ["nvidia.com/gpu: 1 of 4 not allocatable"])
    assert gpu_node["resources"][GPU]["free_count"] == 2


def test_findings_are_sentences() -> None:
    (finding,) = document(snapshot(), empty_plan(), findings=(FINDING,))["findings"]
    assert (finding["title"], finding["action"], finding["severity"]) == ("2 nodes", "Do that.", "warning")
    assert (finding["objects"], finding["monthly_saving"]) == (["n1", "n2"], None)


def test_run_and_artifacts() -> None:
    made = document(snapshot(), empty_plan(), artifacts=(Artifact("tables/nodes.csv", "text/csv", b"abc"),))
    assert made["run"]["taken_at"] == "2026-03-01T03:00:00Z"
    assert made["artifacts"] == [
        {
            "name": "tables/nodes.csv",
            "media_type": "text/csv",
            "bytes": 3,
            # printf abc | sha256sum
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        }
    ]


def test_keys_stand_in_the_order_of_the_contract() -> None:
    keys = list(document(snapshot(), empty_plan()))
    assert keys == list(SCHEMA["required"])


def test_encoding_keeps_letters_and_refuses_nan() -> None:
    assert encode({"name": "größe"}) == '{\n "name": "größe"\n}\n'.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        encode({"ratio": float("nan")})


def test_the_run_says_how_often_usage_was_measured_and_over_how_long() -> None:
    readings = [usage("p", 1, 1, measured_at=TAKEN_AT - timedelta(seconds=age)) for age in (0, 30, 30, 90)]
    measured = snapshot(nodes=[node("n1")], pods=[pod("p")], usage=list({row.columns["measured_at"]: row for row in readings}.values()))
    assert document(measured, small_plan())["run"]["sampling"] == {
        "reading_count": 3,
        "span_seconds": 90,
        "first_at": "2026-03-01T02:58:30Z",
        "last_at": "2026-03-01T03:00:00Z",
    }
    never = {"reading_count": 0, "span_seconds": None, "first_at": None, "last_at": None}
    assert document(snapshot(), empty_plan())["run"]["sampling"] == never
