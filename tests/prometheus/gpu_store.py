"""Series of accelerators in every style of labels that is known, an hour of them, half a minute apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from tests.prometheus.server import Series

AT = datetime(2026, 3, 8, 2, 0, 7, tzinfo=UTC)
STEP, COUNT = 30, 120
LAST = int(AT.timestamp()) - 4

BLANK = 9223372036854775794.0
"""What DCGM writes where it has no value."""

Value = Callable[[int], float]


def steady(value: float) -> Value:
    return lambda _: value


def gauge(metric: str, labels: Mapping[str, str], value: Value, *, replicas: bool = False) -> Iterator[Series]:
    """Give an hour of one gauge; `replicas`: seen by a pair of Prometheus."""
    for outer in ({"prometheus_replica": "a"}, {"prometheus_replica": "b"}) if replicas else ({},):
        yield Series(metric, {**labels, **outer}, [(LAST - STEP * (COUNT - 1 - i), value(i)) for i in range(COUNT)])


def dcgm(uuid: str, pod: str = "", **labels: str) -> dict[str, str]:
    """Give labels as dcgm-exporter itself writes them."""
    held = {"namespace": "ml", "pod": pod, "container": "main"} if pod else {}
    return {"UUID": uuid, "gpu": "0", "Hostname": "gpu-1", "modelName": "NVIDIA A100-SXM4-40GB", **held, **labels}


def exported(uuid: str, pod: str = "") -> dict[str, str]:
    """Give labels as a scrape leaves them whose own labels win."""
    held = {"exported_namespace": "ml", "exported_pod": pod, "exported_container": "main"} if pod else {}
    own = {"namespace": "monitoring", "pod": "dcgm-exporter-x", "container": "exporter", "job": "dcgm"}
    return {"UUID": uuid, "gpu": "1", "Hostname": "gpu-2", **own, **held}


def store() -> Iterator[Series]:
    util, active = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    # a card with both counters, seen twice
    yield from gauge(util, dcgm("GPU-both", "train-0"), steady(80), replicas=True)
    yield from gauge(active, dcgm("GPU-both", "train-0"), steady(0.75), replicas=True)
    yield from gauge("DCGM_FI_DEV_FB_USED", dcgm("GPU-both", "train-0"), lambda i: 1000.0 + i, replicas=True)
    yield from gauge("DCGM_FI_DEV_POWER_USAGE", dcgm("GPU-both", "train-0"), lambda i: 100.0 + 2 * (i % 2), replicas=True)
    # two MIG instances, whose utilisation is 0, and their card as a whole
    for instance, value in (("1", 0.5), ("2", 1.02)):
        mig = dcgm("GPU-mig", f"slice-{instance}", GPU_I_ID=instance, GPU_I_PROFILE="1g.5gb")
        yield from gauge(util, mig, steady(0))
        yield from gauge(active, mig, steady(value))
    yield from gauge(active, dcgm("GPU-mig"), steady(0.3))
    # only utilisation; idle in the second half
    yield from gauge(util, dcgm("GPU-util", "train-1"), lambda i: 30.0 if i < COUNT // 2 else 0.0)
    # one card shared by two pods: each shows the whole card's value
    for pod in ("shared-a", "shared-b"):
        yield from gauge(util, dcgm("GPU-shared", pod), steady(10))
    # nobody's, with the labels that Prometheus keeps of an empty pod, which is none
    yield from gauge(util, dcgm("GPU-free"), steady(0))
    # renamed labels: one held, one free, of which only the exporter's own pod is told
    yield from gauge(util, exported("GPU-named", "train-2"), steady(90))
    yield from gauge(util, exported("GPU-nameless"), steady(0))
    # half of the values are none
    yield from gauge(util, dcgm("GPU-blank", "train-3"), lambda i: BLANK if i % 2 else 40.0)
    # no UUID
    bare = {"gpu": "3", "Hostname": "gpu-9", "namespace": "ml", "pod": "old", "container": "main"}
    yield from gauge(util, bare, steady(5))
    # AMD, with a prefix, and Intel, one card of two tiles
    amd = {
        "gpu_uuid": "amd-1",
        "gpu_id": "0",
        "hostname": "amd-node",
        "card_series": "AMD Instinct MI300X",
        "namespace": "ml",
        "pod": "rocm-0",
    }
    yield from gauge("amd_gpu_gfx_activity", {**amd, "container": "main"}, steady(60))
    yield from gauge("amd_gpu_used_vram", {**amd, "container": "main"}, steady(2048))
    for tile, value in (("0", 0.2), ("1", 0.4)):
        intel = {"uuid": "intel-1", "dev_name": "Intel(R) Data Center GPU Max 1550", "node": "xpu-node", "sub_dev": tile}
        held = {"kube_namespace": "ml", "kube_pod": "sycl-0", "kube_container": "main", "namespace": "kube-system", "pod": "xpumd-x"}
        yield from gauge("xpum_engine_ratio", {**intel, **held}, steady(value))
