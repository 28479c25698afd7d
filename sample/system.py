"""What runs on every node, and what the cluster itself needs: kube-system, monitoring, ingress."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sample.builder import Builder
from sample.controllers import daemonset, deployment, statefulset, static_pods
from sample.identity import ago, uid
from sample.machines import VERSION
from sample.objects import API_VERSIONS, Json
from sample.policies import disruption_budget, service
from sample.templates import Container, Template, http_probe, port

NODE_CRITICAL = 2_000_001_000
CLUSTER_CRITICAL = 2_000_000_000
"""Priorities of system-node-critical and system-cluster-critical (kubernetes/pkg/apis/scheduling/types.go)."""

BORN = ago(days=412)
"""When the cluster was made."""


def add_system(builder: Builder) -> None:
    """Add everything of this module."""
    _add_node_agents(builder)
    _add_gpu_plugin(builder)
    _add_cluster_services(builder)
    _add_monitoring(builder)
    _add_ingress(builder)


def _add_node_agents(builder: Builder) -> None:
    owners: dict[str, Json] = {
        node.name: {
            "apiVersion": API_VERSIONS["Node"],
            "controller": True,
            "kind": "Node",
            "name": node.name,
            "uid": uid("Node", None, node.name),
        }
        for node in builder.nodes
    }
    proxy = Container(
        "kube-proxy",
        f"gke.gcr.io/kube-proxy-amd64:{VERSION}",
        {"cpu": "100m"},
        usage=(2.1, 26),
        more={
            "command": ["/bin/sh", "-c", "exec kube-proxy --config=/var/lib/kube-proxy/config.yaml --v=2"],
            "securityContext": {"privileged": True},
        },
    )
    labels = {"component": "kube-proxy", "tier": "node"}
    static_pods(builder, _agent("kube-proxy", (proxy,), labels=labels, token=False), builder.nodes, owners)
    ask = {"cpu": "50m", "memory": "100Mi"}
    fluentbit = (
        Container("fluentbit", "gke.gcr.io/fluent-bit:v2.2.3-gke.7", ask, {"memory": "500Mi"}, (11, 41)),
        Container("fluentbit-gke", "gke.gcr.io/fluent-bit-gke-exporter:v0.33.4-gke.2", ask, {"memory": "500Mi"}, (3, 24)),
    )
    daemonset(builder, _agent("fluentbit-gke", fluentbit), builder.nodes, ago(days=188))
    metrics = Container(
        "gke-metrics-agent", "gke.gcr.io/gke-metrics-agent:1.18.1-gke.0", {"cpu": "10m", "memory": "100Mi"}, {"memory": "100Mi"}, (5.5, 61)
    )
    daemonset(builder, _agent("gke-metrics-agent", (metrics,)), builder.nodes, ago(days=188))
    ask, limit = {"cpu": "10m", "memory": "10Mi"}, {"memory": "50Mi"}
    disks = (
        Container("csi-driver-registrar", "gke.gcr.io/csi-node-driver-registrar:v2.14.0-gke.5", ask, limit, (0.2, 8.5)),
        Container("gce-pd-driver", "gke.gcr.io/gcp-compute-persistent-disk-csi-driver:v1.22.3", ask, limit, (1.8, 17.5)),
    )
    daemonset(builder, _agent("pdcsi-node", disks), builder.nodes, ago(days=188))
    exporter = Container(
        "node-exporter",
        "quay.io/prometheus/node-exporter:v1.10.2",
        {"cpu": "50m", "memory": "64Mi"},
        {"memory": "128Mi"},
        (4, 22),
        more={"args": ["--path.procfs=/host/proc", "--path.sysfs=/host/sys"], "ports": [port("metrics", 9100)]},
    )
    daemonset(builder, _agent("node-exporter", (exporter,), namespace="monitoring"), builder.nodes, ago(days=97))


def _add_gpu_plugin(builder: Builder) -> None:
    plugin = Container("nvidia-device-plugin-ctr", "nvcr.io/nvidia/k8s-device-plugin:v0.18.0", usage=(0.9, 34))
    discovery = Container("gpu-feature-discovery", "nvcr.io/nvidia/k8s-device-plugin:v0.18.0", usage=(0.4, 21))
    template = _agent("nvidia-device-plugin", (plugin, discovery), pool="gpu-l4", selector={"nvidia.com/gpu.present": "true"})
    daemonset(builder, template, [n for n in builder.nodes if n.machine.offers], ago(days=64))
    driver = Container("gpus", "nvcr.io/nvidia/k8s-dra-driver-gpu:v25.12.0", usage=(0.7, 29))
    kubelet_plugin = _agent("nvidia-dra-driver-gpu", (driver,), pool="gpu-dra", selector={"cloud.google.com/gke-nodepool": "gpu-dra"})
    daemonset(builder, kubelet_plugin, builder.pool("gpu-dra"), ago(days=21))


def _add_cluster_services(builder: Builder) -> None:
    dns = Container(
        "coredns",
        "registry.k8s.io/coredns/coredns:v1.13.1",
        {"cpu": "100m", "memory": "70Mi"},
        {"memory": "170Mi"},
        (14, 39),
        more={"args": ["-conf", "/etc/coredns/Corefile"], "ports": [port("dns", 53, "UDP"), port("dns-tcp", 53), port("metrics", 9153)]},
    )
    labels = {"k8s-app": "kube-dns"}
    template = Template(
        "kube-system", "coredns", (dns,), labels, priority=CLUSTER_CRITICAL, service_account="coredns", more=_critical("cluster")
    )
    deployment(builder, template, 2, BORN, ago(days=33, hours=4))
    disruption_budget(builder, template, BORN, 2, maxUnavailable=1)
    service(builder, "kube-system", "kube-dns", BORN, {"dns": 53, "metrics": 9153}, labels)
    metrics = Container(
        "metrics-server",
        "registry.k8s.io/metrics-server/metrics-server:v0.8.0",
        {"cpu": "100m", "memory": "200Mi"},
        usage=(9, 78),
        more={"args": ["--secure-port=10250", "--metric-resolution=15s"], "ports": [port("https", 10250)]},
    )
    labels = {"k8s-app": "metrics-server"}
    template = Template(
        "kube-system",
        "metrics-server",
        (metrics,),
        labels,
        priority=CLUSTER_CRITICAL,
        service_account="metrics-server",
        more=_critical("cluster"),
    )
    deployment(builder, template, 1, BORN, ago(days=33, hours=4))
    service(builder, "kube-system", "metrics-server", BORN, {"https": 443}, labels)


def _add_monitoring(builder: Builder) -> None:
    state = Container(
        "kube-state-metrics",
        "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.17.0",
        {"cpu": "20m", "memory": "128Mi"},
        {"memory": "256Mi"},
        (6, 104),
        more={"ports": [port("http-metrics", 8080)]},
    )
    template = Template("monitoring", "kube-state-metrics", (state,), service_account="kube-state-metrics")
    deployment(builder, template, 1, ago(days=97), ago(days=33, hours=2))
    server = Container(
        "prometheus",
        "quay.io/prometheus/prometheus:v3.8.0",
        {"cpu": "1", "memory": "8Gi"},
        {"memory": "12Gi"},
        (640, 7_390),
        more={
            "args": ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.retention.time=15d"],
            "ports": [port("web", 9090)],
            "volumeMounts": [{"mountPath": "/prometheus", "name": "data"}],
        },
    )
    reloader = Container(
        "config-reloader",
        "quay.io/prometheus-operator/prometheus-config-reloader:v0.87.0",
        {"cpu": "10m", "memory": "50Mi"},
        {"cpu": "10m", "memory": "50Mi"},
        (0.3, 14),
    )
    template = Template("monitoring", "prometheus", (server, reloader), service_account="prometheus")
    statefulset(builder, template, 1, ago(days=33), claim="200Gi")
    service(builder, "monitoring", "prometheus", ago(days=97), {"web": 9090}, template.all_labels)


def _add_ingress(builder: Builder) -> None:
    proxy = Container(
        "traefik",
        "docker.io/library/traefik:v3.6.2",
        {"cpu": "200m", "memory": "256Mi"},
        {"memory": "512Mi"},
        (310, 203),
        more={"ports": [port("web", 8000), port("websecure", 8443)], "readinessProbe": http_probe("/ping", 8080)},
    )
    template = Template("ingress", "traefik", (proxy,), service_account="traefik")
    deployment(builder, template, 2, ago(days=230), ago(days=19, hours=5))
    disruption_budget(builder, template, ago(days=230), 2, minAvailable=1)
    service(builder, "ingress", "traefik", ago(days=230), {"web": 80, "websecure": 443}, template.all_labels, kind="LoadBalancer")
    service(builder, "default", "kubernetes", BORN - timedelta(seconds=40), {"https": 443}, {})


def _agent(
    app: str,
    containers: tuple[Container, ...],
    *,
    namespace: str = "kube-system",
    labels: dict[str, str] | None = None,
    pool: str = "general",
    token: bool = True,
    selector: dict[str, str] | None = None,
) -> Template:
    """Give the template of something that runs on every node and tolerates everything."""
    more = {
        **_critical("node"),
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": "linux", **(selector or {})},
        "tolerations": [{"operator": "Exists"}],
    }
    return Template(
        namespace,
        app,
        containers,
        labels or {"k8s-app": app},
        pool=pool,
        priority=NODE_CRITICAL,
        service_account=app if token else "default",
        token=token,
        user=0,
        more=more,
    )


def _critical(level: str) -> dict[str, Any]:
    return {"priorityClassName": f"system-{level}-critical"}
