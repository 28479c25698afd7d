"""Exim: a real mail server on the loopback, in a folder of its own, with a certificate of a CA of its own."""

from __future__ import annotations

import contextlib
import email
import email.policy
import grp
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

USER, PASSWORD = "report", "mail-secret"
SIZE_LIMIT = 2_000_000

_CONFIG = """
primary_hostname = mail.example.com
exim_user = {user}
exim_group = {group}
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
pid_file_path =
daemon_smtp_ports = {plain} : {starttls} : {tls}
local_interfaces = 127.0.0.1
tls_on_connect_ports = {tls}
tls_advertise_hosts = ${{if eq{{$received_port}}{{{plain}}}{{}}{{*}}}}
tls_certificate = {folder}/server.crt
tls_privatekey = {folder}/server.key
auth_advertise_hosts = ${{if eq{{$received_port}}{{{plain}}}{{}}{{${{if def:tls_in_cipher{{*}}{{}}}}}}}}
message_size_limit = {size}
host_lookup =
rfc1413_hosts =
rfc1413_query_timeout = 0s
never_users =
deliver_drop_privilege = true
acl_smtp_mail = acl_mail
acl_smtp_rcpt = acl_rcpt
acl_smtp_data = accept
begin acl
acl_mail:
  accept condition = ${{if eq{{$received_port}}{{{plain}}}}}
  deny   message = 5.7.0 Must issue a STARTTLS command first
         ! encrypted = *
  deny   message = 5.7.0 Authentication required
         ! authenticated = *
  accept
acl_rcpt:
  deny   message = 5.1.1 no such mailbox
         local_parts = ghost
  defer  message = 4.2.2 mailbox full
         local_parts = full
  accept domains = example.com
  deny   message = 5.7.1 relay not permitted
begin routers
keep:
  driver = accept
  domains = example.com
  transport = keep
begin transports
keep:
  driver = appendfile
  maildir_format
  directory = {folder}/Maildir
  user = {user}
  group = {group}
  envelope_to_add
begin retry
* * F,1h,1m
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{{login}}}}}{{eq{{$auth3}}{{{password}}}}}}}}}
  server_set_id = $auth2
"""


@dataclass(frozen=True)
class Exim:
    """Its three ports: relay in clear without login, STARTTLS with login, TLS from the first byte with login."""

    folder: Path
    plain: int
    starttls: int
    tls: int

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.crt"

    def received(self, subject: str, count: int = 1) -> list[EmailMessage]:
        """Wait for so many mails of that subject: the server files them a moment after it has said yes."""
        until = time.monotonic() + 30
        while time.monotonic() < until:
            found = [mail for mail in self._mails() if mail["Subject"] == subject]
            if len(found) >= count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{count} mails were expected; the log says {(self.folder / 'log' / 'mainlog').read_text()[-2000:]}")

    def _mails(self) -> Iterator[EmailMessage]:
        for path in sorted((self.folder / "Maildir" / "new").glob("*")):
            yield email.message_from_bytes(path.read_bytes(), policy=email.policy.default)


@contextlib.contextmanager
def running() -> Iterator[Exim]:
    """Start the server and end it; its folder is outside of pytest's, which only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="nightcap-mail-"))
    folder.chmod(0o755)
    server = Exim(folder, *_free_ports(3))
    _write(server)
    program = shutil.which("exim4", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
    if program is None:
        raise FileNotFoundError("there is no program exim4: apt-get install exim4-daemon-light")
    with (folder / "log" / "out").open("wb") as log:
        process = subprocess.Popen([program, "-C", folder / "exim.conf", "-bdf"], stdout=log, stderr=log)
    try:
        _wait(process, server)
        yield server
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def _write(server: Exim) -> None:
    folder, root = server.folder, os.getuid() == 0
    user = "Debian-exim" if root else pwd.getpwuid(os.getuid()).pw_name
    group = user if root else grp.getgrgid(os.getgid()).gr_name
    for name in ("Maildir", "spool", "log"):
        (folder / name).mkdir()
    make_certificates(folder)
    ports = {"plain": server.plain, "starttls": server.starttls, "tls": server.tls}
    text = _CONFIG.format(folder=folder, user=user, group=group, size=SIZE_LIMIT, login=USER, password=PASSWORD, **ports)
    (folder / "exim.conf").write_text(text)
    (folder / "exim.conf").chmod(0o644)
    if root:
        for path in (*folder.glob("[MsSlL]*"), folder / "server.key"):
            if path.name != "exim.conf":
                shutil.chown(path, user, group)


def make_certificates(folder: Path) -> None:
    """Make a CA and a certificate for localhost that it signs."""
    names = "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
    (folder / "names").write_text(names)
    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    use = ["-addext", "keyUsage=critical,keyCertSign"]  # without it Python 3.13 does not take the CA for one
    _openssl(folder, *new, "-x509", "-days", "2", "-subj", "/CN=test CA", *use, "-keyout", "ca.key", "-out", "ca.crt")
    _openssl(folder, *new, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    signed = ["x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
    _openssl(folder, *signed, "-extfile", "names", "-out", "server.crt")


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(process: subprocess.Popen[bytes], server: Exim) -> None:
    until = time.monotonic() + 30
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.tls), 1):
            return
        if process.poll() is not None or time.monotonic() > until:
            logs = "".join(path.read_text(errors="replace") for path in (server.folder / "log").iterdir())
            raise RuntimeError(f"Exim did not start: {logs[-2000:]}")
        time.sleep(0.02)
