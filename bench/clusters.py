"""Clusters to measure with: made in a process of its own, served from another."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from bench.measure import cost_of, find_kubectl
from bench.server import serving, write_kubeconfig

PODS_A_NODE = 30


def serve_cluster(stack: ExitStack, folder: Path, pod_count: int) -> tuple[str, dict[str, str]]:
    """Make a cluster of that size and serve it; give the URL, and the environment that leads clients there."""
    size = ("--nodes", str(-(-pod_count // PODS_A_NODE)), "--pods", str(pod_count))
    cost_of((sys.executable, "-m", "bench.make_cluster", folder, *size), {})
    url = stack.enter_context(serving(folder))
    write_kubeconfig(folder / "kubeconfig", url)
    return url, {"KUBECONFIG": str(folder / "kubeconfig"), "KUBECTL": str(find_kubectl())}
