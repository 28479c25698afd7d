"""Run a program and tell what it cost, and describe the machine. Only the standard library: a large process would be measured itself.

The kernel counts the peak of a new process from before its program is loaded, when it is still a copy of its parent.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

_LIBRARIES = ("kubernetes", "urllib3", "msgspec", "pandas", "pyarrow", "matplotlib", "weasyprint")
_KIB = 1024
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Cost:
    """What a program and the programs that it started took: user and system time together, elapsed time, and the most memory at once.

    `start_seconds` is the part of the CPU time before its work began, and `pod_count` the pods it read, as far as it tells (reading.tell).
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    start_seconds: float
    pod_count: int | None

    @property
    def work_seconds(self) -> float:
        """CPU time of the work alone."""
        return self.cpu_seconds - self.start_seconds


def cost_of(command: Sequence[str | os.PathLike[str]], environment: Mapping[str, str]) -> Cost:
    """Run a program to its end. Raises RuntimeError when it fails."""
    with tempfile.TemporaryFile("w+") as output:
        began = monotonic()
        process = subprocess.Popen(command, stdout=output, env={**os.environ, **environment})
        peak_bytes, pid = 0, 0
        while not pid:
            sleep(_SAMPLE_SECONDS)
            peak_bytes = max(peak_bytes, _resident_bytes(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall_seconds = monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} ended with {process.returncode}")
        output.seek(0)
        last = output.read().strip().rpartition("\n")[2]
    said = json.loads(last) if last.startswith("{") else {}
    cpu_seconds, peak_bytes = usage.ru_utime + usage.ru_stime, max(peak_bytes, usage.ru_maxrss * _KIB)
    return Cost(cpu_seconds, wall_seconds, peak_bytes, said.get("start_seconds", 0.0), said.get("pod_count"))


def _resident_bytes(pid: int) -> int:
    """Add up the resident sets of a process and its descendants; what they share counts for each.

    A child that has not loaded its program yet still has its parent's memory, and its command line: it has nothing of its own.
    """
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        loaded = [child for child in children if Path(f"/proc/{child}/cmdline").read_bytes() != command]
    except OSError:  # it, or a child, ended meanwhile
        return 0
    return pages * _PAGE_BYTES + sum(map(_resident_bytes, loaded))


def median(costs: Sequence[Cost]) -> Cost:
    """Give the median of each figure, and the largest peak."""
    return Cost(
        statistics.median(c.cpu_seconds for c in costs),
        statistics.median(c.wall_seconds for c in costs),
        max(c.peak_bytes for c in costs),
        statistics.median(c.start_seconds for c in costs),
        costs[0].pod_count,
    )


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table, numbers to the right."""
    print(f"| {' | '.join(head)} |")
    print(f"| --- |{' ---: |' * (len(head) - 1)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    print(flush=True)


def print_machine(kubectl: Path) -> None:
    """Print what the figures depend on."""
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(": ")[2] for line in cpuinfo if line.startswith("model name")), platform.machine())
    memory = _PAGE_BYTES * os.sysconf("SC_PHYS_PAGES")
    version = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True, check=True).stdout.split()[2]
    libraries = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    print(
        f"{os.cpu_count()} cores ({model}), {memory / 2**30:.0f} GiB, {platform.system()} {'.'.join(platform.release().split('.')[:2])}, ",
        end="",
    )
    print(
        f"Python {platform.python_version()}, kubectl {version}, {libraries}; load before the start {os.getloadavg()[0]:.1f}\n", flush=True
    )


def find_kubectl() -> Path:
    """Give the kubectl of the virtual environment."""
    return Path(sys.executable).parent / "kubectl"
