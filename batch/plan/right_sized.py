"""Pods with the requests that are recommended for them: what a fleet of the same pods could be."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from batch.plan.rightsizing.model import Advice
from batch.snapshot import views
from batch.snapshot.model import Snapshot

_POD = ["namespace", "pod"]
_CONTAINER = ["namespace", "workload_kind", "workload", "container"]
_TARGETS = {"requests_cpu_nanocores": "target_cpu_nanocores", "requests_memory_bytes": "target_memory_bytes"}


def right_sized(snapshot: Snapshot, pods: pd.DataFrame, advice: Iterable[Advice]) -> pd.DataFrame:
    """Give the rows of `pods` with effective requests as they would be if every recommended change were made.

    A pod's request changes by what the sum over its containers changes by, as far as an init container, which keeps its own, does not need
    more than that sum. A request that is unknown stays so.
    """
    targets = _targets(advice)
    changed = pods[[*_POD, *_CONTAINER[1:3]]].merge(targets[_CONTAINER[:3]].drop_duplicates(), on=_CONTAINER[:3])
    containers = snapshot.table("containers").merge(changed, on=_POD).merge(targets, how="left", on=_CONTAINER)
    init = containers["kind"] == "init"
    sized = pods.set_index(_POD)
    for request, target in _TARGETS.items():
        before = containers[request].fillna(0)
        after = containers[target].fillna(before)
        peak = before.where(init, 0).groupby([containers[name] for name in _POD]).max()
        was, is_now = (_larger(values.mask(init, 0).groupby([containers[name] for name in _POD]).sum(), peak) for values in (before, after))
        sized[request] = sized[request] + (is_now - was).reindex(sized.index).fillna(0).astype(views.INTEGER)
    return sized.reset_index()[list(pods.columns)].set_index(pods.index)


def _targets(advice: Iterable[Advice]) -> pd.DataFrame:
    rows = [(one.namespace, one.kind, one.workload, one.container, one.cpu.target, one.memory.target) for one in advice if one.is_change]
    frame = pd.DataFrame(rows, columns=[*_CONTAINER, *_TARGETS.values()])
    return frame.astype({**dict.fromkeys(_CONTAINER, views.TEXT), **dict.fromkeys(_TARGETS.values(), views.INTEGER)})


def _larger(sums: pd.Series, peaks: pd.Series) -> pd.Series:
    return sums.where(sums >= peaks, peaks)
