"""Namespaces, Services, PodDisruptionBudgets, a HorizontalPodAutoscaler and a ResourceQuota."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sample.builder import Builder
from sample.identity import digest, stamp
from sample.objects import Json, api_object
from sample.templates import Template, requests_of


def namespace(builder: Builder, name: str, created: datetime, owner: str | None) -> None:
    """Add a namespace, annotated with the team that owns it."""
    labels = {"kubernetes.io/metadata.name": name}
    annotations = {"owner": owner} if owner else {}
    spec, status = {"finalizers": ["kubernetes"]}, {"phase": "Active"}
    builder.add("namespaces", api_object("Namespace", name, created, labels=labels, annotations=annotations, spec=spec, status=status))


def service(
    builder: Builder,
    namespace_name: str,
    name: str,
    created: datetime,
    ports: dict[str, int],
    selector: dict[str, str],
    *,
    kind: str = "ClusterIP",
) -> None:
    """Add a Service; kind "None" makes it headless."""
    digits = digest("service", namespace_name, name)
    address = "None" if kind == "None" else f"10.64.{int(digits[:2], 16) % 16}.{1 + int(digits[2:4], 16) % 254}"
    balancer = kind == "LoadBalancer"
    spec: Json = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [_port(port_name, port, 30_000 + int(digits[4:7], 16) % 2767 if balancer else None) for port_name, port in ports.items()],
        "sessionAffinity": "None",
        "type": "LoadBalancer" if balancer else "ClusterIP",
        **({"selector": selector} if selector else {}),
        **({"allocateLoadBalancerNodePorts": True, "externalTrafficPolicy": "Cluster"} if balancer else {}),
    }
    status: Json = {"loadBalancer": {"ingress": [{"ip": "203.0.113.24", "ipMode": "VIP"}]} if balancer else {}}
    builder.add("services", api_object("Service", name, created, namespace=namespace_name, labels=selector, spec=spec, status=status))


def disruption_budget(builder: Builder, template: Template, created: datetime, pods: int, **rule: Any) -> None:
    """Add a PodDisruptionBudget over that many healthy pods; `rule` is minAvailable or maxUnavailable as a number."""
    needed = rule.get("minAvailable", pods - rule.get("maxUnavailable", 0))
    allowed = max(0, pods - needed)
    condition = {
        "lastTransitionTime": stamp(created),
        "message": "",
        "observedGeneration": 1,
        "reason": "SufficientPods" if allowed else "InsufficientPods",
        "status": "True" if allowed else "False",
        "type": "DisruptionAllowed",
    }
    status = {
        "conditions": [condition],
        "currentHealthy": pods,
        "desiredHealthy": needed,
        "disruptionsAllowed": allowed,
        "expectedPods": pods,
        "observedGeneration": 1,
    }
    spec = {**rule, "selector": {"matchLabels": template.all_labels}}
    _add(builder, "poddisruptionbudgets", "PodDisruptionBudget", template, created, spec, status)


def autoscaler_at_its_maximum(
    builder: Builder, template: Template, created: datetime, scaled: datetime, smallest: int, largest: int
) -> None:
    """Add an HPA on CPU whose Deployment has as many replicas as it may; its reading is that of the measured pods."""
    measured = [m for m in builder.lists["podmetrics"] if m["metadata"]["labels"].items() >= template.all_labels.items()]
    nanocores = sum(int(c["usage"]["cpu"].removesuffix("n")) for m in measured for c in m["containers"])
    average = nanocores // len(measured) // 10**6
    current = {"averageUtilization": average * 100 // requests_of(template)["cpu"], "averageValue": f"{average}m"}
    conditions = [
        ("AbleToScale", "ReadyForNewScale", "recommended size matches current size", created),
        (
            "ScalingActive",
            "ValidMetricFound",
            "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)",
            created,
        ),
        ("ScalingLimited", "TooManyReplicas", "the desired replica count is more than the maximum replica count", scaled),
    ]
    spec = {
        "maxReplicas": largest,
        "metrics": [{"resource": {"name": "cpu", "target": {"averageUtilization": 70, "type": "Utilization"}}, "type": "Resource"}],
        "minReplicas": smallest,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": template.app},
    }
    status = {
        "conditions": [
            {"lastTransitionTime": stamp(since), "message": message, "reason": reason, "status": "True", "type": kind}
            for kind, reason, message, since in conditions
        ],
        "currentMetrics": [{"resource": {"current": current, "name": "cpu"}, "type": "Resource"}],
        "currentReplicas": largest,
        "desiredReplicas": largest,
        "lastScaleTime": stamp(scaled),
    }
    _add(builder, "horizontalpodautoscalers", "HorizontalPodAutoscaler", template, created, spec, status)


def quota(builder: Builder, namespace_name: str, created: datetime, hard: dict[str, str], used: dict[str, str]) -> None:
    """Add a ResourceQuota with what is used of it."""
    status = {"hard": hard, "used": used}
    item = api_object("ResourceQuota", namespace_name, created, namespace=namespace_name, spec={"hard": hard}, status=status)
    builder.add("resourcequotas", item)


def _add(builder: Builder, file: str, kind: str, template: Template, created: datetime, spec: Json, status: Json) -> None:
    """Add an object that is about the pods of a template, and named like it."""
    generation = status.get("observedGeneration")
    item = api_object(
        kind,
        template.app,
        created,
        namespace=template.namespace,
        labels=template.all_labels,
        generation=generation,
        spec=spec,
        status=status,
    )
    builder.add(file, item)


def _port(name: str, port: int, node_port: int | None) -> Json:
    found = {"name": name, "port": port, "protocol": "TCP", "targetPort": name}
    return {**found, "nodePort": node_port} if node_port else found
