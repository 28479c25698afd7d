"""Effective requests and limits of a pod, as the scheduler counts them.

Rule of Kubernetes 1.36: k8s.io/component-helpers/resource/helpers.go at v0.36.2 (PodRequests, PodLimits) and KEP-753 for sidecars. What 1.37
counts otherwise while a pod is resized in place is in snapshot/requests_rule.py and docs/collection.md.
Amounts are ints in the unit of quantity.read_amount; None is an amount that could not be read, and makes every sum and
maximum that it enters unknown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from batch.collect.objects import (
    NULL,
    Container,
    ContainerStatus,
    Metadata,
    Pod,
    PodSpec,
    PodStatus,
    Resources,
    decode_map,
    decode_resources,
)
from batch.collect.rejects import NOTED, Rejects
from batch.snapshot.requests_rule import RequestsRule

Amounts = dict[str, int | None]

_Part = Literal["requests", "limits"]

_UNREADABLE: dict[str, object] = {"cpu": NOTED, "memory": NOTED}
"""What stands for a map of resources that is none: its amounts of CPU and memory are unknown."""

_POD_LEVEL = ("cpu", "memory")
"""Resources that spec.resources may set for the whole pod, beside hugepages-*."""


def effective_requests(pod: Pod, thing: str, rejects: Rejects, rule: RequestsRule = RequestsRule.PER_CONTAINER) -> Amounts:
    """Sum up what the pod holds on its node; a resource that nothing asks for is absent.

    App containers and sidecars run together; each ordinary init container runs beside the sidecars listed before it; the larger
    of the two counts, for the pod's whole life. Pod-level requests replace the sum; overhead comes on top. While containers or
    the pod as a whole are resized in place, the largest of spec, allocated and actual counts (of allocated and actual only when the
    resize is infeasible): `rule` says whether for each container or for the sums. `thing` names the pod in `rejects`.
    """
    if pod.spec is None:
        return {}
    total = _Held(pod, "requests", thing, rejects).total(rule)
    _add(total, rejects.amounts(_map(pod.spec.overhead, thing, rejects), thing, "overhead"))
    return rejects.possible(total, thing, "effective requests")


def template_requests(spec: PodSpec, thing: str, rejects: Rejects) -> Amounts:
    """Sum up what a pod of a template will hold. The API server fills missing requests from limits in pods, not in templates.

    A pod-level limit stands in for a request where neither the pod nor a container has one (KEP-2837, defaulting).
    """
    filled = [_with_defaults(c) for c in spec.containers or []]
    filled_init = [_with_defaults(c) for c in spec.init_containers or []]
    template = PodSpec(containers=filled, init_containers=filled_init, resources=spec.resources)
    total = effective_requests(Pod(metadata=Metadata(), spec=template), thing, rejects)
    limits = rejects.amounts(_resources(spec.resources, thing, Rejects()).limits, thing, "pod-level limits")
    total = {**{name: amount for name, amount in limits.items() if _is_pod_level(name)}, **total}
    _add(total, rejects.amounts(_map(spec.overhead, thing, rejects), thing, "overhead"))
    return rejects.possible(total, thing, "effective requests")


class _Held:
    """What a pod and its containers asked for, were allocated and really have: of requests or of limits, which are not allocated."""

    def __init__(self, pod: Pod, part: _Part, thing: str, rejects: Rejects) -> None:
        self._spec = pod.spec or PodSpec()
        self._status = pod.status or PodStatus()
        self._infeasible = resize_is_infeasible(self._status)
        held = [*(self._status.container_statuses or []), *(self._status.init_container_statuses or [])]
        self._statuses = {s.name: s for s in held}
        self._part: _Part = part
        self._thing = thing
        self._rejects = rejects
        self._asked: dict[str, Amounts] = {}

    def total(self, rule: RequestsRule) -> Amounts:
        """Sum up without overhead, by that rule."""
        if rule is RequestsRule.PER_CONTAINER:
            total = self._together(self._largest)
        else:
            told = bool(self._of_pod and (self._allocated_to_pod or self._part == "limits"))
            total = dict(self._of_pod if told else self._together(self._actual))
            _raise_to(total, self._allocated_to_pod if told else self._together(self._allocated))
            if not self._infeasible:
                _raise_to(total, self._together(self._asked_by))
        total.update(self._pod_level(rule))
        return total

    def _pod_level(self, rule: RequestsRule) -> Amounts:
        """Give what the pod as a whole asks for, in place of the sum of its containers."""
        if self._spec.resources == NULL:
            return {}
        asked = self._amounts(self._spec.resources, self._thing, f"pod-level {self._part}")
        asked = {name: amount for name, amount in asked.items() if _is_pod_level(name)}
        if not (asked or self._has_requests_of_the_pod) or self._status.resources == NULL:
            return asked
        largest = {} if self._infeasible else dict(asked)
        _raise_to(largest, self._of_pod)
        _raise_to(largest, self._allocated_to_pod)
        names = asked if rule is RequestsRule.PER_CONTAINER else {name: None for name in largest if _is_pod_level(name)}
        return {name: largest.get(name, 0) for name in names}

    @property
    def _has_requests_of_the_pod(self) -> bool:
        """Tell whether the pod as a whole asks for something: from 1.37 its limits are then those of its status, also where its spec sets none."""
        requests = _resources(self._spec.resources, self._thing, Rejects()).requests or ()
        return self._part == "limits" and any(map(_is_pod_level, requests))

    @functools.cached_property
    def _of_pod(self) -> Amounts:
        """Give what is configured for the pod as a whole; newer kubelets tell it of pods without pod-level resources too."""
        return self._amounts(self._status.resources, self._thing, f"status.resources.{self._part}")

    @functools.cached_property
    def _allocated_to_pod(self) -> Amounts:
        if self._part == "limits":
            return {}
        amounts = _map(self._status.allocated_resources, self._thing, self._rejects)
        return self._rejects.amounts(amounts, self._thing, "status.allocatedResources")

    def _asked_by(self, container: Container) -> Amounts:
        """Give the container's own."""
        known = _read(bytes(container.resources))
        if known:
            return known[self._part]
        if container.name not in self._asked:
            self._asked[container.name] = self._amounts(container.resources, f"{self._thing}/{container.name}", self._part)
        return self._asked[container.name]

    def _allocated(self, container: Container) -> Amounts:
        """Give what the kubelet has promised, else what was asked unless that is infeasible."""
        status = self._statuses.get(container.name)
        if self._part == "requests" and status is not None and status.allocated_resources != NULL:
            known = _read_map(bytes(status.allocated_resources))
            if known is not None:
                return known
            name = f"{self._thing}/{container.name}"
            return self._rejects.amounts(_map(status.allocated_resources, name, self._rejects), name, "status.allocatedResources")
        return {} if self._infeasible else self._asked_by(container)

    def _actual(self, container: Container) -> Amounts:
        """Give what is configured, else what was promised."""
        status = self._statuses.get(container.name)
        if status is not None and status.resources != NULL:
            known = _read(bytes(status.resources))
            name = f"{self._thing}/{container.name}"
            found = known[self._part] if known else self._amounts(status.resources, name, f"status.resources.{self._part}")
            if found:
                return found
        return self._allocated(container)

    def _largest(self, container: Container) -> Amounts:
        """Give the largest of the three where the status tells of resources, else what was asked; of an ordinary init container only that."""
        status = self._statuses.get(container.name)
        asked = self._asked_by(container)
        if status is None or status.resources == NULL or container.name in self._ordinary_init or self._has_it(asked, container, status):
            return asked
        total = dict(self._actual(container))
        _raise_to(total, self._allocated(container))
        if not self._infeasible:
            _raise_to(total, asked)
        return total

    def _has_it(self, asked: Amounts, container: Container, status: ContainerStatus) -> bool:
        """Tell whether the container was given what it asks for, word for word, as nearly all are: then there is nothing to compare."""
        if status.resources != container.resources or _read(bytes(container.resources)) is None:
            return False
        allocated = status.allocated_resources
        return self._part == "limits" or allocated == NULL or _read_map(bytes(allocated)) == asked

    @functools.cached_property
    def _ordinary_init(self) -> frozenset[str]:
        return frozenset(c.name for c in self._spec.init_containers or () if not is_sidecar(c))

    def _together(self, amounts_of: Callable[[Container], Amounts]) -> Amounts:
        return _together(self._spec.containers, self._spec.init_containers, amounts_of)

    def _amounts(self, raw: msgspec.Raw, thing: str, field: str) -> Amounts:
        noted = self._rejects if self._part == "requests" else Rejects()  # what is no map is noted once
        return self._rejects.amounts(getattr(_resources(raw, thing, noted), self._part), thing, field)


class _Undecoded(msgspec.Struct):
    """Requests and limits whose amounts stay in the words in which they stand, whatever these are."""

    requests: dict[str, msgspec.Raw] | None = None
    limits: dict[str, msgspec.Raw] | None = None


def _with_defaults(container: Container) -> Container:
    """Give the container with requests filled from its limits; resources that are no maps stay, to be refused with the sums."""
    known = _read(bytes(container.resources))
    if known is not None and known["limits"].keys() <= known["requests"].keys():
        return container
    try:
        stated = msgspec.json.decode(container.resources, type=_Undecoded | None) or _Undecoded()
    except msgspec.DecodeError:
        return container
    filled = _Undecoded({**(stated.limits or {}), **(stated.requests or {})}, stated.limits)
    return Container(name=container.name, resources=msgspec.Raw(msgspec.json.encode(filled)), restart_policy=container.restart_policy)


def effective_limits(pod: Pod, thing: str, rejects: Rejects, rule: RequestsRule = RequestsRule.PER_CONTAINER) -> Amounts:
    """Sum up the limits of the containers that have one, by the same rule; overhead is added only where there is a limit.

    While a pod is resized in place, the larger of the limits in spec and status counts, of status only when the resize is infeasible.
    """
    if pod.spec is None:
        return {}
    noted = Rejects()  # resources that are no map, and overhead: effective_requests has noted them
    total = _Held(pod, "limits", thing, rejects).total(rule)
    overhead = noted.amounts(_map(pod.spec.overhead, thing, noted), thing, "overhead")
    _add(total, {resource: amount for resource, amount in overhead.items() if total.get(resource)})
    return rejects.possible(total, thing, "effective limits")


def own_amounts(container: Container) -> tuple[Amounts, Amounts]:
    """Read requests and limits of one container alone; what is refused there was noted with the pod's sums."""
    silent = Rejects()
    known = _read(bytes(container.resources))
    if known:
        return silent.possible(known["requests"], "", ""), silent.possible(known["limits"], "", "")
    resources = _resources(container.resources, "", silent)
    requests, limits = silent.amounts(resources.requests, "", ""), silent.amounts(resources.limits, "", "")
    return silent.possible(requests, "", ""), silent.possible(limits, "", "")


def limited(pod: Pod, *resources: str) -> tuple[bool, ...]:
    """Tell of each resource whether every container that runs side by side has a limit of it, or the pod as a whole has."""
    spec = pod.spec or PodSpec()
    running = [*(spec.containers or []), *(c for c in spec.init_containers or [] if is_sidecar(c))]
    with_limits = [_with_limit(container.resources) for container in running]
    of_pod = _with_limit(spec.resources)
    return tuple(one in of_pod or (bool(running) and all(one in names for names in with_limits)) for one in resources)


def _with_limit(raw: msgspec.Raw) -> Mapping[str, object]:
    """Give what has a limit, with limits as they may be."""
    known = _read(bytes(raw))
    return known["limits"] if known else _resources(raw, "", Rejects()).limits or {}


@functools.lru_cache(maxsize=8192)
def _read(words: bytes) -> dict[_Part, Amounts] | None:
    """Read requests and limits, not to be changed: containers share them word for word; None when something in them has to be refused."""
    rejects = Rejects()
    resources = _resources(msgspec.Raw(words), "", rejects)
    amounts: dict[_Part, Amounts] = {
        "requests": rejects.amounts(resources.requests, "", ""),
        "limits": rejects.amounts(resources.limits, "", ""),
    }
    return None if len(rejects) else amounts


@functools.lru_cache(maxsize=8192)
def _read_map(words: bytes) -> Amounts | None:
    """Read amounts as _read does."""
    rejects = Rejects()
    amounts = rejects.amounts(_map(msgspec.Raw(words), "", rejects), "", "")
    return None if len(rejects) else amounts


def is_sidecar(container: Container) -> bool:
    """Tell whether an init container is a native sidecar, which runs beside the app containers."""
    return container.restart_policy == "Always"


def resize_is_infeasible(status: PodStatus) -> bool:
    """Tell whether the kubelet has refused the resize that the spec asks for."""
    for condition in status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _together(
    containers: Iterable[Container] | None, init_containers: Iterable[Container] | None, amounts_of: Callable[[Container], Amounts]
) -> Amounts:
    total: Amounts = {}
    for container in containers or ():
        _add(total, amounts_of(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in init_containers or ():
        step = dict(amounts_of(container))
        if is_sidecar(container):
            _add(total, step)
            _add(sidecars, step)
            step = dict(sidecars)
        else:
            _add(step, sidecars)
        _raise_to(peak, step)
    _raise_to(total, peak)
    return total


def _is_pod_level(resource: str) -> bool:
    return resource in _POD_LEVEL or resource.startswith("hugepages-")


def _resources(raw: msgspec.Raw, thing: str, rejects: Rejects) -> Resources:
    if raw == NULL:
        return Resources()
    try:
        return decode_resources(raw)
    except msgspec.ValidationError as error:
        rejects.add(thing, "resources", bytes(raw).decode(errors="replace"), str(error))
        return Resources(requests=_UNREADABLE, limits=_UNREADABLE)


def _map(raw: msgspec.Raw, thing: str, rejects: Rejects) -> Mapping[str, object]:
    if raw == NULL:
        return {}
    try:
        return decode_map(raw)
    except msgspec.ValidationError as error:
        rejects.add(thing, "resources", bytes(raw).decode(errors="replace"), str(error))
        return _UNREADABLE


def _add(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else before + amount


def _raise_to(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else max(before, amount)
