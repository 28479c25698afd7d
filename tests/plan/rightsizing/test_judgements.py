"""Findings about requests: few, each with what to do."""

from __future__ import annotations

from typing import Any

from batch.findings import Finding, Severity
from batch.plan.rightsizing.judgements import judge
from batch.report.format import render_message
from tests.builders import CORE, GIB, MIB, PodRows, UsageRow, pod
from tests.plan.rightsizing.sized import MILLI, at, samples, settings, sized


def found(pods: list[PodRows], rows: list[UsageRow], **own: Any) -> dict[str, Finding]:
    given = settings(**own)
    return {finding.id: finding for finding in judge(sized(pods, rows, given=given), given.rightsizing)}


def of(name: str, **columns: Any) -> PodRows:
    return pod(name, **{"workload_kind": "Deployment", "workload": name, **columns})


def text(finding: Finding) -> str:
    return " ".join(map(render_message, (finding.title, finding.detail, finding.action))).replace("\N{NO-BREAK SPACE}", " ")


def test_what_asks_for_too_much_is_summed_up_and_names_the_patches() -> None:
    pods = [of("a", cpu=4 * CORE, memory=GIB), of("b", cpu=2 * CORE, memory=GIB)]
    rows = [*samples("a", [CORE], [GIB * 7 // 8]), *samples("b", [CORE], [GIB * 7 // 8])]
    (finding,) = found(pods, rows).values()
    assert (finding.id, finding.severity, finding.objects) == (
        "rightsizing.too-much",
        Severity.ADVICE,
        ("default/a/main", "default/b/main"),
    )
    assert text(finding).startswith(
        "Requests can go down by 4 cores The largest change is that of container default/a/main: CPU from 4 cores to 1 core."
    )
    assert "patches/" in text(finding)


def test_what_asks_for_too_little_is_a_warning() -> None:
    (finding,) = found([of("a", cpu=100 * MILLI, memory=GIB)], samples("a", [CORE], [GIB * 7 // 8])).values()
    assert (finding.id, finding.severity) == ("rightsizing.too-little", Severity.WARNING)
    assert text(finding).startswith("1 container asks for too little")


def test_what_cannot_be_patched_is_to_be_changed_where_it_is_made() -> None:
    (finding,) = found([pod("a", cpu=4 * CORE, memory=GIB)], samples("a", [CORE], [GIB * 7 // 8])).values()
    assert render_message(finding.action) == "Change them where they are made."


def test_kills_for_memory_are_found_without_samples() -> None:
    row = {"container": "main", "last_end_reason": "OOMKilled", "last_end_at": at(hours=1), "limits_memory_bytes": GIB}
    (finding,) = found([of("a", containers=[row])], [], samples_min=99).values()
    assert finding.id == "rightsizing.killed-for-memory"
    assert text(finding).startswith(
        "1 container was killed for memory in the last 30 days Container default/a/main, which may use 1 GiB; 1.25 GiB is advised."
    )


def test_use_over_the_request_is_found_on_the_first_night() -> None:
    pods = [of("a", cpu=CORE, memory=100 * MIB), of("b", cpu=CORE), of("c", cpu=CORE, memory=GIB)]
    rows = [row for name in "abc" for row in samples(name, [CORE], [300 * MIB])]
    (finding,) = found(pods, rows, samples_min=99).values()
    assert (finding.id, finding.objects) == ("rightsizing.memory-over-request", ("default/a/main",))
    assert finding.worth is not None
    assert render_message(finding.worth) == "200\N{NO-BREAK SPACE}MiB"


def test_a_mistyped_unit_is_found() -> None:
    assert "rightsizing.implausible-memory" in found([of("a", memory=1)], samples("a", [CORE], [None]), samples_min=99)


def test_nothing_to_do_is_no_finding() -> None:
    assert found([of("a", cpu=CORE, memory=GIB)], samples("a", [CORE], [GIB * 7 // 8])) == {}
