"""The reasons that stand beside advice, each said in one place. Most are the same for thousands of containers, so they are made once."""

from __future__ import annotations

from functools import cache

from batch.findings import Message, message, plural
from batch.plan.rightsizing.asks import Kill, Scaler
from batch.plan.rightsizing.candidates import SAMPLES_A_DAY
from batch.plan.rightsizing.model import PROMETHEUS, Evidence
from batch.settings import RightsizingSettings

PLACEHOLDER = message("A placeholder of negative priority only keeps room: its use says nothing, so it gets no advice.")
SIZED_AS_A_WHOLE = message(
    "Its pods have requests or limits of their own, which bound those of their containers together: change the size there (spec.resources of the pod)."
)
INJECTED = message("Injected: it is in the pods but not in the template. Its size is set by the injector's annotations, not by a patch.")
MIXED = message("Its pods ask for different amounts; shown is what most of them ask for.")
GUARANTEED = message("Its pods are Guaranteed: limits move with requests, so that they stay so.")
AUTOSCALERS_UNKNOWN = message("Autoscalers could not be read: before applying, see that none scales it by this resource.")
NO_CPU_LIMIT = message(
    "No CPU limit is advised, and the patch takes it away: a limit throttles also where the node is idle, while requests share out a busy one."
)
UNMEASURED = message("None of its pods was measured.")
CPU_UNMEASURED = message("No sample says what CPU it uses.")
MEMORY_UNMEASURED = message("No sample says what memory it uses.")
NIGHTS_ARE_NO_DAYS = message("Its memory is not lowered: a nightly sample is no daily peak, and too little memory kills.")

_WITHOUT_TEMPLATE = {
    "Pod": message("A bare pod has no template to patch, and no history under a name that does not return: change what made it."),
    "StaticPod": message("A static pod has no template to patch: change its file on the nodes."),
    "Job": message(
        "The template of a Job cannot be changed, and its name does not return, so that it has no history: change what makes the Job."
    ),
}

_IMPLAUSIBLE = 2**20
_DAY_SECONDS = 86_400
_DAY = "day"


@cache
def without_template(kind: str) -> Message:
    """Say why a workload of a kind that cannot be patched has to be changed elsewhere."""
    known = _WITHOUT_TEMPLATE.get(kind)
    return known or message("{kind:text} is a custom resource: its size is set there, not by a patch.", kind=kind)


@cache
def managed(owner: str) -> Message:
    """Say that the workload belongs to an object that would undo a patch."""
    return message("{owner:text} owns this workload and would undo a patch: change the size there.", owner=owner)


def advised(resource: str, by: str, wanted: int, target: int) -> Message:
    """Say what calls for how much, and what is advised."""
    kind = _KINDS[resource]
    return message(
        f"{_NAMES[resource]}: {by} calls for {{wanted:{kind}}}; {{target:{kind}}} is advised.",
        wanted=wanted,
        target=target,
    )


def held_by(scaler: Scaler, resource: str) -> Message:
    """Say which autoscaler depends on a request."""
    sizes = {"least": scaler.min_replica_count, "most": scaler.max_replica_count, "now": scaler.current_replica_count}
    return message(
        f"{'CPU' if resource == 'cpu' else 'Memory'} is held: the HorizontalPodAutoscaler {{name:text}} scales by it ({{least:count}} to {{most:count}} replicas, now {{now:count}}). A smaller request would look like more use, and so make more replicas.",
        name=scaler.name,
        **sizes,
    )


def killed(kill: Kill, needed: int) -> Message:
    """Say what a kill for memory tells."""
    last = ", last on {moment:instant}" if kill.last_at else ", as Prometheus tells"
    return message(
        f"{{count:count}} {plural(kill.count, 'container was', 'containers were')} killed for memory{last}, when held to {{held:bytes}}; so at least {{needed:bytes}} is advised: 20 % or 100 MiB more.",
        count=kill.count,
        held=kill.held_to,
        needed=needed,
        **({"moment": kill.last_at} if kill.last_at else {}),
    )


def throttled(ratio: float) -> Message:
    """Say that the CPU limit held a container back, so that its use is less than its need."""
    return message("Its CPU limit held it back in {ratio:ratio} of the scheduling periods: it needs more CPU than was seen.", ratio=ratio)


def missing(evidence: Evidence, tonight: int, settings: RightsizingSettings) -> Message | None:
    """Say what is missing for advice; None when there is enough. `tonight` are the samples that each further night brings."""
    if not evidence.sample_count:
        return UNMEASURED
    coverage = evidence.coverage_ratio if evidence.coverage_ratio < settings.coverage_min else None
    if evidence.sample_count >= settings.samples_min and evidence.night_count >= settings.days_min and coverage is None:
        return None
    return _missing(evidence.sample_count, evidence.night_count, tonight, coverage, settings, _unit(evidence))


def unsure(evidence: Evidence, tonight: int, settings: RightsizingSettings) -> Message | None:
    """Say how many nights are missing for bounds; None from a confidence of 1 on, and where there is no sample."""
    if evidence.confidence >= 1 or not evidence.sample_count:
        return None
    return _unsure(nights_to_confidence(evidence, tonight), settings.window_seconds, _unit(evidence))


def nights_to_confidence(evidence: Evidence, tonight: int) -> int | None:
    """Give how many more nights like tonight make a confidence of 1; None when none will add a sample."""
    if not tonight:
        return None
    return max(1, -(-(SAMPLES_A_DAY - evidence.sample_count) // tonight))


def implausible(size: int | None) -> Message | None:
    """Say that an amount of memory can hardly be meant: less than 1 MiB."""
    if size is None or not 0 < size < _IMPLAUSIBLE:
        return None
    return message("{size:bytes} of memory is implausible: `m` means thousandths, and was perhaps typed for M or Mi.", size=size)


@cache
def few_hours(hours: tuple[int, ...]) -> Message:
    """Say from which hours the samples are, and that the others are unknown."""
    if len(hours) == hours[-1] - hours[0] + 1:
        shown = f"between {hours[0]:02}:00 and {hours[-1] + 1:02}:00"
    else:
        shown = f"from the hours {', '.join(f'{hour:02}' for hour in hours)}"
    return message("All samples are {hours:text} UTC; what other hours need is not in them.", hours=shown)


@cache
def floored(resource: str, floor: int) -> Message:
    """Say that the floor decides, not the samples."""
    return message(f"{_NAMES[resource]}: the floor of {{floor:{_KINDS[resource]}}} decides; the samples need less.", floor=floor)


@cache
def capped(resource: str, cap: int) -> Message:
    """Say that the largest node decides, not the samples."""
    return message(
        f"{_NAMES[resource]}: capped at {{cap:{_KINDS[resource]}}}, what the largest node leaves beside its DaemonSets and the pod's other containers.",
        cap=cap,
    )


@cache
def hot(busiest: int, pooled: int) -> Message:
    """Say that one pod uses far more CPU than the others."""
    return message(
        "The busiest pod uses {busiest:nanocores} where all pods together stay under {pooled:nanocores}: look whether the work is spread evenly.",
        busiest=busiest,
        pooled=pooled,
    )


def _unit(evidence: Evidence) -> str:
    return _DAY if evidence.source == PROMETHEUS else "night"


_NAMES = {"cpu": "CPU", "memory": "Memory"}
_KINDS = {"cpu": "nanocores", "memory": "bytes"}


@cache
def _missing(samples: int, nights: int, tonight: int, coverage: float | None, settings: RightsizingSettings, unit: str) -> Message:
    there = f"{{samples:count}} {plural(samples, 'sample', 'samples')} from {{nights:count}} {plural(nights, unit, f'{unit}s')}"
    wanted = f"{{least:count}} {plural(settings.samples_min, 'sample', 'samples')} from {{days:count}} {plural(settings.days_min, unit, f'{unit}s')}"
    text = f"Too little is known for advice: {there}. It takes {wanted}"
    values: dict[str, object] = {"samples": samples, "nights": nights, "least": settings.samples_min, "days": settings.days_min}
    if coverage is not None:
        text += ", and {wanted_coverage:ratio} of the samples that could be there; {coverage:ratio} are"
        values |= {"coverage": coverage, "wanted_coverage": settings.coverage_min}
    if tonight:
        needed = max(settings.days_min - nights, -(-(settings.samples_min - samples) // tonight))
        if needed > 0:
            text += f": {{needed:count}} more {plural(needed, unit, f'{unit}s')} like this one"
            values["needed"] = needed
    return message(f"{text}.", **values)


@cache
def _unsure(nights: int | None, window_seconds: float, unit: str) -> Message:
    text = "Confidence is below 1, so the decayed candidate has no bounds"
    if nights is None:
        return message(f"{text}.")
    text += f": {{nights:count}} more {plural(nights, unit, f'{unit}s')} like this one {plural(nights, 'is', 'are')} missing"
    if unit == _DAY or nights * _DAY_SECONDS < window_seconds:
        return message(f"{text}.", nights=nights)
    return message(
        f"{text}, more than the {{window:seconds}} that are kept; more readings in a run (sampling.samples) would do it.",
        nights=nights,
        window=window_seconds,
    )
