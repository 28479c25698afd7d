"""Mail through a real server, read back as it was filed."""

from __future__ import annotations

import re
import ssl
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from batch import preflight
from batch.deliver.mail import mail
from batch.deliver.model import Receipt
from batch.report.format import render_message
from batch.report.model import Report
from batch.settings import Settings
from tests.mail import exim, letters
from tests.worlds import world

LOGIN = {"username": exim.USER, "password": exim.PASSWORD}


def secure(server: exim.Exim, *recipients: str, **changes: Any) -> Settings:
    fields = {"port": server.starttls, "security": "starttls", "ca_file": server.ca_file, **LOGIN, **changes}
    return letters.settings(*recipients, **fields)


def send(report: Report, settings: Settings, receipts: tuple[Receipt, ...] = ()) -> list[Receipt]:
    return list(mail(report, receipts, settings, lambda _: None))


def subject_of(cluster: str) -> str:
    first = letters.report().findings[0]
    return f"[{cluster}] 1 March 2026, {first.severity.value}: {render_message(first.title)}"


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_the_whole_mail_arrives_over_tls_with_a_login(server: exim.Exim, security: str) -> None:
    report = letters.report(cluster=f"größe-{security}")
    settings = secure(server, "ops@example.com", "lead@example.com", security=security, port=getattr(server, security))
    (receipt,) = send(report, settings)
    assert (receipt.error, receipt.location) == (None, "mailto:ops@example.com,lead@example.com")
    got, other = server.received(subject_of(f"größe-{security}"), count=2)
    assert {got["Envelope-to"], other["Envelope-to"]} == {"ops@example.com", "lead@example.com"}
    assert got["From"].addresses[0].addr_spec == "nightcap@example.com"
    assert got["Auto-Submitted"] == "auto-generated"
    (pdf,) = got.iter_attachments()
    assert (pdf.get_content(), pdf.get_content_type()) == (letters.PDF, "application/pdf")
    assert pdf.get_filename() == f"gr%C3%B6%C3%9Fe-{security}-2026-03-01.pdf"
    assert_readable(got)


def assert_readable(got: EmailMessage) -> None:
    html, text = got.get_body(("html",)), got.get_body(("plain",))
    assert html is not None
    assert text is not None
    page = html.get_content()
    assert len(page.encode()) < 100_000
    assert "What to do first" in page
    assert "What to do first" in text.get_content()
    shown = set(re.findall(r'src="cid:([^"]+)"', page))
    parts = {part["Content-ID"].strip("<>"): part for part in got.walk() if part["Content-ID"]}
    assert shown == set(parts)
    assert shown
    assert all(part.get_content().startswith(b"\x89PNG") for part in parts.values())


def test_a_login_that_is_wrong_is_said(server: exim.Exim) -> None:
    (receipt,) = send(letters.report(), secure(server, password="wrong"))
    assert receipt.error is not None
    assert "refuses the login: 535" in receipt.error
    assert receipt.remedy.startswith("Check mail.username and mail.password")


def test_an_unknown_ca_and_a_wrong_name_are_told_apart(server: exim.Exim) -> None:
    (unknown,) = send(letters.report(), secure(server, ca_file=None))
    assert "no TLS connection to localhost" in (unknown.error or "")
    assert unknown.remedy == "Give the CA that signed its certificate as mail.ca_file."
    (other,) = send(letters.report(), secure(server, host="127.0.0.1"))
    assert other.remedy == "Use a host name that its certificate has as mail.host."


def test_a_ca_that_does_not_say_what_it_is_for_has_to_be_made_anew(server: exim.Exim, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refusal.verify_message = "CA cert does not include key usage extension"  # as Python 3.13 says, whatever Python runs the test
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", Mock(side_effect=refusal))
    (receipt,) = send(letters.report(), secure(server))
    assert receipt.error == f"no TLS connection to localhost:{server.starttls}: CA cert does not include key usage extension"
    assert "keyUsage keyCertSign" in receipt.remedy


def test_without_starttls_nothing_is_sent_in_clear(server: exim.Exim) -> None:
    (receipt,) = send(letters.report(), secure(server, port=server.plain))
    assert "does not offer STARTTLS" in (receipt.error or "")


def test_tls_to_a_port_that_speaks_it_later_says_so(server: exim.Exim) -> None:
    (receipt,) = send(letters.report(), secure(server, security="tls"))
    assert "Set mail.security to what the port speaks" in receipt.remedy


def test_one_bad_address_does_not_lose_the_others(server: exim.Exim) -> None:
    report = letters.report(cluster="one-bad")
    people = ("ghost@example.com", "ops@example.com", "full@example.com", "a@elsewhere.example")
    served, refused = send(report, secure(server, *people))
    assert served.location == "mailto:ops@example.com"
    assert refused.location == "mailto:ghost@example.com,full@example.com,a@elsewhere.example"
    for words in (
        "ghost@example.com: 550 5.1.1 no such mailbox",
        "full@example.com: 451 4.2.2 mailbox full",
        "550 5.7.1 relay not permitted",
    ):
        assert words in (refused.error or "")
    assert len(server.received(subject_of("one-bad"))) == 1


def test_a_pdf_over_the_servers_size_becomes_a_link(server: exim.Exim) -> None:
    pdf = bytes(range(256)) * 6_000  # 1.5 MB: below the limit as it is, over it as it is encoded
    assert len(pdf) < exim.SIZE_LIMIT < len(pdf) * 4 / 3
    report = letters.report(pdf, cluster="too-large")
    settings = secure(server, report_url="https://reports.example.com/x")
    receipt = Receipt("s3://bucket/x", "s3://bucket/x/run/")
    (mailed,) = send(report, settings, (receipt,))
    assert mailed.error is None
    (got,) = server.received(subject_of("too-large"))
    assert list(got.iter_attachments()) == []
    text = got.get_body(("plain",))
    assert text is not None
    words = text.get_content()
    assert "The PDF has 1.46 MiB and is not attached: a message may have 1.91 MiB, as\nencoded." in words
    assert "https://reports.example.com/x/cluster=too-large/date=2026-03-01/run=20260301T030000Z/report.pdf" in words


def test_a_cluster_cannot_bring_headers(server: exim.Exim) -> None:
    report = letters.report(cluster="evil\r\nBcc: victim@example.com\r\n\r\nbody")
    (receipt,) = send(report, secure(server))
    assert receipt.error is None
    (got,) = server.received(subject_of("evil Bcc: victim@example.com body"))
    assert got["Bcc"] is None
    assert got["Envelope-to"] == "ops@example.com"


def check(settings: Settings, tmp_path: Path) -> list[preflight.Line]:
    fields = {"source": "sample", "outputs": (str(tmp_path),), "report": {"formats": ["json"]}, "run": {"spool_directory": tmp_path}}
    lines = preflight.check(Settings.model_validate({**fields, "mail": settings.mail}), world())
    return [line for line in lines if "mail" in line.what]


def test_check_asks_the_server_about_everybody_and_sends_nothing(server: exim.Exim, tmp_path: Path) -> None:
    before = len(list((server.folder / "Maildir").rglob("*")))
    settings = secure(server, "ops@example.com", "ghost@example.com")
    fine, bad = check(settings, tmp_path)
    assert (fine.state, fine.what) == ("ok", f"mail server localhost:{server.starttls}")
    assert fine.why == "STARTTLS, logged in as report; takes messages up to 2,000,000 bytes"
    assert (bad.state, bad.what, bad.exit_code) == ("missing", "mail to ghost@example.com", 5)
    assert len(list((server.folder / "Maildir").rglob("*"))) == before


def test_check_says_what_a_run_would_fail_with(server: exim.Exim, tmp_path: Path) -> None:
    (line,) = check(secure(server, password="wrong"), tmp_path)
    assert (line.state, line.exit_code) == ("missing", 5)
    (line,) = check(letters.settings(port=server.plain, **LOGIN), tmp_path)
    assert (line.exit_code, line.why) == (2, "with mail.security none the password would be sent in clear")
