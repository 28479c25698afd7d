"""Mail to servers that are not as one would wish, and what the message itself is made of."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from batch.deliver import places as places_module
from batch.deliver.mail import mail
from batch.deliver.model import Receipt, StorageError
from batch.deliver.smtp import check_settings
from batch.errors import SettingsError
from batch.findings import Finding, Severity, message
from batch.report.model import Artifact, Report
from batch.settings import MailSettings, Settings
from tests.deliver.reports import MemoryStore
from tests.mail import letters
from tests.mail.scripted import CLOSE, Script, speaking

PEOPLE = ("a@example.com", "b@example.com")


def send(
    script: Script, *recipients: str, report: Report | None = None, receipts: Sequence[Receipt] = (), **changes: Any
) -> tuple[list[Receipt], list[float]]:
    """Mail through a server that follows the script; give the receipts, and the pauses that were taken."""
    pauses: list[float] = []
    with speaking(script):
        settings = letters.settings(*recipients, port=script.port, **changes)
        return list(mail(report or letters.report(), tuple(receipts), settings, pauses.append)), pauses


def read(data: bytes) -> EmailMessage:
    return email.message_from_bytes(data, policy=email.policy.default)


def errors(receipts: Sequence[Receipt]) -> str:
    return " ".join(receipt.error for receipt in receipts if receipt.error)


# a server without SMTPUTF8 cannot carry a local part in other letters; a domain has another way


def test_a_name_that_the_server_cannot_carry_does_not_lose_the_others() -> None:
    receipts, _ = send(script := Script(), "müller@example.org", "ops@example.org", "ops@bücher.example")
    served, refused = receipts
    assert served.location == "mailto:ops@example.org,ops@bücher.example"
    assert refused.error == "müller@example.org has letters that this server cannot carry (no SMTPUTF8)"
    assert [line.lower() for line in script.heard if line.startswith("rcpt")] == [
        "rcpt to:<ops@example.org>",
        "rcpt to:<ops@xn--bcher-kva.example>",
    ]
    (kept,) = script.messages
    assert kept.isascii()
    assert b"example.org" in kept
    assert b"ller@" not in kept.partition(b"\r\n\r\n")[0]


def test_a_server_with_smtputf8_carries_it() -> None:
    receipts, _ = send(script := Script(features=("SMTPUTF8", "8BITMIME")), "müller@example.org", "ops@example.org")
    assert errors(receipts) == ""
    assert len(script.messages) == 2
    assert any(line.lower().startswith("mail from:") and "SMTPUTF8" in line for line in script.heard)


# transport


def test_a_server_without_starttls_gets_neither_password_nor_report() -> None:
    receipts, pauses = send(script := Script(features=("AUTH PLAIN",)), security="starttls", username="u", password="secret")
    assert "does not offer STARTTLS" in errors(receipts)
    assert (script.messages, pauses) == ([], [])
    assert not [line for line in script.heard if "auth" in line.lower() or "mail" in line.lower()]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"CONNECT": ["421 too busy"]}, ""),
        ({"CONNECT": [CLOSE]}, ""),
        ({"MAIL": ["451 try later"]}, ""),
        ({"RCPT": ["451 greylisted"]}, ""),
        ({"DATA.": ["452 no room"]}, ""),
        ({"CONNECT": ["421 too busy"] * 3}, "refuses: 421 too busy"),
        ({"MAIL": ["550 not from here"]}, "refuses the sender nightcap@example.com: 550 not from here"),
        ({"DATA.": ["554 looks like spam"]}, "refuses: 554 looks like spam"),
        ({"RCPT": ["550 nobody"]}, "ops@example.com: 550 nobody"),
    ],
)
def test_what_may_pass_is_tried_again_and_what_does_not_is_not(answers: dict[str, list[str]], words: str) -> None:
    receipts, pauses = send(script := Script(answers=answers))
    assert words in errors(receipts)
    assert len(script.messages) == (1 if not words or "554" in words else 0) + ("DATA." in answers and not words)
    assert pauses == ([5, 15] if "421" in words else [] if words else [5])


def test_only_those_who_wait_are_tried_again() -> None:
    receipts, _ = send(script := Script(answers={"RCPT": ["250 ok", "450 later"]}), *PEOPLE)
    assert [receipt.location for receipt in receipts] == ["mailto:a@example.com,b@example.com"]
    assert [line[9:-1] for line in script.heard if line.startswith("rcpt")] == [*PEOPLE, "b@example.com"]


def test_a_server_that_ends_the_session_among_the_recipients_has_served_nobody() -> None:
    busy = {"RCPT": ["250 ok", "421 4.7.0 too many"]}
    receipts, _ = send(script := Script(answers=busy), *PEOPLE, "c@example.com", attempts=1)
    assert [receipt.location for receipt in receipts] == ["mailto:a@example.com,b@example.com,c@example.com"]
    assert "ended the session before it had the message; b@example.com: 421 4.7.0 too many" in errors(receipts)
    assert script.messages == []
    again, _ = send(script := Script(answers={"RCPT": ["250 ok", "421 4.7.0 too many"]}), *PEOPLE)
    assert (errors(again), len(script.messages)) == ("", 1)


def test_a_mail_that_does_not_fit_even_without_the_pdf_is_said() -> None:
    receipts, _ = send(script := Script(answers={"DATA.": ["552 too large", "552 too large"]}))
    assert "finds the message too large" in errors(receipts)
    assert receipts[0].remedy.endswith("let the server take larger messages.")
    assert len(script.messages) == 2


@pytest.mark.parametrize("said", ["552 too large", "554 5.3.4 Message too big", "550 5.2.3 exceeds the limit"])
def test_a_server_that_takes_less_than_it_says_gets_the_mail_without_the_pdf(said: str) -> None:
    receipts, _ = send(script := Script(answers={"DATA.": [said]}))
    assert errors(receipts) == ""
    with_pdf, without = map(read, script.messages)
    assert len(list(with_pdf.iter_attachments())) == 1
    assert list(without.iter_attachments()) == []
    assert with_pdf["Message-ID"] == without["Message-ID"]


@pytest.mark.parametrize(("features", "changes"), [((), {"message_bytes_max": 1000}), (("SIZE 1000",), {})])
def test_a_pdf_that_does_not_fit_is_not_even_tried(features: tuple[str, ...], changes: dict[str, Any]) -> None:
    receipts, _ = send(script := Script(features=("8BITMIME", *features)), **changes)
    assert errors(receipts) == ""
    (sent,) = map(read, script.messages)
    assert list(sent.iter_attachments()) == []
    assert "is not attached: a message may have 1,000 bytes, as encoded." in text_of(script).replace("\n", " ")


def test_nobody_there_is_said() -> None:
    with speaking(Script()) as script:
        port = script.port
    (receipt,) = mail(letters.report(), (), letters.settings(port=port), lambda _: None)
    assert f"nothing usable answers at localhost:{port}: Connection refused" in (receipt.error or "")


def test_a_host_that_does_not_exist_is_said() -> None:
    (receipt,) = mail(letters.report(), (), letters.settings(port=25, host="mail.invalid"), lambda _: None)
    assert "the host name mail.invalid does not exist" in (receipt.error or "")


# the message


def test_every_line_is_short_enough_for_any_relay() -> None:
    gap = replace(letters.report().findings[0], detail=message("x" * 100_000))
    summary = letters.report().letter
    assert summary is not None
    report = letters.report(letter=replace(summary, summary=replace(summary.summary, findings=(gap,))))
    _, _ = send(script := Script(), report=report)
    html, text = (read(script.messages[0]).get_body((kind,)) for kind in ("html", "plain"))
    assert html is not None
    assert text is not None
    assert all(max(map(len, part.get_content().splitlines())) > 99_000 for part in (html, text))
    assert max(map(len, script.messages[0].split(b"\r\n"))) <= 998


def worst_report() -> Report:
    """Give a report whose every text is as long as texts get, in letters of four bytes."""
    text = message("{text:text}", text="🚀" * 2000)
    finding = Finding("x", Severity.CRITICAL, "capacity", text, text, text)
    letter = letters.report().letter
    assert letter is not None
    sentences = {**letter.summary.sentences, "unknown": (text,) * 50, "changed": (text,) * 9}
    summary = replace(letter.summary, findings=(finding,) * 40, sentences=sentences)
    return letters.report(letter=replace(letter, summary=summary), findings=(finding,) * 40)


def test_the_html_stays_below_what_mail_programs_cut() -> None:
    _, _ = send(script := Script(), report=worst_report())
    html = read(script.messages[0]).get_body(("html",))
    assert html is not None
    assert len(html.get_content().encode()) < 100_000
    assert "32 more are in the report." in html.get_content()


def test_styles_are_inlined_and_nothing_is_fetched() -> None:
    _, _ = send(script := Script())
    html = read(script.messages[0]).get_body(("html",))
    assert html is not None
    page = html.get_content()
    assert re.search(r'<h1 style="[^"]*font-size: 26px', page)
    assert "prefers-color-scheme: dark" in page
    assert re.findall(r'(?:src|href)="(?!cid:|https://reports)([^"]*)"', page) == []


def test_markup_in_names_stays_text() -> None:
    text = message("{name:text}", name='<img src=x onerror="alert(1)">')
    letter = letters.report().letter
    assert letter is not None
    report = letters.report(letter=replace(letter, summary=replace(letter.summary, lede=(text,))))
    _, _ = send(script := Script(), report=report)
    html = read(script.messages[0]).get_body(("html",))
    assert html is not None
    assert "&lt;img src=x" in html.get_content()


# when, and what it says of the outputs


def advice_only(report: Report) -> Report:
    return replace(report, findings=tuple(replace(finding, severity=Severity.ADVICE) for finding in report.findings))


FAILED = Receipt("s3://b", "s3://b/x", "access denied", "Grant it.")


@pytest.mark.parametrize(
    ("when", "report", "receipts", "sent"),
    [
        ("always", advice_only(letters.report()), [], 1),
        ("warning", letters.report(), [], 1),
        ("warning", advice_only(letters.report()), [], 0),
        ("warning", advice_only(letters.report()), [FAILED], 1),
        ("warning", replace(advice_only(letters.report()), problem="no Pango"), [], 1),
    ],
)
def test_the_policy_decides_and_a_failure_is_worth_a_mail(when: str, report: Report, receipts: list[Receipt], sent: int) -> None:
    got, _ = send(script := Script(), report=report, receipts=receipts, when=when)
    assert (len(script.messages), len(got)) == (sent, sent)


def text_of(script: Script) -> str:
    body = read(script.messages[-1]).get_body(("plain",))
    assert body is not None
    return " ".join(body.get_content().split())


def test_an_upload_that_failed_is_said_and_mailed() -> None:
    receipts, _ = send(script := Script(), receipts=[FAILED])
    assert [receipt.error for receipt in receipts] == [None]
    assert "Not delivered to s3://b: access denied" in text_of(script)


def test_a_pdf_that_could_not_be_made_is_said() -> None:
    _, _ = send(script := Script(), report=letters.report(None, problem="no Pango"))
    assert "There is no PDF tonight: no Pango" in text_of(script)
    assert list(read(script.messages[0]).iter_attachments()) == []


def test_a_folder_is_named_and_a_bucket_linked_with_the_time_its_links_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores = {"s3://b/p": MemoryStore(makes_links=True)}
    monkeypatch.setattr(places_module, "open_store", lambda url, _: stores.get(url, MemoryStore()))
    long = f"{tmp_path}/{'x' * 80}/run/"
    receipts = [Receipt("s3://b/p", "s3://b/p/run/"), Receipt(str(tmp_path), long)]
    _, _ = send(script := Script(), receipts=receipts, link_seconds=3600)
    words = text_of(script)
    assert "Report as PDF: https://store.example/cluster=test/date=2026-03-01/run=20260301T030000Z/report.pdf?signed" in words
    assert "(the link opens without a login until 30 November 2026, 03:05 UTC)" in words
    assert f"- {long}" in words
    assert "What its charts show - " in words
    plain = read(script.messages[-1]).get_body(("plain",))
    assert plain is not None
    assert f"- {long}" in plain.get_content().splitlines()
    assert plain.get_content().splitlines()[-2] == "-- "  # by which mail programs know a signature (RFC 3676, section 4.3)


def test_a_link_that_cannot_be_made_costs_no_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> MemoryStore:
        raise StorageError("no credentials", "")

    monkeypatch.setattr(places_module, "open_store", refuse)
    receipts, _ = send(script := Script(), receipts=[Receipt("s3://b", "s3://b/run/")])
    assert [receipt.error for receipt in receipts] == [None]
    assert "s3://b/run/ (no link could be made: no credentials)" in text_of(script)


def in_a_job(settings: Settings) -> Settings:
    return settings.model_copy(update={"run": settings.run.model_copy(update={"job_uid": "u", "job_name": "n"})})


def test_another_try_of_a_job_mails_only_those_who_do_not_have_it(tmp_path: Path) -> None:
    script = Script(answers={"RCPT": ["250 ok", "550 nobody", "550 nobody"]})
    receipts = (Receipt(str(tmp_path), str(tmp_path)),)
    with speaking(script):
        settings = in_a_job(letters.settings(*PEOPLE, port=script.port))
        for _ in range(2):
            served, refused = mail(letters.report(), receipts, settings, lambda _: None)
            assert (served.location, refused.location) == ("mailto:a@example.com", "mailto:b@example.com")
    assert len(script.messages) == 1
    (kept,) = (tmp_path / "cluster=test" / "mail").rglob("*.json")
    assert "example.com" not in kept.read_text()


def test_outside_of_a_job_every_run_mails(tmp_path: Path) -> None:
    for _ in range(2):
        receipts, _ = send(script := Script(), receipts=[Receipt(str(tmp_path), str(tmp_path))])
        assert (errors(receipts), len(script.messages)) == ("", 1)


def test_no_host_is_no_mail() -> None:
    assert list(mail(letters.report(), (), Settings(), lambda _: None)) == []


# settings


@pytest.mark.parametrize(
    "address", ["a@b\r\nBcc: c@d", "a b@c", "a", "@b", "a@", "a@b,c@d", "A <a@b>", "a@b\x00", "a@ä..org", f"a@{'x' * 64}.org"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="is no mail address"):
        MailSettings.model_validate({"recipients": [address]})


def test_a_sender_is_written_in_letters_that_every_server_carries() -> None:
    receipts, _ = send(script := Script(), sender="nightcap@größe.example")
    assert errors(receipts) == ""
    assert read(script.messages[0])["From"].addresses[0].addr_spec == "nightcap@xn--gre-6ka8i.example"
    assert read(script.messages[0])["Message-ID"].endswith("@xn--gre-6ka8i.example>")
    with pytest.raises(ValueError, match="take plain ones for the sender"):
        MailSettings.model_validate({"sender": "nächt@example.com"})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"recipients": ()}, "mail.recipients is not"),
        ({"sender": None}, "mail.sender is not"),
        ({"security": "tls", "username": "u"}, "only one of mail.username and mail.password"),
        ({"username": "u", "password": "p"}, "would be sent in clear"),
        ({"ca_file": Path("/no/such/ca.pem")}, "there is no file /no/such/ca.pem"),
    ],
)
def test_settings_with_which_no_mail_can_be_sent_are_refused(fields: dict[str, Any], words: str) -> None:
    given = {"host": "h", "security": "none", "sender": "a@b", "recipients": ("c@d",), **fields}
    with pytest.raises(SettingsError, match=words) as caught:
        check_settings(MailSettings.model_validate(given))
    assert caught.value.slug == "mail-settings"


def test_times_are_those_of_the_run() -> None:
    report = letters.report(run=replace(letters.report().run, finished_at=datetime(2026, 3, 1, 3, 7, tzinfo=UTC)))
    _, _ = send(script := Script(), report=report)
    assert read(script.messages[0])["Date"].datetime == report.run.finished_at


def test_the_pdf_can_be_left_out() -> None:
    _, _ = send(script := Script(), attach_pdf=False)
    assert list(read(script.messages[0]).iter_attachments()) == []
    assert "not attached" not in text_of(script)


def test_other_files_are_never_attached() -> None:
    report = letters.report()
    report = replace(report, artifacts=(*report.artifacts, Artifact("tables/x.csv", "text/csv", b"x")))
    _, _ = send(script := Script(), report=report)
    assert [part.get_content_type() for part in read(script.messages[0]).iter_attachments()] == ["application/pdf"]
