"""A real Prometheus for the tests, from Debian's package, on a free port, with its data in a folder of the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

_CONFIG = "global: {scrape_interval: 1m}\n"
_ABSENT = (
    "prometheus and promtool are not installed, so NOTHING of Prometheus is tested; apt-get install --no-install-recommends prometheus"
)


@dataclass(frozen=True)
class Series:
    """One series of one metric: labels, and samples as (seconds since 1970, value)."""

    metric: str
    labels: Mapping[str, str]
    samples: list[tuple[float, float]]


def need_programs() -> None:
    """Skip, loudly, where Prometheus is not installed; fail where TEST_PROMETHEUS says that it must be."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        if os.environ.get("TEST_PROMETHEUS"):
            pytest.fail(_ABSENT)
        pytest.skip(_ABSENT)


def write_blocks(folder: Path, series: Iterable[Series]) -> Path:
    """Write series as blocks of a store, as if they had been scraped; give the folder of the store."""
    need_programs()
    text = folder / "metrics.om"
    by_metric: dict[str, list[Series]] = {}
    for one in series:
        by_metric.setdefault(one.metric, []).append(one)
    with text.open("w") as file:
        for metric, many in by_metric.items():
            file.write(f"# TYPE {metric} unknown\n")
            for one in many:
                labels = ",".join(f'{name}="{value}"' for name, value in one.labels.items())
                file.writelines(f"{metric}{{{labels}}} {value!r} {at:.3f}\n" for at, value in one.samples)
        file.write("# EOF\n")
    return blocks_of(text, folder / "data")


def blocks_of(text: Path, data: Path) -> Path:
    """Turn OpenMetrics text into blocks of a store."""
    need_programs()
    # with the short blocks of the default promtool reads the whole text once for each of them
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=168h", "-q", str(text), str(data)]
    subprocess.run(command, check=True, capture_output=True)
    text.unlink()
    return data


@contextlib.contextmanager
def running(data: Path, *flags: str, probe: Mapping[str, Path] | None = None) -> Iterator[str]:
    """Start Prometheus on a store, wait until it answers, give its address, and end it. `probe` has the files that mutual TLS takes."""
    need_programs()
    config, log = data.parent / "prometheus.yml", data.parent / "log"
    config.write_text(_CONFIG)
    port = _free_port()
    command = [
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={data}",
        "--storage.tsdb.retention.time=100y",  # blocks of the past would be deleted
        f"--web.listen-address=127.0.0.1:{port}",
        *flags,
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait(process, f"{'https' if probe else 'http'}://127.0.0.1:{port}/-/ready", log, probe)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], url: str, log: Path, probe: Mapping[str, Path] | None) -> None:
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if probe:
        context = ssl.create_default_context(cafile=probe["ca_file"])
        context.load_cert_chain(probe["client_certificate_file"], probe["client_key_file"])
        handlers.append(urllib.request.HTTPSHandler(context=context))
    direct = urllib.request.build_opener(*handlers)
    until = time.monotonic() + 60
    while True:
        with contextlib.suppress(OSError), direct.open(url, timeout=5):
            return
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"Prometheus did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
