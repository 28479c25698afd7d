"""Measure whole nights, from a served cluster to the PDF, at several sizes: `./dev bench night` or `python -m bench.night`.

Every night must end with exit code 0, and the totals in its report.json must be those that the cluster was made with.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.clusters import PODS_A_NODE, serve_cluster
from bench.make_cluster import NOW
from bench.measure import Cost, cost_of, find_kubectl, median, print_machine, print_table

SIZES = (10_000, 50_000, 150_000)
_NANO = 10**9


def run_night(folder: Path, environment: Mapping[str, str]) -> Cost:
    """Run one night and check what it says. Raises RuntimeError when that is wrong."""
    options = ("--source", "cluster", "--output", folder / "out", "--now", NOW.isoformat(), "--quiet")
    cost = cost_of((sys.executable, "-m", "batch", "run", *options), environment)
    report = next((folder / "out").glob("cluster=*/date=*/run=*/report.json"))
    found, expected = json.loads(report.read_text())["totals"], json.loads((folder / "expected.json").read_text())["totals"]
    wrong = {name: (found[name], value) for name, value in in_base_units(expected).items() if name in found and found[name] != value}
    if wrong or not report.with_name("report.pdf").stat().st_size:
        raise RuntimeError(f"not as expected: {wrong}")
    return cost


def in_base_units(totals: Mapping[str, Any]) -> dict[str, Any]:
    """Give expected totals as report.json has them: cores instead of nanocores."""
    return {
        name.replace("_cpu_nanocores", "_cpu_cores"): value / _NANO if name.endswith("_nanocores") else value
        for name, value in totals.items()
    }


def print_costs(costs: Mapping[int, Cost], sizes: Mapping[int, Mapping[str, int]]) -> None:
    """Print what the nights took, and how that grows."""
    rows = []
    for pod_count, cost in costs.items():
        a_pod = f"{cost.cpu_seconds / pod_count * 1e6:.0f}"
        figures = (f"{cost.cpu_seconds:.1f}", f"{cost.wall_seconds:.1f}", a_pod, f"{cost.peak_bytes / 2**20:.0f}")
        files = (f"{sizes[pod_count][name] / 2**20:.1f}" for name in ("report.pdf", "report.html", "report.json"))
        rows.append((f"{pod_count:,}", f"{-(-pod_count // PODS_A_NODE):,}", *figures, *files))
    print_table(("pods", "nodes", "CPU s", "elapsed s", "CPU µs a pod", "peak MiB", "PDF MiB", "HTML MiB", "JSON MiB"), rows)


def print_growth(costs: Mapping[int, Cost]) -> None:
    """Print what each further pod cost: equal figures mean linear growth."""
    rows = []
    for smaller, larger in pairwise(costs):
        more = (costs[larger].cpu_seconds - costs[smaller].cpu_seconds) / (larger - smaller)
        rows.append((f"from {smaller:,} to {larger:,} pods", f"{more * 1e6:.0f}"))
    print_table(("", "CPU µs for each further pod"), rows)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, nargs="+", default=SIZES, help="sizes of the clusters (default: 10000 50000 150000)")
    parser.add_argument("--rounds", type=int, default=3, help="nights of each size; the table has the medians (default: 3)")
    arguments = parser.parse_args()
    print_machine(find_kubectl())
    costs, sizes = {}, {}
    for pod_count in arguments.pods:
        with tempfile.TemporaryDirectory(prefix="nightcap-bench-") as name, ExitStack() as stack:
            folder = Path(name)
            _, environment = serve_cluster(stack, folder, pod_count)
            costs[pod_count] = median([run_night(folder, environment) for _ in range(arguments.rounds)])
            sizes[pod_count] = {file.name: file.stat().st_size for file in folder.glob("out/cluster=*/date=*/run=*/report.*")}
    print_costs(costs, sizes)
    if len(costs) > 1:
        print_growth(costs)


if __name__ == "__main__":
    main()
