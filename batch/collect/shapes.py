"""Shapes: pods of one template ask for the same, so their sums are worked out once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from batch.collect.objects import Container, Pod, PodSpec, PodStatus
from batch.collect.rejects import Rejects
from batch.collect.requests import effective_limits, effective_requests, is_sidecar, limited, own_amounts, resize_is_infeasible
from batch.snapshot.requests_rule import RequestsRule

_OWN_COLUMN = ("cpu", "memory")
_NO_SPEC, _NO_STATUS = PodSpec(), PodStatus()

Amount = int | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What a pod of this shape holds, in the order of the tables' columns.

    `sums` are effective requests of CPU and memory, then limits; `limited` tells of both whether a limit holds for all of the pod; `further` are
    requests by resource, `unread` the resources of which the amount was refused. `containers` are name, kind, and requests and limits of each, app containers first, in order.
    `refused` are (rest of the object's name, field, value, reason) of values that are no quantities.
    """

    sums: tuple[Amount, Amount, Amount, Amount]
    limited: tuple[bool, ...]
    further: tuple[tuple[str, int], ...]
    unread: tuple[str, ...]
    containers: tuple[tuple[str, str, tuple[Amount, ...]], ...]
    refused: tuple[tuple[str, str, str, str], ...]


class Shapes:
    """Works out the shape of a pod, once for all pods whose resources stand there in the same words."""

    def __init__(self, rule: RequestsRule) -> None:
        self._rule = rule
        self._known: dict[Hashable, Shape] = {}

    def of(self, pod: Pod) -> Shape:
        """Give the shape of a pod."""
        key = _words(pod)
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = _work_out(pod, self._rule)
        return shape


def _work_out(pod: Pod, rule: RequestsRule) -> Shape:
    rejects = Rejects()
    requests, limits = effective_requests(pod, "", rejects, rule), effective_limits(pod, "", rejects, rule)
    spec = pod.spec or PodSpec()
    return Shape(
        (requests.get("cpu", 0), requests.get("memory", 0), limits.get("cpu"), limits.get("memory")),
        limited(pod, *_OWN_COLUMN),
        tuple((resource, amount) for resource, amount in requests.items() if resource not in _OWN_COLUMN and amount),
        tuple(resource for resource, amount in requests.items() if resource not in _OWN_COLUMN and amount is None),
        (
            *(_container(one, "app") for one in spec.containers or ()),
            *(_container(one, "sidecar" if is_sidecar(one) else "init") for one in spec.init_containers or ()),
        ),
        tuple(rejects.entries()),
    )


def _container(one: Container, kind: str) -> tuple[str, str, tuple[Amount, ...]]:
    requests, limits = own_amounts(one)
    return one.name, kind, (requests.get("cpu"), requests.get("memory"), limits.get("cpu"), limits.get("memory"))


def _words(pod: Pod) -> Hashable:
    """Give everything that the sums depend on, undecoded. Called for every pod: a list grows faster than a generator gives."""
    spec, status = pod.spec or _NO_SPEC, pod.status or _NO_STATUS
    words: list[object] = [bytes(spec.overhead), bytes(spec.resources)]
    for container in spec.containers or ():
        words += container.name, bytes(container.resources)
    for container in spec.init_containers or ():
        words += is_sidecar(container), container.name, bytes(container.resources)
    words += resize_is_infeasible(status), bytes(status.resources), bytes(status.allocated_resources)
    for held in status.container_statuses or ():
        words += held.name, bytes(held.resources), bytes(held.allocated_resources)
    for held in status.init_container_statuses or ():
        words += held.name, bytes(held.resources), bytes(held.allocated_resources)
    return tuple(words)
