"""Effective requests and limits of a pod, as the scheduler counts them.

Rule of Kubernetes 1.36: k8s.io/component-helpers/resource/helpers.go (PodRequests, PodLimits) and KEP-753 for sidecars.
Amounts are ints in the unit of quantity.read_amount; None is an amount that could not be read, and makes every sum and
maximum that it enters unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from batch.collect.objects import NULL, Container, ContainerStatus, Pod, PodStatus, Resources, decode_map, decode_resources
from batch.collect.rejects import Rejects

Amounts = dict[str, int | None]

_UNREADABLE: dict[str, object] = {"cpu": None, "memory": None}
"""What stands for a map of resources that is none: its amounts of CPU and memory are unknown."""

_POD_LEVEL = ("cpu", "memory")
"""Resources that spec.resources may set for the whole pod, beside hugepages-*."""


def effective_requests(pod: Pod, thing: str, rejects: Rejects) -> Amounts:
    """Sum up what the pod holds on its node; a resource that nothing asks for is absent.

    App containers and sidecars run together; each ordinary init container runs beside the sidecars listed before it; the larger
    of the two counts, for the pod's whole life. Pod-level requests replace the sum; overhead comes on top. While a
    container is being resized in place, the largest of spec, allocated and actual counts (of allocated and actual only when the
    resize is infeasible). `thing` names the pod in `rejects`.
    """
    spec, status = pod.spec, pod.status or PodStatus()
    if spec is None:
        return {}
    statuses = {s.name: s for s in [*(status.container_statuses or []), *(status.init_container_statuses or [])]}
    infeasible = resize_is_infeasible(status)

    def of_container(container: Container) -> Amounts:
        name = f"{thing}/{container.name}"
        asked = rejects.amounts(_resources(container.resources, name, rejects).requests, name, "requests")
        return _while_resizing(asked, statuses.get(container.name), infeasible=infeasible, thing=name, rejects=rejects)

    total = _together(spec.containers, spec.init_containers, of_container)
    _replace_by_pod_level(total, rejects.amounts(_resources(spec.resources, thing, rejects).requests, thing, "pod-level requests"))
    _add(total, rejects.amounts(_map(spec.overhead, thing, rejects), thing, "overhead"))
    return total


def effective_limits(pod: Pod, thing: str, rejects: Rejects) -> Amounts:
    """Sum up the limits of the containers that have one, by the same rule; overhead is added only where there is a limit."""
    spec = pod.spec
    if spec is None:
        return {}
    noted = Rejects()  # resources that are no map, and overhead: effective_requests has noted them

    def of_container(container: Container) -> Amounts:
        name = f"{thing}/{container.name}"
        return rejects.amounts(_resources(container.resources, name, noted).limits, name, "limits")

    total = _together(spec.containers, spec.init_containers, of_container)
    _replace_by_pod_level(total, rejects.amounts(_resources(spec.resources, thing, noted).limits, thing, "pod-level limits"))
    overhead = noted.amounts(_map(spec.overhead, thing, noted), thing, "overhead")
    _add(total, {resource: amount for resource, amount in overhead.items() if total.get(resource)})
    return total


def own_amounts(container: Container) -> tuple[Amounts, Amounts]:
    """Read requests and limits of one container alone; what is refused there was noted with the pod's sums."""
    silent = Rejects()
    resources = _resources(container.resources, "", silent)
    return silent.amounts(resources.requests, "", ""), silent.amounts(resources.limits, "", "")


def limited(pod: Pod, resource: str) -> bool:
    """Tell whether every container that runs side by side has a limit of that resource, or the pod as a whole has."""
    spec = pod.spec
    if spec is None:
        return False

    def has_limit(raw: msgspec.Raw) -> bool:
        return resource in (_resources(raw, "", Rejects()).limits or {})

    running = [*(spec.containers or []), *(c for c in spec.init_containers or [] if is_sidecar(c))]
    return has_limit(spec.resources) or (bool(running) and all(has_limit(c.resources) for c in running))


def is_sidecar(container: Container) -> bool:
    """Tell whether an init container is a native sidecar, which runs beside the app containers."""
    return container.restart_policy == "Always"


def resize_is_infeasible(status: PodStatus) -> bool:
    """Tell whether the kubelet has refused the resize that the spec asks for."""
    return any(c.type == "PodResizePending" and c.status == "True" and c.reason == "Infeasible" for c in status.conditions or [])


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


def _while_resizing(asked: Amounts, status: ContainerStatus | None, *, infeasible: bool, thing: str, rejects: Rejects) -> Amounts:
    if status is None or status.resources == NULL:
        return asked
    held: Amounts = {} if infeasible else dict(asked)
    _raise_to(held, rejects.amounts(_resources(status.resources, thing, rejects).requests, thing, "status.resources.requests"))
    _raise_to(held, rejects.amounts(_map(status.allocated_resources, thing, rejects), thing, "status.allocatedResources"))
    return held


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
