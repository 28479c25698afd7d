"""Measure what usage by Prometheus costs, against asking for each workload: `./dev bench prometheus` or `python -m bench.prometheus`.

Needs prometheus and promtool (Debian: apt-get install --no-install-recommends prometheus). The store is made by the same arguments alike.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from batch.collect.prometheus.read import Prometheus
from batch.deadline import Deadline
from batch.settings import Settings
from bench.measure import print_table
from tests.builders import node, pod, snapshot

SIZES = (1_000, 10_000)
END = int(datetime(2026, 11, 30, 2, 0, tzinfo=UTC).timestamp())
STEP, DAYS = 300, 7
PODS_A_WORKLOAD = 3
NAMESPACES = 20
_MAX_SAMPLES = 50_000_000
"""Prometheus' own default (--query.max-samples)."""

_ASKED_WORKLOADS = 100
"""Workloads of which the per-workload way is measured; its total is extrapolated, for it grows with their number."""


@dataclass(frozen=True)
class Spent:
    """What a way of asking took."""

    requests: int
    received_bytes: int
    seconds: float


def name_of(number: int) -> tuple[str, str]:
    """Give namespace and name of a pod."""
    workload = number // PODS_A_WORKLOAD
    return f"team-{workload % NAMESPACES}", f"app-{workload}-7d9c5bbcf-{'bcdfghjklm'[number % 10]}{number:06d}"[:60]


def write_store(folder: Path, count: int) -> Path:
    """Write a week of CPU and memory of so many containers, in parts, so that neither text nor promtool grows with their number."""
    data = folder / "data"
    for start in range(0, count, 1000):
        text = folder / "part.om"
        with text.open("w") as file:
            for metric in ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes"):
                file.write(f"# TYPE {metric} unknown\n")
                for number in range(start, min(count, start + 1000)):
                    file.writelines(_lines(metric, number))
            file.write("# EOF\n")
        part = folder / f"part-{start}"
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=168h", "-q", str(text), str(part)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        data.mkdir(exist_ok=True)
        for block in part.iterdir():
            shutil.move(block, data / block.name)
        text.unlink()
    return data


def _lines(metric: str, number: int) -> Iterator[str]:
    namespace, pod_name = name_of(number)
    cpu = ',cpu="total"' if "cpu" in metric else ""
    labels = f'{{namespace="{namespace}",pod="{pod_name}",container="main",node="n{number % 50}",id="/pods/{number}"{cpu}}}'
    rate, size, total = 0.02 + number % 11 * 0.03, (64 + 37 * (number % 23)) * 2**20, 0.0
    for at in range(END - DAYS * 86_400 + 7, END, STEP):
        wave = 1 + 0.5 * math.sin(at / 13_751 + number)
        total += rate * wave * STEP
        yield f"{metric}{labels} {total if cpu else size * wave:.6g} {at}\n"


@contextmanager
def serving(data: Path) -> Iterator[str]:
    """Run Prometheus on the store."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    config = data.parent / "prometheus.yml"
    config.write_text("global: {}\n")
    flags = (f"--config.file={config}", f"--storage.tsdb.path={data}", "--storage.tsdb.retention.time=100y")
    process = subprocess.Popen(
        ["prometheus", *flags, f"--web.listen-address=127.0.0.1:{port}", f"--query.max-samples={_MAX_SAMPLES}", "--log.level=error"]
    )
    try:
        while True:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=5):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def by_nightcap(url: str, count: int) -> Spent:
    """Ask as a run does. Raises RuntimeError when anything is missing."""
    names = [name_of(number) for number in range(count)]
    at = datetime.fromtimestamp(END, UTC)
    listed = [
        pod(name, namespace=namespace, started_at=datetime.fromtimestamp(END - 30 * 86_400, UTC), on=f"n{number % 50}")
        for number, (namespace, name) in enumerate(names)
    ]
    tables = dict(snapshot(nodes=[node("n1")], pods=listed).tables)
    asking = Prometheus(Settings.model_validate({"prometheus": {"url": url}}), "bench", time.sleep)
    began = time.monotonic()
    measures = asking.measure(at, tables, (), Deadline(None, 0, time.monotonic, began))
    seconds = time.monotonic() - began
    measured = measures.tables.get("measured_containers")
    if measured is None or len(measured) != count or measured["cpu_p95_nanocores"].isna().any():
        raise RuntimeError(f"not as expected: {measures.gaps}")
    told = measures.tables["prometheus"].iloc[0]
    return Spent(int(told["request_count"]), int(told["received_bytes"]), seconds)


def by_workload(url: str, count: int) -> Spent:
    """Ask for each workload on its own, as KRR's simple strategy does (strategies/simple.py, August 2026).

    95th percentile of CPU, largest memory, and the number of samples of each; 14 days there, a week here; half as many more for finding a
    workload's pods, which this leaves out.
    """
    workloads = -(-count // PODS_A_WORKLOAD)
    asked = min(workloads, _ASKED_WORKLOADS)
    size, began = 0, time.monotonic()
    for workload in range(asked):
        numbers = range(workload * PODS_A_WORKLOAD, min(count, (workload + 1) * PODS_A_WORKLOAD))
        names = "|".join(name_of(number)[1] for number in numbers)
        own = f'namespace="{name_of(workload * PODS_A_WORKLOAD)[0]}",pod=~"{names}",container="main"'
        rate = f"max by (container, pod) (rate(container_cpu_usage_seconds_total{{{own}}}[20m]))[7d:5m]"
        memory = f"container_memory_working_set_bytes{{{own}}}[7d]"
        for query in (
            f"quantile_over_time(0.95, {rate})",
            f"count_over_time({rate})",
            f"max_over_time({memory})",
            f"count_over_time({memory})",
        ):
            body = urllib.parse.urlencode({"query": query, "time": END}).encode()
            with urllib.request.urlopen(f"{url}/api/v1/query", body, timeout=300) as answer:  # noqa: S310  our own server
                data = answer.read()
            if not json.loads(data)["data"]["result"]:
                raise RuntimeError(f"nothing was found by {query}")
            size += len(data)
    times = workloads / asked
    return Spent(4 * workloads, round(size * times), (time.monotonic() - began) * times)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--containers", type=int, nargs="+", default=SIZES, help="sizes of the clusters (default: 1000 10000)")
    arguments = parser.parse_args()
    rows = []
    for count in arguments.containers:
        with tempfile.TemporaryDirectory(prefix="nightcap-bench-") as name, serving(write_store(Path(name), count)) as url:
            ours, theirs = by_nightcap(url, count), by_workload(url, count)
        for way, spent in (
            ("Nightcap: 13 figures of each container, and 168 instants", ours),
            ("4 figures for each workload", theirs),
        ):
            times = f"{theirs.requests / ours.requests:.0f}" if spent is ours else ""
            figures = (f"{spent.requests:,}", f"{spent.received_bytes / 2**20:.1f}", f"{spent.seconds:.1f}", times)
            rows.append((f"{count:,}", way, *figures))
    print_table(("containers", "asked", "requests", "MiB", "elapsed s", "times fewer requests"), rows)


if __name__ == "__main__":
    main()
