"""Build the JSON of API objects as short as a test needs it."""

from __future__ import annotations

import json
from typing import Any

from batch.collect.items import Items
from batch.collect.objects import Pod
from batch.collect.rejects import Rejects


def page(*items: dict[str, Any] | None, **more: Any) -> bytes:
    """Give a Kubernetes List as it is served."""
    return json.dumps({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": list(items), **more}).encode()


def node(name: str = "n1", *, status: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """Give a Node."""
    return {"metadata": {"name": name, **metadata}, "spec": spec or {}, "status": status or {}}


def container(
    name: str = "app", *, requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Give a container."""
    return {"name": name, "image": f"{name}:1", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def pod(name: str = "p1", *, spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """Give a Pod that runs on n1 unless told otherwise."""
    return {
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {"nodeName": "n1", "containers": [container()], **(spec or {})},
        "status": {"phase": "Running", **(status or {})},
    }


def decode_pod(value: dict[str, Any]) -> Pod:
    """Give the pod as collect holds it."""
    items = Items(Pod, "Pod", Rejects()).of(page(value))
    ((_, item),) = items
    return item
