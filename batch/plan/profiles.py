"""The profiles: which sets of pods are planned for, and the plan of each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from batch.errors import SettingsError
from batch.plan import jupyterhub, selectors
from batch.plan.coverage import lacking
from batch.plan.demand import DAEMONSET
from batch.plan.fits import Needs, flavor_fits, mean_request
from batch.plan.measured import is_measured
from batch.plan.model import PROFILE_PODS, Distribution, Flavor, NodePlan, ProfilePlan
from batch.plan.odds import odds
from batch.plan.outliers import outliers
from batch.plan.prices import Prices
from batch.plan.recommend import candidates, recommend
from batch.plan.risks import Risks
from batch.plan.sizes import NodeSize, node_sizes
from batch.plan.suits import suits
from batch.plan.usage import distribution
from batch.settings import PlanSettings, ProfileSettings
from batch.snapshot import views
from batch.snapshot.model import Snapshot
from batch.snapshot.views import TEXT

ALL_PODS = "all-pods"
JUPYTERHUB = "jupyterhub-users"

PLANNED_QUANTILES = (0.9, 0.95, 0.98, 0.99)
"""Quantiles that make a plan: below them too many pods need more."""

_DEFAULT_PODS_PER_NODE: int = ProfileSettings.model_fields["pods_per_node"].default
_DEFAULT_REASON = "the default: the kubelet's default limit is 110 and system pods need some"
_NANO = 10**9


@dataclass(frozen=True)
class Profile:
    """A set of Running pods to plan for."""

    name: str
    title: str
    namespace: str | None
    selector: str
    pods_per_node: int
    pods_per_node_reason: str


@dataclass(frozen=True)
class Choice:
    """What the pods of any profile may be put on: flavors, what a node of each has for pods and offers beside, and what it costs.

    `nodes` are those of the cluster (NODE_CAPACITY).
    """

    nodes: pd.DataFrame
    flavors: Sequence[Flavor]
    sizes: Mapping[str, NodeSize]
    offers: Mapping[str, Mapping[str, int]]
    prices: Prices


def profiles(snapshot: Snapshot, nodes: pd.DataFrame, pods: pd.DataFrame, settings: PlanSettings) -> tuple[Profile, ...]:
    """Give all Running pods, JupyterHub's user pods when there are any, and the profiles of the settings, in this order.

    A profile of the settings takes the place of a found one of its name. Raises SettingsError as given_profiles does.
    """
    found = [_all_pods(nodes, partial=snapshot.namespaces is not None)]
    if _is_hub_user(snapshot, pods).any():
        selector = "=".join(jupyterhub.USER_LABEL)
        found.append(Profile(JUPYTERHUB, "JupyterHub user pods", None, selector, _DEFAULT_PODS_PER_NODE, _DEFAULT_REASON))
    return tuple({profile.name: profile for profile in (*found, *given_profiles(settings))}.values())


def given_profiles(settings: PlanSettings) -> tuple[Profile, ...]:
    """Give the profiles of the settings. Raises SettingsError when two share a name, or a selector cannot be read."""
    if twice := [name for name, count in Counter(profile.name for profile in settings.profiles).items() if count > 1]:
        raise SettingsError(
            "profile-twice",
            attempted=f"plan for the profile {twice[0]!r}",
            why="plan.profiles has it twice, and its name is a section and a file",
            remedy="Give each profile its own name.",
        )
    for profile in settings.profiles:
        selectors.parse(profile.selector, profile.name)
    return tuple(_of_settings(profile) for profile in settings.profiles)


def plan(profile: Profile, snapshot: Snapshot, pods: pd.DataFrame, choice: Choice, settings: PlanSettings) -> ProfilePlan:
    """Plan for one profile. `pods` are all pods with their usage (measured.with_usage)."""
    members = _members(profile, snapshot, pods)
    memory = distribution(members["usage_memory_bytes"], settings.memory_thresholds_bytes)
    cpu = distribution(members["usage_cpu_nanocores"], [round(cores * _NANO) for cores in settings.cpu_thresholds_cores])
    found_outliers = outliers(members, memory, profile.pods_per_node, settings)
    measured_count = int(is_measured(members).sum())
    needs = Needs(
        cpu=cpu,
        memory=memory,
        requests_cpu=mean_request(members["requests_cpu_nanocores"]),
        requests_memory=mean_request(members["requests_memory_bytes"]),
        outliers=found_outliers,
        pods_per_node=profile.pods_per_node,
        pod_count=len(members),
    )
    sizes, most = _sizes_beside(members, snapshot, pods, choice), settings.overrun_probability_max
    risks = Risks(sizes, cpu, memory)
    fits = flavor_fits(choice.flavors, sizes, needs, risks, chance=most, prices=choice.prices)
    suited = suits(snapshot, members, choice.offers, profile.pods_per_node)
    recommended, refusal = recommend(fits, suited, lacking=lacking(measured_count, len(members), settings), most=most, prices=choice.prices)
    return ProfilePlan(
        name=profile.name,
        title=profile.title,
        namespace=profile.namespace,
        selector=profile.selector,
        pods_per_node=profile.pods_per_node,
        pods_per_node_reason=profile.pods_per_node_reason,
        pod_count=len(members),
        measured_pod_count=measured_count,
        pods=_profile_pods(snapshot, members),
        memory=memory,
        cpu=cpu,
        average_plan=_node_plan(None, memory.mean, cpu.mean, profile.pods_per_node),
        quantile_plans=_quantile_plans(memory, cpu, profile.pods_per_node),
        outliers=found_outliers,
        flavors=fits,
        recommended=recommended,
        refusal=refusal,
        odds=odds(candidates(fits, suited), risks, recommended.flavor if recommended else None, profile.pods_per_node),
    )


def _all_pods(nodes: pd.DataFrame, *, partial: bool) -> Profile:
    counts = nodes.loc[~nodes["virtual"], "pod_count"].dropna()
    if counts.empty:
        why = "only some namespaces were read" if partial else "no node is known"
        return Profile(ALL_PODS, "All running pods", None, "", _DEFAULT_PODS_PER_NODE, f"{_DEFAULT_REASON}; {why}")
    median = max(1, math.ceil(float(counts.median())))
    return Profile(ALL_PODS, "All running pods", None, "", median, "the median number of bound pods on a node, rounded up")


def _of_settings(given: ProfileSettings) -> Profile:
    reason = "the setting plan.profiles" if "pods_per_node" in given.model_fields_set else _DEFAULT_REASON
    return Profile(given.name, given.name, given.namespace, given.selector, given.pods_per_node, reason)


def _members(profile: Profile, snapshot: Snapshot, pods: pd.DataFrame) -> pd.DataFrame:
    chosen = pods["phase"] == "Running"
    if profile.namespace is not None:
        chosen &= pods["namespace"] == profile.namespace
    if requirements := selectors.parse(profile.selector, profile.name):
        chosen &= pods["label_set"].isin(selectors.selected(snapshot, requirements))
    return pods.loc[chosen]


def _sizes_beside(members: pd.DataFrame, snapshot: Snapshot, pods: pd.DataFrame, choice: Choice) -> Mapping[str, NodeSize]:
    """Give what nodes have for these pods. DaemonSet pods among them are drawn as they are, so a node keeps no room for them beside that."""
    if not (members["workload_kind"] == DAEMONSET).any():
        return choice.sizes
    others = views.bound_pods(snapshot).index.difference(members.index)
    return node_sizes(snapshot, choice.nodes, pods.loc[others], choice.flavors)


def _is_hub_user(snapshot: Snapshot, pods: pd.DataFrame) -> pd.Series:
    key, value = jupyterhub.USER_LABEL
    requirement = selectors.Requirement(key, frozenset({value}), wanted=True)
    return (pods["phase"] == "Running") & pods["label_set"].isin(selectors.selected(snapshot, (requirement,)))


def _profile_pods(snapshot: Snapshot, members: pd.DataFrame) -> pd.DataFrame:
    """Give the members as PROFILE_PODS: largest memory first, user pods with their owner decoded."""
    rows = members.sort_values(["usage_memory_bytes", "namespace", "pod"], ascending=[False, True, True], na_position="last")
    users = _is_hub_user(snapshot, rows)
    decoded = jupyterhub.owners(rows.loc[users]).reindex(rows.index)
    frame = rows.assign(
        workload=rows["workload"].mask(users, decoded).astype(TEXT),
        limits_memory_bytes=rows["limits_memory_bytes"].where(rows["memory_limited"]),
    )
    frame = frame[[column.name for column in PROFILE_PODS.columns]].reset_index(drop=True)
    PROFILE_PODS.check(frame)
    return frame


def _node_plan(quantile: float | None, memory: float | None, cpu: float | None, pods_per_node: int) -> NodePlan | None:
    if memory is None or cpu is None:
        return None
    return NodePlan(quantile, memory, cpu, memory * pods_per_node, cpu * pods_per_node)


def _quantile_plans(memory: Distribution, cpu: Distribution, pods_per_node: int) -> tuple[NodePlan, ...]:
    of_memory, of_cpu = dict(memory.quantiles), dict(cpu.quantiles)
    plans = (_node_plan(q, of_memory.get(q), of_cpu.get(q), pods_per_node) for q in PLANNED_QUANTILES)
    return tuple(plan for plan in plans if plan is not None)
