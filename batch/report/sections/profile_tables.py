"""The tables of a profile: quantiles, thresholds, plans, flavors and pods."""

from __future__ import annotations

from batch.findings import Message, message
from batch.plan.model import PROFILE_PODS, NodePlan, ProfilePlan
from batch.plan.prices import Prices
from batch.report.files import profile_file
from batch.report.model import MOST_ROWS, Bar, Column, Row, Table
from batch.report.sections.flavor_tables import flavors_table, pods_table
from batch.report.sections.material import plural, ratio
from batch.report.sections.profile_facts import FEW, is_few

_TOLD = 0.9
"""The quantile that a title tells of, and with it the share of pods that are many."""


def tables(profile: ProfilePlan, prices: Prices, accepted: float) -> dict[str, Table]:
    """Give the tables by name; of few pods no distribution. `accepted` is the chance of an overrun."""
    distributions = {"quantiles": _quantiles_table(profile), "thresholds": _thresholds_table(profile)}
    flavors = {"flavors": flavors_table(profile, prices), "taken": pods_table(profile, accepted)}
    return {
        **(distributions if len(profile.memory.values) >= FEW else {}),
        "plans": _plans_table(profile),
        **({} if is_few(profile) else {name: table for name, table in flavors.items() if name == "flavors" or _tells(profile)}),
        "pods": _pods_table(profile),
    }


def _tells(profile: ProfilePlan) -> bool:
    """Whether it is known for some flavor how many pods a node of it takes."""
    return any(fit.binding or fit.safe_pods_per_node is not None for fit in profile.flavors)


def _quantiles_table(profile: ProfilePlan) -> Table:
    memory, cpu = dict(profile.memory.quantiles), dict(profile.cpu.quantiles)
    most = {"memory": memory.get(1.0), "cpu": cpu.get(1.0)}
    rows = tuple(
        Row(
            (
                message("{share:ratio}", share=q) if q < 1 else message("all"),
                memory.get(q),
                Bar(ratio(memory.get(q), most["memory"])),
                cpu.get(q),
                Bar(ratio(cpu.get(q), most["cpu"])),
            )
        )
        for q in sorted(memory.keys() | cpu.keys())
    )
    return Table(
        what="quantiles",
        title=message(
            "{share:ratio} of the pods use less than {memory:bytes} and {cpu:nanocores}",
            share=_TOLD,
            memory=memory.get(_TOLD),
            cpu=cpu.get(_TOLD),
        ),
        columns=(
            Column("Pods covered", "message"),
            Column("Memory", "bytes"),
            Column("", "bar"),
            Column("CPU", "nanocores"),
            Column("", "bar"),
        ),
        rows=rows,
        row_count=len(rows),
        total=Row(
            (
                message("Mean"),
                profile.memory.mean,
                Bar(ratio(profile.memory.mean, most["memory"])),
                profile.cpu.mean,
                Bar(ratio(profile.cpu.mean, most["cpu"])),
            )
        ),
    )


def _thresholds_table(profile: ProfilePlan) -> Table:
    rows = tuple(
        Row(
            (
                message(f"{{limit:{kind}}} of {word}", limit=limit),
                over,
                ratio(over, len(distribution.values)),
                Bar(ratio(over, len(distribution.values))),
                len(distribution.values) - over,
            )
        )
        for distribution, kind, word in ((profile.memory, "bytes", "memory"), (profile.cpu, "nanocores", "CPU"))
        for limit, over in distribution.over
    )
    return Table(
        what="thresholds",
        title=_limit_title(profile),
        columns=(
            Column("Limit", "message"),
            Column("Pods", "count", "Use more"),
            Column("Share", "ratio", "Use more"),
            Column("", "bar", "Use more"),
            Column("At most", "count"),
        ),
        rows=rows,
        row_count=len(rows),
    )


def _limit_title(profile: ProfilePlan) -> Message:
    """Tell of the lowest memory limit that few pods would notice, else of the highest."""
    count = len(profile.memory.values)
    limits = sorted(profile.memory.over)
    if not limits:
        return message("Whom a limit would affect")
    limit, over = next(((limit, over) for limit, over in limits if over <= (1 - _TOLD) * count), limits[-1])
    return message("A limit of {limit:bytes} would affect {share:ratio} of the pods", limit=limit, share=over / count)


def _plans_table(profile: ProfilePlan) -> Table:
    plans = (*((profile.average_plan,) if profile.average_plan else ()), *profile.quantile_plans)
    return Table(
        what="plans",
        title=_plans_title(profile),
        columns=(
            Column("Each pod needs", "message"),
            Column("Memory a pod", "bytes"),
            Column("CPU a pod", "nanocores"),
            Column("Memory a node", "bytes"),
            Column("CPU a node", "nanocores"),
        ),
        rows=tuple(map(_plan_row, plans)),
        row_count=len(plans),
    )


def _plans_title(profile: ProfilePlan) -> Message:
    last = profile.quantile_plans[0] if profile.quantile_plans else None
    pods = f"{{pods:count}} {plural(profile.pods_per_node, 'pod')}"
    if last is None:
        return message(f"What a node of {pods} needs", pods=profile.pods_per_node)
    return message(
        f"A node of {pods} needs {{memory:bytes}} and {{cpu:nanocores}} if each uses {{quantile:quantile}}",
        pods=profile.pods_per_node,
        memory=last.memory_bytes_per_node,
        cpu=last.cpu_nanocores_per_node,
        quantile=last.quantile,
    )


def _plan_row(plan: NodePlan) -> Row:
    name = message("the mean") if plan.quantile is None else message("{quantile:quantile}", quantile=plan.quantile)
    return Row((name, plan.memory_bytes_per_pod, plan.cpu_nanocores_per_pod, plan.memory_bytes_per_node, plan.cpu_nanocores_per_node))


def _pods_table(profile: ProfilePlan) -> Table:
    frame = profile.pods
    several = len(frame["namespace"].unique()) > 1
    largest = frame["usage_memory_bytes"].max() if len(frame) else None
    most = None if largest is None or largest != largest else int(largest)  # noqa: PLR0124  NA is not equal to itself
    rows = PROFILE_PODS.to_arrow(frame.head(MOST_ROWS)).to_pylist()
    return Table(
        what="pods",
        title=message("Who uses the most memory"),
        order="largest",
        columns=(
            Column("Pod", "name"),
            *((Column("Namespace", "name"),) if several else ()),
            Column("Workload", "name"),
            Column("Used", "bytes", "Memory"),
            Column("", "bar", "Memory"),
            Column("Limit", "bytes", "Memory"),
            Column("", "ratio", "Memory"),
            Column("Used", "nanocores", "CPU"),
        ),
        rows=tuple(_pod_row(row, most, several=several) for row in rows),
        row_count=len(frame),
        file=profile_file(profile.name, "pods"),
    )


def _pod_row(pod: dict[str, object], most: int | None, *, several: bool) -> Row:
    used, limit = pod["usage_memory_bytes"], pod["limits_memory_bytes"]
    share = ratio(used, limit)  # type: ignore[arg-type]  # integers or None, by the schema
    near = share is not None and share > 0.9  # noqa: PLR2004  within a tenth of the limit, as the finding says
    cells = (
        pod["pod"],
        *((pod["namespace"],) if several else ()),
        pod["workload"],
        used,
        Bar(ratio(used, most), strained=near),  # type: ignore[arg-type]  # as above
        message("none") if limit is None else limit,
        "" if limit is None else share,
        pod["usage_cpu_nanocores"],
    )
    return Row(cells, strained=frozenset({len(cells) - 2} if near else ()))
