"""Serve the pages of a folder as the Kubernetes API does: `python -m bench.server FOLDER` prints its address and serves until it is stopped.

The files go to the socket by sendfile, so that what is measured is the reader. Without TLS, compression or authentication.
"""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

STEMS = {
    "/api/v1/nodes": "nodes",
    "/api/v1/pods": "pods",
    "/apis/metrics.k8s.io/v1beta1/nodes": "nodemetrics",
    "/apis/metrics.k8s.io/v1beta1/pods": "podmetrics",
    "/apis/batch/v1/jobs": "jobs",
    "/apis/batch/v1/cronjobs": "cronjobs",
    "/apis/apps/v1/deployments": "deployments",
    "/apis/apps/v1/statefulsets": "statefulsets",
    "/apis/apps/v1/daemonsets": "daemonsets",
    "/apis/autoscaling/v2/horizontalpodautoscalers": "horizontalpodautoscalers",
}
"""Path of a list, and how its files are called. Every other list is empty."""

_EMPTY_LIST = b'{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}'


def list_paths(folder: Path, page_size: int) -> list[str]:
    """Give path and query of every page there is, in the order in which a client that pages reads them."""
    counts = {path: len(list(folder.glob(f"{stem}-*.json"))) for path, stem in STEMS.items()}
    return [
        f"{path}?limit={page_size}" + (f"&continue={number}" if number > 1 else "")
        for path, count in counts.items()
        for number in range(1, count + 1)
    ]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder from a process of its own; give the URL."""
    with subprocess.Popen([sys.executable, "-m", "bench.server", folder], stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("the server has no output")
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def write_kubeconfig(path: Path, url: str) -> None:
    """Write a kubeconfig, in the JSON that is also YAML, with which kubectl and the client reach the server."""
    cluster = {"name": "bench", "cluster": {"server": url}}
    context = {"name": "bench", "context": {"cluster": "bench", "user": "bench"}}
    user = {"name": "bench", "user": {}}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "users": [user],
        "current-context": "bench",
    }
    path.write_text(json.dumps(config))


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = -1, True  # headers in one packet, and no waiting for more
    folder: Path

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path != "/version" and url.path not in STEMS:
            self._start(len(_EMPTY_LIST))
            self.wfile.write(_EMPTY_LIST)
            return
        name = "version.json" if url.path == "/version" else f"{STEMS[url.path]}-{int(query.get('continue', 1)):04}.json"
        with (self.folder / name).open("rb") as file:
            self._start((self.folder / name).stat().st_size)
            self.wfile.flush()
            self.connection.sendfile(file)

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _start(self, length: int) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent about clients that hang up."""


def main() -> None:
    """Serve the folder that is named."""
    handler = type("Handler", (_Handler,), {"folder": Path(sys.argv[1])})
    with _Server(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
