"""A faulty way to a Prometheus, or to none: passes requests on, counts them, and does to some of them what a test says."""

from __future__ import annotations

import contextlib
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """One request: its number from 1, method, path, parameters and headers."""

    number: int
    method: str
    path: str
    parameters: dict[str, str]
    headers: dict[str, str]


@dataclass(frozen=True)
class Reply:
    """What is answered; `shorter_by` bytes of the body are announced and never come."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    shorter_by: int = 0


Fault = Callable[[Request], Reply | None]
"""Gives what is answered in place of the server's own answer; None: that one."""


class Proxy:
    """The address, and every request that was sent."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.requests: list[Request] = []


@contextlib.contextmanager
def standing(fault: Fault, target: str | None = None) -> Iterator[Proxy]:
    """Serve on a free port until the end."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _serve(self, body: bytes) -> None:
            split = urlsplit(self.path)
            given = {name: values[0] for name, values in parse_qs(body.decode() or split.query).items()}
            with lock:
                request = Request(len(proxy.requests) + 1, self.command, split.path, given, dict(self.headers))
                proxy.requests.append(request)
            reply = fault(request) or self._passed_on(body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(reply.body[: len(reply.body) - reply.shorter_by])
                self.wfile.flush()
            self.close_connection = bool(reply.shorter_by)

        def _passed_on(self, body: bytes) -> Reply:
            assert target is not None
            kept = {name: value for name, value in self.headers.items() if name in ("Content-Type", "Accept")}
            asked = urllib.request.Request(f"{target}{self.path}", data=body or None, headers=kept, method=self.command)  # noqa: S310
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            try:
                with direct.open(asked) as answer:
                    return Reply(answer.status, answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    return Reply(error.code, error.read())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class calls it so
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = Proxy(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
