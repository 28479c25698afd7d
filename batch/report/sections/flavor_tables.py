"""The tables of a profile about flavors: how its pods fit each, and how many of them a node takes."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import FORMULA, NODES, FlavorFit, ProfilePlan
from batch.plan.prices import Prices
from batch.report.files import profile_file
from batch.report.format import format_ratio
from batch.report.model import MOST_ROWS, Column, Row, Table
from batch.report.sections.material import plural
from batch.report.sections.profile_facts import is_recommended, recommended_fit

_ORDER = "recommended one, then the cluster's, then the smallest"
_SOURCES = {NODES: "its nodes", FORMULA: "formula", None: ""}
_BINDINGS = {
    "cpu_requests": "CPU requests",
    "memory_requests": "memory requests",
    "cpu_p95": "CPU use",
    "memory_p95": "memory use",
    "pod_limit": "pod limit",
}
_FIRST = {
    "cpu_requests": "CPU requests bind",
    "memory_requests": "memory requests bind",
    "cpu_p95": "CPU use binds",
    "memory_p95": "memory use binds",
    "pod_limit": "the pod limit binds",
}
_TOO_SMALL = message("too small")
"""Stands for outliers withstood where even the typical pods do not fit: that is known."""

_UNLIMITED = message("any")
_OLD = "\N{DAGGER}"


def flavors_table(profile: ProfilePlan, prices: Prices) -> Table:
    """Say for each flavor what it has, how the planned pods fit, and what it costs where prices were given."""
    fits = _in_order(profile)
    priced = any(fit.monthly_cost is not None for fit in fits)
    return Table(
        what="flavors",
        title=message("How the pods fit each flavor"),
        order=_ORDER,
        columns=(
            Column("Flavor", "name"),
            Column("CPU", "nanocores", "Nominal"),
            Column("Memory", "bytes", "Nominal"),
            Column("CPU", "nanocores", "Allocatable"),
            Column("Memory", "bytes", "Allocatable"),
            Column("by", "text", "Allocatable"),
            Column("CPU", "ratio", "Pods that fit"),
            Column("Memory", "ratio", "Pods that fit"),
            Column("CPU", "probability", "Overrun"),
            Column("Memory", "probability", "Overrun"),
            Column("Needed", "count", "Nodes"),
            *((Column(f"{prices.currency} a month", "amount", "Nodes"),) if priced else ()),
        ),
        rows=tuple(_flavor_row(profile, fit, prices, priced=priced) for fit in fits[:MOST_ROWS]),
        row_count=len(fits),
        file=flavors_file(profile),
        notes=_notes(fits, prices),
    )


def pods_table(profile: ProfilePlan, accepted: float) -> Table:
    """Say for each flavor how many pods a node takes, by everything that may limit them, and how many outliers it withstands."""
    fits = _in_order(profile)
    tells = profile.outliers is not None and bool(profile.outliers.share)
    return Table(
        what="flavors",
        title=_pods_title(profile),
        order=_ORDER,
        columns=(
            Column("Flavor", "name"),
            Column("Requests", "count", "Pods on a node by"),
            Column("p95 of use", "count", "Pods on a node by"),
            Column("Pod limit", "count", "Pods on a node by"),
            Column("Tightest", "text", "Pods on a node by"),
            Column(f"Safe at {format_ratio(accepted)}", "count"),
            *((Column("Withstood", "count", "Outliers"),) if profile.outliers else ()),
            *((Column("Chance of more", "probability", "Outliers"),) if tells else ()),
        ),
        rows=tuple(_pods_row(profile, fit, tells=tells) for fit in fits[:MOST_ROWS]),
        row_count=len(fits),
        file=flavors_file(profile),
    )


def _in_order(profile: ProfilePlan) -> list[FlavorFit]:
    return sorted(
        profile.flavors,
        key=lambda fit: (
            not is_recommended(profile, fit),
            not fit.in_cluster_node_count,
            fit.flavor.memory_bytes,
            fit.flavor.cpu_nanocores,
            fit.flavor.name,
        ),
    )


def flavors_file(profile: ProfilePlan) -> str:
    """Name the file that has everything about flavors."""
    return profile_file(profile.name, "flavors")


def _flavor_row(profile: ProfilePlan, fit: FlavorFit, prices: Prices, *, priced: bool) -> Row:
    cells = (
        fit.flavor.name,
        fit.flavor.cpu_nanocores,
        fit.flavor.memory_bytes,
        fit.allocatable_cpu_nanocores,
        fit.allocatable_memory_bytes,
        _SOURCES[fit.allocatable_source],
        fit.cpu_fit_ratio,
        fit.memory_fit_ratio,
        fit.cpu_overrun_probability,
        fit.memory_overrun_probability,
        fit.node_count,
        *((_cost(fit, prices),) if priced else ()),
    )
    return Row(cells, chosen=is_recommended(profile, fit))


def _cost(fit: FlavorFit, prices: Prices) -> Message | None:
    """Write a cost without its currency, which the head names, and mark one that was made from an old price."""
    money = prices.money(fit.flavor.name, fit.node_count or 0)
    if money is None:
        return None
    return message(f"{{amount:count}}{f' {_OLD}' if money.priced_on else ''}", amount=round(money.amount))


def _notes(fits: list[FlavorFit], prices: Prices) -> tuple[Message, ...]:
    """Say what the prices are: of which days, old, of spot nodes."""
    shown = {fit.flavor.name: prices.by_flavor[fit.flavor.name] for fit in fits if fit.flavor.name in prices.by_flavor}
    old = [price.day for price in shown.values() if price.day < prices.old_before]
    spot = [name for name, price in shown.items() if price.spot]
    return (
        *((message(f"{_OLD} made from an old price, the oldest of {{day:day}}", day=min(old)),) if old else ()),
        *((message("at spot prices: {names:text}", names=", ".join(spot)),) if spot else ()),
    )


def _pods_row(profile: ProfilePlan, fit: FlavorFit, *, tells: bool) -> Row:
    cells = (
        fit.flavor.name,
        _bound(fit, fit.pods_by_requests),
        _bound(fit, fit.pods_by_p95),
        fit.pods_by_limit,
        _BINDINGS.get(fit.binding or ""),
        fit.safe_pods_per_node,
        *((_TOO_SMALL if fit.outliers_tolerated is None else fit.outliers_tolerated,) if profile.outliers else ()),
        *(("" if fit.outliers_tolerated is None else fit.outlier_overflow_probability,) if tells else ()),
    )
    return Row(cells, strong=frozenset({5}), chosen=is_recommended(profile, fit))


def _bound(fit: FlavorFit, count: int | None) -> object:
    """Give how many pods fit; a word where the node's size is known and nothing that they ask for, or use, limits them."""
    is_sized = fit.allocatable_source is not None and fit.daemonset_pod_count is not None
    return _UNLIMITED if count is None and is_sized else count


def _pods_title(profile: ProfilePlan) -> Message:
    fit = recommended_fit(profile)
    if fit is None or fit.binding is None:
        return message("How many pods a node takes")
    counts = {"cpu_requests": fit.pods_by_requests, "memory_requests": fit.pods_by_requests, "pod_limit": fit.pods_by_limit}
    count = counts.get(fit.binding, fit.pods_by_p95) or 0
    return message(
        f"On {{flavor:text}} {_FIRST[fit.binding]} first, at {{count:count}} {plural(count, 'pod')}",
        flavor=fit.flavor.name,
        count=count,
    )
