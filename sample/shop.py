"""A web shop: services that ask for too much, too little, and one that its autoscaler cannot save."""

from __future__ import annotations

from datetime import timedelta

from sample.builder import Builder
from sample.controllers import deployment, statefulset
from sample.identity import ago, suffix
from sample.objects import Json, owner_reference
from sample.pods import Ending, Identity, Restart
from sample.policies import autoscaler_at_its_maximum, disruption_budget, quota, service
from sample.templates import Container, Template, environment, http_probe, port, requests_of

NAMESPACE = "shop"
BORN = ago(days=356)
_DATA: list[Json] = [{"mountPath": "/data", "name": "data"}]

_FORWARDER = Container(
    "log-forwarder",
    "docker.io/fluent/fluent-bit:4.2.1",
    {"cpu": "50m", "memory": "64Mi"},
    {"memory": "128Mi"},
    (7, 33),
    kind="sidecar",
    more={"args": ["--config=/fluent-bit/etc/fluent-bit.yaml"]},
)
WEB = Template(
    NAMESPACE,
    "web",
    (
        _FORWARDER,
        Container(
            "web",
            "registry.example/shop/web:2026.48.2",
            {"cpu": "250m", "memory": "256Mi"},
            {"memory": "512Mi"},
            (372, 301),
            more={
                "env": environment(API_URL="http://api.shop.svc", SEARCH_URL="http://search.shop.svc:9200"),
                "ports": [port("http", 8080)],
                "readinessProbe": http_probe("/healthz", 8080),
            },
        ),
    ),
)
_PROXY_INIT = Container(
    "linkerd-init",
    "cr.l5d.io/linkerd/proxy-init:v2.4.3",
    {"cpu": "100m", "memory": "20Mi"},
    {"cpu": "100m", "memory": "20Mi"},
    kind="init",
    injected=True,
    more={"securityContext": {"capabilities": {"add": ["NET_ADMIN", "NET_RAW"]}, "runAsNonRoot": True, "runAsUser": 65534}},
)
_PROXY = Container(
    "linkerd-proxy",
    "cr.l5d.io/linkerd/proxy:edge-26.11.2",
    {"cpu": "100m", "memory": "64Mi"},
    {"cpu": "1", "memory": "250Mi"},
    (9, 28),
    injected=True,
    more={"ports": [port("linkerd-proxy", 4143), port("linkerd-admin", 4191)]},
)
API = Template(
    NAMESPACE,
    "api",
    (
        Container(
            "api",
            "registry.example/shop/api:2026.47.5",
            {"cpu": "1", "memory": "1Gi"},
            {"cpu": "2", "memory": "2Gi"},
            (86, 338),
            more={
                "env": environment(DATABASE_HOST="10.164.3.7", REDIS_URL="redis://redis.shop.svc:6379"),
                "ports": [port("http", 8080), port("metrics", 9090)],
                "readinessProbe": http_probe("/ready", 8080),
            },
        ),
        _PROXY_INIT,
        _PROXY,
    ),
    annotations={"linkerd.io/inject": "enabled"},
    pod_annotations={"linkerd.io/proxy-version": "edge-26.11.2", "linkerd.io/created-by": "linkerd/proxy-injector edge-26.11.2"},
)
SEARCH = Template(
    NAMESPACE,
    "search",
    (
        Container(
            "restore-snapshot",
            "registry.example/shop/search-tools:2026.31.0",
            {"cpu": "3", "memory": "8Gi"},
            {"memory": "8Gi"},
            kind="init",
            more={"command": ["restore-snapshot", "--if-empty"], "volumeMounts": _DATA},
        ),
        Container(
            "search",
            "registry.example/shop/search:2026.31.0",
            {"cpu": "1", "memory": "4Gi"},
            {"memory": "6Gi"},
            (315, 3_260),
            spread=0.1,
            more={"ports": [port("http", 9200)], "readinessProbe": http_probe("/_health", 9200), "volumeMounts": _DATA},
        ),
    ),
)
REDIS = Template(
    NAMESPACE,
    "redis",
    (
        Container(
            "redis",
            "docker.io/library/redis:8.4.0-alpine",
            {"cpu": "200m", "memory": "1Gi"},
            {"memory": "2Gi"},
            (148, 1_927),
            spread=0.001,
            more={"args": ["--save", "60", "1000"], "ports": [port("redis", 6379)], "volumeMounts": _DATA},
        ),
    ),
)
WORKER = Template(
    NAMESPACE,
    "orders-worker",
    (
        Container(
            "worker",
            "registry.example/shop/orders-worker:2026.46.1",
            {"cpu": "500m", "memory": "768Mi"},
            {"memory": "1Gi"},
            (212, 588),
            more={"env": environment(QUEUE="orders", CONCURRENCY="8")},
        ),
    ),
)


def add_shop(builder: Builder) -> None:
    """Add everything of this module."""
    scaled = ago(seconds=48)
    deployment(builder, WEB, 6, BORN, ago(days=3, hours=14, minutes=22), youngest=scaled)
    deployment(builder, API, 8, BORN, ago(days=8, hours=16, minutes=3))
    deployment(builder, WORKER, 4, BORN, ago(days=15, hours=15, minutes=41))
    _add_evicted_worker(builder)
    statefulset(builder, SEARCH, 3, ago(days=71, hours=3), claim="100Gi")
    restart = Restart(2, ago(days=3, hours=2, minutes=17), "OOMKilled", 137)
    statefulset(builder, REDIS, 1, ago(days=71, hours=3), claim="20Gi", restart=restart)
    autoscaler_at_its_maximum(builder, WEB, BORN, scaled, 3, 6)
    disruption_budget(builder, WEB, BORN, 6, minAvailable=4)
    disruption_budget(builder, API, BORN, 8, maxUnavailable=2)
    disruption_budget(builder, SEARCH, ago(days=71), 3, maxUnavailable=1)
    disruption_budget(builder, REDIS, ago(days=71), 1, minAvailable=1)
    for template, ports, kind in (
        (WEB, {"http": 80}, "ClusterIP"),
        (API, {"http": 80, "metrics": 9090}, "ClusterIP"),
        (SEARCH, {"http": 9200}, "None"),
        (REDIS, {"redis": 6379}, "None"),
    ):
        service(builder, NAMESPACE, template.app, BORN, ports, template.all_labels, kind=kind)
    _add_quota(builder)


def _add_evicted_worker(builder: Builder) -> None:
    """Add a pod that its node evicted; its ReplicaSet has long replaced it."""
    [replica_set] = [
        r for r in builder.lists["replicasets"] if r["metadata"]["name"].startswith("orders-worker-") and r["spec"]["replicas"]
    ]
    name = replica_set["metadata"]["name"]
    labels = {"pod-template-hash": replica_set["metadata"]["labels"]["pod-template-hash"]}
    created = ago(days=9, hours=3)
    identity = Identity(f"{name}-{suffix(5, 'evicted')}", created, owner_reference(replica_set), f"{name}-", labels)
    message = (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61432Ki. "
        "Container worker was using 1011052Ki, request is 768Mi, has larger consumption of memory. "
    )
    builder.end(WORKER, identity, Ending(created + timedelta(days=2, hours=7, minutes=12), 137, "Evicted", message))


def _add_quota(builder: Builder) -> None:
    """Add a quota that leaves no room for another pod of search."""
    parts = [requests_of(t) for t, count in ((WEB, 6), (API, 8), (SEARCH, 3), (REDIS, 1), (WORKER, 4)) for _ in range(count)]
    used = {
        "pods": str(len(parts)),
        "requests.cpu": f"{sum(p['cpu'] for p in parts)}m",
        "requests.memory": f"{sum(p['memory'] for p in parts) // 2**20}Mi",
    }
    quota(builder, NAMESPACE, BORN, {"pods": "60", "requests.cpu": "24", "requests.memory": "40Gi"}, used)
