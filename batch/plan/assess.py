"""The capacity plan of a snapshot: will it fit, on what."""

from __future__ import annotations

from batch.plan import measured
from batch.plan.flavors import compared_flavors
from batch.plan.fleet import fleets
from batch.plan.headroom import headroom
from batch.plan.judgements import judge
from batch.plan.minor_resources import minor_resources
from batch.plan.model import CapacityPlan
from batch.plan.model_packing import NO_FLEETS
from batch.plan.nodes import node_capacity
from batch.plan.offers import offers
from batch.plan.packing_judgements import judge as judge_packing
from batch.plan.pools import pools
from batch.plan.price_judgements import judge as judge_prices
from batch.plan.prices import NO_PRICES, Prices
from batch.plan.profiles import Choice, plan, profiles
from batch.plan.right_sized import right_sized
from batch.plan.rightsizing.assess import rightsize
from batch.plan.rightsizing.judgements import judge as judge_requests
from batch.plan.sizes import node_sizes
from batch.plan.totals import totals
from batch.plan.waiting import waiting
from batch.settings import Settings
from batch.snapshot import views
from batch.snapshot.history import NO_HISTORY, History
from batch.snapshot.model import Snapshot


def assess(snapshot: Snapshot, settings: Settings, history: History = NO_HISTORY, prices: Prices = NO_PRICES) -> CapacityPlan:
    """Say what the cluster holds, what is left of it, for each profile what its pods use and which flavor fits, and what workloads should request.

    Raises SettingsError for a profile's selector, a profile's name or a flavor's name that cannot be used.
    """
    pods = measured.with_usage(snapshot, settings.usage.max_age_seconds)
    bound = pods.loc[views.bound_pods(snapshot).index]
    nodes = node_capacity(snapshot, bound, settings)
    flavors = compared_flavors(snapshot, settings.plan)
    sizes = node_sizes(snapshot, nodes, bound, flavors)
    prices = prices.judged_at(snapshot.taken_at, settings.prices.max_age_seconds)
    choice = Choice(nodes, flavors, sizes, offers(snapshot, nodes, flavors), prices)
    planned = tuple(plan(profile, snapshot, pods, choice, settings.plan) for profile in profiles(snapshot, nodes, pods, settings.plan))
    of_cluster, of_pools = totals(snapshot, pods, nodes), pools(nodes)
    sized = rightsize(snapshot, history, nodes, bound, settings, prices)
    room, packed = headroom(snapshot, bound, nodes), fleets(snapshot, pods, nodes, flavors, sizes, prices)
    return CapacityPlan(
        totals=of_cluster,
        nodes=nodes,
        pools=of_pools,
        profiles=planned,
        findings=(
            *judge(snapshot, pods, nodes, of_pools, of_cluster, planned, prices),
            *judge_requests(sized, settings.rightsizing),
            *judge_packing(room, packed, nodes, prices),
            *judge_prices(prices),
        ),
        waiting=waiting(snapshot),
        minor_resources=minor_resources(snapshot, nodes, bound),
        prices=prices,
        rightsizing=sized,
        fleets=packed,
        right_sized_fleets=fleets(snapshot, right_sized(snapshot, pods, sized.advice), nodes, flavors, sizes, prices, right_sized=True)
        if any(one.is_change for one in sized.advice)
        else NO_FLEETS,
        headroom=room,
    )
