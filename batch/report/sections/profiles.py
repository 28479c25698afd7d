"""Profiles: what the pods of each profile use, what nodes for them need, and which flavor to take."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import Message, message
from batch.plan.model import ProfilePlan
from batch.report.model import Section
from batch.report.sections.material import Material
from batch.report.sections.profile_charts import charts
from batch.report.sections.profile_facts import FEW, recommended_fit
from batch.report.sections.profile_tables import tables

TEMPLATE = "profile"


def build(material: Material) -> tuple[Section, ...]:
    """Give one section a profile."""
    return tuple(_section(profile, material) for profile in material.plan.profiles)


def _section(profile: ProfilePlan, material: Material) -> Section:
    slug = f"profile-{profile.name}"
    most = material.settings.plan.overrun_probability_max
    return Section(
        slug=slug,
        template=TEMPLATE,
        name=profile.title,
        title=_title(profile),
        lede=tuple(_lede(profile, asked=material.snapshot.has("podmetrics"))),
        how_to_read=_how_to_read(profile, most) if profile.measured_pod_count else (),
        findings=material.findings_of(slug),
        tables=tables(profile) if profile.measured_pod_count else {},
        charts=charts(profile) if profile.measured_pod_count else {},
        sentences={"choice": (_choice(profile),), "reasons": _reasons(profile)},
    )


def _how_to_read(profile: ProfilePlan, most: float) -> tuple[Message, ...]:
    typical = profile.outliers.typical_quantile if profile.outliers else 0.9
    return (
        message(
            "Quantiles are over measured pods: p90 is what nine in ten of them do not exceed. Each pod counts with one measurement, the newest of the snapshot."
        ),
        message(
            "Pods that fit is the share of pods which use at most the flavor's nominal size divided by {pods:count}. At limit is how many of {pods:count} pods may sit at their memory limit while the others use {typical:quantile}.",
            pods=profile.pods_per_node,
            typical=typical,
        ),
        message(
            "Overrun is the chance that {pods:count} pods drawn from the measured ones need more than a node leaves them: allocatable less what DaemonSets use. It is known for flavors that the cluster has. Up to {most:probability} is accepted.",
            pods=profile.pods_per_node,
            most=most,
        ),
        message(
            "Without prices the flavor with the least memory, then the fewest cores, that meets this is taken. Shares and quantile plans describe; they do not decide."
        ),
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
        yield message("They are too few for a distribution.")
    if profile.measured_pod_count:
        yield message(
            "The plan is for {pods:count} on a node ({reason:text}).", pods=profile.pods_per_node, reason=profile.pods_per_node_reason
        )
    elif profile.pod_count and not asked:
        yield message("Nothing is planned, because the metrics API gave no usage of pods.")


def _choice(profile: ProfilePlan) -> Message:
    fit = recommended_fit(profile)
    if fit is None:
        return message("No flavor can be recommended")
    return message(
        "Take {flavor:text}: {nodes:count} nodes for {pods:count} pods",
        flavor=fit.flavor.name,
        nodes=fit.node_count,
        pods=profile.pod_count,
    )


def _reasons(profile: ProfilePlan) -> tuple[Message, ...]:
    if profile.recommended:
        return profile.recommended.reasons
    return (profile.refusal,) if profile.refusal and profile.pod_count else ()
