"""What this run itself asked of the API server."""

from __future__ import annotations

import math

from batch.findings import message
from batch.scale.areas import API_SERVER
from batch.scale.facts import Facts
from batch.scale.model import Check, Rule, fine, judged

_REQUESTS_EACH, _OBJECTS, _BESIDE = 2, 500, 40
"""Fewer than 2 requests for each 500 objects, and 40: what this program promises."""

OWN = Rule(
    id="apiserver.own-requests",
    area=API_SERVER,
    name="Requests of this report",
    unit="count",
    measures="requests that this run sent to the API server, repeated ones included",
    threshold="warns from 2 requests for each 500 objects and 40 on, fails above ten times as many",
    source="our own promise: lists are read in pages, one request at a time",
    lesson="Agents on every node that listed all pods again and again brought an API server down, and nobody suspected the monitoring. A tool that reports on a cluster has to say what it costs it.",
    action="Raise `api.page_size`; look in the log for lists that had to be begun again.",
    needs=(),
)
RULES = (OWN,)
_TEN = 10


def check(facts: Facts) -> Check:
    """Judge the run's own requests; a dump has none."""
    cost = facts.snapshot.table("api_requests")
    if not len(cost):
        return fine(OWN, message("No API server was asked: this was read from files"))
    requests, objects = int(cost["request_count"].sum()), int(cost["object_count"].sum())
    found = message(
        "{requests:count} requests and {size:bytes} of answers for {objects:count} objects",
        requests=requests,
        size=int(cost["received_bytes"].sum()),
        objects=objects,
    )
    most = math.ceil(_REQUESTS_EACH * objects / _OBJECTS + _BESIDE) - 1  # the largest number that is fewer
    return judged(OWN, requests, found, warn=most, fail=_TEN * most)
