"""Dynamic resource allocation: the devices that drivers publish, the claims on them, and the classes that claims name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from batch.collect.device_objects import (
    Allocation,
    BasicDevice,
    ClaimSpec,
    ClaimStatus,
    ClassSpec,
    Counters,
    Device,
    DeviceClaim,
    DeviceClass,
    ResourceClaim,
    ResourceSlice,
    Results,
    SliceSpec,
)
from batch.collect.items import Items
from batch.collect.quantity import read_count
from batch.collect.rejects import Rejects
from batch.collect.times import read_instant
from batch.snapshot.schemas import (
    CLAIM_DEVICES,
    CLAIM_PODS,
    CLAIM_REQUESTS,
    CLAIMS,
    DEVICE_CLASSES,
    DEVICE_COUNTERS,
    DEVICE_SLICES,
    DEVICES,
)

_REPELLING = ("NoSchedule", "NoExecute")
_DRIVER = re.compile(r"device\.driver\s*==\s*([\"'])([^\"']+)\1")
_PRODUCT = ("productName", "product", "model", "productname")
"""Attributes whose value is the model, as drivers of NVIDIA, AMD, Intel and the example driver name them."""


class SliceCollector:
    """Turns pages of the ResourceSlice list into tables."""

    def __init__(self, rejects: Rejects) -> None:
        self._items = Items(ResourceSlice, "ResourceSlice", rejects)
        self._rejects = rejects
        self._tables = {schema.name: schema.builder() for schema in (DEVICE_SLICES, DEVICES, DEVICE_COUNTERS)}

    def take(self, page: bytes) -> int:
        """Read one page; return how many slices it held."""
        for name, item in self._items.of(page):
            if item.spec is None:
                self._rejects.add(f"resourceslice {name}", "spec", "", "missing")
            else:
                self._take_slice(name, item.spec)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {name: table.frame() for name, table in self._tables.items()}

    def _take_slice(self, name: str, spec: SliceSpec) -> None:
        self._tables["device_slices"].add(
            (name, spec.driver, spec.pool.name, spec.pool.generation, spec.pool.resource_slice_count, spec.node_name or None)
        )
        for counters in spec.shared_counters or []:
            self._add_counters(name, "", counters.name, counters)
        for device in spec.devices or []:
            has = device.basic or device
            self._tables["devices"].add((name, device.name, *self._device_row(f"resourceslice {name}/{device.name}", device, has)))
            for counters in has.consumes_counters or []:
                self._add_counters(name, device.name, counters.counter_set, counters)

    def _device_row(self, thing: str, device: Device, has: BasicDevice) -> tuple[object, ...]:
        texts = {name.rpartition("/")[2]: value.string for name, value in (has.attributes or {}).items() if value.string}
        memory = {name.rpartition("/")[2]: value for name, value in (has.capacity or {}).items()}.get("memory")
        taint = next((taint.key for taint in has.taints or device.taints or [] if taint.effect in _REPELLING), None)
        return (
            has.node_name or None,
            texts.get("type"),
            next((texts[name] for name in _PRODUCT if name in texts), None),
            texts.get("profile"),
            texts.get("uuid"),
            texts.get("parentUUID"),
            self._amount(memory, thing, "memory"),
            bool(has.allow_multiple_allocations),
            taint,
        )

    def _add_counters(self, name: str, device: str, counter_set: str, counters: Counters) -> None:
        for counter, value in (counters.counters or {}).items():
            amount = self._amount(value, f"resourceslice {name}/{device or counter_set}", counter)
            if amount is not None:
                self._tables["device_counters"].add((name, device, counter_set, counter, amount))

    def _amount(self, value: object, thing: str, field: str) -> int | None:
        """Read a capacity or counter: `{value: quantity}`; None when there is none, or when it had to be refused."""
        quantity = value.get("value") if isinstance(value, Mapping) else value
        return None if quantity is None else self._rejects.amounts({field: quantity}, thing, "devices", _count)[field]


class ClaimCollector:
    """Turns pages of the ResourceClaim list into tables."""

    def __init__(self, rejects: Rejects, namespaces: Collection[str] = ()) -> None:
        self._items = Items(ResourceClaim, "ResourceClaim", rejects, namespaces)
        self._tables = {schema.name: schema.builder() for schema in (CLAIMS, CLAIM_REQUESTS, CLAIM_DEVICES, CLAIM_PODS)}

    def take(self, page: bytes) -> int:
        """Read one page; return how many claims it held."""
        for name, item in self._items.of(page):
            self._take_claim((item.metadata.namespace or "default", name), item)
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as tables."""
        return {name: table.frame() for name, table in self._tables.items()}

    def _take_claim(self, key: tuple[str, str], item: ResourceClaim) -> None:
        status = item.status or ClaimStatus()
        self._tables["claims"].add((*key, read_instant(item.metadata.creation_timestamp), status.allocation is not None))
        for row in _request_rows(item.spec or ClaimSpec()):
            self._tables["claim_requests"].add((*key, *row))
        results = ((status.allocation or Allocation()).devices or Results()).results or []
        for number, result in enumerate(results):
            given = (number, result.driver, result.pool, result.device, bool(result.admin_access))
            self._tables["claim_devices"].add((*key, *given))
        for consumer in status.reserved_for or []:
            if consumer.resource == "pods":
                self._tables["claim_pods"].add((*key, consumer.name))


class ClassCollector:
    """Turns pages of the DeviceClass list into a table."""

    def __init__(self, rejects: Rejects) -> None:
        self._items = Items(DeviceClass, "DeviceClass", rejects)
        self._classes = DEVICE_CLASSES.builder()

    def take(self, page: bytes) -> int:
        """Read one page; return how many classes it held."""
        for name, item in self._items.of(page):
            spec = item.spec or ClassSpec()
            found = [_DRIVER.search(selector.cel.expression) for selector in spec.selectors or [] if selector.cel]
            driver = next((match[2] for match in found if match), None)
            self._classes.add((name, driver, spec.extended_resource_name or None))
        return self._items.count

    def tables(self) -> dict[str, pd.DataFrame]:
        """Give everything read so far as a table."""
        return {"device_classes": self._classes.frame()}


def _request_rows(spec: ClaimSpec) -> Iterator[tuple[object, ...]]:
    for request in (spec.devices or DeviceClaim()).requests or []:
        asked = request.exactly or next(iter(request.first_available or []), request)
        every = asked.allocation_mode == "All"
        yield request.name, asked.device_class_name, None if every else asked.count or 1, bool(asked.admin_access)


def _count(_field: str, value: object) -> int:
    return read_count(value)
