"""Which pods belong to a profile: those that run, and those that were there in the window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from batch.plan import jupyterhub, selectors
from batch.plan.instants import Flags, PodInstants, Together
from batch.snapshot.model import Snapshot

_POD = ["namespace", "pod"]
_WORKLOAD = ["namespace", "workload_kind", "workload"]
_HUB_PREFIX = "jupyter-"
"""Begin of a user pod's name by KubeSpawner's default template."""


@dataclass(frozen=True)
class Profile:
    """A set of Running pods to plan for."""

    name: str
    title: str
    namespace: str | None
    selector: str
    pods_per_node: int
    pods_per_node_reason: str


def running(profile: Profile, snapshot: Snapshot, pods: pd.DataFrame) -> pd.DataFrame:
    """Give the rows of `pods` that run and belong to the profile."""
    return pods.loc[(pods["phase"] == "Running") & _selected(profile, snapshot, pods)]


def is_hub_user(snapshot: Snapshot, pods: pd.DataFrame) -> pd.Series:
    """Tell which rows of `pods` are JupyterHub's running user pods."""
    key, value = jupyterhub.USER_LABEL
    requirement = selectors.Requirement(key, frozenset({value}), wanted=True)
    return (pods["phase"] == "Running") & pods["label_set"].isin(selectors.selected(snapshot, (requirement,)))


def over_time(profile: Profile, snapshot: Snapshot, pods: pd.DataFrame, instants: PodInstants) -> tuple[Together | None, int]:
    """Give the profile's pods at the instants, and how many pods are gone of which it is not known whether they were of it.

    The labels of a pod that is gone are not known any more: with a selector it belongs where the pods of its workload belong that are still
    there, and a user pod of a JupyterHub where those of its namespace do.
    """
    own = _selected(profile, snapshot, pods)
    chosen = _is_in(instants.pods, pods.loc[own], _POD)
    gone = ~instants.pods["listed"].to_numpy(dtype=np.bool_)
    if profile.namespace is not None:
        gone &= (instants.pods["namespace"] == profile.namespace).to_numpy(dtype=np.bool_)
    if not profile.selector:
        return instants.of(chosen | gone), 0
    of_workload = gone & _is_in(instants.pods, pods.loc[own], _WORKLOAD)
    of_hub = gone & _of_hub(instants.pods, snapshot, pods.loc[own])
    known = gone & _is_in(instants.pods, pods, _WORKLOAD)
    return instants.of(chosen | of_workload | of_hub), int((gone & ~known & ~of_hub).sum())


def has_instants(members: pd.DataFrame, instants: PodInstants | None) -> Flags:
    """Tell which of these pods were measured at an instant."""
    return np.zeros(len(members), dtype=np.bool_) if instants is None else _is_in(members, instants.pods, _POD)


def _selected(profile: Profile, snapshot: Snapshot, pods: pd.DataFrame) -> pd.Series:
    chosen = pd.Series(True, index=pods.index)  # noqa: FBT003  the value of every row
    if profile.namespace is not None:
        chosen &= pods["namespace"] == profile.namespace
    if requirements := selectors.parse(profile.selector, profile.name):
        chosen &= pods["label_set"].isin(selectors.selected(snapshot, requirements))
    return chosen


def _of_hub(past: pd.DataFrame, snapshot: Snapshot, members: pd.DataFrame) -> Flags:
    users = members.loc[is_hub_user(snapshot, members)]
    if len(users) < len(members) or users.empty:
        return np.zeros(len(past), dtype=np.bool_)
    named = past["pod"].str.startswith(_HUB_PREFIX) & past["namespace"].isin(users["namespace"])
    return np.asarray(named.to_numpy(dtype=np.bool_))


def _is_in(rows: pd.DataFrame, others: pd.DataFrame, columns: list[str]) -> Flags:
    """Tell which rows have the same values in these columns as one of the others."""
    known = pd.MultiIndex.from_frame(others[columns].drop_duplicates())
    return np.asarray(pd.MultiIndex.from_frame(rows[columns]).isin(known), dtype=np.bool_)
