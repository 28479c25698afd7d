"""What figures of usage rest on, in the words that stand beside each of them."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import CapacityPlan
from batch.snapshot.model import Snapshot
from batch.snapshot.views import Sampling, sampling
from batch.snapshot.window import Window


def over_window(window: Window) -> Message:
    """Name the window, who measured, and how much of it is there: "7 days, Prometheus, 98 % coverage"."""
    if window.coverage_ratio is None:
        return message("{window:seconds}, Prometheus, coverage unknown", window=window.window_seconds)
    return message("{window:seconds}, Prometheus, {coverage:ratio} coverage", window=window.window_seconds, coverage=window.coverage_ratio)


def of_now(snapshot: Snapshot, max_age_seconds: float) -> Message:
    """Name the moment of the snapshot's own usage: "one snapshot at 02:00"."""
    reach: Sampling = sampling(snapshot, max_age_seconds)
    if reach.first_at is None or reach.last_at is None:
        return message("no measurement")
    by = ", Prometheus" if not snapshot.has("podmetrics") else ""
    if reach.sample_count == 1:
        return message(f"one snapshot at {{moment:text}} UTC{by}", moment=f"{reach.last_at:%H:%M}")
    return message(
        f"{{count:count}} readings from {{first:text}} to {{last:text}} UTC{by}",
        count=reach.sample_count,
        first=f"{reach.first_at:%H:%M}",
        last=f"{reach.last_at:%H:%M}",
    )


def of_profile(plan: CapacityPlan, snapshot: Snapshot, max_age_seconds: float, *, at_instants: bool) -> Message:
    """Name what the distributions of a profile rest on."""
    return over_window(plan.window) if at_instants and plan.window else of_now(snapshot, max_age_seconds)


def of_report(plan: CapacityPlan, snapshot: Snapshot, max_age_seconds: float) -> Message:
    """Name what usage over time rests on, as far as there is any."""
    return over_window(plan.window) if plan.window else of_now(snapshot, max_age_seconds)


def joined(*parts: Message, between: str = " ") -> Message:
    """Put sentences together into one."""
    values = {f"part{number}_{name}": value for number, part in enumerate(parts) for name, value in part.values.items()}
    texts = []
    for number, part in enumerate(parts):
        text = part.template
        for name in part.values:
            text = text.replace(f"{{{name}:", f"{{part{number}_{name}:")
        texts.append(text)
    return Message(between.join(texts), values)
