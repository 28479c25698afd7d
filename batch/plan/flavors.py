"""The flavors that are compared: common shapes of the cluster's provider, those that the cluster has, and those of the settings."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import resources
from typing import Any, NoReturn

import pandas as pd
import yaml

from batch.accelerators import ABSENT, PRESENCE_LABELS, device_count, is_accelerator
from batch.errors import SettingsError
from batch.plan.model import Flavor
from batch.settings import FlavorSettings, PlanSettings
from batch.snapshot.model import Snapshot

PROVIDERS = {"aws": "aws", "gce": "google", "azure": "azure"}
"""Provider of the catalogue by the scheme of a node's spec.providerID."""

GPU_COUNT_LABEL = "nvidia.com/gpu.count"
"""Where NVIDIA's feature discovery says how many cards a node has, however many slices or shares of them it advertises."""

_NANO = 10**9
_MIB = 1024**2
_GIB = 1024**3


@functools.cache
def catalogue() -> tuple[Flavor, ...]:
    """Read the flavors that ship with the project; each file names the provider's page and its date."""
    folder = resources.files("batch.plan") / "catalogue"
    files = sorted((path for path in folder.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
    return tuple(flavor for path in files for flavor in _flavors(yaml.safe_load(path.read_text(encoding="utf-8"))))


def compared_flavors(snapshot: Snapshot, settings: PlanSettings) -> tuple[Flavor, ...]:
    """Choose the flavors to compare, ordered by memory, cores, name.

    Those of plan.flavor_names if given; else the catalogue's of the cluster's providers (all when none is known), the cluster's instance
    types that it lacks, and plan.flavors. Raises SettingsError for a name that is nowhere.
    """
    own = {flavor.name: flavor for flavor in map(_of_settings, settings.flavors)}
    present = {flavor.name: flavor for flavor in _of_cluster(snapshot)}
    known = present | {flavor.name: flavor for flavor in catalogue()} | own
    if settings.flavor_names:
        chosen = [known[name] if name in known else _refuse(name, known) for name in settings.flavor_names]
    else:
        present_providers = providers(snapshot)
        wanted = (
            {flavor.name for flavor in catalogue() if not present_providers or flavor.provider in present_providers}
            | present.keys()
            | own.keys()
        )
        chosen = [known[name] for name in wanted]
    return tuple(sorted(chosen, key=lambda flavor: (flavor.memory_bytes, flavor.cpu_nanocores, flavor.name)))


def check_names(settings: PlanSettings, has_nodes: Callable[[str], bool | None]) -> None:
    """Raise SettingsError for a name of plan.flavor_names that is in no catalogue, not in plan.flavors, and of which there are no nodes.

    `has_nodes` tells whether nodes of an instance type are there, None where that is not known before they are read.
    """
    known = {flavor.name for flavor in catalogue()} | {flavor.name for flavor in settings.flavors}
    for name in settings.flavor_names:
        if name not in known and has_nodes(name) is False:
            _refuse(name, known)


def _flavors(tree: Mapping[str, Any]) -> Iterable[Flavor]:
    for shape in tree["flavors"]:
        yield Flavor(
            name=shape["name"],
            provider=tree["provider"],
            cpu_nanocores=shape["cpu_cores"] * _NANO,
            memory_bytes=shape["memory_gib"] * _GIB,
            gpu_count=shape.get("gpu_count", 0),
            gpu_product=shape.get("gpu_product"),
            architecture=shape.get("architecture", "amd64"),
            pod_limit=shape.get("pod_limit"),
            gpu_memory_bytes=shape["gpu_memory_mib"] * _MIB if "gpu_memory_mib" in shape else None,
        )


def _of_settings(shape: FlavorSettings) -> Flavor:
    return Flavor(
        name=shape.name,
        provider=shape.provider,
        cpu_nanocores=round(shape.cpu_cores * _NANO),
        memory_bytes=shape.memory_bytes,
        gpu_count=shape.gpu_count,
        gpu_product=shape.gpu_product,
        architecture=shape.architecture,
        pod_limit=shape.pod_limit,
        gpu_memory_bytes=shape.gpu_memory_bytes,
    )


def _of_cluster(snapshot: Snapshot) -> Iterable[Flavor]:
    """Give the cluster's instance types with the capacity of their smallest node; a type of unknown capacity is left out."""
    nodes = snapshot.table("nodes")
    sized = nodes.loc[~nodes["virtual"]].dropna(subset=["instance_type", "capacity_cpu_nanocores", "capacity_memory_bytes"])
    gpus = _gpu_counts(snapshot)
    for name, group in sized.groupby("instance_type", sort=True):
        scheme, architecture = (group[column].dropna().tolist()[:1] for column in ("provider", "architecture"))
        yield Flavor(
            name=str(name),
            provider=PROVIDERS.get(scheme[0], scheme[0]) if scheme else None,
            cpu_nanocores=int(group["capacity_cpu_nanocores"].min()),
            memory_bytes=int(group["capacity_memory_bytes"].min()),
            gpu_count=max(gpus.get(node, 0) for node in group["node"]),
            gpu_product=None,
            architecture=architecture[0] if architecture else "",
            pod_limit=None,
        )


def _gpu_counts(snapshot: Snapshot) -> dict[str, int]:
    """Count the accelerators of each node that has any: by label, else as many as what it advertises proves; one where only labels tell."""
    offers = snapshot.table("node_resources")
    stated = offers["capacity_count"].fillna(offers["allocatable_count"])
    labels = snapshot.table("node_labels")
    presence = labels.loc[labels["label"].isin(PRESENCE_LABELS) & ~labels["value"].str.lower().isin(ABSENT)]
    found = dict.fromkeys(presence["node"], 1)
    for node, resource, count in zip(offers["node"], offers["resource"], stated, strict=True):
        if is_accelerator(resource) and pd.notna(count) and count > 0:
            found[node] = max(found.get(node, 0), device_count(resource, int(count)))
    counted = labels.loc[(labels["label"] == GPU_COUNT_LABEL) & labels["value"].str.fullmatch("0*[1-9][0-9]{0,5}"), ["node", "value"]]
    return found | {node: int(value) for node, value in counted.itertuples(index=False)}


def providers(snapshot: Snapshot) -> frozenset[str]:
    """Name the providers of the catalogue that the cluster has nodes of."""
    return frozenset(PROVIDERS[scheme] for scheme in snapshot.table("nodes")["provider"].dropna().unique() if scheme in PROVIDERS)


def _refuse(name: str, known: Collection[str]) -> NoReturn:
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)[0]
    raise SettingsError(
        "flavor-unknown",
        attempted=f"compare the flavor {name!r} of plan.flavor_names",
        why="it is neither in the catalogue, nor an instance type of the cluster, nor in plan.flavors",
        remedy=f"The nearest one is {near}; a flavor of your own goes into plan.flavors with its cores and memory.",
    )
