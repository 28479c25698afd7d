"""About these numbers: every term that the report uses, defined."""

from __future__ import annotations

from batch.findings import Message, message
from batch.jobs.schedule import MANY_MISSED
from batch.report.model import Section
from batch.report.sections.material import Material
from batch.snapshot.requests_rule import rule_of

SLUG = "definitions"


def build(material: Material) -> tuple[Section, ...]:
    """Give the definitions, with the settings that decide them."""
    return (
        Section(
            slug=SLUG,
            template=SLUG,
            name="About these numbers",
            title=message("About these numbers"),
            lede=(message("Every term of this report, and what decides its numbers."),),
            sentences={name: (text,) for name, text in _terms(material).items()},
        ),
    )


def _terms(material: Material) -> dict[str, Message]:
    settings = material.settings
    return {
        "Capacity": message("The hardware of a node."),
        "Allocatable": message(
            "What pods may use of it: capacity less what the node keeps for the system and for eviction. Capacity where a node does not say. Of a flavor without a node here it is worked out from the provider's published reservation."
        ),
        "Requests": message(
            "What the scheduler reserves for a pod: sidecars, init containers, pod overhead, pod-level resources and resizes in place included. A pod counts on its node from binding until it has succeeded or failed. During a resize: {rule:text}.",
            rule=rule_of(material.snapshot.kubernetes_version).value,
        ),
        "Usage": message(
            "What pods used when they were last measured, not more than {age:seconds} before the snapshot: CPU averaged over the measured window, memory as working set. A pod without a measurement is unknown, not zero.",
            age=settings.usage.max_age_seconds,
        ),
        **_of_window(material),
        "Machine usage": message("What the whole node used, system daemons included."),
        "Room": message(
            "Allocatable less requests, on nodes that ordinary pods can use, node by node; a node that is overcommitted takes nothing from the others."
        ),
        "Node pool": message(
            "Nodes with the same {label:text}.",
            label=f"label {settings.pools.label}"
            if settings.pools.label
            else "pool label of Karpenter, EKS, GKE or AKS, or else of the same instance type",
        ),
        "Typical pod": message("Asks for the median of what the ordinary pods of a node pool ask for, resource by resource."),
        "Ordinary pod": message("One that could run on another node: neither of a DaemonSet nor static."),
        "Fleet": message("As many nodes of one flavor as hold all ordinary pods, packed onto them by what they request."),
        "Profile": message(
            "A set of running pods to plan for: all of them, JupyterHub's user pods where there are some, and those of the settings."
        ),
        "Quantile": message("p90 is the value that nine in ten measured pods do not exceed, interpolated linearly between pods."),
        "Outlier": message(
            "A pod at its memory limit, or at the level that the settings give, while the typical pod uses {typical:quantile}.",
            typical=settings.plan.typical_quantile,
        ),
        "Flavor": message(
            "A node shape one can buy: common ones of the cluster's provider, those that the cluster has, and those of the settings."
        ),
        "Overrun": message(
            "The chance that the planned number of pods, drawn independently from the measured ones, needs more than a node leaves them. Computed exactly by convolution, without random numbers; below one in a million it is no number to rely on."
        ),
        "Seen": message(
            "The highest use of a container in all samples: of CPU the 95th percentile of its busiest pod, of memory the largest sample."
        ),
        "Coverage": message(
            "Samples that are there of those that could be: pods that did not answer and nights without a run count against it."
        ),
        "Confidence": message(
            "The days from the first sample to the last, or samples / 1,440 if that is less: a sample a minute for N days is N."
        ),
        "Deadline": message(
            "Of a Job: spec.activeDeadlineSeconds, counted from its start; 0 is one, absent is none. The one in the pod template ends a pod and not the Job."
        ),
        "Retry": message(
            "A pod made in place of one that failed, or a container started again in its pod. A Job with retries has not failed."
        ),
        "Missed start": message(
            "A time of a CronJob's schedule since its last start at which no Job was made. From {many:count} on they are reckoned from the interval, as the controller does.",
            many=MANY_MISSED,
        ),
        "Stranded": message(
            "Free GPUs on a node that has less than one core, less than one GiB or no pod slot left for a pod that would use them."
        ),
        "Check of growth": message(
            "One value held against a limit with a named source: it warns and fails beyond it, and is unknown where the value is."
        ),
        "Kept node": message(
            "A node whose pods would fit elsewhere, and of which one may not move: it has no controller, keeps data on the node, is marked as not safe to evict, or a PodDisruptionBudget allows no disruption now."
        ),
        "Time to pull": message(
            "Size of an image divided by {bandwidth:bytes} a second, without unpacking.", bandwidth=settings.scale.pull_bytes_per_second
        ),
        "Night": message(
            "One run for each date, as it left its figures beside its report: a complete one before one that stopped early, of equal ones the latest."
        ),
        "Full on": message(
            "The day on which requests are expected to reach what may be requested tonight: from seven nights or more, and only where growth stands out from chance. The interval is made to hold four of five cases; method and example: docs/trends.md."
        ),
        "Card": message(
            "A whole accelerator. A slot of time-slicing, a part of MIG or a thousandth is none; how many cards are behind them is known where labels, products or annotations tell it."
        ),
        "GPU-hours": message(
            "Samples of activity times their step times the cards that a pod held; idle ones are those with an activity of at most {ratio:ratio}.",
            ratio=settings.gpu.idle_ratio,
        ),
        "Idle GPU": message(
            "One whose pod showed no activity over {ratio:ratio} in the last {time:seconds}, on any of its devices.",
            ratio=settings.gpu.idle_ratio,
            time=settings.gpu.idle_seconds,
        ),
        "Typical GPU pod": message("Requests the median CPU and memory for each unit, of the pods that hold the resource or wait for it."),
        "Tables": message(
            "A table that is cut says how many rows it leaves out and names the CSV file that has them, below tables/ beside this report; the smaller files are also attached to the PDF. Tables that name no file are whole."
        ),
        "Base units": message("1 GiB is 1,024 MiB; 1 core is 1,000 millicores. Files for programs hold bytes and cores."),
    }


def _of_window(material: Material) -> dict[str, Message]:
    """Define what there is with Prometheus only."""
    window = material.plan.window
    if window is None:
        return {}
    return {
        "Window": message(
            "The {window:seconds} before the snapshot of which Prometheus has usage. Coverage is the share of samples that are there of those that could be while a container ran; a gap is no zero.",
            window=window.window_seconds,
        ),
        "Instant": message(
            "A moment of the window at which all pods are looked at together: {count:count} of them, {apart:seconds} apart. A pod counts at each at which it ran.",
            count=window.instant_count,
            apart=window.instant_seconds,
        ),
    }
