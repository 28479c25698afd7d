"""The charts of a profile: how much its pods use, and what a node of them needs."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import Distribution, FlavorFit, Outliers, ProfilePlan
from batch.report.histogram import histogram
from batch.report.model import Chart, Level, Needs
from batch.report.sections.material import plural
from batch.report.sections.odds_chart import odds_chart
from batch.report.sections.profile_facts import FEW, is_few, is_recommended, recommended_fit

_MOST_LEVELS = 7
"""Amounts of memory that fit beside the chart of needs without crowding."""

_UNITS = {"bytes": "memory", "nanocores": "CPU"}


def charts(profile: ProfilePlan, accepted: float) -> dict[str, Chart]:
    """Give the charts by name: memory, cpu, odds and needs, as far as there is something to see. `accepted` is the chance of an overrun."""
    found = {}
    for name, distribution, kind in (("memory", profile.memory, "bytes"), ("cpu", profile.cpu, "nanocores")):
        if len(distribution.values) >= FEW and distribution.values[-1]:
            found[name] = _usage_chart(distribution, kind)
    if is_few(profile):
        return found
    if odds := odds_chart(profile, accepted):
        found["odds"] = odds
    if profile.outliers and profile.outliers.level_bytes > profile.outliers.typical_memory_bytes:
        found["needs"] = _needs_chart(profile, profile.outliers)
    return found


def _usage_chart(distribution: Distribution, kind: str) -> Chart:
    drawing = histogram(distribution, kind, f"{_UNITS[kind][:1].upper()}{_UNITS[kind][1:]} used by a pod")
    quantiles = dict(distribution.quantiles)
    step = drawing.edges[1] - drawing.edges[0]
    bars = (
        message("Grey bars count pods, equally wide on a logarithmic scale; the blue line adds them up.")
        if drawing.logarithmic
        else message(f"Grey bars count pods in steps of {{step:{kind}}}; the blue line adds them up.", step=step)
    )
    return Chart(
        title=_usage_title(quantiles, kind),
        subtitle=Message("{count:count} measured pods. " + bars.template, {"count": len(distribution.values), **bars.values}),
        alt=message(
            f"Distribution of {_UNITS[kind]} over {{count:count}} pods: median {{half:{kind}}}, p90 {{p90:{kind}}}, p99 {{p99:{kind}}}, largest {{most:{kind}}}.",
            count=len(distribution.values),
            half=quantiles[0.5],
            p90=quantiles[0.9],
            p99=quantiles[0.99],
            most=quantiles[1.0],
        ),
        drawing=drawing,
    )


def _usage_title(quantiles: dict[float, float], kind: str) -> Message:
    most, half = quantiles[1.0], quantiles[0.5]
    word = _UNITS[kind]
    if half:
        return message(f"Half of the pods use less than {{half:{kind}}} of {word}, the largest {{most:{kind}}}", half=half, most=most)
    return message(f"Half of the pods use no {word} that can be measured, the largest {{most:{kind}}}", most=most)


def _needs_chart(profile: ProfilePlan, outliers: Outliers) -> Chart:
    levels = _levels(profile, outliers)
    last = len(outliers.memory_needed_bytes) - 1
    return Chart(
        title=_needs_title(profile, outliers),
        subtitle=message(
            f"Memory that {{pods:count}} {plural(profile.pods_per_node, 'pod')} together need when some of them are outliers, at {{limit:bytes}} ({{source:text}}), and the rest use {{typical:quantile}}, {{size:bytes}}.",
            pods=profile.pods_per_node,
            limit=outliers.level_bytes,
            typical=outliers.typical_quantile,
            size=outliers.typical_memory_bytes,
            source=outliers.level_source,
        ),
        alt=message(
            f"Memory needed by {{pods:count}} {plural(profile.pods_per_node, 'pod')} rises from {{first:bytes}} without outliers to {{top:bytes}} with {{last:count}}.",
            pods=profile.pods_per_node,
            first=outliers.memory_needed_bytes[0],
            top=outliers.memory_needed_bytes[-1],
            last=last,
        ),
        drawing=Needs(outliers.memory_needed_bytes, levels),
    )


def _needs_title(profile: ProfilePlan, outliers: Outliers) -> Message:
    fit = recommended_fit(profile)
    if fit and fit.outliers_tolerated is not None:
        return message(
            f"{{pods:count}} {plural(profile.pods_per_node, 'pod')} with up to {{tolerated:count}} {plural(fit.outliers_tolerated, 'outlier')} among them fit into the nominal {{memory:bytes}} of {{flavor:text}}",
            pods=profile.pods_per_node,
            tolerated=fit.outliers_tolerated,
            memory=fit.flavor.memory_bytes,
            flavor=fit.flavor.name,
        )
    each = outliers.level_bytes - outliers.typical_memory_bytes
    return message("Every outlier adds {each:bytes} to what a node needs", each=each)


def _levels(profile: ProfilePlan, outliers: Outliers) -> tuple[Level, ...]:
    """Choose the amounts of memory to draw: the recommended flavor's, the cluster's, then those within reach of the needs."""
    top, bottom = max(outliers.memory_needed_bytes), min(outliers.memory_needed_bytes)
    by_size: dict[int, list[FlavorFit]] = {}
    for fit in profile.flavors:
        by_size.setdefault(fit.flavor.memory_bytes, []).append(fit)

    def rank(size: int) -> tuple[bool, bool, bool, float]:
        fits = by_size[size]
        within = bottom <= size <= 1.2 * top
        here = any(fit.in_cluster_node_count for fit in fits)
        return not any(is_recommended(profile, fit) for fit in fits), not within, not here, abs(size - (top + bottom) / 2)

    chosen = recommended_fit(profile)
    reachable = [size for size in by_size if size <= 1.2 * top or (chosen and size == chosen.flavor.memory_bytes)]
    sizes = sorted(sorted(reachable, key=rank)[:_MOST_LEVELS])
    return tuple(
        Level(
            size,
            tuple(
                fit.flavor.name
                for fit in sorted(
                    by_size[size], key=lambda fit: (not is_recommended(profile, fit), not fit.in_cluster_node_count, fit.flavor.name)
                )
            ),
            chosen=any(is_recommended(profile, fit) for fit in by_size[size]),
        )
        for size in sizes
    )
