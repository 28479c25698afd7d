"""Effective requests and limits of a pod, as the scheduler counts them.

Rule of Kubernetes 1.36: k8s.io/component-helpers/resource/helpers.go (PodRequests, PodLimits) and KEP-753 for sidecars. What 1.37 counts
otherwise while a pod is resized in place is in snapshot/requests_rule.py.
Amounts are ints in the unit of quantity.read_amount; None is an amount that could not be read, and makes every sum and
maximum that it enters unknown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping

import msgspec

from batch.collect.objects import NULL, Container, Metadata, Pod, PodSpec, PodStatus, Resources, decode_map, decode_resources
from batch.collect.rejects import NOTED, Rejects
from batch.snapshot.requests_rule import RequestsRule

Amounts = dict[str, int | None]

_UNREADABLE: dict[str, object] = {"cpu": NOTED, "memory": NOTED}
"""What stands for a map of resources that is none: its amounts of CPU and memory are unknown."""

_POD_LEVEL = ("cpu", "memory")
"""Resources that spec.resources may set for the whole pod, beside hugepages-*."""


def effective_requests(pod: Pod, thing: str, rejects: Rejects, rule: RequestsRule = RequestsRule.PER_CONTAINER) -> Amounts:
    """Sum up what the pod holds on its node; a resource that nothing asks for is absent.

    App containers and sidecars run together; each ordinary init container runs beside the sidecars listed before it; the larger
    of the two counts, for the pod's whole life. Pod-level requests replace the sum; overhead comes on top. While a
    container is being resized in place, the largest of spec, allocated and actual counts (of allocated and actual only when the
    resize is infeasible): `rule` says whether for each container or for the sums. `thing` names the pod in `rejects`.
    """
    spec = pod.spec
    if spec is None:
        return {}
    held = _Held(pod, thing, rejects)
    if rule is RequestsRule.PER_CONTAINER:
        total = _together(spec.containers, spec.init_containers, held.largest)
    else:
        total = _together(spec.containers, spec.init_containers, held.actual)
        _raise_to(total, _together(spec.containers, spec.init_containers, held.allocated))
        if not held.infeasible:
            _raise_to(total, _together(spec.containers, spec.init_containers, held.asked))
    _replace_by_pod_level(total, rejects.amounts(_resources(spec.resources, thing, rejects).requests, thing, "pod-level requests"))
    _add(total, rejects.amounts(_map(spec.overhead, thing, rejects), thing, "overhead"))
    return total


def template_requests(spec: PodSpec, thing: str, rejects: Rejects) -> Amounts:
    """Sum up what a pod of a template will hold. The API server fills missing requests from limits in pods, not in templates."""
    filled = [_with_defaults(c) for c in spec.containers or []]
    filled_init = [_with_defaults(c) for c in spec.init_containers or []]
    template = PodSpec(containers=filled, init_containers=filled_init, overhead=spec.overhead, resources=spec.resources)
    return effective_requests(Pod(metadata=Metadata(), spec=template), thing, rejects)


class _Held:
    """What a pod's containers asked for, were allocated and really have, each decoded once."""

    def __init__(self, pod: Pod, thing: str, rejects: Rejects) -> None:
        status = pod.status or PodStatus()
        self.infeasible = resize_is_infeasible(status)
        self._statuses = {s.name: s for s in [*(status.container_statuses or []), *(status.init_container_statuses or [])]}
        self._thing = thing
        self._rejects = rejects
        self._asked: dict[str, Amounts] = {}

    def asked(self, container: Container) -> Amounts:
        """Give the container's own requests."""
        known = _read(bytes(container.resources))
        if known:
            return known[0]
        if container.name not in self._asked:
            name = f"{self._thing}/{container.name}"
            requests = _resources(container.resources, name, self._rejects).requests
            self._asked[container.name] = self._rejects.amounts(requests, name, "requests")
        return self._asked[container.name]

    def allocated(self, container: Container) -> Amounts:
        """Give what the kubelet has promised, else what was asked unless that is infeasible."""
        status = self._statuses.get(container.name)
        if status is not None and status.allocated_resources != NULL:
            name = f"{self._thing}/{container.name}"
            return self._rejects.amounts(_map(status.allocated_resources, name, self._rejects), name, "status.allocatedResources")
        return {} if self.infeasible else self.asked(container)

    def actual(self, container: Container) -> Amounts:
        """Give what is configured, else what was promised."""
        status = self._statuses.get(container.name)
        if status is not None and status.resources != NULL:
            known = _read(bytes(status.resources))
            if known and known[0]:
                return known[0]
            name = f"{self._thing}/{container.name}"
            requests = _resources(status.resources, name, self._rejects).requests
            if requests is not None:
                return self._rejects.amounts(requests, name, "status.resources.requests")
        return self.allocated(container)

    def largest(self, container: Container) -> Amounts:
        """Give the largest of the three where the status tells of resources, else what was asked."""
        status = self._statuses.get(container.name)
        if status is None or status.resources == NULL:
            return self.asked(container)
        total = dict(self.actual(container))
        _raise_to(total, self.allocated(container))
        if not self.infeasible:
            _raise_to(total, self.asked(container))
        return total


def _with_defaults(container: Container) -> Container:
    resources = _resources(container.resources, "", Rejects())
    requests = {**(resources.limits or {}), **(resources.requests or {})}
    raw = msgspec.Raw(msgspec.json.encode({"requests": requests, "limits": resources.limits}))
    return Container(name=container.name, resources=raw, restart_policy=container.restart_policy)


def effective_limits(pod: Pod, thing: str, rejects: Rejects) -> Amounts:
    """Sum up the limits of the containers that have one, by the same rule; overhead is added only where there is a limit."""
    spec = pod.spec
    if spec is None:
        return {}
    noted = Rejects()  # resources that are no map, and overhead: effective_requests has noted them

    def of_container(container: Container) -> Amounts:
        known = _read(bytes(container.resources))
        if known:
            return known[1]
        name = f"{thing}/{container.name}"
        return rejects.amounts(_resources(container.resources, name, noted).limits, name, "limits")

    total = _together(spec.containers, spec.init_containers, of_container)
    _replace_by_pod_level(total, rejects.amounts(_resources(spec.resources, thing, noted).limits, thing, "pod-level limits"))
    overhead = noted.amounts(_map(spec.overhead, thing, noted), thing, "overhead")
    _add(total, {resource: amount for resource, amount in overhead.items() if total.get(resource)})
    return total


def own_amounts(container: Container) -> tuple[Amounts, Amounts]:
    """Read requests and limits of one container alone; what is refused there was noted with the pod's sums."""
    known = _read(bytes(container.resources))
    if known:
        return known
    silent = Rejects()
    resources = _resources(container.resources, "", silent)
    return silent.amounts(resources.requests, "", ""), silent.amounts(resources.limits, "", "")


def limited(pod: Pod, resource: str) -> bool:
    """Tell whether every container that runs side by side has a limit of that resource, or the pod as a whole has."""
    spec = pod.spec
    if spec is None:
        return False

    def has_limit(raw: msgspec.Raw) -> bool:
        known = _read(bytes(raw))
        return resource in (known[1] if known else _resources(raw, "", Rejects()).limits or {})

    running = [*(spec.containers or []), *(c for c in spec.init_containers or [] if is_sidecar(c))]
    return has_limit(spec.resources) or (bool(running) and all(has_limit(c.resources) for c in running))


@functools.lru_cache(maxsize=8192)
def _read(words: bytes) -> tuple[Amounts, Amounts] | None:
    """Read requests and limits, not to be changed: containers share them word for word; None when something in them has to be refused."""
    rejects = Rejects()
    resources = _resources(msgspec.Raw(words), "", rejects)
    amounts = rejects.amounts(resources.requests, "", ""), rejects.amounts(resources.limits, "", "")
    return None if len(rejects) else amounts


def is_sidecar(container: Container) -> bool:
    """Tell whether an init container is a native sidecar, which runs beside the app containers."""
    return container.restart_policy == "Always"


def resize_is_infeasible(status: PodStatus) -> bool:
    """Tell whether the kubelet has refused the resize that the spec asks for."""
    pending = next((c for c in status.conditions or [] if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"


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


def _replace_by_pod_level(total: Amounts, amounts: Amounts) -> None:
    for resource, amount in amounts.items():
        if resource in _POD_LEVEL or resource.startswith("hugepages-"):
            total[resource] = amount


def _resources(raw: msgspec.Raw, thing: str, rejects: Rejects) -> Resources:
    try:
        return decode_resources(raw)
    except msgspec.ValidationError as error:
        rejects.add(thing, "resources", bytes(raw).decode(), str(error))
        return Resources(requests=_UNREADABLE, limits=_UNREADABLE)


def _map(raw: msgspec.Raw, thing: str, rejects: Rejects) -> Mapping[str, object]:
    try:
        return decode_map(raw)
    except msgspec.ValidationError as error:
        rejects.add(thing, "resources", bytes(raw).decode(), str(error))
        return _UNREADABLE


def _add(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else before + amount


def _raise_to(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else max(before, amount)
