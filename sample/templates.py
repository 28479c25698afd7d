"""Pod templates: what a person or a chart writes, and what the API server makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sample.identity import suffix
from sample.objects import Json

_UNITS = {"m": 1, "": 1000, "Ki": 2**10 * 1000, "Mi": 2**20 * 1000, "Gi": 2**30 * 1000}
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path, not a token


@dataclass(frozen=True)
class Container:
    """A container. `usage` is millicores and MiB of a typical one; pods differ from it by up to `spread`."""

    name: str
    image: str
    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    usage: tuple[float, float] = (0, 0)
    spread: float = 0.2
    kind: Literal["app", "sidecar", "init"] = "app"
    injected: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resources(self) -> Json:
        """The container's resources as the API shows them."""
        return {key: dict(values) for key, values in (("limits", self.limits), ("requests", self.requests)) if values}


@dataclass(frozen=True)
class Template:
    """A pod template. `more` are further fields of the pod's spec."""

    namespace: str
    app: str
    containers: tuple[Container, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    pod_annotations: Mapping[str, str] = field(default_factory=dict)
    pool: str = "general"
    priority: int = 0
    restart_policy: str = "Always"
    service_account: str = "default"
    token: bool = True
    user: int = 10001
    volumes: tuple[Json, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_labels(self) -> dict[str, str]:
        """Labels of the pods before a controller adds its own."""
        return dict(self.labels or {"app.kubernetes.io/name": self.app, "app.kubernetes.io/part-of": self.namespace})


def requests_of(template: Template) -> dict[str, int]:
    """Add up the effective requests: millicores, bytes, counts.

    App containers and sidecars together, or the largest init container with the sidecars listed before it.
    """
    running: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in (*_inits(template), *_apps(template)):
        own = {name: _amount(name, text) for name, text in container.requests.items()}
        if container.kind == "init":
            peak = _combined(max, peak, _combined(sum, sidecars, own))
        else:
            running = _combined(sum, running, own)
        if container.kind == "sidecar":
            sidecars = _combined(sum, sidecars, own)
    return _combined(max, running, peak)


def _combined(how: Any, first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    return {name: how((first.get(name, 0), second.get(name, 0))) for name in {**first, **second}}


def _amount(resource: str, text: str) -> int:
    digits = text.rstrip("mKGi") if text[-2:] != "Mi" else text[:-2]
    thousandths = int(digits) * _UNITS[text[len(digits) :]]
    return thousandths if resource == "cpu" else thousandths // 1000


def qos_class(template: Template) -> str:
    """Give the QoS class by Kubernetes' rule."""
    containers = template.containers
    if not any(c.requests or c.limits for c in containers):
        return "BestEffort"
    equal = all(c.limits.get(r) and c.limits.get(r) == c.requests.get(r) for c in containers for r in ("cpu", "memory"))
    return "Guaranteed" if equal else "Burstable"


def template_spec(template: Template) -> Json:
    """Give the spec that the Deployment (or other owner) holds: injected containers are not in it."""
    return _spec(template, [c for c in template.containers if not c.injected], ())


def pod_spec(template: Template, name: str, node: str | None) -> Json:
    """Give the spec of the Pod: with what admission and the scheduler add."""
    volume = f"kube-api-access-{suffix(5, 'token', template.namespace, name)}"
    mounts = [{"mountPath": _TOKEN_PATH, "name": volume, "readOnly": True}] if template.token else []
    spec = _spec(template, template.containers, mounts)
    volumes = [*spec.get("volumes", []), *([_token_volume(volume)] if template.token else [])]
    return {
        **spec,
        **({"nodeName": node} if node else {}),
        **({"volumes": volumes} if volumes else {}),
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": template.priority,
        "serviceAccount": template.service_account,
        "serviceAccountName": template.service_account,
        "tolerations": [*spec.get("tolerations", []), *_tolerations(spec)],
    }


def port(name: str, number: int, protocol: str = "TCP") -> Json:
    """Give a container's port."""
    return {"containerPort": number, "name": name, "protocol": protocol}


def http_probe(path: str, number: int) -> Json:
    """Give a probe over HTTP with the API server's defaults."""
    times = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
    return {"httpGet": {"path": path, "port": number, "scheme": "HTTP"}, **times}


def environment(**values: str) -> list[Json]:
    """Give environment variables of a container."""
    return [{"name": name, "value": value} for name, value in values.items()]


def mounts_of(template: Template, container: Container, name: str) -> list[Json]:
    """Give the mounts of a container of the pod of that name, as its spec has them."""
    spec = pod_spec(template, name, None)
    every: list[Json] = [*spec.get("initContainers", []), *spec["containers"]]
    return next(list(c.get("volumeMounts", [])) for c in every if c["name"] == container.name)


def _apps(template: Template) -> list[Container]:
    return [c for c in template.containers if c.kind == "app"]


def _inits(template: Template) -> list[Container]:
    return [c for c in template.containers if c.kind != "app"]


def _spec(template: Template, containers: Iterable[Container], mounts: Iterable[Json]) -> Json:
    listed = list(containers)
    inits = [_container_spec(c, mounts) for c in listed if c.kind != "app"]
    account = {"serviceAccount": template.service_account, "serviceAccountName": template.service_account}
    return {
        "containers": [_container_spec(c, mounts) for c in listed if c.kind == "app"],
        **({"initContainers": inits} if inits else {}),
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": template.restart_policy,
        "schedulerName": "default-scheduler",
        "securityContext": {"runAsUser": template.user} if template.user else {},
        "terminationGracePeriodSeconds": 30,
        **(account if template.service_account != "default" else {}),
        **({} if template.token else {"automountServiceAccountToken": False}),
        **({"volumes": list(template.volumes)} if template.volumes else {}),
        **template.more,
    }


def _container_spec(container: Container, mounts: Iterable[Json]) -> Json:
    all_mounts = [*container.more.get("volumeMounts", []), *mounts]
    return {
        "image": container.image,
        "imagePullPolicy": "IfNotPresent",
        "name": container.name,
        "resources": container.resources,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        **({"restartPolicy": "Always"} if container.kind == "sidecar" else {}),
        **container.more,
        **({"volumeMounts": all_mounts} if all_mounts else {}),
    }


def _tolerations(spec: Json) -> list[Json]:
    if any(t.get("operator") == "Exists" and "key" not in t for t in spec.get("tolerations", [])):
        return []
    common = {"effect": "NoExecute", "operator": "Exists", "tolerationSeconds": 300}
    return [{**common, "key": f"node.kubernetes.io/{key}"} for key in ("not-ready", "unreachable")]


def _token_volume(name: str) -> Json:
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]}},
    ]
    return {"name": name, "projected": {"defaultMode": 420, "sources": sources}}
