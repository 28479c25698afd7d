"""What each node used as a whole machine, from cAdvisor's root cgroup."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

import pandas as pd

from batch.collect.prometheus.answers import Answer, Labels
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import PrometheusError
from batch.collect.prometheus.promql import CPU, MEMORY, WHOLE_CPU, Dialect, quantile, select
from batch.collect.prometheus.tables import nanocores, whole_bytes
from batch.snapshot.prometheus_schemas import NODE_WINDOWS
from batch.snapshot.schemas import NODE_USAGE

_LABELS = ("node", "kubernetes_io_hostname", "instance")
"""Labels that tell the node, by the usual scrape configurations; of an instance what stands before the port."""

_BY = f"max by ({', '.join(_LABELS)})"
_ROOT = 'id="/"'


def windows(client: Client, dialect: Dialect, at: datetime, nodes: Collection[str]) -> pd.DataFrame:
    """Ask for the window of every listed node; what series cannot be told to be of a listed node are left out. Raises PrometheusError."""
    busy, most = (f"{function}{_cpu(dialect)}[{dialect.window}s:{dialect.step}s])" for function in (quantile(0.95), "max_over_time("))
    used = select(MEMORY, dialect.matchers, _ROOT)
    figures = [
        _by_node(client.query(text, at), nodes)
        for text in (busy, most, *(f"{_BY} ({function}{used}[{dialect.window}s]))" for function in (quantile(0.95), "max_over_time(")))
    ]
    if not any(figures):
        raise PrometheusError(
            f'it has no series {CPU} of the root cgroup (id="/") that tells a listed node by its labels {", ".join(_LABELS)}',
            "Keep these series and the label node when the kubelets are scraped.",
        )
    rows = (
        (node, *(nanocores(figure.get(node)) for figure in figures[:2]), *(whole_bytes(figure.get(node)) for figure in figures[2:]))
        for node in sorted(set().union(*figures))
    )
    return NODE_WINDOWS.frame(rows)


def newest(client: Client, dialect: Dialect, at: datetime, nodes: Collection[str]) -> pd.DataFrame:
    """Ask what nodes use at the moment of the snapshot, as table node_usage. Raises PrometheusError."""
    cpu = _by_node(client.query(_cpu(dialect), at), nodes)
    memory = _by_node(client.query(f"{_BY} ({select(MEMORY, dialect.matchers, _ROOT)})", at), nodes)
    return NODE_USAGE.frame(
        (node, at, dialect.rate, nanocores(cpu.get(node)), whole_bytes(memory.get(node))) for node in sorted({*cpu, *memory})
    )


def _cpu(dialect: Dialect) -> str:
    return f"{_BY} (rate({select(CPU, dialect.matchers, _ROOT, WHOLE_CPU)}[{dialect.rate}s]))"


def _by_node(answer: Answer, nodes: Collection[str]) -> Mapping[str, float]:
    """Give the value of each listed node; of several series the largest."""
    found: dict[str, float] = {}
    for labels, value in answer.values():
        node = _node(labels, nodes)
        if node is not None:
            found[node] = max(value, found.get(node, value))
    return found


def _node(labels: Labels, nodes: Collection[str]) -> str | None:
    names = (labels.get(label, "") for label in _LABELS)
    return next((name for text in names for name in (text, text.rpartition(":")[0]) if name in nodes), None)
