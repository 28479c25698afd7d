"""Effective requests and limits of a pod, as the scheduler counts them.

Rule of Kubernetes 1.36: k8s.io/component-helpers/resource/helpers.go (PodRequests, PodLimits) and KEP-753 for sidecars.
Amounts are ints in the unit of quantity.read_amount; None is an amount that could not be read, and makes every sum and
maximum that it enters unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from batch.collect.objects import Container, ContainerStatus, Pod, Quantities
from batch.collect.rejects import Rejects

Amounts = dict[str, int | None]

_POD_LEVEL = ("cpu", "memory")
"""Resources that spec.resources may set for the whole pod, beside hugepages-*."""


def effective_requests(pod: Pod, thing: str, rejects: Rejects) -> Amounts:
    """Sum up what the pod holds on its node; a resource that nothing asks for is absent.

    App containers and sidecars run together; each ordinary init container runs beside the sidecars listed before it; the larger
    of the two counts, for the pod's whole life. Pod-level requests replace the sum; overhead comes on top. While a
    container is being resized in place, the largest of spec, allocated and actual counts (of allocated and actual only when the
    resize is infeasible).
    """
    spec, status = pod.spec, pod.status
    if spec is None:
        return {}
    statuses = {s.name: s for s in [*((status and status.container_statuses) or []), *((status and status.init_container_statuses) or [])]}
    infeasible = any(
        c.type == "PodResizePending" and c.status == "True" and c.reason == "Infeasible" for c in (status and status.conditions) or []
    )

    def of_container(container: Container) -> Amounts:
        asked = rejects.amounts(container.resources.requests if container.resources else None, f"{thing}/{container.name}", "requests")
        return _while_resizing(asked, statuses.get(container.name), infeasible=infeasible, thing=thing, rejects=rejects)

    total = _together(spec.containers, spec.init_containers, of_container)
    _replace_by_pod_level(total, spec.resources.requests if spec.resources else None, f"{thing} (pod-level)", "requests", rejects)
    _add(total, rejects.amounts(spec.overhead, thing, "overhead"))
    return total


def effective_limits(pod: Pod, thing: str, rejects: Rejects) -> Amounts:
    """Sum up the limits of the containers that have one, by the same rule; overhead is added only where there is a limit."""
    spec = pod.spec
    if spec is None:
        return {}

    def of_container(container: Container) -> Amounts:
        return rejects.amounts(container.resources.limits if container.resources else None, f"{thing}/{container.name}", "limits")

    total = _together(spec.containers, spec.init_containers, of_container)
    _replace_by_pod_level(total, spec.resources.limits if spec.resources else None, f"{thing} (pod-level)", "limits", rejects)
    overhead = Rejects().amounts(spec.overhead, thing, "overhead")  # effective_requests has noted what is refused there
    _add(total, {resource: amount for resource, amount in overhead.items() if total.get(resource)})
    return total


def limited(pod: Pod, resource: str) -> bool:
    """Whether every container that runs side by side has a limit of that resource, or the pod as a whole has."""
    spec = pod.spec
    if spec is None:
        return False
    if spec.resources and resource in (spec.resources.limits or {}):
        return True
    running = [*(spec.containers or []), *(c for c in spec.init_containers or [] if is_sidecar(c))]
    return bool(running) and all(c.resources and resource in (c.resources.limits or {}) for c in running)


def is_sidecar(container: Container) -> bool:
    """Whether an init container is a native sidecar, which runs beside the app containers."""
    return container.restart_policy == "Always"


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
    if status is None or status.resources is None:
        return asked
    held: Amounts = {} if infeasible else dict(asked)
    _raise_to(held, rejects.amounts(status.resources.requests, f"{thing}/{status.name}", "status.resources.requests"))
    _raise_to(held, rejects.amounts(status.allocated_resources, f"{thing}/{status.name}", "status.allocatedResources"))
    return held


def _replace_by_pod_level(total: Amounts, quantities: Quantities | None, thing: str, field: str, rejects: Rejects) -> None:
    for resource, amount in rejects.amounts(quantities, thing, field).items():
        if resource in _POD_LEVEL or resource.startswith("hugepages-"):
            total[resource] = amount


def _add(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else before + amount


def _raise_to(total: Amounts, amounts: Mapping[str, int | None]) -> None:
    for resource, amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = None if amount is None or before is None else max(before, amount)
