"""What Prometheus tells of etcd, the API servers and DNS: a few small queries, each of which may be answered or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from batch.collect.prometheus.answers import Labels
from batch.collect.prometheus.client import Client
from batch.collect.prometheus.errors import ExhaustedError, PrometheusError, TooMuchError
from batch.collect.prometheus.probe import only_cluster
from batch.collect.prometheus.promql import select
from batch.snapshot import control_plane as names
from batch.snapshot.schemas import CONTROL_PLANE_METRICS

_DAY, _HOUR, _MOMENT, _QUARTER = "1d", "1h", "5m", "15m"
_MOST_ROWS = 1_000
"""Rows of a figure that are kept, the largest: a store of many clusters without a selector would give any number."""

_FEW_FAILURES = 3
"""Figures after which a server that has answered none of them is left alone."""

_LASTING = "proxy|attach|log|exec|portforward"
"""Subresources whose requests last as long as somebody looks: following a log is a GET (kubernetes-mixin, rules of kube-apiserver, leaves out the same)."""

_TELLING = '__name__=~"etcd_mvcc_db_total_size_in_bytes|apiserver_storage_objects|apiserver_resource_objects|coredns_dns_requests_total"'
"""Series that tell whether there are several clusters, which the largest of each figure would mix."""

_LABELS = ("instance", "api_group", "version", "resource", "verb", "scope", "flow", "reason")


@dataclass(frozen=True)
class _Figure:
    """One figure: queries of which the first that is answered and has series is used, and its labels by column."""

    metric: str
    queries: tuple[str, ...]
    labels: Mapping[str, str]


def metrics(client: Client, matchers: str, at: datetime) -> pd.DataFrame:
    """Ask for every figure, as table control_plane_metrics. Raises PrometheusError when the series are of several clusters, when not one of the first questions is answered, or when time is used up.

    `matchers` are label matchers that every query gets, as prometheus.selector has them.
    """
    only_cluster(client.query(f"count by (cluster) ({select('', _TELLING, matchers)})", at), matchers)
    rows: dict[tuple[str, ...], float] = {}
    failures: list[PrometheusError] = []
    for figure in _figures(matchers):
        try:
            rows.update(_rows(client, figure, at))
        except ExhaustedError:
            raise
        except PrometheusError as error:
            failures.append(error)
            if len(failures) == _FEW_FAILURES and not rows:
                raise
    return CONTROL_PLANE_METRICS.frame((*key, value) for key, value in sorted(rows.items()))


def _rows(client: Client, figure: _Figure, at: datetime) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield the key and value of each row; of series with equal labels the largest."""
    found = _first(client, figure.queries, at)
    best: dict[tuple[str, ...], float] = {}
    for labels, value in found:
        key = (figure.metric, *(labels.get(figure.labels.get(column, ""), "") for column in _LABELS))
        best[key] = max(value, best.get(key, value))
    yield from sorted(best.items(), key=lambda row: (-row[1], row[0]))[:_MOST_ROWS]


def _first(client: Client, queries: Sequence[str], at: datetime) -> list[tuple[Labels, float]]:
    """Give the first answer that has series. What is too much for the server is asked for in the next form, which is smaller."""
    refused: TooMuchError | None = None
    for query in queries:
        try:
            found = client.query(query, at).values()
        except TooMuchError as error:
            refused = error
            continue
        if found:
            return found
    if refused is not None:
        raise refused
    return []


def _figures(matchers: str) -> tuple[_Figure, ...]:
    def of(metric: str, *more: str) -> str:
        return select(metric, matchers, *more)

    def p99(metric: str, by: str, *more: str, over: str = _DAY) -> str:
        return f"histogram_quantile(0.99, sum by ({by}, le) (rate({of(f'{metric}_bucket', *more)}[{over}])))"

    member = {"instance": "instance"}
    requests = {"api_group": "group", "resource": "resource", "verb": "verb", "scope": "scope"}
    by_request = "group, resource, verb, scope"
    judged_requests = ('verb!~"WATCH|CONNECT|WATCHLIST|PROXY"', f'subresource!~"{_LASTING}"')
    taken, seats = "apiserver_flowcontrol_current_executing_seats", "apiserver_flowcontrol_nominal_limit_seats"
    held, limit = "apiserver_flowcontrol_request_concurrency_in_use", "apiserver_flowcontrol_request_concurrency_limit"
    return (
        _Figure(
            names.ETCD_DATABASE,
            tuple(
                f"max by (instance) ({of(metric)})"
                for metric in (
                    "etcd_mvcc_db_total_size_in_bytes",
                    "apiserver_storage_size_bytes",
                    "apiserver_storage_db_total_size_in_bytes",
                )
            ),
            member,
        ),
        _Figure(names.ETCD_QUOTA, (f"max by (instance) ({of('etcd_server_quota_backend_bytes')})",), member),
        _Figure(names.ETCD_FSYNC, (p99("etcd_disk_wal_fsync_duration_seconds", "instance"),), member),
        _Figure(names.ETCD_COMMIT, (p99("etcd_disk_backend_commit_duration_seconds", "instance"),), member),
        _Figure(
            names.ETCD_LEADER_CHANGES,
            (
                f"max_over_time((max by (instance) (increase({of('etcd_server_leader_changes_seen_total')}[{_QUARTER}])))[{_DAY}:{_MOMENT}])",
            ),
            member,
        ),
        _Figure(
            names.STORED_OBJECTS,
            (
                f"max by (group, resource) ({of('apiserver_resource_objects')}) >= 0",
                f"max by (resource) ({of('apiserver_storage_objects')}) >= 0",
            ),
            {"api_group": "group", "resource": "resource"},
        ),
        _Figure(
            names.LATENCY,
            tuple(
                p99(metric, by_request, *judged_requests, over=over)
                for metric in (
                    "apiserver_request_sli_duration_seconds",
                    "apiserver_request_slo_duration_seconds",
                    "apiserver_request_duration_seconds",
                )
                for over in (_DAY, _HOUR, _MOMENT)
            ),
            requests,
        ),
        _Figure(
            names.LISTS,
            (
                f"""sum by (group, resource, verb, scope) (rate({of("apiserver_request_total", 'verb="LIST"', 'scope="cluster"')}[{_DAY}]))""",
            ),
            requests,
        ),
        _Figure(
            names.LISTING_FLOWS,
            (f"sum by (flow_schema) (rate({of('apiserver_flowcontrol_dispatched_requests_total')}[{_DAY}]))",),
            {"flow": "flow_schema"},
        ),
        _Figure(
            names.REJECTED,
            (f"sum by (priority_level, reason) (increase({of('apiserver_flowcontrol_rejected_requests_total')}[{_DAY}]))",),
            {"flow": "priority_level", "reason": "reason"},
        ),
        _Figure(
            names.SEATS,
            tuple(
                f"max by (priority_level) (max_over_time((sum by (priority_level, instance) ({of(used)}))[{_DAY}:{_MOMENT}])"
                f" / (max by (priority_level, instance) ({of(most)}) > 0))"
                for used, most in ((taken, seats), (held, limit))
            ),
            {"flow": "priority_level"},
        ),
        _Figure(
            names.DEPRECATED,
            (f"max by (group, version, resource, removed_release) ({of('apiserver_requested_deprecated_apis')}) > 0",),
            {"api_group": "group", "version": "version", "resource": "resource", "reason": "removed_release"},
        ),
        _Figure(
            names.DNS_REQUESTS,
            (f"max_over_time((sum by (instance) (rate({of('coredns_dns_requests_total')}[{_MOMENT}])))[{_DAY}:{_MOMENT}])",),
            member,
        ),
    )
