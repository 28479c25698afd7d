"""Versions: kubelets behind the API server, and node pools that mix systems."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from batch.findings import message, plural
from batch.scale.areas import VERSIONS
from batch.scale.facts import Facts, most_first
from batch.scale.model import Check, Rule, fine, judged, unknown
from batch.scale.tables import UNTOLD
from batch.scale.told import figures, untold
from batch.snapshot.control_plane import DEPRECATED, LISTS

_VERSION = re.compile(r"v?1\.(\d+)")
_ALLOWED, _ALLOWED_BEFORE_1_25, _FIRST_WITH_THREE = 3, 2, 25

SKEW = Rule(
    id="versions.kubelet-skew",
    area=VERSIONS,
    name="Kubelets behind the API server",
    unit="minor versions",
    measures="minor versions from the oldest kubelet to the API server",
    threshold="warns above 2 (1 for kubelets before 1.25): the control plane cannot be upgraded before them; fails above 3 (2), or when a kubelet is newer",
    source='Kubernetes, "Version Skew Policy" (1.37)',
    lesson="Kubelets too far behind call APIs that a newer control plane no longer has. Large clusters take weeks to renew all nodes, so the skew has to be planned.",
    action="Upgrade the oldest node pools first, then the control plane.",
    needs=("list nodes",),
)
SYSTEMS = Rule(
    id="versions.node-systems",
    area=VERSIONS,
    name="Node pools that mix systems",
    unit="count",
    measures="node pools whose nodes differ in kubelet, container runtime, kernel or operating system",
    threshold="warns above 0; fails when more than half of the pools do",
    source="our own: a pool is meant to be of one kind",
    lesson="Faults that only some nodes of a pool show often come from those that an upgrade has passed by. Nobody looks for them, because the pool counts as upgraded.",
    action="Finish the roll-out in the pools named, or find out what stopped it.",
    needs=("list nodes",),
)
DEPRECATED_APIS = Rule(
    id="versions.deprecated-apis",
    area=VERSIONS,
    name="Deprecated APIs in use",
    unit="count",
    measures="deprecated API versions that were requested since the API servers started",
    threshold="warns above 0; fails when the next minor version no longer has one of them",
    source='Kubernetes documentation 1.36, "Deprecated API Migration Guide"; the metric apiserver_requested_deprecated_apis',
    lesson="An upgrade removes an API that a forgotten controller still calls, and it fails silently. The API server counts such calls long before; somebody has to look.",
    action="Find the caller in the audit log (annotation k8s.io/deprecated), and move it to the newer version before the upgrade.",
    needs=("Prometheus: API servers",),
)
RULES = (SKEW, DEPRECATED_APIS, SYSTEMS)
_HALF = 0.5
_SYSTEM = ["kubelet_version", "container_runtime", "kernel_version", "os_image"]


def checks(facts: Facts, systems: pd.DataFrame) -> Iterator[Check]:
    """Judge versions of the nodes; `systems` has the schema tables.SYSTEMS."""
    yield facts.without_nodes(SKEW) or _skew(facts)
    yield _deprecated(facts)
    yield facts.without_nodes(SYSTEMS) or _mixed(systems)


def minor(version: object) -> int | None:
    """Read the minor version of v1.36.2 and the like; None for what is no version."""
    match = _VERSION.match(version) if isinstance(version, str) else None
    return int(match[1]) if match else None


def _skew(facts: Facts) -> Check:
    server = minor(facts.snapshot.kubernetes_version)
    if server is None:
        return unknown(SKEW, message("The version of the API server is not known"), message("GET /version, or version.json in a dump"))
    told = {str(node): minor(text) for node, text in zip(facts.nodes["node"], facts.nodes["kubelet_version"], strict=True)}
    minors = {node: number for node, number in told.items() if number is not None}
    if not minors:
        return unknown(SKEW, message("No node tells the version of its kubelet"), message("status.nodeInfo of the nodes"))
    oldest, newest = min(minors.values()), max(minors.values())
    allowed = _ALLOWED if oldest >= _FIRST_WITH_THREE else _ALLOWED_BEFORE_1_25
    if newest > server:
        names = tuple(sorted(node for node, number in minors.items() if number > server))
        found = message(
            f"{{count:count}} {plural(len(names), 'kubelet is', 'kubelets are')} newer than the API server, {{server:text}}",
            count=len(names),
            server=f"1.{server}",
        )
        return judged(SKEW, newest - server, found, warn=0, fail=0, objects=names)
    names = tuple(sorted(node for node, number in minors.items() if number == oldest))
    found = message(
        f"{{count:count}} of {{all:count}} {plural(len(minors), 'kubelet', 'kubelets')} {plural(len(names), 'is', 'are')} at {{oldest:text}}, the API server at {{server:text}}",
        count=len(names),
        all=len(minors),
        oldest=f"1.{oldest}",
        server=f"1.{server}",
    )
    return judged(SKEW, server - oldest, found, warn=allowed - 1, fail=allowed, objects=names if server - oldest >= allowed else ())


def _deprecated(facts: Facts) -> Check:
    rows = figures(facts, DEPRECATED)
    if not rows and not figures(facts, LISTS):  # API servers that tell of lists tell of deprecated APIs as well
        return untold(facts, DEPRECATED_APIS, "API servers", ("apiserver_requested_deprecated_apis",))
    if not rows:
        return judged(DEPRECATED_APIS, 0, message("No deprecated API was requested"), warn=0)
    names = tuple(f"{row.resource}.{row.version}.{row.api_group}".rstrip(".") for row in rows)
    server = minor(facts.snapshot.kubernetes_version)
    removed = [number for number in (minor(row.reason) for row in rows) if number is not None]
    next_ = server is not None and any(number <= server + 1 for number in removed)
    found = message(
        f"{{count:count}} deprecated {plural(len(names), 'API is', 'APIs are')} still requested, {{first:text}} among them",
        count=len(names),
        first=names[0],
    )
    return judged(DEPRECATED_APIS, len(names), found, warn=0, fail=0 if next_ else None, objects=names)


def _mixed(systems: pd.DataFrame) -> Check:
    if not len(systems):
        return fine(SYSTEMS, message("There are no nodes"))
    systems = systems.loc[(systems[_SYSTEM] != UNTOLD).any(axis="columns")]
    if not len(systems):
        return unknown(SYSTEMS, message("No node tells its system"), message("status.nodeInfo of the nodes"))
    kinds = most_first(systems.groupby("pool").size())
    mixed = tuple(str(pool) for pool, count in kinds.items() if count > 1)
    found = message(
        f"{{mixed:count}} of {{all:count}} node {plural(len(kinds), 'pool', 'pools')} {plural(len(mixed), 'mixes', 'mix')} systems; {{systems:count}} in the cluster",
        mixed=len(mixed),
        all=len(kinds),
        systems=len(systems.drop_duplicates(_SYSTEM)),
    )
    return judged(SYSTEMS, len(mixed), found, warn=0, fail=0 if len(mixed) > _HALF * len(kinds) else None, objects=mixed)
