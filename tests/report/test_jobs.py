"""Jobs in the report: report.json, tables, patches, and what the section says and draws."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from datetime import timedelta
from typing import Any

import jsonschema
import pytest
import yaml

from batch.jobs.assess import assess
from batch.jobs.judgements import SCRIPT
from batch.report.charts.draw import NARROW_MM, WIDE_MM, draw
from batch.report.deadline_patches import deadline_patches
from batch.report.format import render_message
from batch.report.model import Lanes, Section
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from tests.builders import CORE, TAKEN_AT, JobRows, cronjob, job, node, pod, snapshot
from tests.report.clusters import report_of, sections_of
from tests.report.test_document import SCHEMA

DAY = timedelta(days=1)


def runs(count: int, seconds: int = 1000, **columns: Any) -> list[JobRows]:
    started = TAKEN_AT - timedelta(hours=8)
    ended = started + timedelta(seconds=seconds)
    done = {"conditions": {"Complete": ("True", None, ended)}, "completed_at": ended, "started_at": started, **columns}
    return [job(f"run-{n}", owner=("CronJob", "nightly"), **done) for n in range(count)]


def busy() -> Snapshot:
    train = job("train", namespace="ml", started_at=TAKEN_AT - 4 * DAY, resources={"nvidia.com/gpu": 2})
    late = job("late", deadline_seconds=600, conditions={"FailureTarget": "DeadlineExceeded"})
    failed = job("failed", conditions={"Failed": "BackoffLimitExceeded"}, failed_pod_count=7, deadline_seconds=60)
    taken = job("taken", conditions={"Failed": "DeadlineExceeded"}, deadline_seconds=60)
    holder = pod("p", owner_kind="Job", owner_uid="uid-ml-train", resources={"nvidia.com/gpu": 2}, started_at=TAKEN_AT - 4 * DAY)
    return snapshot(
        nodes=[node("n1")],
        pods=[holder],
        jobs=[train, late, failed, taken, *runs(3)],
        cronjobs=[
            cronjob("nightly", "0 4 * * *", deadline_seconds=None, cpu=CORE),
            cronjob("other", "0 4 * * *", last_scheduled_at=TAKEN_AT - 2 * DAY),
        ],
    )


def document(shot: Snapshot, **settings: Any) -> dict[str, Any]:
    files = {one.name: one.data for one in report_of(shot, report={"formats": ("json",)}, **settings).artifacts}
    made: dict[str, Any] = json.loads(files["report.json"])
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(made)
    return made


def section(shot: Snapshot, **settings: Any) -> Section:
    return sections_of(shot, **settings)["jobs"]


def words(sentences: Any) -> str:
    return " ".join(map(render_message, sentences)).replace("\u00a0", " ")


def test_report_json_holds_the_counts_and_every_job() -> None:
    jobs = document(busy())["jobs"]
    assert (jobs["job_count"], jobs["active_job_count"], jobs["without_deadline_count"]) == (7, 2, 1)
    assert (jobs["past_deadline_count"], jobs["deadline_exceeded_count"]) == (1, 1)
    train = next(one for one in jobs["jobs"] if one["name"] == "train")
    assert (train["state"], train["gpu_count"], train["gpu_hours"], train["owner"]) == ("Running", 2, 192, None)
    assert (train["proposed_deadline_seconds"], train["proposal_run_count"]) == (10 * 86_400, 0)
    assert train["patch"] == "deadlines/ml/job-train.yaml"


def test_report_json_knows_every_key_that_it_writes() -> None:
    closed = json.loads(json.dumps(SCHEMA).replace('"additionalProperties": true', '"additionalProperties": false'))
    uid = "uid-ml-train"
    jsonschema.Draft202012Validator(closed).validate(document(busy(), run={"job_uid": uid, "job_name": "train"}))


def test_report_json_holds_cronjobs_starts_and_our_own_run() -> None:
    jobs = document(busy(), run={"job_uid": "uid-default-late", "job_name": "late", "deadline_seconds": 1200})["jobs"]
    nightly, other = jobs["cronjobs"]
    assert (nightly["next_schedule_at"], nightly["missed_count"], nightly["late"]) == ("2026-03-01T04:00:00Z", 0, False)
    assert (nightly["proposed_deadline_seconds"], nightly["proposal_run_count"]) == (45 * 60, 3)
    assert (other["missed_count"], other["late"], len(other["problems"])) == (2, True, 1)  # on 27 and 28 February
    assert jobs["starts"][1] == {
        "at": "2026-03-01T04:00:00Z",
        "cronjob_count": 2,
        "requests_cpu_cores": 1.0,
        "requests_memory_bytes": 0,
        "requests_gpu_count": 0,
        "unknown_count": 0,
    }
    assert (jobs["own_run"]["deadline_remaining_seconds"], jobs["own_run"]["budget_seconds"]) == (-3000, 1200)


def test_unread_jobs_are_null_and_a_cluster_without_any_has_zeros() -> None:
    unread, none = document(snapshot(unread=["jobs"]))["jobs"], document(snapshot())["jobs"]
    assert (unread["job_count"], unread["past_deadline_count"]) == (None, None)
    assert (none["job_count"], none["jobs"], none["cronjobs"], none["own_run"]) == (0, [], [], None)


def test_tables_have_every_job() -> None:
    files = {one.name: one.data.decode() for one in report_of(busy(), report={"formats": ("json",)}).artifacts if one.name.endswith(".csv")}
    rows = list(csv.DictReader(io.StringIO(files["tables/jobs.csv"])))
    assert len(rows) == 7
    failed = next(row for row in rows if row["name"] == "failed")
    assert (failed["state"], failed["retry_count"], failed["gpu_hours"], failed["core_hours"]) == ("Failed", "6", "0.0", "0.0")
    assert [row["cronjob_count"] for row in csv.DictReader(io.StringIO(files["tables/starts.csv"]))][1] == "2"


def test_every_proposed_deadline_is_a_file_and_a_command() -> None:
    made = {one.name: one.data.decode() for one in deadline_patches(assess(busy(), Settings()), most=200)}
    assert list(made) == ["deadlines/ml/job-train.yaml", "deadlines/default/cronjob-nightly.yaml", SCRIPT]
    assert yaml.safe_load(made["deadlines/default/cronjob-nightly.yaml"]) == {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"jobTemplate": {"spec": {"activeDeadlineSeconds": 2700}}},
    }
    first = shlex.split(made[SCRIPT].splitlines()[3])
    assert first[:5] == ["kubectl", "patch", "job/train", "--namespace=ml", "--type=merge"]
    assert json.loads(first[5].removeprefix("--patch=")) == {"spec": {"activeDeadlineSeconds": 864000}}


def test_a_deadline_that_would_end_a_job_at_once_is_shown_and_no_command() -> None:
    hung = job("hung", owner=("CronJob", "nightly"), started_at=TAKEN_AT - DAY)
    shot = snapshot(jobs=[hung, *runs(3)])
    assert deadline_patches(assess(shot, Settings()), most=9) == ()
    (row,) = section(shot).tables["open"].rows
    assert row.cells[-1] == "3 runs: over already"


def test_names_cannot_break_out_of_a_command() -> None:
    shot = snapshot(jobs=[job("x; rm -rf ~ #'\n\"", started_at=TAKEN_AT - DAY)])
    script = next(one for one in deadline_patches(assess(shot, Settings()), most=9) if one.name == SCRIPT).data.decode()
    assert shlex.split(script.split("\n", 3)[3], comments=False)[2] == "job/x; rm -rf ~ #'\n\""


def test_files_for_the_first_and_commands_for_all() -> None:
    made = [one.name for one in deadline_patches(assess(busy(), Settings()), most=1)]
    assert made == ["deadlines/ml/job-train.yaml", SCRIPT]


@pytest.mark.parametrize(
    ("shot", "title"),
    [
        (snapshot(unread=["jobs"]), "Whether Jobs finish is unknown, because they could not be read"),
        (snapshot(), "There are no Jobs and no CronJobs"),
        (snapshot(cronjobs=[cronjob("c")]), "No Job is there at the moment"),
        (busy(), "1 Job is past its deadline and not over"),
        (snapshot(jobs=[job("a"), job("b", deadline_seconds=9000)]), "1 of 2 unfinished Jobs has no deadline"),
        (snapshot(jobs=[job("b", deadline_seconds=9000), *runs(2)]), "Every unfinished Job has a deadline; none of 3 Jobs has failed"),
        (snapshot(jobs=[job("b", conditions={"Failed": "x"})]), "Every Job has ended; it failed"),
    ],
)
def test_the_title_says_what_was_found(shot: Snapshot, title: str) -> None:
    assert render_message(section(shot).title) == title


def test_without_jobs_the_section_is_its_title() -> None:
    empty = section(snapshot())
    assert (empty.lede, empty.tables, empty.charts, empty.how_to_read, empty.sentences["patches"]) == ((), {}, {}, (), ())


def test_runs_of_cronjobs_are_unknown_where_jobs_could_not_be_read() -> None:
    (found,) = document(snapshot(cronjobs=[cronjob("c", deadline_seconds=None)], unread=["jobs"]))["jobs"]["cronjobs"]
    assert {found[f"{name}_count"] for name in ("unfinished", "succeeded", "failed", "deadline_exceeded", "manual")} == {None}
    made = section(snapshot(cronjobs=[cronjob("c", deadline_seconds=None)], unread=["jobs"]))
    assert made.tables["cronjobs"].rows[0].cells[4:6] == (None, None)
    assert "because Jobs could not be read" in words(finding.detail for finding in made.findings)


@pytest.mark.parametrize(
    ("jobs", "title"),
    [
        ([job("a", conditions={"Complete": None}, completed_at=TAKEN_AT)], "Every Job has ended"),
        ([job("a", conditions={"Failed": "x"})], "Every Job has ended; it failed"),
        ([job("a", deadline_seconds=9000)], "Every unfinished Job has a deadline"),
        (
            [job("a", deadline_seconds=9000), job("b", conditions={"Failed": "x"})],
            "Every unfinished Job has a deadline; 1 of 2 Jobs failed",
        ),
    ],
)
def test_the_title_of_a_quiet_cluster(jobs: list[JobRows], title: str) -> None:
    assert words([section(snapshot(jobs=jobs)).title]) == title


def test_a_job_that_a_pod_keeps_is_no_success_in_the_chart() -> None:
    kept = pod("p", owner_kind="Job", owner_uid="uid-default-j", deleted_at=TAKEN_AT - timedelta(hours=2), finalizers="example.com/flush")
    made = section(snapshot(jobs=[job("j", conditions={"SuccessCriteriaMet": "SuccessPolicy"})], pods=[kept]))
    assert words([made.title]) == "1 Job is over but has pods that are not gone"
    drawing = made.charts["lanes"].drawing
    assert isinstance(drawing, Lanes)
    assert drawing.lanes[0].word == "kept by a pod"


def test_a_cronjob_that_never_starts_is_not_said_to_start_at_an_unknown_time() -> None:
    assert section(snapshot(cronjobs=[cronjob("c", "0 0 31 2 *")])).tables["cronjobs"].rows[0].cells[2] == "never"


def test_jobs_without_any_cronjob_that_could_be_read() -> None:
    assert words([section(snapshot(unread=["cronjobs"])).title]) == "There are no Jobs; CronJobs could not be read"


def test_unread_cronjobs_are_said_so() -> None:
    assert "CronJobs could not be read" in words(section(snapshot(jobs=[job("j")], unread=["cronjobs"])).lede)


def test_our_own_run_stands_in_the_lede() -> None:
    row = job("nightcap-1", deadline_seconds=4500)
    own = {"job_uid": row.columns["uid"], "job_name": "nightcap-1", "deadline_seconds": 1200}
    assert "This run's own Job had 15 min left of 1 h 15 min" in words(section(snapshot(jobs=[row]), run=own).lede)
    assert "This run's own Job is not among them." in words(section(snapshot(jobs=[job("x")]), run=own).lede)


def test_the_page_has_what_needs_a_deadline_what_failed_and_names_that_are_taken() -> None:
    found = section(busy())
    assert [row.cells[0] for row in found.tables["open"].rows] == ["ml/train", "default/nightly"]
    assert [row.cells[0] for row in found.tables["close"].rows] == ["default/late"]
    assert {row.cells[0] for row in found.tables["failed"].rows} == {"default/failed", "default/taken"}
    assert [row.cells[1] for row in found.tables["taken"].rows] == ["taken"]
    assert [row.cells[0] for row in found.tables["cronjobs"].rows] == ["default/other", "default/nightly"]
    assert "kubectl patch job/train --namespace=ml" in words(found.sentences["patches"])


def test_the_strip_of_the_last_day_puts_first_what_to_look_at() -> None:
    drawing: Any = section(busy()).charts["lanes"].drawing
    assert [(lane.name, lane.word, lane.strained) for lane in drawing.lanes] == [
        ("default/late", "50\u00a0min over", True),
        ("ml/train", "no deadline", True),
        ("default/failed", "failed", True),
        ("default/taken", "ended by its deadline", True),
        ("default/nightly", "3 succeeded", False),
    ]
    (nightly,) = {(piece.begin, round(piece.end, 2), piece.kind) for piece in drawing.lanes[-1].pieces}
    assert nightly == (8, 7.72, "good")  # from 8 h to 8 h less 1000 s ago


def test_the_calendar_of_the_next_day_joins_those_that_start_together() -> None:
    chart = section(busy()).charts["agenda"]
    drawing: Any = chart.drawing
    assert render_message(chart.title).replace("\u00a0", " ") == "2 CronJobs start in the same minute: 1 March 2026, 04:00 UTC"
    assert (len(drawing.counts), sum(drawing.counts), drawing.counts[4]) == (96, 3, 2)
    assert drawing.rows == (("default/nightly", (1.0,)), ("default/other", (0.0, 1.0)))
    assert drawing.peak == (1.0, "2 at 04:00, asking for 1\u00a0core")


def test_long_names_in_pictures_keep_their_ends_by_which_they_differ() -> None:
    names = [f"a-report-with-a-rather-long-name-of-the-team-{n}" for n in (1, 2)]
    svg = draw(section(snapshot(jobs=[job(name) for name in names])).charts["lanes"].drawing, WIDE_MM)
    assert re.findall(r"[^>]*…[^<]*-team-(.)<", svg) == ["1", "2"]


@pytest.mark.parametrize("width", [WIDE_MM, NARROW_MM])
@pytest.mark.parametrize("name", ["lanes", "agenda"])
def test_pictures_hold_their_words_and_are_the_same_each_time(name: str, width: float) -> None:
    drawing = section(busy()).charts[name].drawing
    svg = draw(drawing, width)
    assert svg == draw(drawing, width)
    assert ("default/late" if name == "lanes" else "default/nightly") in svg
    assert ("succeeded" if name == "lanes" else "asking for") in svg


def test_thousands_of_short_runs_draw_no_more_than_there_is_to_see() -> None:
    def drawn(count: int) -> int:
        started = [TAKEN_AT - DAY * n / count for n in range(1, count)]
        jobs = [
            job(
                f"j{n}",
                owner=("Workflow", "w"),
                started_at=at,
                completed_at=at + timedelta(seconds=20),
                conditions={"Complete": ("True", None, at)},
            )
            for n, at in enumerate(started)
        ]
        return len(draw(section(snapshot(jobs=jobs)).charts["lanes"].drawing, WIDE_MM))

    assert drawn(2800) < 1.1 * drawn(1400)
