"""A night that mails its report, as its user runs it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from batch.cli import main
from tests.mail.scripted import Script, speaking

NOW = "2026-12-01T02:00:00Z"


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in an empty folder with the settings of a mail, and leave logging as it was."""
    for name in list(os.environ):
        if name.startswith("NIGHTCAP_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "HOST": "localhost",
        "SECURITY": "none",
        "SENDER": "n@example.com",
        "RECIPIENTS": "a@example.com",
        "ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(f"NIGHTCAP_MAIL__{name}", value)
    monkeypatch.setenv("NIGHTCAP_REPORT__FORMATS", "json")
    root = logging.getLogger()
    before = root.handlers[:]
    yield
    root.handlers[:] = before


def night(monkeypatch: pytest.MonkeyPatch, script: Script, output: str) -> int:
    with speaking(script):
        monkeypatch.setenv("NIGHTCAP_MAIL__PORT", str(script.port))
        return main(["run", "--source", "sample", "--now", NOW, "--output", output])


def test_the_result_says_where_the_report_is_and_who_has_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert night(monkeypatch, script := Script(), "out") == 0
    folder, mailed = capsys.readouterr().out.splitlines()
    assert (folder.endswith("run=20261201T020000Z/"), mailed) == (True, "mailto:a@example.com")
    assert len(script.messages) == 1


def test_a_run_whose_upload_failed_still_mails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Path("blocked").write_text("a file")
    assert night(monkeypatch, script := Script(), "blocked") == 5
    assert b"Not delivered to blocked" in script.messages[0]
    assert capsys.readouterr().out.splitlines() == ["mailto:a@example.com"]


def test_a_run_whose_mail_failed_still_delivers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert night(monkeypatch, Script(answers={"MAIL": ["550 not from here"]}), "out") == 5
    said = capsys.readouterr()
    assert said.out.splitlines()[0].endswith("run=20261201T020000Z/")
    assert "deliver the report to 1 of 2 destinations: mail through localhost" in said.err
    assert "refuses the sender n@example.com: 550 not from here" in said.err


def test_settings_with_which_no_mail_can_be_sent_end_the_run_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NIGHTCAP_MAIL__RECIPIENTS")
    assert main(["run", "--source", "sample", "--now", NOW, "--output", "out"]) == 2
    assert not Path("out").exists()
