"""API server: how long it takes, who lists the most, and whom it turns away."""

from __future__ import annotations

from collections.abc import Iterator

from batch.findings import message, plural
from batch.scale.areas import API_SERVER
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, judged
from batch.scale.told import Figure, figures, untold
from batch.snapshot.control_plane import LATENCY, LISTING_FLOWS, LISTS, REJECTED, SEATS

_SLO = 'SIG Scalability, "API call latency SLIs/SLOs" (kubernetes/community, slos/api_call_latency.md)'
_FAIRNESS = 'Kubernetes documentation 1.36, "API Priority and Fairness"'
_QUICK_SECONDS, _LIST_SECONDS = 1.0, 30.0
"""The SLO: 1 s for writes and for reads of one object, 30 s for lists of a namespace or the cluster, as 99th percentiles."""

_READS = ("GET", "LIST")
_SYSTEM_LEVELS = frozenset({"system", "leader-election", "node-high", "workload-high", "exempt"})
"""Priority levels of Kubernetes itself; `workload-high` is that of its controllers."""

LATENCY_RULE = Rule(
    id="apiserver.latency",
    area=API_SERVER,
    name="Latency against the SLO",
    unit="ratio",
    measures="99th percentile over the last day (less where that is too much for the store) by resource, verb and scope, divided by what the SLO allows; the worst counts",
    threshold="warns above 1 (100 %), fails above 2",
    source=f"{_SLO}: 1 s for writes and single reads, 30 s for lists; twice is our own",
    lesson="Controllers, autoscalers and people all wait for the same API server. What is slow for one resource at first is slow for everybody soon.",
    action="Find the client behind the slow resource, and let it watch in place of listing; look at etcd before adding API servers.",
    needs=("Prometheus: API servers",),
)
LISTS_RULE = Rule(
    id="apiserver.lists",
    area=API_SERVER,
    name="Lists of the whole cluster",
    unit="requests per second",
    measures="lists of one resource over the whole cluster, a second, over the last day; the most frequent counts",
    threshold="warns above 1 a second, fails above 10",
    source='"Scaling Kubernetes to 2,500 nodes" (OpenAI, 2018): agents on every node that polled the API servers; the numbers are our own',
    lesson="Monitoring agents on every node polled the API server to death, and stopped being noticed as the cause. Each list of all pods costs as much as all pods together.",
    action="Find the client by its flow schema (`kubectl get --raw /debug/api_priority_and_fairness/dump_requests`), and give it a watch or a cache.",
    needs=("Prometheus: API servers",),
)
REJECTED_RULE = Rule(
    id="apiserver.rejected",
    area=API_SERVER,
    name="Requests turned away",
    unit="count",
    measures="requests that priority and fairness rejected over the last day",
    threshold="warns above 0; fails when requests of Kubernetes' own priority levels were among them",
    source=f"{_FAIRNESS}; the metric apiserver_flowcontrol_rejected_requests_total",
    lesson="The API server answers 429 when it has no seat left, and clients try again, which makes it worse. When controllers are turned away, nothing in the cluster moves.",
    action="Give the loudest client a priority level of its own, with few seats.",
    needs=("Prometheus: API servers",),
)
SEATS_RULE = Rule(
    id="apiserver.inflight",
    area=API_SERVER,
    name="Seats taken",
    unit="ratio",
    measures="most seats that ran at once over the last day, divided by those of their priority level; the fullest level counts",
    threshold="warns above scale.warn_ratio (80 %), fails above 100 %: seats are then borrowed from others",
    source=f"{_FAIRNESS}: 600 seats by default (--max-requests-inflight 400 and --max-mutating-requests-inflight 200)",
    lesson="Until all seats are taken latency looks fine, and one more client then slows down all of its level. The share is the only figure that shows it coming.",
    action="Look at which flow schemas share the level, and split it.",
    needs=("Prometheus: API servers",),
)
RULES = (LATENCY_RULE, LISTS_RULE, REJECTED_RULE, SEATS_RULE)


def checks(facts: Facts) -> Iterator[Check]:
    """Judge what Prometheus told of the API servers."""
    yield _latency(facts)
    yield _lists(facts)
    yield _rejected(facts)
    yield _seats(facts)


def _latency(facts: Facts) -> Check:
    rows = figures(facts, LATENCY)
    if not rows:
        return untold(facts, LATENCY_RULE, "API servers", ("apiserver_request_sli_duration_seconds", "apiserver_request_duration_seconds"))
    shares = sorted(((row.value / _allowed(row), row) for row in rows), key=lambda pair: (-pair[0], pair[1].resource, pair[1].verb))
    late = [row for share, row in shares if share > 1]
    share, worst = shares[0]
    found = message(
        f"{{seconds:seconds}} for {{verb:text}} of {{resource:text}}, {{share:ratio}} of the SLO; {{late:count}} of {{all:count}} kinds of requests {plural(len(late), 'is', 'are')} beyond it",
        seconds=worst.value,
        verb=worst.verb,
        resource=worst.resource,
        share=share,
        late=len(late),
        all=len(rows),
    )
    return judged(LATENCY_RULE, share, found, warn=1, fail=2, objects=tuple(map(_request, late)))


def _request(row: Figure) -> str:
    return f"{row.verb} {row.resource}" + (f" ({row.scope})" if row.scope else "")


def _allowed(row: Figure) -> float:
    return _LIST_SECONDS if row.verb in _READS and row.scope in ("namespace", "cluster") else _QUICK_SECONDS


def _lists(facts: Facts) -> Check:
    rows, flows = figures(facts, LISTS), figures(facts, LISTING_FLOWS)
    if not rows:
        return untold(facts, LISTS_RULE, "API servers", ("apiserver_request_total",))
    by = "; the busiest flow is {flow:text}" if flows else ""
    found = message(
        f"{{resource:text}} are listed {{often:count}} times a second over the whole cluster{by}",
        resource=rows[0].resource,
        often=round(rows[0].value, 2),
        **({"flow": flows[0].flow} if flows else {}),
    )
    return judged(LISTS_RULE, rows[0].value, found, warn=1, fail=10, objects=tuple(row.resource for row in rows if row.value > 1))


def _rejected(facts: Facts) -> Check:
    """Judge rejections; their series appear with the first of them, so that API servers that tell of lists alone have none."""
    rows = [row for row in figures(facts, REJECTED) if row.value >= 1]
    if not rows and not figures(facts, LISTS):
        return untold(facts, REJECTED_RULE, "API servers", ("apiserver_flowcontrol_rejected_requests_total",))
    if not rows:
        return judged(REJECTED_RULE, 0, message("No request was turned away in the last day"), warn=0)
    count, levels = round(sum(row.value for row in rows)), tuple(dict.fromkeys(row.flow for row in rows))
    found = message(
        f"{{count:count}} {plural(count, 'request was', 'requests were')} turned away in the last day, most of priority level {{level:text}}",
        count=count,
        level=levels[0],
    )
    return judged(REJECTED_RULE, count, found, warn=0, fail=0 if _SYSTEM_LEVELS & set(levels) else None, objects=levels)


def _seats(facts: Facts) -> Check:
    rows, warn = figures(facts, SEATS), facts.settings.scale.warn_ratio
    if not rows:
        return untold(facts, SEATS_RULE, "API servers", ("apiserver_flowcontrol_current_executing_seats",))
    found = message(
        "{share:ratio} of the seats of priority level {level:text} were taken at most, the fullest", share=rows[0].value, level=rows[0].flow
    )
    return judged(SEATS_RULE, rows[0].value, found, warn=warn, fail=1, objects=tuple(row.flow for row in rows if row.value > warn))
