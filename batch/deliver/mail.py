"""Mails the report: when, to whom, with what attached, and what became of it."""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from batch.deliver import smtp
from batch.deliver.message import attachment, compose
from batch.deliver.model import Receipt
from batch.deliver.places import places
from batch.deliver.sent import already_sent, remember
from batch.deliver.smtp import MailError
from batch.findings import Severity
from batch.report.format import format_bytes
from batch.report.mail import Place
from batch.report.model import Artifact, Letter, Report
from batch.settings import MailSettings, Settings, to_ascii

log = logging.getLogger("nightcap")

_FIRST_PAUSE_SECONDS = 5.0
"""Before the second try; each later pause is three times as long."""

_BUG = "This is a bug; the log has its trace."


def mail(report: Report, receipts: Sequence[Receipt], settings: Settings, sleep: Callable[[float], None]) -> Iterator[Receipt]:
    """Send the report to the recipients of the settings, if any, whatever became of the outputs (`receipts`); yield what became of it.

    One receipt for those who got it, one for those who did not.
    """
    if not settings.mail.host or report.letter is None or not is_wanted(report, receipts, settings.mail):
        return
    destination = f"mail through {smtp.server_name(settings.mail)}"
    served = already_sent(report, receipts, settings)
    outcome = _Outcome(served=list(served), waiting=[one for one in settings.mail.recipients if one not in served])
    if not outcome.waiting:
        log.info("everybody has this run's mail from an earlier try")
    try:
        _send(_Mail(report, report.letter, settings.mail, tuple(places(report, receipts, settings))), outcome, sleep)
        remember(report, receipts, settings, outcome.served)
    except Exception as error:
        log.exception("mailing through %s failed in a way nobody foresaw", smtp.server_name(settings.mail))
        outcome.refused |= dict.fromkeys(outcome.waiting, MailError(f"{type(error).__name__}: {error}", _BUG))
    if outcome.served:
        yield Receipt(destination, f"mailto:{','.join(outcome.served)}")
    if outcome.refused:
        reasons = dict.fromkeys(error.why for error in outcome.refused.values())
        remedies = dict.fromkeys(error.remedy for error in outcome.refused.values())
        yield Receipt(destination, f"mailto:{','.join(outcome.refused)}", "; ".join(reasons), " ".join(remedies))


def is_wanted(report: Report, receipts: Sequence[Receipt], settings: MailSettings) -> bool:
    """Whether this night is worth a mail, by mail.when."""
    urgent = any(finding.severity is not Severity.ADVICE for finding in report.findings)
    return settings.when == "always" or urgent or report.problem is not None or any(receipt.error for receipt in receipts)


@dataclass(frozen=True)
class _Mail:
    """What is to be sent."""

    report: Report
    letter: Letter
    settings: MailSettings
    places: tuple[Place, ...]

    def write(self, recipients: Sequence[str], attached: Artifact | None, *, utf8: bool, limit: int) -> bytes:
        remarks = [f"{place.text}: {place.note}" for place in self.places if place.failed]
        if self.report.problem:
            remarks.append(f"There is no PDF tonight: {self.report.problem}")
        pdf = attachment(self.report)
        if pdf is not None and attached is None and self.settings.attach_pdf:
            remarks.append(
                f"The PDF has {format_bytes(len(pdf.data))} and is not attached: a message may have {format_bytes(limit)}, as encoded."
            )
        sender = self.settings.sender or ""
        return compose(self.report, self.letter, sender, recipients, self.places, remarks, attached, utf8=utf8)


@dataclass
class _Outcome:
    """Who has the mail, who still waits for it, and who will not get it."""

    served: list[str]
    waiting: list[str]
    refused: dict[str, MailError] = field(default_factory=dict)

    def settle(self, asked: Sequence[str], refused: dict[str, MailError]) -> None:
        """Note what became of these; those who were refused for a passing reason wait on."""
        for address in asked:
            error = refused.get(address)
            if error is None:
                self.served.append(address)
                self.refused.pop(address, None)
            else:
                self.refused[address] = error
            if error is None or not error.is_passing:
                self.waiting.remove(address)


def _send(mail: _Mail, outcome: _Outcome, sleep: Callable[[float], None]) -> None:
    """Try as often as the settings say, as long as somebody waits and the reason may pass."""
    pause = _FIRST_PAUSE_SECONDS
    for attempt in range(mail.settings.attempts):
        if not outcome.waiting:
            return
        if attempt:
            sleep(pause)
            pause *= 3
        try:
            with smtp.session(mail.settings) as session:
                _send_to_all(session, mail, outcome)
        except MailError as error:
            outcome.refused |= dict.fromkeys(outcome.waiting, error)
            if not error.is_passing:
                return


def _send_to_all(session: smtplib.SMTP, mail: _Mail, outcome: _Outcome) -> None:
    """Send one message to all whose addresses any server carries, and one to those who need SMTPUTF8, where the server has it."""
    limit = smtp.size_limit(session, mail.settings)
    for utf8 in (False, True):
        asked = [address for address in outcome.waiting if needs_utf8(address) == utf8]
        if not asked:
            continue
        if utf8 and not session.has_extn("smtputf8"):
            why = "has letters that this server cannot carry (no SMTPUTF8)"
            refused = {address: MailError(f"{address} {why}", "Use an address in plain letters.") for address in asked}
        else:
            refused = _send_fitting(session, mail, asked, limit, utf8=utf8)
        outcome.settle(asked, refused)


def _send_fitting(session: smtplib.SMTP, mail: _Mail, asked: Sequence[str], limit: int, *, utf8: bool) -> dict[str, MailError]:
    """Send with the PDF where it fits, else without; also where the server told another limit than it keeps."""
    pdf = attachment(mail.report) if mail.settings.attach_pdf else None
    envelope = {to_ascii(address): address for address in asked} if not utf8 else {address: address for address in asked}
    data = mail.write(list(envelope), pdf, utf8=utf8, limit=limit)
    if pdf is not None and len(data) > limit:
        pdf, data = None, mail.write(list(envelope), None, utf8=utf8, limit=limit)
    try:
        refused = smtp.send(session, mail.settings, list(envelope), data, utf8=utf8)
    except MailError as error:
        if not (error.is_size and pdf is not None):
            raise
        session.rset()
        data = mail.write(list(envelope), None, utf8=utf8, limit=limit)
        refused = smtp.send(session, mail.settings, list(envelope), data, utf8=utf8)
    return {envelope[address]: error for address, error in refused.items()}


def needs_utf8(address: str) -> bool:
    """Whether the part before the @ has letters that only SMTPUTF8 can carry; a domain has another way."""
    return not address.rpartition("@")[0].isascii()
