"""Shapes: pods of one template ask for the same, so their sums are worked out once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from batch.collect.objects import Container, ContainerStatus, Pod, PodSpec, PodStatus
from batch.collect.rejects import Rejects
from batch.collect.requests import Amounts, effective_limits, effective_requests, is_sidecar, limited, own_amounts, resize_is_infeasible
from batch.snapshot.requests_rule import RequestsRule


@dataclass(frozen=True)
class Shape:
    """What a pod of this shape holds. `containers` has requests and limits of each, app containers first, in order.

    `refused` are (rest of the object's name, field, value, reason) of values that are no quantities.
    """

    requests: Amounts
    limits: Amounts
    cpu_limited: bool
    memory_limited: bool
    containers: tuple[tuple[Amounts, Amounts], ...]
    refused: tuple[tuple[str, str, str, str], ...]


class Shapes:
    """Works out the shape of a pod, once for all pods whose resources stand there in the same words."""

    def __init__(self, rule: RequestsRule) -> None:
        self._rule = rule
        self._known: dict[Hashable, Shape] = {}

    def of(self, pod: Pod) -> Shape:
        """Give the shape of a pod."""
        key = tuple(_words(pod))
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = _work_out(pod, self._rule)
        return shape


def _work_out(pod: Pod, rule: RequestsRule) -> Shape:
    rejects = Rejects()
    requests, limits = effective_requests(pod, "", rejects, rule), effective_limits(pod, "", rejects, rule)
    spec = pod.spec or PodSpec()
    return Shape(
        requests,
        limits,
        limited(pod, "cpu"),
        limited(pod, "memory"),
        tuple(own_amounts(c) for c in [*(spec.containers or []), *(spec.init_containers or [])]),
        tuple(rejects.entries()),
    )


def _words(pod: Pod) -> Iterator[object]:
    """Give everything that the sums depend on, undecoded."""
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    yield bytes(spec.overhead)
    yield bytes(spec.resources)
    for container in spec.containers or ():
        yield from _container_words(container)
    for container in spec.init_containers or ():
        yield is_sidecar(container)
        yield from _container_words(container)
    yield resize_is_infeasible(status)
    yield bytes(status.resources)
    yield bytes(status.allocated_resources)
    for held in status.container_statuses or ():
        yield from _status_words(held)
    for held in status.init_container_statuses or ():
        yield from _status_words(held)


def _container_words(container: Container) -> tuple[str, bytes]:
    return container.name, bytes(container.resources)


def _status_words(held: ContainerStatus) -> tuple[str, bytes, bytes]:
    return held.name, bytes(held.resources), bytes(held.allocated_resources)
