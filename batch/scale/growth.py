"""Growth: when nodes or pods reach what is tested, if they go on as in the last nights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from statistics import median

from batch.findings import message, plural
from batch.scale.areas import SIZE
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, fine, judged, unknown

_DAY_SECONDS = 86_400.0
_FEWEST_NIGHTS = 7
"""Fewer nights are no trend: size follows the week."""

_SOON_RATIO = 1 / 6
"""Share of scale.growth_seconds below which the check fails: a month of half a year. Our own."""

GROWTH = Rule(
    id="size.growth",
    area=SIZE,
    name="Time until a limit is reached",
    unit="seconds",
    measures="limit less size, divided by the growth a day: the median of the growth between any two nights (Theil and Sen), of nodes and of bound pods",
    threshold="warns below scale.growth_seconds (180 days), fails below a sixth of it",
    source="our own: a second cluster takes months to plan and to fill",
    lesson="A limit that is reached in four months leaves no time, for splitting a cluster takes longer. Growth that looks harmless from night to night shows only over weeks.",
    action="Decide where the next cluster will be and which teams move there, while there is room here.",
    needs=("history of at least 7 nights at the first output",),
    falling=True,
)
RULES = (GROWTH,)


@dataclass(frozen=True)
class Size:
    """How large the cluster was in one night; None is unknown."""

    at: datetime
    node_count: int | None
    pod_count: int | None


def check(facts: Facts, nights: Sequence[Size]) -> Check:
    """Judge the growth over earlier nights and tonight."""
    missing = facts.in_part(GROWTH) or facts.without_nodes(GROWTH)
    if missing:
        return missing
    if len(nights) + 1 < _FEWEST_NIGHTS:
        return unknown(
            GROWTH,
            message(
                f"The size of {{count:count}} {plural(len(nights) + 1, 'night is', 'nights is')} known, tonight included",
                count=len(nights) + 1,
            ),
            message("{fewest:count} nights whose reports are kept at the same output", fewest=_FEWEST_NIGHTS),
        )
    return _reached_first(facts, [*nights, Size(facts.snapshot.taken_at, len(facts.nodes), len(facts.bound))])


def _reached_first(facts: Facts, sizes: Sequence[Size]) -> Check:
    scale = facts.settings.scale
    limits = (
        ("nodes", scale.nodes_max, [(one.at, one.node_count) for one in sizes]),
        ("pods", scale.pods_max, [(one.at, one.pod_count) for one in sizes]),
    )
    reached = [
        (max(0.0, (limit - now) / slope * _DAY_SECONDS), what, slope, limit)
        for what, limit, points in limits
        if (slope := growth_a_day(points)) > 0 and (now := points[-1][1]) is not None
    ]
    if not reached:
        return fine(GROWTH, message("Neither nodes nor pods grew over {count:count} nights", count=len(sizes)))
    seconds, what, slope, limit = min(reached)
    day = facts.snapshot.taken_at + timedelta(seconds=min(seconds, _FAR_SECONDS))
    when = "on {day:day}" if seconds < _FAR_SECONDS else "in more than ten years"
    found = message(
        f"{{slope:count}} {{what:text}} more a day: the limit of {{limit:count}} is reached {when}",
        slope=round(slope, 1),
        what=what,
        limit=limit,
        **({"day": day.date()} if seconds < _FAR_SECONDS else {}),
    )
    return judged(GROWTH, seconds, found, warn=scale.growth_seconds, fail=_SOON_RATIO * scale.growth_seconds)


_FAR_SECONDS = 10 * 365 * _DAY_SECONDS


def growth_a_day(points: Sequence[tuple[datetime, int | None]]) -> float:
    """Give the median growth a day between any two known points at different times; 0 where there is none."""
    known = [(at.timestamp() / _DAY_SECONDS, count) for at, count in points if count is not None]
    slopes = [(later[1] - first[1]) / (later[0] - first[0]) for first, later in combinations(known, 2) if later[0] > first[0]]
    return median(slopes) if slopes else 0.0
