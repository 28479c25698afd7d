"""Work on GPUs: busy, idle, stranded, waiting."""

from __future__ import annotations

from typing import Any

from sample.builder import Builder
from sample.controllers import deployment, statefulset
from sample.devices import add_devices, claim_device
from sample.identity import ago
from sample.jobs import Run, running_job, suspended_job, waiting_job
from sample.machines import GPU, Node
from sample.objects import Json
from sample.policies import service
from sample.templates import Container, Template, environment, http_probe, port

NAMESPACE = "ml"
BORN = ago(days=64)
_TOLERATION: Json = {"effect": "NoSchedule", "key": GPU, "operator": "Exists"}
_TRAIN = "registry.example/ml/train:2026.11.3"
_SERVE = "registry.example/ml/serve:2026.11.1"
_NOTEBOOK = "registry.example/ml/notebook-gpu:2026.10"


def add_ml(builder: Builder) -> None:
    """Add everything of this module.

    One L4 node is full; on one the CPU is gone before the GPUs are; one is idle. One A100 node trains, the other is idle. One card is cut up
    by MIG, one is shared by time-slicing, and two are given out by claims.
    """
    full, stranded, _ = builder.pool("gpu-l4")
    training, _ = builder.pool("gpu-a100")
    embeddings = _template(
        "embeddings",
        _gpu_container("server", _SERVE, ("8", "24Gi", 1), (3_150, 15_800), more=_served(8000)),
        pool="gpu-l4",
    )
    deployment(builder, embeddings, 2, BORN, ago(days=11, hours=13), nodes=(full, stranded))
    service(builder, NAMESPACE, "embeddings", BORN, {"http": 80}, embeddings.all_labels)
    notebook = _gpu_container("notebook", _NOTEBOOK, ("4", "16Gi", 1), (2, 1_420), more={"ports": [port("http", 8888)]})
    statefulset(builder, _template("notebook-l4", notebook, pool="gpu-l4"), 1, ago(days=5, hours=17), nodes=(full,))
    preprocess = Container(
        "preprocess", "registry.example/ml/preprocess:2026.10.2", {"cpu": "7500m", "memory": "20Gi"}, {"memory": "24Gi"}, (4_900, 11_300)
    )
    deployment(
        builder, _template("preprocess", preprocess, pool="gpu-l4"), 2, ago(days=40), ago(days=9, hours=14), nodes=(stranded, stranded)
    )
    _add_shared(builder)
    _add_jobs(builder, training)


def _add_shared(builder: Builder) -> None:
    """Add what makes do with parts of a card, shares of one, and a card that a claim gives."""
    mig, shared = builder.pool("gpu-mig"), builder.pool("gpu-shared")
    rerank = _gpu_container("server", _SERVE, ("3", "24Gi", 1), (1_240, 9_700), more=_served(8000), resource="nvidia.com/mig-2g.20gb")
    deployment(builder, _template("rerank", rerank, pool="gpu-mig"), 1, ago(days=33), ago(days=6, hours=2), nodes=mig)
    tagger = _gpu_container("server", _SERVE, ("2", "12Gi", 1), (610, 4_300), more=_served(8000), resource="nvidia.com/mig-1g.10gb")
    deployment(builder, _template("tagger", tagger, pool="gpu-mig"), 1, ago(days=33), ago(days=6, hours=2), nodes=mig)
    playground = _gpu_container("notebook", _NOTEBOOK, ("1", "5Gi", 1), (41, 1_180), more={"ports": [port("http", 8888)]})
    statefulset(builder, _template("playground", playground, pool="gpu-shared"), 3, ago(days=9, hours=5), nodes=shared * 3)
    (dra,) = builder.pool("gpu-dra")
    add_devices(builder, dra)
    claims: Json = {"resources": {"claims": [{"name": "gpu"}], "limits": {"memory": "160Gi"}, "requests": {"cpu": "20", "memory": "160Gi"}}}
    chat = Container(
        "server", _SERVE, {"cpu": "20", "memory": "160Gi"}, {"memory": "160Gi"}, (9_400, 121_000), 0.05, more=claims | _served(8000)
    )
    more: Json = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "chat-large"}]}
    statefulset(builder, _template("chat-large", chat, pool="gpu-dra", **more), 1, ago(days=20, hours=3), nodes=[dra])
    claim_device(builder, builder.lists["pods"][-1], dra, "gpu-0")


def _add_jobs(builder: Builder, training: Node) -> None:
    train = _template(
        "train-ranker", _gpu_container("train", _TRAIN, ("22", "140Gi", 2), (13_600, 118_000)), pool="gpu-a100", restart_policy="Never"
    )
    running_job(builder, Run(train, ago(days=4, hours=6, minutes=12)), nodes=[training])
    embed = _template("embed-corpus", _gpu_container("embed", _TRAIN, ("6", "24Gi", 1), (0, 0)), pool="gpu-l4", restart_policy="Never")
    since = ago(days=12, hours=10)
    suspended_job(builder, Run(embed, since, deadline=43_200, parallelism=4), since)
    large = _template(
        "finetune-large", _gpu_container("train", _TRAIN, ("16", "120Gi", 4), (0, 0)), pool="gpu-a100", restart_policy="Never"
    )
    waiting_job(builder, Run(large, ago(hours=9, minutes=31)))


def _template(app: str, container: Container, *, pool: str, restart_policy: str = "Always", **further: Any) -> Template:
    more = {"nodeSelector": {"cloud.google.com/gke-nodepool": pool}, "tolerations": [_TOLERATION], **further}
    return Template(NAMESPACE, app, (container,), pool=pool, restart_policy=restart_policy, service_account="ml", more=more)


def _gpu_container(
    name: str, image: str, ask: tuple[str, str, int], usage: tuple[float, float], more: dict[str, Any] | None = None, resource: str = GPU
) -> Container:
    """Give a container that asks for (CPU, memory, units of the resource), with the memory and the units as limits."""
    cpu, memory, gpus = ask
    limits = {"memory": memory, resource: str(gpus)}
    extra = {"env": environment(NVIDIA_DRIVER_CAPABILITIES="compute,utility"), **(more or {})}
    return Container(name, image, {"cpu": cpu, **limits}, limits, usage, spread=0.05, more=extra)


def _served(number: int) -> dict[str, Any]:
    return {"ports": [port("http", number)], "readinessProbe": http_probe("/health", number)}
