"""The capacity plan of a snapshot: will it fit, on what."""

from __future__ import annotations

from batch.plan import measured
from batch.plan.fits import instance_types
from batch.plan.flavors import compared_flavors
from batch.plan.judgements import judge
from batch.plan.minor_resources import minor_resources
from batch.plan.model import CapacityPlan
from batch.plan.nodes import node_capacity
from batch.plan.pools import pools
from batch.plan.profiles import plan, profiles
from batch.plan.totals import totals
from batch.plan.waiting import waiting
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings) -> CapacityPlan:
    """Say what the cluster holds, what is left of it, and for each profile what its pods use and which flavor fits them.

    Raises SettingsError for a profile's selector, a profile's name or a flavor's name that cannot be used.
    """
    pods = measured.with_usage(snapshot, settings.usage.max_age_seconds)
    bound = pods.loc[views.bound_pods(snapshot).index]
    nodes = node_capacity(snapshot, bound, settings)
    flavors = compared_flavors(snapshot, settings.plan)
    types = instance_types(nodes, bound)
    planned = tuple(
        plan(profile, snapshot, pods, flavors, types, settings.plan) for profile in profiles(snapshot, nodes, pods, settings.plan)
    )
    of_cluster, of_pools = totals(snapshot, pods, nodes), pools(nodes)
    return CapacityPlan(
        totals=of_cluster,
        nodes=nodes,
        pools=of_pools,
        profiles=planned,
        findings=judge(snapshot, pods, nodes, of_pools, of_cluster, planned),
        waiting=waiting(snapshot),
        minor_resources=minor_resources(snapshot, nodes, bound),
    )
