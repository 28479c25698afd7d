"""Makes the mail: a message of standard parts that no server has to repair on its way."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime

from batch.deliver.layout import encode
from batch.report.mail import Body, Place, body, subject
from batch.report.model import Artifact, Letter, Report

PDF = "report.pdf"


def attachment(report: Report) -> Artifact | None:
    """Give the PDF of a report; None when there is none."""
    return next((artifact for artifact in report.artifacts if artifact.name == PDF), None)


def compose(
    report: Report,
    letter: Letter,
    sender: str,
    recipients: Sequence[str],
    places: Sequence[Place],
    remarks: Sequence[str],
    attached: Artifact | None,
    *,
    utf8: bool,
) -> bytes:
    """Write the whole message: text, HTML with its pictures, and the PDF. No line is longer than mail may have (RFC 5322: 998 octets).

    `utf8` is for recipients whose own name has letters that only SMTPUTF8 can carry.
    """
    message = EmailMessage(policy=SMTPUTF8 if utf8 else SMTP)
    domain = sender.rpartition("@")[2]
    message["From"] = Address(f"Capacity report of {_one_line(report.cluster)}", addr_spec=sender)
    message["To"] = [Address(username=address.rpartition("@")[0], domain=address.rpartition("@")[2]) for address in recipients]
    message["Subject"] = subject(report)
    message["Date"] = format_datetime(report.run.finished_at)
    message["Message-ID"] = f"<{identity(report)}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answer of an absence program to a program
    ids = [f"picture-{number}.{identity(report)}@{domain}" for number in range(len(letter.pictures))]
    _fill(message, body(report, letter, places, remarks, ids), letter, ids)
    if attached is not None:
        name = f"{encode(report.cluster)}-{report.run.date}.pdf"
        message.add_attachment(attached.data, maintype="application", subtype="pdf", filename=name)
    return message.as_bytes()


def identity(report: Report) -> str:
    """Name a run's mail: the same for every try, so that a server or a reader can tell that it is the same mail."""
    return hashlib.sha256(f"{report.cluster}\0{report.run.date}\0{report.run.id}".encode()).hexdigest()[:32]


def _fill(message: EmailMessage, written: Body, letter: Letter, ids: Sequence[str]) -> None:
    message.set_content(written.text)
    message.add_alternative(written.html, subtype="html")
    html = message.get_payload()[1]  # type: ignore[index]  # the alternatives that were just made
    for number, (id_, picture) in enumerate(zip(ids, letter.pictures, strict=True), 1):
        html.add_related(  # type: ignore[union-attr]  # as above
            picture.png, maintype="image", subtype="png", cid=f"<{id_}>", disposition="inline", filename=f"chart-{number}.png"
        )


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
