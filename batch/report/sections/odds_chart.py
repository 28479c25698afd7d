"""The chart of a profile that shows how likely an overrun is on each flavor, by the number of pods on a node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from batch.findings import Message, message
from batch.plan.model import FlavorFit, Odds, ProfilePlan
from batch.report.model import ChanceLine, Chances, Chart
from batch.report.sections.basis import joined
from batch.report.sections.material import plural
from batch.report.sections.profile_facts import recommended_fit

_FLOOR = 1e-6
_ALIKE = 1.25
"""Chances that differ by no more than this factor make one line to the eye."""


def odds_chart(profile: ProfilePlan, accepted: float, basis: Message) -> Chart | None:
    """Give the chart; None when no flavor has a chance that could be seen. `basis` is what the usage rests on."""
    lines = _lines(profile)
    if not any(chance >= _FLOOR for line in lines for _, chance in line.points):
        return None
    return Chart(
        title=_title(profile, accepted),
        subtitle=joined(_subtitle(profile), Message(f"({basis.template}). A bar at its end: no slot for more pods.", basis.values)),
        alt=_alt(profile, accepted),
        drawing=Chances(lines, accepted, profile.pods_per_node),
    )


def _subtitle(profile: ProfilePlan) -> Message:
    if profile.at_once:
        return message(
            "The larger of the chances for memory and for CPU that so many pods, drawn from those of the instant that leaves room for fewest of them, need more than a node leaves them"
        )
    return message(
        "The larger of the chances for memory and for CPU that so many pods, each drawn from {pods:count} measured ones, need more than a node leaves them",
        pods=len(profile.memory.values),
    )


def _title(profile: ProfilePlan, accepted: float) -> Message:
    fit = recommended_fit(profile)
    if fit is not None and fit.safe_pods_per_node is not None:
        return message(
            f"{{flavor:text}} carries up to {{pods:count}} {plural(fit.safe_pods_per_node, 'pod')} at a chance of at most {{accepted:probability}}",
            flavor=fit.flavor.name,
            pods=fit.safe_pods_per_node,
            accepted=accepted,
        )
    return message(
        f"No flavor carries {{pods:count}} {plural(profile.pods_per_node, 'pod')} at a chance of at most {{accepted:probability}}",
        pods=profile.pods_per_node,
        accepted=accepted,
    )


def _alt(profile: ProfilePlan, accepted: float) -> Message:
    fits = [_fit_of(profile, one) for one in profile.odds]
    safe = "; ".join(f"{fit.flavor.name} {fit.safe_pods_per_node}" for fit in fits)
    return message("Most pods on a node at a chance of {accepted:probability}: {safe:text}.", accepted=accepted, safe=safe)


def _fit_of(profile: ProfilePlan, one: Odds) -> FlavorFit:
    return next(fit for fit in profile.flavors if fit.flavor.name == one.flavor)


def _lines(profile: ProfilePlan) -> tuple[ChanceLine, ...]:
    """Put flavors whose chances look the same on one line, the recommended one first."""
    groups: list[list[Odds]] = []
    for one in profile.odds:
        group = next((group for group in groups if _alike(group[0], one)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return tuple(_line(profile, group) for group in groups if group[0].pod_counts)


def _line(profile: ProfilePlan, group: Sequence[Odds]) -> ChanceLine:
    longest = max(group, key=lambda one: one.pod_counts[-1])
    names = tuple(one.flavor for one in group)
    chosen = profile.recommended is not None and profile.recommended.flavor in names
    slots = _fit_of(profile, longest).pods_by_limit
    return ChanceLine(names, tuple(_points(longest)), ends=longest.pod_counts[-1] == slots, chosen=chosen)


def _points(one: Odds) -> Iterable[tuple[int, float]]:
    return ((count, max(memory, cpu)) for count, memory, cpu in zip(one.pod_counts, one.memory, one.cpu, strict=True))


def _alike(left: Odds, right: Odds) -> bool:
    """Tell whether two flavors have nearly the same chances, as far as both go."""
    ours, theirs = dict(_points(left)), dict(_points(right))
    pairs = [(max(ours[count], _FLOOR), max(theirs[count], _FLOOR)) for count in ours.keys() & theirs.keys()]
    return bool(pairs) and all(max(pair) <= _ALIKE * min(pair) for pair in pairs)
