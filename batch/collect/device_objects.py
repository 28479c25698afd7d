"""Objects of dynamic resource allocation: resource.k8s.io v1, v1beta2 and v1beta1, decoded alike.

v1beta1 puts what a device has under `basic`, and what a request asks for beside its name instead of under `exactly`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from batch.collect.objects import Integer, Listed, Object


class Attribute(msgspec.Struct, gc=False):
    """One of the four kinds of values of an attribute; only texts are used."""

    string: str | None = None


class Counters(Object):
    """A set of counters with what there is of it (sharedCounters[]), or what a device takes (consumesCounters[])."""

    name: str = ""
    counter_set: str = ""
    counters: dict[str, Any] | None = None


class DeviceTaint(Object):
    """taints[] of a device."""

    key: str = ""
    effect: str = ""


class BasicDevice(Object):
    """What v1beta1 has under `basic`, and later versions in the device itself."""

    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Any] | None = None
    consumes_counters: list[Counters] | None = None
    node_name: str | None = None
    taints: list[DeviceTaint] | None = None
    allow_multiple_allocations: bool | None = None


class Device(BasicDevice):
    """spec.devices[] of a ResourceSlice."""

    name: str = ""
    basic: BasicDevice | None = None


class ResourcePool(Object):
    """spec.pool of a ResourceSlice."""

    name: str = ""
    generation: Integer = 0
    resource_slice_count: Integer = 1


class SliceSpec(Object):
    """Spec of a ResourceSlice."""

    driver: str = ""
    pool: ResourcePool = msgspec.field(default_factory=ResourcePool)
    node_name: str | None = None
    devices: list[Device] | None = None
    shared_counters: list[Counters] | None = None


class ResourceSlice(Listed):
    """A ResourceSlice."""

    spec: SliceSpec | None = None


class ExactRequest(Object):
    """What one request asks for."""

    name: str = ""
    device_class_name: str = ""
    allocation_mode: str | None = None
    count: Integer | None = None
    admin_access: bool | None = None


class DeviceRequest(ExactRequest):
    """spec.devices.requests[]: in v1beta1 the request itself, later under `exactly`, or alternatives."""

    exactly: ExactRequest | None = None
    first_available: list[ExactRequest] | None = None


class DeviceClaim(Object):
    """spec.devices of a ResourceClaim."""

    requests: list[DeviceRequest] | None = None


class ClaimSpec(Object):
    """Spec of a ResourceClaim."""

    devices: DeviceClaim | None = None


class Result(Object):
    """status.allocation.devices.results[]."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None


class Results(Object):
    """status.allocation.devices."""

    results: list[Result] | None = None


class Allocation(Object):
    """status.allocation."""

    devices: Results | None = None


class Consumer(Object):
    """status.reservedFor[]."""

    resource: str = ""
    name: str = ""


class ClaimStatus(Object):
    """Status of a ResourceClaim."""

    allocation: Allocation | None = None
    reserved_for: list[Consumer] | None = None


class ResourceClaim(Listed):
    """A ResourceClaim."""

    spec: ClaimSpec | None = None
    status: ClaimStatus | None = None


class Expression(Object):
    """selectors[].cel."""

    expression: str = ""


class Selector(Object):
    """selectors[] of a DeviceClass."""

    cel: Expression | None = None


class ClassSpec(Object):
    """Spec of a DeviceClass."""

    selectors: list[Selector] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Listed):
    """A DeviceClass."""

    spec: ClassSpec | None = None
