"""JupyterHub with its users' notebooks: the 239 pods of mybinder.org."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from sample.builder import Builder
from sample.controllers import daemonset, deployment, statefulset
from sample.identity import ago, digest, share
from sample.images import PAUSE
from sample.objects import Json
from sample.pods import Identity
from sample.policies import disruption_budget, service
from sample.templates import Container, Template, environment, http_probe, port

NAMESPACE = "hub"
BORN = ago(days=301)
UPGRADED = ago(days=26, hours=6)

NOTEBOOKS_PER_NODE = (62, 57, 49, 43, 28)
"""Made up: nodes fill up one after the other, and the autoscaler adds the next one early."""

_RELEASE = {"app": "jupyterhub", "release": "hub"}
_MEMORY_LIMIT = 2 * 2**30
_ASK = {"cpu": "50m", "memory": "128Mi"}
_DEDICATED: list[Json] = [
    {"effect": "NoSchedule", "key": f"hub.jupyter.org{slash}dedicated", "operator": "Equal", "value": "user"} for slash in ("/", "_")
]


@dataclass(frozen=True)
class Notebook:
    """A pod as it was measured: MiB, and cores to a thousandth."""

    pod: str
    image: str
    usage_memory_mib: int
    usage_millicores: int


def read_notebooks() -> list[Notebook]:
    """Read the measured pods from notebooks.csv."""
    with (Path(__file__).parent / "notebooks.csv").open(encoding="utf-8", newline="") as file:
        return [
            Notebook(row["pod"], row["image"], int(row["usage_memory_mib"]), round(float(row["usage_cpu_cores"]) * 1000))
            for row in csv.DictReader(file)
        ]


def add_hub(builder: Builder) -> None:
    """Add everything of this module."""
    _add_core(builder)
    _add_placeholders(builder)
    nodes = [node for node, count in zip(builder.pool("users"), NOTEBOOKS_PER_NODE, strict=True) for _ in range(count)]
    notebooks = sorted(read_notebooks(), key=lambda n: digest("seat", n.pod))
    for notebook, node in zip(notebooks, nodes, strict=True):
        template = _notebook(notebook)
        user = notebook.pod.removeprefix("jupyter-")
        created = ago(minutes=6 + 230 * share("came", notebook.pod) ** 2)
        labels = {"hub.jupyter.org/username": user}
        builder.run(template, Identity(notebook.pod, created.replace(microsecond=0), labels=labels, annotations=labels), node)


def _add_core(builder: Builder) -> None:
    hub = Container(
        "hub",
        "quay.io/jupyterhub/k8s-hub:4.3.1",
        {"cpu": "200m", "memory": "512Mi"},
        {"memory": "1Gi"},
        (118, 402),
        more={"ports": [port("http", 8081)], "readinessProbe": http_probe("/hub/health", 8081)},
    )
    deployment(builder, _core("hub", hub, account="hub"), 1, BORN, UPGRADED, strategy="Recreate")
    proxy = Container(
        "chp",
        "quay.io/jupyterhub/configurable-http-proxy:5.1.0",
        {"cpu": "200m", "memory": "512Mi"},
        {"memory": "512Mi"},
        (164, 188),
        more={"ports": [port("http", 8000), port("api", 8001)], "livenessProbe": http_probe("/_chp_healthz", 8000)},
    )
    deployment(builder, _core("proxy", proxy), 1, BORN, UPGRADED, strategy="Recreate")
    scheduler = Container("kube-scheduler", "registry.k8s.io/kube-scheduler:v1.34.2", {"cpu": "50m", "memory": "256Mi"}, usage=(8, 52))
    deployment(builder, _core("user-scheduler", scheduler, account="user-scheduler"), 2, BORN, UPGRADED)
    binder = Container(
        "binder",
        "quay.io/jupyterhub/k8s-binderhub:1.0.0",
        {"cpu": "1", "memory": "1Gi"},
        {"memory": "2Gi"},
        (205, 611),
        more={"ports": [port("binder", 8585)], "readinessProbe": http_probe("/health", 8585)},
    )
    deployment(builder, _core("binder", binder, account="binderhub"), 1, BORN, ago(days=12, hours=9))
    for name, ports in (("hub", {"hub": 8081}), ("proxy-api", {"api": 8001}), ("proxy-public", {"http": 80}), ("binder", {"binder": 80})):
        service(builder, NAMESPACE, name, BORN, ports, {**_RELEASE, "component": name.split("-")[0]})


def _add_placeholders(builder: Builder) -> None:
    """Add pods that keep room for the next users, and pods that pull images ahead of them."""
    pause = Container("pause", PAUSE, _ASK, usage=(0, 0.4), spread=0)
    template = replace(
        _core("user-placeholder", pause),
        pool="users",
        priority=-10,
        token=False,
        more={"priorityClassName": "hub-user-placeholder-priority", "tolerations": _DEDICATED},
    )
    statefulset(builder, template, 10, BORN + timedelta(days=275))
    disruption_budget(builder, template, BORN, 10, minAvailable=0)
    puller = Container("pause", PAUSE, usage=(0, 0.4), spread=0)
    template = replace(_core("continuous-image-puller", puller), pool="users", token=False, more={"tolerations": _DEDICATED})
    daemonset(builder, template, builder.pool("users"), UPGRADED)


def _core(component: str, container: Container, account: str = "default") -> Template:
    return Template(NAMESPACE, component, (container,), {**_RELEASE, "component": component}, service_account=account, user=1000)


def _notebook(notebook: Notebook) -> Template:
    image = f"registry.example/binder/r2d-{notebook.image}-{digest('build', notebook.image)[:6]}:{digest('ref', notebook.image)[:40]}"
    variables = environment(
        JUPYTERHUB_BASE_URL="/", MEM_LIMIT=str(_MEMORY_LIMIT), MEM_GUARANTEE=str(128 * 2**20), CPU_GUARANTEE="0.05", JUPYTER_IMAGE=image
    )
    main = Container(
        "notebook",
        image,
        _ASK,
        {"memory": "2Gi"},
        (notebook.usage_millicores, notebook.usage_memory_mib),
        spread=0,
        more={"args": ["jupyterhub-singleuser"], "env": variables, "ports": [port("notebook-port", 8888)]},
    )
    guard = Container(
        "block-cloud-metadata",
        "quay.io/jupyterhub/k8s-network-tools:4.3.1",
        kind="init",
        more={
            "command": ["iptables", "-A", "OUTPUT", "-d", "169.254.169.254", "-j", "DROP"],
            "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}, "privileged": True, "runAsUser": 0},
        },
    )
    labels = {"app": "jupyterhub", "component": "singleuser-server", "heritage": "jupyterhub", "hub.jupyter.org/network-access-hub": "true"}
    return Template(
        NAMESPACE,
        "jupyter",
        (guard, main),
        labels,
        pool="users",
        restart_policy="OnFailure",
        token=False,
        user=1000,
        more={
            "affinity": _prefers_users(),
            "priorityClassName": "hub-default-priority",
            "schedulerName": "hub-user-scheduler",
            "tolerations": _DEDICATED,
        },
    )


def _prefers_users() -> Json:
    expression = {"key": "hub.jupyter.org/node-purpose", "operator": "In", "values": ["user"]}
    term = {"preference": {"matchExpressions": [expression]}, "weight": 100}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
