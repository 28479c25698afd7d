"""Measure the assessment of accelerators, after collection: `./dev bench gpus` or `python -m bench.gpus`.

4,000 GPU nodes of four kinds (whole cards, MIG, time-slicing, claimed ones) in eight pools, 20,000 pods on them, 1,000 that wait in 200 shapes,
and a week of activity for every pod. What is found must be what was made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from batch.gpu.assess import assess
from batch.gpu.model import GpuAssessment
from batch.settings import Settings
from batch.snapshot.model import Snapshot
from batch.snapshot.schemas import SCHEMAS
from bench.dice import Dice
from bench.measure import find_kubectl, print_machine, print_table

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
_CORE, _GIB = 10**9, 1024**3
_CARDS = 8
_POOLS = 8
_WORKLOADS = 400
_MIG = ("nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb")
_STEP, _SAMPLES = 60, 10_080

Rows = dict[str, list[dict[str, Any]]]


class Floor:
    """A cluster in the making: rows of tables, and what it will have in all."""

    def __init__(self, node_count: int, pod_count: int, waiting_count: int) -> None:
        self.rows: Rows = {name: [] for name in SCHEMAS}
        self.card_count = 0
        self.requests: dict[str, int] = {}
        self._dice = Dice(7)
        self._free: list[dict[str, int]] = [self._add_node(number) for number in range(node_count)]
        for number in range(_POOLS):
            self._add_rules(number)
        for number in range(pod_count):
            self._add_pod(number, number % node_count)
        for number in range(waiting_count):
            self._add_waiting(number)

    def snapshot(self) -> Snapshot:
        """Give the rows as checked tables."""
        tables = {
            name: SCHEMAS[name].frame([row.get(column.name) for column in SCHEMAS[name].columns] for row in rows)
            for name, rows in self.rows.items()
        }
        return Snapshot(NOW, "bench", "v1.36.2", "bench", "r", "2026-03-01", tables)

    def _add_node(self, number: int) -> dict[str, int]:
        name, kind = f"gpu-{number:05}", number % 4
        size = {f"{state}_{r}": amount for state in ("capacity", "allocatable") for r, amount in _SIZE.items()}
        self._row("nodes", node=name, ready=True, schedulable=number % 50 != 0, virtual=False, allocatable_pod_count=110, **size)
        self._row("node_labels", node=name, label="karpenter.sh/nodepool", value=f"pool-{number % _POOLS}")
        self._row("node_taints", node=name, taint="nvidia.com/gpu", effect="NoSchedule", value="present")
        self.card_count += _CARDS
        product = "NVIDIA-A100-SXM4-80GB"
        labels = {"nvidia.com/gpu.product": product, "nvidia.com/gpu.memory": "81920"} | (
            {"nvidia.com/gpu.replicas": "4"} if kind == 2 else {}  # noqa: PLR2004  the third kind
        )
        for label, value in labels.items():
            self._row("node_labels", node=name, label=label, value=value)
        if kind == 3:  # noqa: PLR2004  the fourth kind
            return self._add_devices(name)
        offers = ({"nvidia.com/gpu": _CARDS}, dict(zip(_MIG, (4 * _CARDS, _CARDS), strict=True)), {"nvidia.com/gpu": 4 * _CARDS})[kind]
        for resource, count in offers.items():
            self._row("node_resources", node=name, resource=resource, capacity_count=count, allocatable_count=count)
        return dict(offers)

    def _add_devices(self, node: str) -> dict[str, int]:
        own = {"slice": f"{node}-slice", "node": node}
        self._row("device_slices", driver="gpu.nvidia.com", pool=node, generation=1, slice_count=1, **own)
        for card in range(_CARDS):
            uuid = f"{node}-{card}"
            self._row("devices", slice=own["slice"], device=f"gpu-{card}", type="gpu", product="NVIDIA A100", uuid=uuid, shared=False)
        return {"claim": _CARDS}

    def _add_rules(self, number: int) -> None:
        self._row("scheduling_sets", scheduling_set=number, spread=False)
        self._row("tolerations", scheduling_set=number, number=0, taint="nvidia.com/gpu", operator="Exists")
        where = {"term": 0, "requirement": 0, "position": 0, "operator": "In"}
        self._row("node_requirements", scheduling_set=number, label="karpenter.sh/nodepool", value=f"pool-{number}", **where)

    def _add_pod(self, number: int, place: int) -> None:
        free = self._free[place]
        resource = self._dice.pick(sorted(free))
        count = min(free[resource], 1 + self._dice.below(2))
        if not count:
            return
        free[resource] -= count
        pod = {"namespace": f"team-{number % 40}", "pod": f"pod-{number:06}"}
        self._add_row_of_pod(pod, number, count, place % _POOLS, node=f"gpu-{place:05}", phase="Running")
        if resource == "claim":
            self._claim(pod, place, free[resource], count)
        else:
            self._row("pod_resources", resource=resource, requests_count=count, **pod)
            self.requests[resource] = self.requests.get(resource, 0) + count
        self._add_usage(pod, number, place, count)

    def _claim(self, pod: Mapping[str, str], place: int, left: int, count: int) -> None:
        claim = {"namespace": pod["namespace"], "claim": f"{pod['pod']}-gpu"}
        self._row("claims", allocated=True, **claim)
        self._row("claim_pods", pod=pod["pod"], **claim)
        for number in range(count):
            given = {"driver": "gpu.nvidia.com", "pool": f"gpu-{place:05}", "device": f"gpu-{left + number}"}
            self._row("claim_devices", number=number, admin=False, **given, **claim)
        self.requests["claim"] = self.requests.get("claim", 0) + count

    def _add_usage(self, pod: Mapping[str, str], number: int, place: int, count: int) -> None:
        idle = self._dice.below(_SAMPLES)
        busy = 1 - idle / _SAMPLES
        ratios = dict.fromkeys(("activity_mean_ratio", "activity_p95_ratio", "activity_max_ratio", "recent_max_ratio"), busy)
        times = {"first_at": NOW - timedelta(days=7), "last_at": NOW, "last_active_at": NOW}
        for device in range(count):
            self._row(
                "gpu_usage",
                device=f"GPU-{number}-{device}",
                mig_instance="",
                container="main",
                node=f"gpu-{place:05}",
                metric="DCGM_FI_DEV_GPU_UTIL",
                step_seconds=_STEP,
                sample_count=_SAMPLES,
                idle_sample_count=idle,
                memory_used_max_bytes=8 * _GIB,
                **pod,
                **ratios,
                **times,
            )

    def _add_waiting(self, number: int) -> None:
        shape = number % 200
        pod = {"namespace": "queue", "pod": f"waits-{number:05}"}
        self._add_row_of_pod(pod, shape, 1 + shape % 16, shape % _POOLS, node=None, phase="Pending")
        self._row("pod_resources", resource="nvidia.com/gpu", requests_count=1 + shape % 16, **pod)

    def _add_row_of_pod(self, pod: Mapping[str, str], number: int, count: int, rules: int, **columns: Any) -> None:
        variety = 1 + number % _WORKLOADS
        self._row(
            "pods",
            workload_kind="Deployment",
            workload=f"w-{number % _WORKLOADS}",
            created_at=NOW - timedelta(hours=variety),
            gated=False,
            container_count=1,
            label_set=0,
            scheduling_set=rules,
            requests_cpu_nanocores=count * 4 * _CORE + variety * 1_000_000,
            requests_memory_bytes=count * 16 * _GIB,
            cpu_limited=False,
            memory_limited=False,
            **pod,
            **columns,
        )

    def _row(self, table: str, **columns: Any) -> None:
        self.rows[table].append(columns)


_SIZE = {"cpu_nanocores": 96 * _CORE, "memory_bytes": 1024 * _GIB}


def differences(found: GpuAssessment, made: Floor) -> Iterator[str]:
    """Say what is not as it was made."""
    held: dict[str, int] = {"claim": sum(pool.allocated_count or 0 for pool in found.pools)}
    for resource in found.resources:
        held[resource.resource] = held.get(resource.resource, 0) + (resource.requests_count or 0)
    if held != made.requests:
        yield f"requests {held} are not {made.requests}"
    if found.card_count != made.card_count:
        yield f"{found.card_count} cards are not {made.card_count}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4_000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3, help="the table has the median (default: 3)")
    options = parser.parse_args(arguments)
    made = Floor(options.nodes, options.pods, options.pods // 20)
    shot = made.snapshot()
    seconds = []
    for _ in range(options.rounds):
        start = time.process_time()
        found = assess(shot, Settings())
        seconds.append(time.process_time() - start)
        if wrong := list(differences(found, made)):
            raise RuntimeError("; ".join(wrong))
    print_machine(find_kubectl())
    row = (f"{options.nodes:,}", f"{len(shot.table('pods')):,}", f"{made.card_count:,}", f"{sorted(seconds)[len(seconds) // 2]:.1f}")
    print_table(("GPU nodes", "pods", "cards", "CPU s"), [row])


if __name__ == "__main__":
    main()
