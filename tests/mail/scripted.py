"""A small mail server that says what a test tells it to, for answers that a healthy server never gives."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

CLOSE = ""
"""An answer that is none: the connection is closed."""


@dataclass
class Script:
    """`answers` are given in turn for each verb, "DATA." being the end of a message, and then the usual one. `heard` are the lines that came in."""

    features: Sequence[str] = ("8BITMIME",)
    answers: dict[str, list[str]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    port: int = 0

    def answer(self, verb: str, usual: str) -> str:
        """Give the next answer for a verb."""
        waiting = self.answers.get(verb)
        return waiting.pop(0) if waiting else usual


class _Server(socketserver.ThreadingTCPServer):
    script: Script


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        script = self.server.script
        if not self._say(script.answer("CONNECT", "220 ready")):
            return
        while line := self.rfile.readline():
            text = line.decode().strip()
            script.heard.append(text)
            if not self._reply(text.partition(" ")[0].upper(), script):
                return

    def _reply(self, verb: str, script: Script) -> bool:
        said = script.answer(verb, _usual(verb, script))
        if not self._say(said):
            return False
        if verb == "DATA" and said.startswith("354"):
            script.messages.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            return self._say(script.answer("DATA.", "250 kept"))
        return verb != "QUIT"

    def _say(self, text: str) -> bool:
        if text != CLOSE:
            self.wfile.write(f"{text}\r\n".encode())
        return text != CLOSE


def _usual(verb: str, script: Script) -> str:
    if verb == "EHLO":
        lines = ["scripted", *script.features]
        return "\r\n".join(f"250{' ' if number == len(lines) else '-'}{line}" for number, line in enumerate(lines, 1))
    return {"DATA": "354 go on", "QUIT": "221 bye"}.get(verb, "250 ok")


@contextlib.contextmanager
def speaking(script: Script) -> Iterator[Script]:
    """Serve the script on a free port, which it then has."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.script = script
        script.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
