"""Profiles: what the pods of each profile use, what nodes for them need, and which flavor to take."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.plan.demand import DAEMONSET
from batch.plan.model import ProfilePlan
from batch.plan.prices import Prices
from batch.report.model import Section
from batch.report.sections.flavor_tables import flavors_file
from batch.report.sections.material import Material, plural
from batch.report.sections.profile_charts import charts
from batch.report.sections.profile_facts import FEW, is_few, recommended_fit
from batch.report.sections.profile_tables import tables

TEMPLATE = "profile"


def build(material: Material) -> tuple[Section, ...]:
    """Give one section a profile."""
    plans = material.plan.profiles
    twins = [next((other for other in plans[place + 1 :] if _are_same(profile, other)), None) for place, profile in enumerate(plans)]
    return tuple(_twin_section(one, twin, material) if twin else _section(one, material) for one, twin in zip(plans, twins, strict=True))


def _are_same(one: ProfilePlan, other: ProfilePlan) -> bool:
    """Whether two profiles are about the same pods, so that one of them tells everything about both."""
    names = ["namespace", "pod"]
    return one.pod_count == other.pod_count > 0 and one.pods[names].equals(other.pods[names])


def _twin_section(profile: ProfilePlan, twin: ProfilePlan, material: Material) -> Section:
    """Say of a profile whose pods a later one has too only what differs: the number of pods on a node, and what follows from it."""
    slug = f"profile-{profile.name}"
    return Section(
        slug=slug,
        template=TEMPLATE,
        name=profile.title,
        title=message(
            f"{'This is' if profile.pod_count == 1 else 'These are'} the same {{pods:count}} {plural(profile.pod_count, 'pod')} as those of {{twin:text}}",
            pods=profile.pod_count,
            twin=twin.title,
        ),
        lede=(
            message("What they use stands there, with a plan for {pods:count} on a node.", pods=twin.pods_per_node),
            *_planned_for(profile),
        ),
        findings=material.findings_of(slug),
        sentences={"choice": (_choice(profile, material.plan.prices),), "reasons": _reasons(profile)},
    )


def _planned_for(profile: ProfilePlan) -> Iterator[Message]:
    if profile.measured_pod_count:
        yield message("The plan here is for {pods:count} ({reason:text}).", pods=profile.pods_per_node, reason=profile.pods_per_node_reason)


def _section(profile: ProfilePlan, material: Material) -> Section:
    slug = f"profile-{profile.name}"
    most = material.settings.plan.overrun_probability_max
    return Section(
        slug=slug,
        template=TEMPLATE,
        name=profile.title,
        title=_title(profile),
        lede=tuple(_lede(profile, asked=material.snapshot.has("podmetrics"))),
        how_to_read=_how_to_read(profile, material) if profile.measured_pod_count else (),
        findings=material.findings_of(slug),
        tables=tables(profile, material.plan.prices, most) if profile.measured_pod_count else {},
        charts=charts(profile, most) if profile.measured_pod_count else {},
        sentences={"choice": (_choice(profile, material.plan.prices),), "reasons": _reasons(profile)},
    )


def _how_to_read(profile: ProfilePlan, material: Material) -> tuple[Message, ...]:
    quantiles = message(
        "Quantiles are over measured pods: p90 is what nine in ten of them do not exceed. Each pod counts with one measurement, the newest of the snapshot."
    )
    if is_few(profile):
        return (
            quantiles,
            message("How the pods fit each flavor is in {file:text}; it tells little about more pods.", file=flavors_file(profile)),
        )
    return (
        quantiles,
        message(
            "Allocatable is what the smallest of the cluster's nodes of that flavor reports; by formula, where it has none: the provider's published reservation, off an estimate of the memory that the kubelet sees. Pods that fit is the share of pods which use at most the nominal size divided by {pods:count}.",
            pods=profile.pods_per_node,
        ),
        message(
            f"Overrun is the chance that {{pods:count}} {plural(profile.pods_per_node, 'pod')} drawn from the measured ones {'needs' if profile.pods_per_node == 1 else 'need'} more than a node leaves them: allocatable less what {_daemonsets(profile)} use. Up to {{most:probability}} is accepted.",
            pods=profile.pods_per_node,
            most=material.settings.plan.overrun_probability_max,
        ),
        message(
            "Pods on a node: by requests, as many of the mean request as fit beside DaemonSets; by p95, as many that all use their 95th percentile; any, where they ask for nothing. Tightest is the least of the three."
        ),
        *_on_outliers(profile),
        message(
            "{rule:text} that meets this is taken. Shares and quantile plans describe; they do not decide.",
            rule="The flavor with the lowest cost a pod"
            if material.plan.prices.by_flavor
            else "Without prices the flavor with the least memory, then the fewest cores,",
        ),
        message(
            "Never taken, though compared: flavors of another CPU architecture than these pods now run on; flavors with GPUs, unless most of these pods request them; and then those without enough of them."
        ),
    )


def _daemonsets(profile: ProfilePlan) -> str:
    """Name the pods for which room is kept: those of DaemonSets, unless they are pods of the profile and drawn as such."""
    own = (profile.pods["workload_kind"] == DAEMONSET).any()
    return "other DaemonSets (those among these pods are drawn like any pod)" if own else "DaemonSets"


def _on_outliers(profile: ProfilePlan) -> Iterator[Message]:
    found = profile.outliers
    if found is None:
        return
    yield message(
        "Withstood is how many of {pods:count} pods may reach {level:bytes} ({source:text}) while the others use {typical:quantile}, all within the flavor's nominal memory; too small: not even without any.",
        pods=profile.pods_per_node,
        level=found.level_bytes,
        source=found.level_source,
        typical=found.typical_quantile,
    )
    if found.share:
        yield message(
            "Chance of more: when each pod reaches it with chance {share:ratio} ({source:text}).",
            share=found.share,
            source=found.share_source,
        )


def _title(profile: ProfilePlan) -> Message:
    if not profile.pod_count:
        return message("No such pod is running")
    if not profile.memory.values:
        return message("What these pods use is unknown")
    quantiles = dict(profile.memory.quantiles)
    if len(profile.memory.values) < FEW:
        return message("The largest pod uses {most:bytes} of memory", most=quantiles[1.0])
    return message("Nine in ten pods use less than {size:bytes} of memory", size=quantiles[0.9])


def _lede(profile: ProfilePlan, *, asked: bool) -> Iterator[Message]:
    where = [
        part for part in (profile.namespace and f"namespace {profile.namespace}", profile.selector and f"label {profile.selector}") if part
    ]
    running = f"Running pods{' of {where:text}' if where else ''}: {{pods:count}}; measured: {{measured:count}}."
    values = {"where": ", ".join(where)} if where else {}
    yield message(running, pods=profile.pod_count, measured=profile.measured_pod_count, **values)
    if 0 < len(profile.memory.values) < FEW:
        yield message("They are too few for a distribution, and to tell how likely it is that a node of them overruns.")
    if profile.measured_pod_count:
        yield message(
            "The plan is for {pods:count} on a node ({reason:text}).", pods=profile.pods_per_node, reason=profile.pods_per_node_reason
        )
    elif profile.pod_count and not asked:
        yield message("Nothing is planned, because the metrics API gave no usage of pods.")


def _choice(profile: ProfilePlan, prices: Prices) -> Message:
    fit = recommended_fit(profile)
    if fit is None:
        return message("No flavor can be recommended")
    cost = prices.money(fit.flavor.name, fit.node_count or 0)
    nodes = f"{{nodes:count}} {plural(fit.node_count, 'node')}"
    return message(
        f"Take {{flavor:text}}: {nodes} for {{pods:count}} {plural(profile.pod_count, 'pod')}{', {cost:money} a month' if cost else ''}",
        flavor=fit.flavor.name,
        nodes=fit.node_count,
        pods=profile.pod_count,
        **({"cost": cost} if cost else {}),
    )


def _reasons(profile: ProfilePlan) -> tuple[Message, ...]:
    if profile.recommended:
        return profile.recommended.reasons
    return (profile.refusal,) if profile.refusal and profile.pod_count else ()
