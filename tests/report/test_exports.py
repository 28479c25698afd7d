import csv
import dataclasses
import io
from collections.abc import Callable

import pytest

from batch.gpu.assess import assess
from batch.jobs.assess import assess as assess_jobs
from batch.plan.model import PROFILE_PODS, CapacityPlan
from batch.report.exports import tables
from batch.scale.assess import assess as assess_scale
from batch.settings import Settings
from batch.snapshot.model import Gap
from tests.builders import CORE, MIB, node, pod, snapshot
from tests.report.plans import empty_plan, profile, small_plan

Rows = list[dict[str, str]]


def files(plan: CapacityPlan) -> dict[str, str]:
    shot = snapshot(
        nodes=[node("n1", resources={"nvidia.com/gpu": (4, 4)})],
        pods=[pod("p", resources={"nvidia.com/gpu": 1})],
        gaps=[Gap("podmetrics", 'a "quoted", reason\nof two lines', "=1+1")],
    )
    return {
        artifact.name: artifact.data.decode()
        for artifact in tables(shot, plan, assess(shot, Settings()), assess_jobs(shot, Settings()), assess_scale(shot, Settings()))
    }


@pytest.fixture
def read() -> Callable[[str], Rows]:
    texts = files(small_plan())
    return lambda name: list(csv.DictReader(io.StringIO(texts[f"tables/{name}.csv"], newline="")))


def with_pod_images(*images: str) -> CapacityPlan:
    rows = [("ns", f"p{i}", "Pod", f"p{i}", image, "n1", None, None, None) for i, image in enumerate(images)]
    return dataclasses.replace(empty_plan(), profiles=(profile("all", PROFILE_PODS.frame(rows)),))


def test_one_file_for_each_table() -> None:
    assert list(files(small_plan())) == [
        f"tables/{name}.csv"
        for name in (
            *("nodes", "pools", "headroom", "losses", "emptyable-nodes", "fleets"),
            *("profile-all-pods", "profile-all-flavors", "profile-all-odds", "right-sizing"),
            *("trends", "trends-levels", "forecast", "movers"),
            *("gpu-nodes", "gpu-resources", "gpu-holders", "gpu-shares", "gpu-devices", "gpu-waiting", "gpu-guests"),
            *("jobs", "cronjobs", "starts", "never-deleted-jobs", "measured-containers", "node-windows", "scale-checks"),
            *("scale-images", "scale-quotas", "scale-pending", "scale-drains", "scale-systems", "scale-dns", "api-requests"),
            *("rejects", "gaps"),
        )
    ]


def test_lines_end_as_rfc_4180_says_and_awkward_text_is_quoted() -> None:
    text = files(empty_plan())["tables/gaps.csv"]
    head, first = text.split("\r\n")[:2]
    assert head == "source,reason,effect"
    assert first == 'podmetrics,"a ""quoted"", reason\nof two lines",\'=1+1'
    assert text.endswith("\r\n")


def test_gaps_of_the_snapshot_and_of_this_version_are_listed(read: Callable[[str], Rows]) -> None:
    assert [row["source"] for row in read("gaps")] == [
        "podmetrics",
        "prices",
        "prometheus",
        "GPU activity",
    ]


def test_missing_is_an_empty_cell_and_cores_are_exact(read: Callable[[str], Rows]) -> None:
    first, second = read("nodes")
    assert (first["usage_cpu_cores"], first["allocatable_cpu_cores"], first["machine_usage_cpu_cores"]) == ("0.25", "4", "0.000000001")
    assert (first["usage_memory_bytes"], first["ready"], first["unusable"]) == (str(MIB), "true", "")
    assert (second["usage_cpu_cores"], second["ready"], second["schedulable"], second["requests_cpu_cores"]) == ("", "", "false", "0")


def test_negative_number_stays_a_number(read: Callable[[str], Rows]) -> None:
    # -CORE // 4 nanocores
    assert read("pools")[0]["headroom_cpu_cores"] == "-0.25"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH COMMERCIAL AT}"])
def test_text_that_a_spreadsheet_would_run_is_neutralised(start: str) -> None:
    text = files(with_pod_images(f"{start}1+1"))["tables/profile-all-pods.csv"]
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["image"] == f"'{start}1+1"


def test_flavors_say_which_one_is_recommended(read: Callable[[str], Rows]) -> None:
    (flavor,) = read("profile-all-flavors")
    assert (flavor["name"], flavor["cpu_cores"], flavor["pod_limit"], flavor["recommended"]) == ("m5.large", "2", "29", "true")
    assert (flavor["memory_overrun_probability"], flavor["monthly_cost"]) == ("1e-09", "")


def test_gpu_tables(read: Callable[[str], Rows]) -> None:
    (gpu_node,) = read("gpu-nodes")
    assert (gpu_node["node"], gpu_node["free_count"], gpu_node["free_reason"]) == ("n1", "3", "usable")
    (resource,) = read("gpu-resources")
    assert (resource["usable_count"], resource["not_ready_count"], resource["card_count"]) == ("3", "0", "4")


def test_every_check_has_a_row_with_its_limits_and_their_source(read: Callable[[str], Rows]) -> None:
    (nodes,) = (row for row in read("scale-checks") if row["id"] == "size.nodes")
    assert (nodes["status"], nodes["value"], nodes["threshold"], nodes["fails_beyond"], nodes["unit"]) == (
        "ok",
        "1",
        "4000.0",
        "5000",
        "count",
    )
    assert nodes["threshold_source"].startswith("Kubernetes documentation")


def test_table_without_rows_keeps_its_header() -> None:
    assert files(empty_plan())["tables/nodes.csv"].startswith("node,pool,instance_type,")


def test_profile_name_is_percent_encoded_in_the_file_name() -> None:
    plan = dataclasses.replace(empty_plan(), profiles=(profile("a b/c", PROFILE_PODS.frame(())),))
    assert "tables/profile-a%20b%2Fc-pods.csv" in files(plan)


def test_pods_keep_their_order_and_numbers(read: Callable[[str], Rows]) -> None:
    measured, unmeasured = read("profile-all-pods")
    assert (measured["pod"], measured["usage_cpu_cores"]) == ("measured", str(CORE / 4 / CORE))
    assert (unmeasured["pod"], unmeasured["usage_memory_bytes"]) == ("unmeasured", "")
