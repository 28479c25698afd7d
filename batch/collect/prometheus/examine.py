"""Find out, before the night, whether Prometheus answers, of which cluster, and how long it keeps what it has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta

import msgspec

from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import NothingThereError, PrometheusError
from batch.collect.prometheus.probe import dialect_of, only_cluster
from batch.collect.prometheus.promql import CONTAINER
from batch.deadline import Deadline
from batch.settings import PrometheusSettings


class _Runtime(msgspec.Struct, rename="camel"):
    storage_retention: str = ""


class _Body(msgspec.Struct):
    data: _Runtime


def examine(settings: PrometheusSettings, deadline: Deadline, user_agent: str, sleep: Callable[[float], None], now: datetime) -> str:
    """Ask one cheap query, and how long samples are kept; give what was found in a sentence. Raises PrometheusError."""
    dialect = dialect_of(settings)
    with closing(Client(settings, deadline, user_agent, sleep)) as client:
        text = f"count by (cluster) (count by (cluster, {CONTAINER}) ({dialect.memory('')}))"
        answer = client.query(text, now)
        only_cluster(answer, dialect.matchers)
        count = sum(int(value) for _, value in answer.values())
        if not count:
            raise NothingThereError(
                "it answers, and has no container's working set with the labels container and pod at this moment",
                "Let it scrape the kubelets' /metrics/cadvisor, or correct prometheus.selector.",
            )
        began = now - timedelta(seconds=settings.window_seconds - 3600)
        reaches = "reaches back as far as" if client.query(text, began).series else "does not reach back as far as"
        return f"answers, with {count} containers at this moment; {_kept(client)}{reaches} prometheus.window_seconds ({dialect.window} s)"


def _kept(client: Client) -> str:
    """Tell the retention that Prometheus itself knows of; others have no such address."""
    try:
        retention = msgspec.json.decode(client.runtime(), type=_Body).data.storage_retention
    except (PrometheusError, msgspec.MsgspecError):
        return ""
    return f"keeps samples for {retention} and " if retention else ""
