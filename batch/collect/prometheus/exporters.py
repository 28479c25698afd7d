"""Exporters of accelerators: what they call activity, memory and power, and which labels tell device, node, model and pod."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batch.collect.prometheus.answers import Labels

MIB = 2**20

STYLES = (
    ("exported_namespace", "exported_pod", "exported_container"),
    ("kube_namespace", "kube_pod", "kube_container"),
    ("namespace", "pod", "container"),
)
"""Labels of the pod that holds a device, strongest first: a scrape whose own labels win renames the exporter's to exported_….
Intel's exporter has its own names."""


@dataclass(frozen=True)
class Metric:
    """A gauge. A value times `scale` is in the base unit; `most` is the largest value that means anything."""

    name: str
    scale: float
    most: float = float("inf")


@dataclass(frozen=True)
class Exporter:
    """One vendor's exporter. Of several activities of one device the first counts; they are never mixed."""

    activities: tuple[Metric, ...]
    memory: Metric
    power: Metric
    device: tuple[str, ...]
    index: tuple[str, ...]
    node: tuple[str, ...]
    product: tuple[str, ...]
    mig_id: str = ""
    mig_profile: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label that is looked at; an exporter that was restarted has another instance."""
        own = (*self.device, *self.index, *self.node, *self.product, self.mig_id, self.mig_profile)
        return tuple(dict.fromkeys(label for label in (*own, *(label for style in STYLES for label in style), "job", "instance") if label))


DCGM = Exporter(
    activities=(Metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 1.0, 2.0), Metric("DCGM_FI_DEV_GPU_UTIL", 0.01, 110.0)),
    memory=Metric("DCGM_FI_DEV_FB_USED", MIB),
    power=Metric("DCGM_FI_DEV_POWER_USAGE", 1.0),
    device=("UUID",),
    index=("gpu",),
    node=("Hostname", "hostname", "node"),
    product=("modelName",),
    mig_id="GPU_I_ID",
    mig_profile="GPU_I_PROFILE",
)
"""NVIDIA dcgm-exporter 4 (etc/default-counters.csv): activity of the graphics and compute engines as a ratio, utilisation in percent,
frame buffer in MiB, power in watts. What DCGM has no value for it writes as a number near 2^63 (DCGM_INT64_BLANK), which `most` tells."""


def _amd(prefix: str) -> Exporter:
    return Exporter(
        activities=(Metric(f"{prefix}gpu_gfx_activity", 0.01, 110.0),),
        memory=Metric(f"{prefix}gpu_used_vram", MIB),
        power=Metric(f"{prefix}gpu_package_power", 1.0),
        device=("gpu_uuid", "serial_number"),
        index=("gpu_id",),
        node=("hostname", "node"),
        product=("card_series", "card_model"),
    )


INTEL = Exporter(
    activities=(Metric("xpum_engine_ratio", 1.0, 1.1),),
    memory=Metric("xpum_memory_used_bytes", 1.0),
    power=Metric("xpum_power_watts", 1.0),
    device=("uuid",),
    index=("dev_file", "pci_bdf"),
    node=("node",),
    product=("dev_name",),
)
"""Intel XPU Manager (doc/Prometheus_Exported_Metrics.csv); of a card with several tiles the busiest counts."""

EXPORTERS = (DCGM, _amd(""), _amd("amd_"), INTEL)
"""AMD's is the ROCm device metrics exporter (docs/configuration/metricslist.md): percent, MB, watts; a prefix can be set there."""


def first_of(labels: Labels, names: Sequence[str]) -> str | None:
    """Give the first of these labels that has a value."""
    return next((labels[name] for name in names if labels.get(name)), None)
