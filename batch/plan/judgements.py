"""What is wrong with the cluster's capacity and what to do about it: few findings, with stable ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from fractions import Fraction

import pandas as pd

from batch.findings import Finding, Message, Severity, by_urgency, message, plural
from batch.plan.flavors import providers
from batch.plan.model import FlavorFit, Pool, ProfilePlan, Totals
from batch.plan.nodes import NOT_READY
from batch.plan.pools import headroom, requests_ratio, usable
from batch.plan.prices import Prices
from batch.snapshot import views
from batch.snapshot.model import Snapshot

SECTION = "capacity"

_FULL_RATIO = Fraction(9, 10)
"""Share of requests at which a pool counts as full: what is left of a tenth is spread over nodes in pieces too small for most pods."""

_COVERED_RATIO = Fraction(9, 10)
"""Share of measured pods under which usage figures are called incomplete."""

_WITHOUT_REQUESTS_RATIO = Fraction(1, 10)
"""Share of pods without any request from which it is said: a few agents that ask for nothing change no figure."""

_PATIENCE = timedelta(minutes=15)
"""Longest wait for a node that is normal: Cluster Autoscaler's default max-node-provision-time (its FAQ, August 2026)."""

_NAMED = 20
"""Pods that a finding names."""


def judge(
    snapshot: Snapshot,
    pods: pd.DataFrame,
    nodes: pd.DataFrame,
    pools: Sequence[Pool],
    totals: Totals,
    profiles: Sequence[ProfilePlan],
    prices: Prices,
) -> tuple[Finding, ...]:
    """Give the findings about the cluster, most urgent first. `pods` are all pods with their usage (measured.with_usage), `nodes` has the schema NODE_CAPACITY.

    `profiles[0]` is all Running pods: its flavor is only proposed when no profile says more of what the nodes are for.
    """
    physical = nodes.loc[~nodes["virtual"]]
    found = [
        *_not_ready(physical),
        *_without_allocatable(physical),
        *_full(pools, physical),
        *_unschedulable(snapshot, pods),
        *_without_requests(pods, physical),
        *_on_unknown_nodes(nodes, pods, totals),
        *(finding for profile in profiles[:1] for finding in (*_little_measured(snapshot, profile), *_near_limit(profile))),
        *(finding for profile in profiles[1:] or profiles for finding in _recommended(profile, providers(snapshot), prices)),
    ]
    return by_urgency(tuple(found))


def _not_ready(nodes: pd.DataFrame) -> Iterator[Finding]:
    down = nodes.loc[nodes["unusable"].eq(NOT_READY).fillna(value=False)]
    if down.empty:
        return
    words, left = _left(down)
    yield Finding(
        id="capacity.nodes-not-ready",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"{{down:count}} of {{all:count}} {plural(len(nodes), 'node', 'nodes')} {plural(len(down), 'is', 'are')} not ready",
            down=len(down),
            all=len(nodes),
        ),
        detail=message(f"Pods on them may not run.{f' Out of reach, though nobody requests it: {words}.' if left else ''}", **left),
        action=message("Look at the nodes' conditions (kubectl describe node), then repair or remove them."),
        objects=tuple(down["node"]),
        worth=message("{down:count}", down=len(down)),
        worth_of="nodes not ready",
        weight=float(len(down)),
    )


def _without_allocatable(nodes: pd.DataFrame) -> Iterator[Finding]:
    blank = nodes.loc[nodes[["allocatable_cpu_nanocores", "allocatable_memory_bytes"]].isna().any(axis="columns")]
    if blank.empty:
        return
    yield Finding(
        id="capacity.nodes-without-allocatable",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            f"The size of {{count:count}} of {{all:count}} {plural(len(nodes), 'node', 'nodes')} is unknown",
            count=len(blank),
            all=len(nodes),
        ),
        detail=message("They state no allocatable or capacity that can be read, so the sums of what pods may use are without them."),
        action=message("Look at the nodes' status (kubectl get node -o yaml): their kubelet has to report it."),
        objects=tuple(blank["node"]),
        worth=message("{count:count}", count=len(blank)),
        worth_of="nodes of unknown size",
        weight=float(len(blank)),
    )


def _full(pools: Sequence[Pool], nodes: pd.DataFrame) -> Iterator[Finding]:
    """Judge pools by the resource of which the largest share is requested on their usable nodes; the fullest is described."""
    taken: list[tuple[Fraction, Pool, pd.DataFrame]] = []
    for pool in pools:
        free = usable(nodes.loc[nodes["pool"] == pool.name])
        ratio = requests_ratio(free, pool.binding_resource) if pool.binding_resource else None
        if ratio is not None and ratio >= _FULL_RATIO:
            taken.append((ratio, pool, free))
    taken.sort(key=lambda one: (-one[0], one[1].name))
    of_slots = [one for one in taken if one[1].binding_resource == "pods"]
    of_requests = [one for one in taken if one[1].binding_resource != "pods"]
    if of_slots:
        yield _full_finding(
            "capacity.pod-slots",
            of_slots,
            _slots_title(*of_slots[0][1:]),
            message("Add nodes, or raise the nodes' pod limit if their network has addresses for more."),
        )
    if of_requests:
        ratio, pool, _ = of_requests[0]
        yield _full_finding(
            "capacity.pools-full",
            of_requests,
            message(
                "Pool {pool:text}: {ratio:ratio} of its {word:text} requested",
                pool=pool.name,
                ratio=float(ratio),
                word={"cpu": "CPU", "memory": "memory"}[str(pool.binding_resource)],
            ),
            message("Add nodes, or lower requests that are not used."),
        )


def _full_finding(id_: str, full: Sequence[tuple[Fraction, Pool, pd.DataFrame]], title: Message, action: Message) -> Finding:
    ratio, pool, nodes = full[0]
    words, left = _left(nodes)
    others = "" if len(full) == 1 else " Also nearly full: {others:count} more."
    return Finding(
        id=id_,
        severity=Severity.WARNING,
        section=SECTION,
        title=title,
        detail=message(
            f"Left there for ordinary pods, on {{usable:count}} usable of {{all:count}} {plural(pool.node_count, 'node', 'nodes')}: {words}.{others}",
            usable=len(nodes),
            all=pool.node_count,
            **left,
            **({} if len(full) == 1 else {"others": len(full) - 1}),
        ),
        action=action,
        objects=tuple(pool.name for _, pool, _ in full),
        worth=message("{pools:count}", pools=len(full)),
        worth_of="pools nearly full",
        weight=float(ratio),
    )


def _slots_title(pool: Pool, nodes: pd.DataFrame) -> Message:
    known = nodes.loc[nodes["allocatable_pod_count"].notna()]
    taken, slots = int(known["pod_count"].sum()), int(known["allocatable_pod_count"].sum())
    return message("Pool {pool:text}: {taken:count} of {slots:count} pod slots taken", pool=pool.name, taken=taken, slots=slots)


def _unschedulable(snapshot: Snapshot, pods: pd.DataFrame) -> Iterator[Finding]:
    waiting = pods["phase"].eq("Pending") & pods["node"].isna() & ~pods["gated"] & pods["unschedulable_reason"].notna()
    stuck = pods.loc[waiting].sort_values(["created_at", "namespace", "pod"])
    if stuck.empty:
        return
    oldest = stuck.iloc[0]
    age = None if pd.isna(oldest["created_at"]) else pd.Timestamp(snapshot.taken_at) - oldest["created_at"]
    waited = "" if age is None else " It has waited {age:seconds}."
    yield Finding(
        id="capacity.pods-unschedulable",
        severity=Severity.CRITICAL if age is not None and age > _PATIENCE else Severity.WARNING,
        section=SECTION,
        title=message(f"{{count:count}} {plural(len(stuck), 'pod', 'pods')} cannot be scheduled", count=len(stuck)),
        detail=message(
            "Of the oldest, {pod:text}, the scheduler says: {reason:text}" + waited,
            pod=f"{oldest['namespace']}/{oldest['pod']}",
            reason=_as_sentence(str(oldest["unschedulable_reason"])),
            **({} if age is None else {"age": age.total_seconds()}),
        ),
        action=message("Add nodes that they fit on, or change what they ask for."),
        objects=_names(stuck),
        worth=message("{count:count}", count=len(stuck)),
        worth_of="pods waiting",
        weight=float(len(stuck)),
    )


def _without_requests(pods: pd.DataFrame, nodes: pd.DataFrame) -> Iterator[Finding]:
    """Say how many pods on nodes ask for nothing, when they are many: every share of requests is then too small."""
    bound = pods.loc[pods["node"].isin(nodes["node"]) & ~pods["phase"].isin(views.FINISHED)]
    blank = bound.loc[(bound["requests_cpu_nanocores"].eq(0) & bound["requests_memory_bytes"].eq(0)).fillna(value=False)]
    if blank.empty or len(blank) < _WITHOUT_REQUESTS_RATIO * len(bound):
        return
    largest = blank.sort_values(["usage_memory_bytes", "namespace", "pod"], ascending=[False, True, True], na_position="last")
    used = views.total(blank["usage_memory_bytes"])
    yield Finding(
        id="capacity.pods-without-requests",
        severity=Severity.WARNING if 2 * len(blank) >= len(bound) else Severity.ADVICE,
        section=SECTION,
        title=message(
            f"{{blank:count}} of {{all:count}} {plural(len(bound), 'pod', 'pods')} {plural(len(blank), 'requests', 'request')} neither CPU nor memory",
            blank=len(blank),
            all=len(bound),
        ),
        detail=message(
            f"The scheduler counts them as nothing, so a node can be full while it looks empty, and they are killed first when its memory runs out.{'' if used is None else ' They use {used:bytes} of memory.'}",
            **({} if used is None else {"used": used}),
        ),
        action=message("Give their workloads requests, or their namespaces a LimitRange with defaults."),
        objects=_names(largest),
        worth=message("{ratio:ratio}", ratio=len(blank) / len(bound)),
        worth_of="of the pods",
        weight=float(len(blank)),
    )


def _on_unknown_nodes(nodes: pd.DataFrame, pods: pd.DataFrame, totals: Totals) -> Iterator[Finding]:
    if not totals.unknown_node_pod_count:
        return
    held = pods.loc[pods["node"].notna() & ~pods["phase"].isin(views.FINISHED)]
    lost = held.loc[~held["node"].isin(nodes["node"])]
    yield Finding(
        id="capacity.pods-on-unknown-nodes",
        severity=Severity.ADVICE,
        section=SECTION,
        title=message(f"{{count:count}} {plural(len(lost), 'pod is', 'pods are')} bound to nodes that were not listed", count=len(lost)),
        detail=message(
            "They request {cpu:nanocores} and {memory:bytes}, which no percentage includes. Nodes named: {nodes:text}.",
            cpu=views.total(lost["requests_cpu_nanocores"]) or 0,
            memory=views.total(lost["requests_memory_bytes"]) or 0,
            nodes=", ".join(sorted(lost["node"].unique())[:_NAMED]),
        ),
        action=message("Pods that stay on a deleted node for days have to be deleted by force."),
        objects=_names(lost.sort_values(["namespace", "pod"])),
        weight=float(len(lost)),
    )


def _little_measured(snapshot: Snapshot, profile: ProfilePlan) -> Iterator[Finding]:
    if not snapshot.has("podmetrics") or not profile.pod_count or profile.measured_pod_count >= _COVERED_RATIO * profile.pod_count:
        return
    yield Finding(
        id="capacity.little-measured",
        severity=Severity.WARNING,
        section=SECTION,
        title=message(
            "Only {some:count} of {all:count} running pods were measured", some=profile.measured_pod_count, all=profile.pod_count
        ),
        detail=message("What the others use is not known; every usage figure and plan rests on the measured ones."),
        action=message("Look at the log of metrics-server for nodes that it cannot read."),
        worth=message("{ratio:ratio}", ratio=profile.measured_pod_count / profile.pod_count),
        worth_of="measured",
        weight=float(profile.pod_count - profile.measured_pod_count),
    )


def _near_limit(profile: ProfilePlan) -> Iterator[Finding]:
    pods = profile.pods.dropna(subset=["usage_memory_bytes", "limits_memory_bytes"])
    pods = pods.loc[pods["limits_memory_bytes"] > 0]
    tenth = -(-pods["limits_memory_bytes"] // 10)
    near = pods.loc[pods["usage_memory_bytes"] > pods["limits_memory_bytes"] - tenth]
    if near.empty:
        return
    ratio = near["usage_memory_bytes"].astype("float64") / near["limits_memory_bytes"].astype("float64")
    near = near.assign(ratio=ratio).sort_values(["ratio", "namespace", "pod"], ascending=[False, True, True])
    top = near.iloc[0]
    yield Finding(
        id="capacity.near-memory-limit",
        severity=Severity.WARNING,
        section=f"profile-{profile.name}",
        title=message(
            f"{{count:count}} {plural(len(near), 'pod is', 'pods are')} within a tenth of {plural(len(near), 'its', 'their')} memory limit",
            count=len(near),
        ),
        detail=message(
            "The nearest, {pod:text}, uses {used:bytes} of {limit:bytes}; over its limit it is killed.",
            pod=f"{top['namespace']}/{top['pod']}",
            used=int(top["usage_memory_bytes"]),
            limit=int(top["limits_memory_bytes"]),
        ),
        action=message("Raise the limit, or find out why the memory grows."),
        objects=_names(near),
        worth=message("{ratio:ratio}", ratio=float(top["ratio"])),
        worth_of="of its limit used",
        weight=float(len(near)),
    )


def _recommended(profile: ProfilePlan, of_cluster: Collection[str], prices: Prices) -> Iterator[Finding]:
    """Advise the recommended flavor, unless it is one of a provider that the cluster does not use."""
    fit = _recommended_fit(profile)
    if fit is None or not (fit.in_cluster_node_count or fit.flavor.provider in of_cluster):
        return
    new = "" if fit.in_cluster_node_count else "; the cluster has no such node yet, so that its size is by the provider's formula"
    cost = prices.money(fit.flavor.name, fit.node_count or 0)
    yield Finding(
        id=f"profile.recommended-flavor/{profile.name}",
        severity=Severity.ADVICE,
        section=f"profile-{profile.name}",
        title=message(
            "{title:text}: {flavor:text} holds {pods:count} on a node",
            title=profile.title,
            flavor=fit.flavor.name,
            pods=profile.pods_per_node,
        ),
        detail=message(
            f"The chance that they need more than the node leaves them is {{memory:probability}} for memory and {{cpu:probability}} for CPU{new}.",
            memory=fit.memory_overrun_probability,
            cpu=fit.cpu_overrun_probability,
        ),
        action=message(
            f"Plan {{nodes:count}} {plural(fit.node_count or 0, 'node', 'nodes')} of {{flavor:text}} for the {{pods:count}} {plural(profile.pod_count, 'pod that runs', 'pods that run')} now{': {cost:money} a month' if cost else ''}.",
            nodes=fit.node_count,
            flavor=fit.flavor.name,
            pods=profile.pod_count,
            **({"cost": cost} if cost else {}),
        ),
        objects=(fit.flavor.name,),
        worth=message("{nodes:count}", nodes=fit.node_count),
        worth_of=plural(fit.node_count or 0, "node", "nodes"),
    )


def _recommended_fit(profile: ProfilePlan) -> FlavorFit | None:
    chosen = profile.recommended
    return next((fit for fit in profile.flavors if chosen and fit.flavor.name == chosen.flavor), None)


def _left(nodes: pd.DataFrame) -> tuple[str, dict[str, int]]:
    """Word what is not requested on the nodes, resource by resource, as far as it is known."""
    wording = {"pods": "{pods:count} free pod slots", "cpu": "{cpu:nanocores} of CPU", "memory": "{memory:bytes} of memory"}
    left = {resource: room for resource in wording if (room := headroom(nodes, resource)) is not None}
    return ", ".join(wording[resource] for resource in left) or "an unknown amount", left


def _names(pods: pd.DataFrame) -> tuple[str, ...]:
    rows: Iterable[tuple[str, str]] = zip(pods["namespace"].head(_NAMED), pods["pod"].head(_NAMED), strict=True)
    return tuple(f"{namespace}/{pod}" for namespace, pod in rows)


def _as_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
