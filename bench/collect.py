"""Compare reading a large cluster with other ways of reading it: `./dev bench collect` or `python -m bench.collect`.

Each way reads the same lists (nodes, pods, metrics of both, Jobs, workloads, autoscalers) from a server in another process, in turn, several times; the
table has the medians. The official client takes minutes at full size, so it reads a smaller cluster and is compared by the pod.
Before that Nightcap reads the large cluster once, and every total must be the one that the cluster was made with.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.clusters import serve_cluster
from bench.measure import Cost, cost_of, find_kubectl, median, print_machine, print_table
from bench.reading import PAGE_SIZE
from bench.server import list_paths

_STARTS = 20
_GET_EACH = ("sh", "-c", 'for path; do "$KUBECTL" get --raw "$path" >/dev/null || exit 1; done', "sh")


@dataclass(frozen=True)
class Way:
    """One way of reading: what is run, and how many pods it reads (0 when that is not what it is about)."""

    command: Sequence[str | Path]
    environment: Mapping[str, str]
    pod_count: int

    def measure(self) -> Cost:
        """Run it. Raises RuntimeError when it says that it read another number of pods."""
        cost = cost_of(self.command, self.environment)
        if cost.pod_count not in (None, self.pod_count):
            raise RuntimeError(f"{self.command} read {cost.pod_count} pods of {self.pod_count}")
        return cost


@dataclass(frozen=True)
class Ways:
    """All that is compared."""

    nightcap: Way
    typed: Way
    kubectl: Way
    json: Way
    bytes: Way
    kubectl_starts: Way


NAMES = {
    "nightcap": "Nightcap, to a checked snapshot",
    "typed": "(a) official client, typed lists",
    "kubectl": "(b) kubectl get --raw, a process for each page, to /dev/null",
    "json": "(c) urllib3 and json.loads",
    "bytes": "(d) urllib3, nothing decoded",
    "kubectl_starts": f"kubectl get --raw /version, {_STARTS} times",
}


def find_ways(stack: ExitStack, folder: Path, pod_count: int, typed_pod_count: int) -> Ways:
    """Make and serve the clusters, and prove that Nightcap reads the large one right."""
    large, small = folder / "large", folder / "small"
    url, environment = serve_cluster(stack, large, pod_count)
    _, small_environment = serve_cluster(stack, small, typed_pod_count)
    python, paths = (sys.executable, "-m"), list_paths(large, PAGE_SIZE)
    cost_of((*python, "bench.read_nightcap", large), environment)
    return Ways(
        nightcap=Way((*python, "bench.read_nightcap"), environment, pod_count),
        typed=Way((*python, "bench.read_typed"), small_environment, typed_pod_count),
        kubectl=Way((*_GET_EACH, *paths), environment, pod_count),
        json=Way((*python, "bench.read_json", url), environment, pod_count),
        bytes=Way((*python, "bench.read_bytes", url, *paths), environment, pod_count),
        kubectl_starts=Way((*_GET_EACH, *["/version"] * _STARTS), environment, 0),
    )


def print_costs(ways: Ways, costs: Mapping[str, Cost]) -> None:
    """Print what each way took."""
    rows = []
    for name, cost in costs.items():
        pod_count = getattr(ways, name).pod_count
        a_pod = f"{cost.work_seconds / pod_count * 1e6:.1f}" if pod_count else ""
        figures = (f"{cost.cpu_seconds:.1f}", f"{cost.wall_seconds:.1f}", f"{cost.peak_bytes / 2**20:.0f}")
        rows.append((NAMES[name], f"{pod_count:,}" if pod_count else "", a_pod, *figures))
    print_table(("", "pods", "CPU µs a pod, without Python's start", "CPU s", "elapsed s", "peak MiB"), rows)


def print_ratios(ways: Ways, costs: Mapping[str, Cost]) -> None:
    """Print what the targets are about, and what a further pod costs: there neither side pays for Python's start, and both read the same lists.

    In the target's ratio Python's start counts against Nightcap, but not against the official client.
    """
    ours = costs["nightcap"]
    typed_a_pod, ours_a_pod = (costs[name].work_seconds / getattr(ways, name).pod_count for name in ("typed", "nightcap"))
    rows = [
        ("CPU a pod, (a) ÷ Nightcap", f"{typed_a_pod / (ours.cpu_seconds / ways.nightcap.pod_count):.1f}", "at least 30"),
        ("CPU of a further pod, (a)", f"{typed_a_pod * 1e6:.1f} µs", ""),
        ("CPU of a further pod, Nightcap", f"{ours_a_pod * 1e6:.1f} µs", ""),
        ("CPU of a further pod, (a) ÷ Nightcap", f"{typed_a_pod / ours_a_pod:.1f}", ""),
        ("elapsed, Nightcap ÷ (b)", f"{ours.wall_seconds / costs['kubectl'].wall_seconds:.2f}", "at most 1.5"),
        ("CPU, (c) ÷ Nightcap", f"{costs['json'].cpu_seconds / ours.cpu_seconds:.1f}", ""),
        ("elapsed, Nightcap ÷ (d)", f"{ours.wall_seconds / costs['bytes'].wall_seconds:.1f}", ""),
        ("peak memory", f"{ours.peak_bytes / 2**20:.0f} MiB", "under 1024 MiB"),
    ]
    print_table(("", "measured", "target"), rows)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=150_000, help="size of the cluster; a node for every 30 (default: 150000)")
    parser.add_argument("--typed-pods", type=int, default=10_000, help="size of the cluster for the official client (default: 10000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way reads (default: 3)")
    arguments = parser.parse_args()
    print_machine(find_kubectl())
    with tempfile.TemporaryDirectory(prefix="nightcap-bench-") as folder, ExitStack() as stack:
        ways = find_ways(stack, Path(folder), arguments.pods, arguments.typed_pods)
        rounds = [{name: getattr(ways, name).measure() for name in NAMES} for _ in range(arguments.rounds)]
    costs = {name: median([measured[name] for measured in rounds]) for name in NAMES}
    print_costs(ways, costs)
    print_ratios(ways, costs)


if __name__ == "__main__":
    main()
