"""Talks to the mail server: a session with transport security and login, and one message to many; every refusal in words."""

from __future__ import annotations

import re
import smtplib
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from batch.errors import SettingsError
from batch.settings import MailSettings

_PORTS = {"starttls": 587, "tls": 465, "none": 25}
"""RFC 6409 (submission), RFC 8314 (submissions), RFC 5321 (smtp)."""

_PASSING = range(400, 500)
"""Codes of answers that may be other ones later (RFC 5321, section 4.2.1)."""

_LOGIN_REFUSED = (530, 534, 535, 538)
"""RFC 4954, section 6."""

_TOO_LARGE = 552
"""RFC 1870 (SIZE), section 6.1."""

_TOO_LARGE_STATUS = re.compile(r"5\.(3\.4|2\.3)\b")
"""By which servers that answer with another code say the same (RFC 3463, sections 3.4 and 3.3)."""

_BUSY = "The server is busy or has a limit of recipients or messages; its administrator can say which."


class MailError(Exception):
    """The mail did not go out: `why` and `remedy` say it, `is_passing` whether another try may end otherwise, `is_size` whether it was too large."""

    def __init__(self, why: str, remedy: str, *, is_passing: bool = False, is_size: bool = False) -> None:
        self.why = why
        self.remedy = remedy
        self.is_passing = is_passing
        self.is_size = is_size
        super().__init__(f"{why}. {remedy}")


def server_name(mail: MailSettings) -> str:
    """Name the server with its port."""
    return f"{mail.host}:{mail.port or _PORTS[mail.security]}"


def check_settings(mail: MailSettings) -> None:
    """Raise SettingsError for settings with which no mail can be sent, or none safely."""
    if not mail.host:
        return
    if not (mail.sender and mail.recipients):
        missing = "mail.recipients" if mail.sender else "mail.sender"
        raise _unusable(f"mail.host is set and {missing} is not", f"Set {missing}, or leave mail.host unset for no mail.")
    if bool(mail.username) != bool(mail.password):
        raise _unusable("only one of mail.username and mail.password is set", "Set both, or neither for a server without login.")
    if mail.security == "none" and mail.username:
        raise _unusable("with mail.security none the password would be sent in clear", "Set mail.security to starttls or tls.")
    if mail.ca_file and not mail.ca_file.is_file():
        raise _unusable(f"there is no file {mail.ca_file}", "Correct mail.ca_file.")


@contextmanager
def session(mail: MailSettings) -> Iterator[smtplib.SMTP]:
    """Open a session that is as secure as the settings have it, logged in where they have a login. Raises MailError."""
    with _in_words(mail):
        smtp = _connected(mail)
        try:
            if mail.security == "starttls":
                _start_tls(smtp, mail)
            if mail.username and mail.password:
                smtp.login(mail.username, mail.password.get_secret_value())
            yield smtp
        finally:
            _leave(smtp)


def size_limit(smtp: smtplib.SMTP, mail: MailSettings) -> int:
    """Give how large a message may be, as encoded: what the server says (RFC 1870; 0 is no limit), or less by the settings."""
    smtp.ehlo_or_helo_if_needed()
    told = smtp.esmtp_features.get("size", "")
    limit = int(told) if told.isdigit() else 0
    return min(limit or mail.message_bytes_max, mail.message_bytes_max)


def send(smtp: smtplib.SMTP, mail: MailSettings, recipients: Sequence[str], data: bytes, *, utf8: bool = False) -> dict[str, MailError]:
    """Send one message; give those who were refused, each with the reason. Raises MailError when the message as a whole is refused."""
    with _in_words(mail):
        options = ["SMTPUTF8", "BODY=8BITMIME"] if utf8 else []
        unsent: dict[str, MailError] = {}
        try:
            refused = smtp.sendmail(mail.sender or "", list(recipients), data, mail_options=options)
        except smtplib.SMTPRecipientsRefused as error:
            refused = error.recipients
            # a server that ends the session in the midst of them (421) has the message for nobody, nor for those it took before
            unsent = dict.fromkeys(
                recipients, MailError(f"{server_name(mail)} ended the session before it had the message", _BUSY, is_passing=True)
            )
        return unsent | {address: _refusal(address, code, text) for address, (code, text) in refused.items()}


def ask(smtp: smtplib.SMTP, mail: MailSettings, recipients: Sequence[str]) -> dict[str, MailError]:
    """Ask the server whether it would take mail from the sender for each recipient, and send nothing."""
    with _in_words(mail):
        code, text = smtp.mail(mail.sender or "")
        if code >= _PASSING.start:
            raise smtplib.SMTPSenderRefused(code, text, mail.sender or "")
        answers = {address: smtp.rcpt(address) for address in recipients}
        smtp.rset()
        return {address: _refusal(address, code, text) for address, (code, text) in answers.items() if code >= _PASSING.start}


def _connected(mail: MailSettings) -> smtplib.SMTP:
    host, port = mail.host or "", mail.port or _PORTS[mail.security]
    if mail.security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=mail.timeout_seconds, context=_context(mail))
    return smtplib.SMTP(host, port, timeout=mail.timeout_seconds)


def _start_tls(smtp: smtplib.SMTP, mail: MailSettings) -> None:
    """Encrypt, or stop before anything is sent: a server, or somebody between, that does not offer it gets no password and no report."""
    smtp.ehlo()
    if not smtp.has_extn("starttls"):
        raise MailError(
            f"{server_name(mail)} does not offer STARTTLS",
            "Set mail.security to tls if its port speaks TLS from the start (465); to none only within a network that you trust.",
        )
    smtp.starttls(context=_context(mail))
    smtp.ehlo()


def _context(mail: MailSettings) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(mail.ca_file) if mail.ca_file else None)


def _leave(smtp: smtplib.SMTP) -> None:
    """Say goodbye; whatever becomes of that, the message is sent or refused already."""
    try:
        smtp.quit()
    except (smtplib.SMTPException, OSError):
        smtp.close()


@contextmanager
def _in_words(mail: MailSettings) -> Iterator[None]:
    try:
        yield
    except (smtplib.SMTPException, OSError) as error:
        raise _explain(error, mail) from error


def _explain(error: Exception, mail: MailSettings) -> MailError:
    """Turn what smtplib and the way to the server raise into words."""
    server = server_name(mail)
    if isinstance(error, smtplib.SMTPResponseException):
        return _answered(error, server)
    if isinstance(error, ssl.SSLError):
        return _insecure(error, server)
    for kind, why, remedy, is_passing in _ON_THE_WAY:
        if isinstance(error, kind):
            return MailError(why.format(server=server, host=mail.host, error=_reason(error)), remedy, is_passing=is_passing)
    raise error


_ON_THE_WAY = (
    (
        smtplib.SMTPNotSupportedError,
        "{server} offers no login: {error}",
        "Leave mail.username and mail.password unset, or use the port on which it does.",
        False,
    ),
    (smtplib.SMTPServerDisconnected, "{server} closed the connection", "Check that mail.security fits the port.", True),
    (socket.gaierror, "the host name {host} does not exist", "Correct mail.host, or look at DNS.", True),
    (
        TimeoutError,
        "{server} did not answer in time",
        "Check mail.port, firewalls and network policies; if the server is only slow, raise mail.timeout_seconds.",
        True,
    ),
    (
        Exception,
        "nothing usable answers at {server}: {error}",
        "Check mail.host and mail.port, firewalls and network policies.",
        True,
    ),
)
"""What can happen before a server has said anything: kind of exception, why, what to do, and whether it may pass. The first that fits counts."""


def _reason(error: Exception) -> str:
    return _text(str(getattr(error, "strerror", None) or error))


def _insecure(error: ssl.SSLError, server: str) -> MailError:
    """Tell a certificate that does not hold from a port that speaks no TLS."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return MailError(
            f"no TLS connection to {server}: {error.reason or error}",
            "Set mail.security to what the port speaks: starttls (587) or tls (465).",
        )
    if "mismatch" in error.verify_message:
        remedy = "Use a host name that its certificate has as mail.host."
    elif "CA cert" in error.verify_message:  # of the CA itself; Python 3.13 and newer want what RFC 5280 wants
        remedy = "Make the CA anew with basicConstraints CA:TRUE and keyUsage keyCertSign: without them it is not taken for one."
    else:
        remedy = "Give the CA that signed its certificate as mail.ca_file."
    return MailError(f"no TLS connection to {server}: {error.verify_message}", remedy)


def _answered(error: smtplib.SMTPResponseException, server: str) -> MailError:
    said = f"{error.smtp_code} {_text(error.smtp_error)}"
    if error.smtp_code in _LOGIN_REFUSED:
        return MailError(
            f"{server} refuses the login: {said}",
            "Check mail.username and mail.password; some providers want a password made for programs.",
        )
    if error.smtp_code == _TOO_LARGE or _TOO_LARGE_STATUS.match(_text(error.smtp_error)):
        return MailError(
            f"{server} finds the message too large: {said}",
            "It is sent without the PDF where it is too large with it, and still did not fit: let the server take larger messages.",
            is_size=True,
        )
    if isinstance(error, smtplib.SMTPSenderRefused):
        remedy = "Set mail.sender to an address that this server, and this login, may send from."
        return MailError(f"{server} refuses the sender {error.sender}: {said}", remedy, is_passing=error.smtp_code in _PASSING)
    return MailError(f"{server} refuses: {said}", "The server's administrator can say why.", is_passing=error.smtp_code in _PASSING)


def _refusal(address: str, code: int, text: bytes | str) -> MailError:
    is_passing = code in _PASSING
    remedy = (
        "It may pass by the next night; if not, the server's administrator can say why."
        if is_passing
        else "Correct the address in mail.recipients, or let the server take mail for it."
    )
    return MailError(f"{address}: {code} {_text(text)}", remedy, is_passing=is_passing)


def _text(said: bytes | str) -> str:
    """Give the server's words on one line."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _unusable(why: str, remedy: str) -> SettingsError:
    return SettingsError("mail-settings", attempted="set up the mail", why=why, remedy=remedy)
