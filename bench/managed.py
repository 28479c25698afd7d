"""managedFields: who set which field of an object; a third of what the API server sends."""

from __future__ import annotations

from typing import Any

from bench.pages import compact

Json = dict[str, Any]

_KEYS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "ports": ("containerPort", "protocol"),
    "ownerReferences": ("uid",),
    "conditions": ("type",),
    "addresses": ("type",),
    "hostIPs": ("ip",),
    "podIPs": ("ip",),
}
"""Lists that are merged by a key; other lists are one value (listMapKeys of the core API)."""


def managed(manager: str, time: str, fields: Json, api_version: str = "v1", subresource: str | None = None) -> Json:
    """Give one entry of managedFields for the parts of an object in `fields`."""
    entry = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": _tree(fields, ""),
    }
    return entry | ({"subresource": subresource} if subresource else {})


def _tree(value: Any, name: str) -> Json:
    if isinstance(value, dict):
        return {f"f:{key}": _tree(inner, key) for key, inner in value.items()}
    if isinstance(value, list) and name in _KEYS:
        return {_key(inner, _KEYS[name]): {".": {}} | _tree(inner, "") for inner in value}
    return {}


def _key(value: Json, names: tuple[str, ...]) -> str:
    return "k:" + compact({name: value[name] for name in names if name in value})
